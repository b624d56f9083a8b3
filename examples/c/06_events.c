/* Events, as in the MUSA guide: flags, records, waits of host and streams, and the time of a kernel. */
#include <musa_runtime.h>

#include "check.h"

static const char *const kernels =
    "__kernel void work(__global float *x, int rounds) {\n"
    "    float y = x[get_global_id(0)];\n"
    "    for (int i = 0; i < rounds; i++) y = y * 0.5f + 1.0f;\n"
    "    x[get_global_id(0)] = y;\n"
    "}\n";

int main(void) {
    musaEvent_t event;
    MUSA_CHECK(musaEventCreateWithFlags(&event, musaEventDisableTiming));
    MUSA_CHECK(musaEventDestroy(event));
    MUSA_CHECK(musaEventCreateWithFlags(&event, musaEventBlockingSync));

    musaModule_t module;
    musaFunction_t work;
    musaStream_t stream, other;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    MUSA_CHECK(musaModuleGetFunction(&work, module, "work"));
    MUSA_CHECK(musaStreamCreate(&stream));
    MUSA_CHECK(musaStreamCreate(&other));

    enum { N = 1 << 16 };
    void *d_data;
    MUSA_CHECK(musaMalloc(&d_data, N * sizeof(float)));
    MUSA_CHECK(musaMemset(d_data, 0, N * sizeof(float)));

    musaEvent_t start, stop;
    MUSA_CHECK(musaEventCreate(&start));
    MUSA_CHECK(musaEventCreate(&stop));
    MUSA_CHECK(musaEventRecord(start, stream));
    dim3 gridSize = {N / 64, 1, 1}, blockSize = {64, 1, 1};
    int rounds = 100;
    void *args[] = {&d_data, &rounds};
    MUSA_CHECK(musaLaunchKernel(work, gridSize, blockSize, args, 0, stream));
    MUSA_CHECK(musaEventRecord(stop, stream));

    /* The other stream reads behind the kernel. */
    MUSA_CHECK(musaEventRecordWithFlags(event, stream, musaEventRecordExternal));
    MUSA_CHECK(musaStreamWaitEvent(other, event, 0));
    float last = 0;
    MUSA_CHECK(musaMemcpyAsync(&last, (float *)d_data + N - 1, sizeof(last), musaMemcpyDeviceToHost, other));
    MUSA_CHECK(musaStreamSynchronize(other));
    REQUIRE(last == 2.0f);

    MUSA_CHECK(musaEventSynchronize(stop));
    REQUIRE(musaEventQuery(stop) == musaSuccess);
    float elapsedTime = -1;
    MUSA_CHECK(musaEventElapsedTime(&elapsedTime, start, stop));
    REQUIRE(elapsedTime >= 0);
    printf("Kernel execution time: %.3f ms\n", elapsedTime);

    MUSA_CHECK(musaEventDestroy(start));
    MUSA_CHECK(musaEventDestroy(stop));
    MUSA_CHECK(musaEventDestroy(event));
    MUSA_CHECK(musaStreamDestroy(stream));
    MUSA_CHECK(musaStreamDestroy(other));
    MUSA_CHECK(musaFree(d_data));
    MUSA_CHECK(musaModuleUnload(module));
    printf("events: ok\n");
    return 0;
}
