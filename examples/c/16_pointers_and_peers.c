/* What pointers can be asked, and copies from device to device, as in the MUSA guide. With one device the copies are
 * from it to itself. */
#include <musa_runtime.h>
#include <string.h>

#include "check.h"

static void pointers(int device) {
    void *d_data, *h_pinned, *value = NULL;
    int here = -1, ordinary = 0;
    musaMemoryType memType;
    MUSA_CHECK(musaMalloc(&d_data, 1024));
    MUSA_CHECK(musaMallocHost(&h_pinned, 1024));

    MUSA_CHECK(musaPointerGetMemoryType(&memType, d_data));
    REQUIRE(memType == musaMemoryTypeDevice);
    MUSA_CHECK(musaPointerGetMemoryType(&memType, h_pinned));
    REQUIRE(memType == musaMemoryTypeHost);
    MUSA_CHECK(musaPointerGetMemoryType(&memType, &ordinary));
    REQUIRE(memType == musaMemoryTypeUnregistered);

    MUSA_CHECK(musaPointerGetDevice(&here, (char *)d_data + 1000));
    REQUIRE(here == device);
    musaPointer_attribute attr = musaPointerAttributeRangeStart;
    MUSA_CHECK(musaPointerGetAttribute(&value, attr, (char *)d_data + 1000));
    REQUIRE(value == d_data);
    musaPointerAttributes attributes;
    MUSA_CHECK(musaPointerGetAttributes(&attributes, d_data));
    REQUIRE(attributes.type == musaMemoryTypeDevice && attributes.device == device);
    REQUIRE(attributes.devicePointer == d_data);

    MUSA_CHECK(musaFreeHost(h_pinned));
    MUSA_CHECK(musaFree(d_data));
}

int main(void) {
    int devices, canAccess;
    MUSA_CHECK(musaGetDeviceCount(&devices));
    const int srcDevice = 0, dstDevice = devices - 1;
    if (srcDevice != dstDevice) {
        MUSA_CHECK(musaDeviceCanAccessPeer(&canAccess, dstDevice, srcDevice));
        printf("device %d reaches device %d's memory: %s\n", dstDevice, srcDevice, canAccess ? "yes" : "no");
    }

    enum { SIZE = 100000 };
    void *d_src, *d_dst;
    char *host = (char *)malloc(SIZE), *back = (char *)malloc(SIZE);
    for (int i = 0; i < SIZE; i++) {
        host[i] = (char)(i % 101);
    }
    MUSA_CHECK(musaSetDevice(srcDevice));
    MUSA_CHECK(musaMalloc(&d_src, SIZE));
    MUSA_CHECK(musaMemcpy(d_src, host, SIZE, musaMemcpyHostToDevice));
    pointers(srcDevice);
    MUSA_CHECK(musaSetDevice(dstDevice));
    MUSA_CHECK(musaMalloc(&d_dst, SIZE));
    pointers(dstDevice);

    MUSA_CHECK(musaMemcpyPeer(d_dst, dstDevice, d_src, srcDevice, SIZE));
    MUSA_CHECK(musaMemcpy(back, d_dst, SIZE, musaMemcpyDeviceToHost));
    REQUIRE(memcmp(back, host, SIZE) == 0);

    musaStream_t stream;
    MUSA_CHECK(musaStreamCreate(&stream));
    MUSA_CHECK(musaMemsetAsync(d_dst, 0, SIZE, stream));
    MUSA_CHECK(musaMemcpyPeerAsync(d_dst, dstDevice, d_src, srcDevice, SIZE / 2, stream));
    MUSA_CHECK(musaMemcpyAsync(back, d_dst, SIZE, musaMemcpyDeviceToHost, stream));
    MUSA_CHECK(musaStreamSynchronize(stream));
    REQUIRE(memcmp(back, host, SIZE / 2) == 0 && back[SIZE / 2] == 0 && back[SIZE - 1] == 0);

    MUSA_CHECK(musaStreamDestroy(stream));
    MUSA_CHECK(musaFree(d_dst));
    MUSA_CHECK(musaSetDevice(srcDevice));
    MUSA_CHECK(musaFree(d_src));
    free(host);
    free(back);
    printf("pointers and peers: ok\n");
    return 0;
}
