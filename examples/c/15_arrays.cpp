// Arrays, as in the MUSA guide: images that kernels read by position. A kernel takes one as an image of OpenCL C, and a
// launch is given the address of the handle.
#include <musa_runtime.h>

#include <vector>

#include "check.h"

static const char *const kernels = R"(
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__kernel void blur(__global float *out, __read_only image2d_t image, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dx = -1; dx <= 1; dx++) sum += read_imagef(image, nearest, (int2)(x + dx, y)).x;
    out[y * width + x] = sum;
}
)";

int main() {
    int device, width = 70, height = 30;
    MUSA_CHECK(musaGetDevice(&device));
    musaDeviceProp_t prop;
    MUSA_CHECK(musaGetDeviceProperties(&prop, device));
    if (prop.maxTexture2D[0] == 0) {
        printf("arrays: the device has no images\n");
        return 0;
    }
    musaModule_t module;
    musaFunction_t blur;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    MUSA_CHECK(musaModuleGetFunction(&blur, module, "blur"));

    // The guide's own descriptor: one channel of floats.
    musaArray_t array;
    musaChannelFormatDesc desc = musaCreateChannelDesc(1, 0, 0, 0, musaChannelFormatKindFloat);
    MUSA_CHECK(musaMallocArray(&array, &desc, width, height, 0));

    size_t row = width * sizeof(float);
    std::vector<float> image(width * height), result(width * height);
    for (size_t i = 0; i < image.size(); i++) image[i] = float(i % 17);
    MUSA_CHECK(musaMemcpy2DToArray(array, 0, 0, image.data(), row, row, height, musaMemcpyHostToDevice));

    float *d_out;
    MUSA_CHECK(musaMalloc(&d_out, row * height));
    void *args[] = {&d_out, &array, &width, &height};
    MUSA_CHECK(musaLaunchKernel(blur, dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16), args));
    MUSA_CHECK(musaMemcpy(result.data(), d_out, row * height, musaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int left = x > 0 ? x - 1 : 0, right = x + 1 < width ? x + 1 : x;
            float expected = image[y * width + left] + image[y * width + x] + image[y * width + right];
            REQUIRE(result[y * width + x] == expected);
        }
    }

    MUSA_CHECK(musaMemcpy2DFromArray(result.data(), row, array, 0, 0, row, height, musaMemcpyDeviceToHost));
    REQUIRE(result == image);
    MUSA_CHECK(musaFreeArray(array));
    MUSA_CHECK(musaFree(d_out));
    MUSA_CHECK(musaModuleUnload(module));
    printf("arrays: ok\n");
    return 0;
}
