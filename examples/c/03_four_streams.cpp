// The MUSA guide's second complete program: four streams, each with its own copies and kernel.
#include <musa_runtime.h>
#include <stdio.h>

#include "check.h"

static const char *const kernels = R"(
__kernel void processKernel(__global float *data, int n) {
    int idx = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (idx < n) {
        data[idx] = data[idx] * 2.0f + 1.0f;
    }
})";

int main() {
    musaModule_t module;
    musaFunction_t processKernel;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    MUSA_CHECK(musaModuleGetFunction(&processKernel, module, "processKernel"));

    const int numStreams = 4;
    musaStream_t streams[numStreams];
    float *h_data[numStreams];
    float *d_data[numStreams];

    int n = 1024;
    size_t size = n * sizeof(float);

    for (int i = 0; i < numStreams; i++) {
        MUSA_CHECK(musaStreamCreate(&streams[i]));
    }

    for (int i = 0; i < numStreams; i++) {
        MUSA_CHECK(musaMallocHost(&h_data[i], size));
        MUSA_CHECK(musaMalloc(&d_data[i], size));
        for (int j = 0; j < n; j++) {
            h_data[i][j] = float(j);
        }

        MUSA_CHECK(musaMemcpyAsync(d_data[i], h_data[i], size, musaMemcpyHostToDevice, streams[i]));

        // The guide: processKernel<<<gridSize, blockSize, 0, streams[i]>>>(d_data[i], n);
        int blockSize = 256;
        int gridSize = (n + blockSize - 1) / blockSize;
        void *args[] = {&d_data[i], &n};
        MUSA_CHECK(musaLaunchKernel(processKernel, gridSize, blockSize, args, 0, streams[i]));

        MUSA_CHECK(musaMemcpyAsync(h_data[i], d_data[i], size, musaMemcpyDeviceToHost, streams[i]));
    }

    for (int i = 0; i < numStreams; i++) {
        MUSA_CHECK(musaStreamSynchronize(streams[i]));
    }
    for (int i = 0; i < numStreams; i++) {
        for (int j = 0; j < n; j++) {
            REQUIRE(h_data[i][j] == float(j) * 2.0f + 1.0f);
        }
    }

    for (int i = 0; i < numStreams; i++) {
        MUSA_CHECK(musaFree(d_data[i]));
        MUSA_CHECK(musaFreeHost(h_data[i]));
        MUSA_CHECK(musaStreamDestroy(streams[i]));
    }
    MUSA_CHECK(musaModuleUnload(module));
    printf("Multi-stream processing completed!\n");
    return 0;
}
