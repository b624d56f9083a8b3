// A global object that outlives main and frees what it has of the runtime: the runtime is still there for it.
#include <musa_runtime.h>
#include <stdio.h>
#include <stdlib.h>

struct Holder {
    int *memory = nullptr;
    musaStream_t stream = nullptr;
    ~Holder() {
        if (musaMemsetAsync(memory, 0, 4096, stream) != musaSuccess || musaStreamDestroy(stream) != musaSuccess ||
            musaFree(memory) != musaSuccess) {
            printf("%s\n", gridclLastErrorDetail());
            _Exit(1);
        }
    }
};

static Holder holder;

int main() {
    if (musaMalloc(&holder.memory, 4096) != musaSuccess || musaStreamCreate(&holder.stream) != musaSuccess) {
        printf("%s\n", gridclLastErrorDetail());
        return 2;
    }
    return 0;
}
