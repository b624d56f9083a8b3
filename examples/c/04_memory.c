/* Memory, as in the MUSA guide: device, pinned, write-combined, registered and managed; the four directions of a copy,
 * and sets. */
#include <musa_runtime.h>
#include <string.h>

#include "check.h"

static const char *const kernels = "__kernel void twice(__global int *x) { x[get_global_id(0)] *= 2; }";

enum { N = 4096 };

static void copies(void) {
    const size_t size = N * sizeof(int);
    int *h_src = (int *)malloc(size), *h_dst = (int *)malloc(size);
    void *d_src, *d_dst;
    MUSA_CHECK(musaMalloc(&d_src, size));
    MUSA_CHECK(musaMalloc(&d_dst, size));
    for (int i = 0; i < N; i++) {
        h_src[i] = i * 3;
    }
    MUSA_CHECK(musaMemcpy(d_src, h_src, size, musaMemcpyHostToDevice));
    MUSA_CHECK(musaMemcpy(d_dst, d_src, size, musaMemcpyDeviceToDevice));
    MUSA_CHECK(musaMemset(d_src, 0xff, size));
    MUSA_CHECK(musaMemcpy(h_dst, d_dst, size, musaMemcpyDeviceToHost));
    REQUIRE(memcmp(h_src, h_dst, size) == 0);
    MUSA_CHECK(musaMemcpy(h_dst, d_src, size, musaMemcpyDefault));
    REQUIRE(h_dst[0] == -1 && h_dst[N - 1] == -1);
    MUSA_CHECK(musaMemcpy(h_dst, h_src, size, musaMemcpyHostToHost));
    REQUIRE(h_dst[N - 1] == (N - 1) * 3);
    MUSA_CHECK(musaFree(d_src));
    MUSA_CHECK(musaFree(d_dst));
    free(h_src);
    free(h_dst);
}

static void host_memory(void) {
    const size_t size = N * sizeof(int);
    void *h_pinned, *h_wc, *d_data;
    MUSA_CHECK(musaMallocHost(&h_pinned, size));
    MUSA_CHECK(musaHostAlloc(&h_wc, size, musaHostAllocWriteCombined));
    MUSA_CHECK(musaMalloc(&d_data, size));

    musaStream_t stream;
    MUSA_CHECK(musaStreamCreate(&stream));
    memset(h_wc, 7, size);
    MUSA_CHECK(musaMemcpyAsync(d_data, h_wc, size, musaMemcpyHostToDevice, stream));
    MUSA_CHECK(musaMemcpyAsync(h_pinned, d_data, size, musaMemcpyDeviceToHost, stream));
    MUSA_CHECK(musaStreamSynchronize(stream));
    REQUIRE(((unsigned char *)h_pinned)[size - 1] == 7);

    /* Memory that the program has, registered for the time of the copies. */
    void *h_existing = malloc(size);
    MUSA_CHECK(musaHostRegister(h_existing, size, musaHostRegisterMapped));
    MUSA_CHECK(musaMemsetAsync(d_data, 9, size, stream));
    MUSA_CHECK(musaMemcpyAsync(h_existing, d_data, size, musaMemcpyDeviceToHost, stream));
    MUSA_CHECK(musaStreamSynchronize(stream));
    REQUIRE(((unsigned char *)h_existing)[0] == 9);
    MUSA_CHECK(musaMemHostUnregister(h_existing));
    free(h_existing);

    MUSA_CHECK(musaStreamDestroy(stream));
    MUSA_CHECK(musaFree(d_data));
    MUSA_CHECK(musaFreeHost(h_wc));
    MUSA_CHECK(musaFreeHost(h_pinned));
}

static void managed_memory(void) {
    int deviceId = 0, has_managed = 0;
    const size_t size = N * sizeof(int);
    MUSA_CHECK(musaDeviceGetAttribute(&has_managed, musaDevAttrManagedMemory, deviceId));
    void *managed;
    if (!has_managed) {
        REQUIRE(musaMallocManaged(&managed, size, musaMemAttachGlobal) == musaErrorNotSupported);
        printf("no managed memory on this device\n");
        return;
    }
    musaModule_t module;
    musaFunction_t twice;
    musaStream_t stream;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    MUSA_CHECK(musaModuleGetFunction(&twice, module, "twice"));
    MUSA_CHECK(musaStreamCreate(&stream));
    /* The guide has both of these flags. */
    const unsigned int flags[] = {musaMemAttachGlobal, musaMemAttachSingle};
    for (int round = 0; round < 2; round++) {
        MUSA_CHECK(musaMallocManaged(&managed, size, flags[round]));
        for (int i = 0; i < N; i++) {
            ((int *)managed)[i] = i;
        }
        MUSA_CHECK(musaMemAdvise(managed, size, musaMemAdviseSetPreferredLocation, deviceId));
        MUSA_CHECK(musaMemPrefetchAsync(managed, size, deviceId, stream));
        dim3 grid = {N / 64, 1, 1}, block = {64, 1, 1};
        void *args[] = {&managed};
        MUSA_CHECK(musaLaunchKernel(twice, grid, block, args, 0, stream));
        MUSA_CHECK(musaStreamSynchronize(stream));
        for (int i = 0; i < N; i++) {
            REQUIRE(((int *)managed)[i] == 2 * i);
        }
        MUSA_CHECK(musaFree(managed));
    }
    MUSA_CHECK(musaStreamDestroy(stream));
    MUSA_CHECK(musaModuleUnload(module));
}

int main(void) {
    copies();
    host_memory();
    managed_memory();
    printf("memory: ok\n");
    return 0;
}
