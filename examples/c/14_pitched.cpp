// Pitched memory, as in the MUSA guide: rows and slices with room behind each, and copies and sets of boxes.
#include <musa_runtime.h>

#include <vector>

#include "check.h"

static const char *const kernels = R"(
__kernel void invert(__global uchar *image, ulong pitch, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) image[y * pitch + x] = 255 - image[y * pitch + x];
}
)";

static void invert(unsigned char *, size_t, int, int) {}

static void two_dimensions() {
    int width = 301, height = 50;
    size_t pitch;
    unsigned char *d_array;
    MUSA_CHECK(musaMallocPitch(&d_array, &pitch, width, height));
    REQUIRE(pitch >= size_t(width));

    // The host's rows have a pitch of their own.
    size_t srcPitch = width + 11;
    std::vector<unsigned char> image(srcPitch * height);
    for (size_t i = 0; i < image.size(); i++) image[i] = (unsigned char)i;
    MUSA_CHECK(musaMemcpy2D(d_array, pitch, image.data(), srcPitch, width, height, musaMemcpyHostToDevice));

    dim3 block(16, 16);
    dim3 grid((width + 15) / 16, (height + 15) / 16);
    void *args[] = {&d_array, &pitch, &width, &height};
    MUSA_CHECK(musaLaunchKernel(invert, grid, block, args));
    // The last row's right half.
    MUSA_CHECK(musaMemset2D(d_array + (height - 1) * pitch + 150, pitch, 7, width - 150, 1));

    std::vector<unsigned char> back(image.size(), 99);
    MUSA_CHECK(musaMemcpy2D(back.data(), srcPitch, d_array, pitch, width, height, musaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < int(srcPitch); x++) {
            size_t at = y * srcPitch + x;
            int expected = x >= width ? 99 : y == height - 1 && x >= 150 ? 7 : 255 - image[at];
            REQUIRE(back[at] == expected);
        }
    }
    MUSA_CHECK(musaFree(d_array));
}

static void three_dimensions() {
    size_t width = 40, height = 9, depth = 5;
    musaPitchedPtr pitchedPtr;
    musaExtent extent = make_musaExtent(width, height, depth);
    MUSA_CHECK(musaMalloc3D(&pitchedPtr, extent));
    REQUIRE(pitchedPtr.pitch >= width && pitchedPtr.xsize == width && pitchedPtr.ysize == height);
    MUSA_CHECK(musaMemset3D(pitchedPtr, 1, extent));

    std::vector<unsigned char> volume(width * height * depth);
    for (size_t i = 0; i < volume.size(); i++) volume[i] = (unsigned char)(i % 251);
    musaMemcpy3DParms copyParams = {};
    copyParams.srcPtr = make_musaPitchedPtr(volume.data(), width, width, height);
    copyParams.dstPtr = pitchedPtr;
    copyParams.extent = extent;
    copyParams.kind = musaMemcpyHostToDevice;
    MUSA_CHECK(musaMemcpy3D(&copyParams));

    // A part of it, back from its middle.
    std::vector<unsigned char> part(10 * 3 * 2);
    musaMemcpy3DParms partParams = {};
    partParams.srcPtr = pitchedPtr;
    partParams.srcPos = make_musaPos(20, 4, 2);
    partParams.dstPtr = make_musaPitchedPtr(part.data(), 10, 10, 3);
    partParams.extent = make_musaExtent(10, 3, 2);
    partParams.kind = musaMemcpyDeviceToHost;
    MUSA_CHECK(musaMemcpy3D(&partParams));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 3; y++)
            for (size_t x = 0; x < 10; x++)
                REQUIRE(part[(z * 3 + y) * 10 + x] == volume[((z + 2) * height + y + 4) * width + x + 20]);
    MUSA_CHECK(musaFree(pitchedPtr.ptr));
}

int main() {
    musaModule_t module;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    REQUIRE(gridclRegisterFunction(module, invert, "invert") == 0);
    two_dimensions();
    three_dimensions();
    MUSA_CHECK(musaModuleUnload(module));
    printf("pitched memory: ok\n");
    return 0;
}
