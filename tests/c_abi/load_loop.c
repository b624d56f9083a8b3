/* Loads and closes the library many times, unused and used, from several threads at once. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char* path;

typedef int (*call_t)(void);
typedef int (*count_t)(int*);

static void* loop(void* times) {
    for (int i = 0; i < *(int*)times; i++) {
        void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return path ? times : NULL;
        }
        if (i % 3 == 1) {
            int count = 0;
            count_t get_count;
            call_t synchronize;
            *(void**)&get_count = dlsym(library, "musaGetDeviceCount");
            *(void**)&synchronize = dlsym(library, "topsDeviceSynchronize");
            if (get_count == NULL || synchronize == NULL || get_count(&count) != 0 || count < 1 || synchronize() != 0) {
                return times;
            }
        }
        if (dlclose(library) != 0) {
            return times;
        }
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t threads[4];
    int times = 50, failed = 0;
    path = argc > 1 ? argv[1] : "libgridcl.so";
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, loop, &times);
    }
    for (int i = 0; i < 4; i++) {
        void* result = NULL;
        pthread_join(threads[i], &result);
        failed += result != NULL;
    }
    printf("%d of 4 threads failed\n", failed);
    return failed;
}
