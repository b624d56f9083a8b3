// The MUSA guide's first complete program. What the guide's compiler does for a kernel, a C++ program does in three
// steps here: the kernel is OpenCL C, a module is made of it, and the address of a function that is never called
// stands for it in the launch.
#include <musa_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

static const char *const kernels = R"(
__kernel void vectorAdd(__global float *a, __global float *b, __global float *c, int n) {
    int idx = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (idx < n) {
        c[idx] = a[idx] + b[idx];
    }
})";

// Stands for the kernel, with its parameters; the runtime never calls it.
static void vectorAdd(float *, float *, float *, int) {}

int main() {
    musaModule_t module;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    REQUIRE(gridclRegisterFunction(module, vectorAdd, "vectorAdd") == 0);

    int n = 1024;
    size_t size = n * sizeof(float);

    float *h_a = (float *)malloc(size);
    float *h_b = (float *)malloc(size);
    float *h_c = (float *)malloc(size);
    for (int i = 0; i < n; i++) {
        h_a[i] = float(i);
        h_b[i] = float(i * 2);
    }

    float *d_a, *d_b, *d_c;
    MUSA_CHECK(musaMalloc(&d_a, size));
    MUSA_CHECK(musaMalloc(&d_b, size));
    MUSA_CHECK(musaMalloc(&d_c, size));
    MUSA_CHECK(musaMemcpy(d_a, h_a, size, musaMemcpyHostToDevice));
    MUSA_CHECK(musaMemcpy(d_b, h_b, size, musaMemcpyHostToDevice));

    int blockSize = 256;
    int gridSize = (n + blockSize - 1) / blockSize;

    // The guide: vectorAdd<<<gridSize, blockSize>>>(d_a, d_b, d_c, n);
    void *args[] = {&d_a, &d_b, &d_c, &n};
    (void)musaLaunchKernel(vectorAdd, gridSize, blockSize, args);

    musaError_t err = musaGetLastError();
    if (err != musaSuccess) {
        printf("the launch failed: %s\n", musaGetErrorString(err));
        return -1;
    }
    MUSA_CHECK(musaDeviceSynchronize());
    MUSA_CHECK(musaMemcpy(h_c, d_c, size, musaMemcpyDeviceToHost));

    for (int i = 0; i < n; i++) {
        if (h_c[i] != h_a[i] + h_b[i]) {
            printf("Error at index %d\n", i);
            return -1;
        }
    }
    printf("Vector addition completed successfully!\n");

    free(h_a);
    free(h_b);
    free(h_c);
    MUSA_CHECK(musaFree(d_a));
    MUSA_CHECK(musaFree(d_b));
    MUSA_CHECK(musaFree(d_c));
    MUSA_CHECK(musaModuleUnload(module));
    return 0;
}
