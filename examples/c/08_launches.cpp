// Launches, as in the MUSA guide: one, two and three dimensions, dynamic shared memory; and the driver's way, with
// extents one by one and the arguments in one buffer.
#include <musa_runtime.h>

#include <vector>

#include "check.h"

static const char *const kernels = R"(
__kernel void kernel2D(__global int *image, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) image[y * width + x] = x + 1000 * y;
}
__kernel void kernel3D(__global int *volume, int x, int y, int z) {
    int i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    if (i < x && j < y && k < z) volume[(k * y + j) * x + i] = i + 100 * j + 10000 * k;
}
__kernel void dynamicSharedKernel(__global float *output, int n, __local float *shared) {
    int tid = get_local_id(0), id = get_global_id(0);
    shared[tid] = id < n ? output[id] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < n) output[id] = shared[get_local_size(0) - 1 - tid];
}
)";

static void kernel2D(int *, int, int) {}
static void kernel3D(int *, int, int, int) {}

int main() {
    musaModule_t module;
    musaFunction_t dynamicSharedKernel;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    MUSA_CHECK(musaModuleGetFunction(&dynamicSharedKernel, module, "dynamicSharedKernel"));
    REQUIRE(gridclRegisterFunction(module, kernel2D, "kernel2D") == 0);
    REQUIRE(gridclRegisterFunction(module, kernel3D, "kernel3D") == 0);

    {
        int width = 50, height = 37;
        std::vector<int> image(width * height);
        int *d_image;
        MUSA_CHECK(musaMalloc(&d_image, image.size() * sizeof(int)));
        dim3 block(16, 16);
        dim3 grid((width + 15) / 16, (height + 15) / 16);
        void *args[] = {&d_image, &width, &height};
        MUSA_CHECK(musaLaunchKernel(kernel2D, grid, block, args));
        MUSA_CHECK(musaMemcpy(image.data(), d_image, image.size() * sizeof(int), musaMemcpyDeviceToHost));
        REQUIRE(image[0] == 0 && image[width * height - 1] == width - 1 + 1000 * (height - 1));
        MUSA_CHECK(musaFree(d_image));
    }
    {
        int x = 9, y = 10, z = 11;
        std::vector<int> volume(x * y * z);
        int *d_volume;
        MUSA_CHECK(musaMalloc(&d_volume, volume.size() * sizeof(int)));
        dim3 block(8, 8, 8);
        dim3 grid((x + 7) / 8, (y + 7) / 8, (z + 7) / 8);
        void *args[] = {&d_volume, &x, &y, &z};
        MUSA_CHECK(musaLaunchKernel(kernel3D, grid, block, args));
        MUSA_CHECK(musaMemcpy(volume.data(), d_volume, volume.size() * sizeof(int), musaMemcpyDeviceToHost));
        REQUIRE(volume[x * y * z - 1] == 8 + 900 + 100000);
        MUSA_CHECK(musaFree(d_volume));
    }
    {
        int n = 1024, blockSize = 128;
        std::vector<float> output(n);
        for (int i = 0; i < n; i++) output[i] = float(i);
        size_t size = n * sizeof(float);
        float *d_output;
        MUSA_CHECK(musaMalloc(&d_output, size));
        MUSA_CHECK(musaMemcpy(d_output, output.data(), size, musaMemcpyHostToDevice));
        int sharedMemSize = blockSize * sizeof(float);
        void *args[] = {&d_output, &n};
        MUSA_CHECK(musaLaunchKernel(dynamicSharedKernel, n / blockSize, blockSize, args, sharedMemSize));
        MUSA_CHECK(musaMemcpy(output.data(), d_output, size, musaMemcpyDeviceToHost));
        REQUIRE(output[0] == 127 && output[127] == 0 && output[1023] == 896);

        // The driver's way turns each block round once more.
        struct {
            float *output;
            int n;
        } packed = {d_output, n};
        size_t bytes = sizeof(packed);
        void *extra[] = {MU_LAUNCH_PARAM_BUFFER_POINTER, &packed, MU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                         MU_LAUNCH_PARAM_END};
        MUSA_CHECK(musaModuleLaunchKernel(dynamicSharedKernel, n / blockSize, 1, 1, blockSize, 1, 1, sharedMemSize, 0,
                                          nullptr, extra));
        MUSA_CHECK(musaMemcpy(output.data(), d_output, size, musaMemcpyDeviceToHost));
        REQUIRE(output[0] == 0 && output[1023] == 1023);
        MUSA_CHECK(musaFree(d_output));
    }
    MUSA_CHECK(musaModuleUnload(module));
    printf("launches: ok\n");
    return 0;
}
