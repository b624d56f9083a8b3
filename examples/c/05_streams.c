/* Streams, as in the MUSA guide: priorities, non-blocking streams, queries, callbacks, the default and the thread's own
 * stream. */
#include <musa_runtime.h>

#include "check.h"

struct told {
    int calls;
    musaStream_t stream;
    musaError_t status;
    musaError_t inside;
};

static void MUSART_CB myCallback(musaStream_t stream, musaError_t status, void *userData) {
    struct told *told = (struct told *)userData;
    told->calls++;
    told->stream = stream;
    told->status = status;
    /* The runtime must not be called from here, and says so. */
    told->inside = musaDeviceSynchronize();
}

static void host_function(void *userData) {
    *(int *)userData += 1;
}

int main(void) {
    musaStream_t stream;

    MUSA_CHECK(musaStreamCreate(&stream));
    MUSA_CHECK(musaStreamDestroy(stream));

    /* The first is the least urgent, the second the most urgent; smaller is more urgent. */
    int minPriority, maxPriority;
    MUSA_CHECK(musaDeviceGetStreamPriorityRange(&minPriority, &maxPriority));
    REQUIRE(minPriority == 0 && maxPriority <= minPriority);
    MUSA_CHECK(musaStreamCreateWithPriority(&stream, musaStreamDefault, minPriority));
    MUSA_CHECK(musaStreamDestroy(stream));

    MUSA_CHECK(musaStreamCreateWithPriority(&stream, musaStreamNonBlocking, 0));
    musaError_t err = musaStreamQuery(stream);
    REQUIRE(err == musaSuccess || err == musaErrorNotReady);

    struct told told = {0, NULL, musaErrorUnknown, musaErrorUnknown};
    int counted = 0;
    MUSA_CHECK(musaStreamAddCallback(stream, myCallback, &told, 0));
    MUSA_CHECK(musaLaunchHostFunc(stream, host_function, &counted));
    MUSA_CHECK(musaStreamSynchronize(stream));
    REQUIRE(told.calls == 1 && told.stream == stream && told.status == musaSuccess);
    REQUIRE(told.inside == musaErrorNotPermitted && counted == 1);
    REQUIRE(musaStreamQuery(stream) == musaSuccess);
    MUSA_CHECK(musaStreamDestroy(stream));
    REQUIRE(musaStreamQuery(stream) == musaErrorContextIsDestroyed);

    musaStream_t legacyStream = 0;
    musaStream_t perThreadStream = (musaStream_t)-1;
    musaStream_t special[] = {legacyStream, perThreadStream, musaStreamLegacy, musaStreamPerThread};
    void *d_data;
    MUSA_CHECK(musaMalloc(&d_data, 4096));
    for (int i = 0; i < 4; i++) {
        unsigned char last = 0;
        MUSA_CHECK(musaMemsetAsync(d_data, i + 1, 4096, special[i]));
        MUSA_CHECK(musaMemcpyAsync(&last, (char *)d_data + 4095, 1, musaMemcpyDeviceToHost, special[i]));
        MUSA_CHECK(musaStreamSynchronize(special[i]));
        REQUIRE(last == i + 1);
    }
    MUSA_CHECK(musaFree(d_data));
    printf("streams: ok\n");
    return 0;
}
