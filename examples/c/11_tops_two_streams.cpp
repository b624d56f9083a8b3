// The TOPS document's chapters 7.2 to 7.4: two streams on two halves of an array, timed by events; a non-blocking
// stream beside the default one. The document's `size` counts elements where it moves pointers and bytes where it
// copies; here they have two names.
#include <tops/tops_runtime.h>

#include "check.h"

static const char *const kernels = R"(
__kernel void myKernel(__global float *output, __global const float *input, int size) {
    for (int i = get_global_id(0); i < size; i += get_global_size(0)) output[i] = input[i] * input[i];
}
)";

static void myKernel(float *, float *, int) {}

int main() {
    topsModule_t module;
    TOPS_CHECK(topsModuleLoadData(&module, kernels));
    REQUIRE(gridclRegisterFunction(module, myKernel, "myKernel") == 0);

    topsStream_t stream[2];
    for (int i = 0; i < 2; ++i)
        TOPS_CHECK(topsStreamCreate(&stream[i]));

    int size = 12800;
    size_t bytes = size * sizeof(float);
    float *hostPtr;
    TOPS_CHECK(topsHostMalloc((void **)&hostPtr, 2 * bytes));
    float *inputDevPtr, *outputDevPtr;
    TOPS_CHECK(topsMalloc(&inputDevPtr, 2 * bytes));
    TOPS_CHECK(topsMalloc(&outputDevPtr, 2 * bytes));
    for (int i = 0; i < 2 * size; ++i)
        hostPtr[i] = float(i % 1000);

    topsEvent_t start, stop;
    TOPS_CHECK(topsEventCreate(&start));
    TOPS_CHECK(topsEventCreate(&stop));

    TOPS_CHECK(topsEventRecord(start, 0));
    for (int i = 0; i < 2; ++i)
        TOPS_CHECK(topsMemcpyAsync(inputDevPtr + i * size, hostPtr + i * size, bytes, topsMemcpyHostToDevice, stream[i]));
    for (int i = 0; i < 2; ++i) {
        // The document: myKernel<<<100, 512, 0, stream[i]>>>(outputDevPtr + i * size, inputDevPtr + i * size, size);
        float *output = outputDevPtr + i * size, *input = inputDevPtr + i * size;
        void *args[] = {&output, &input, &size};
        TOPS_CHECK(topsLaunchKernel(myKernel, 100, 512, args, 0, stream[i]));
    }
    for (int i = 0; i < 2; ++i)
        TOPS_CHECK(topsMemcpyAsync(hostPtr + i * size, outputDevPtr + i * size, bytes, topsMemcpyDeviceToHost, stream[i]));
    // The default stream waits for both of the others.
    TOPS_CHECK(topsEventRecord(stop, 0));
    TOPS_CHECK(topsEventSynchronize(stop));
    float elapsedTime;
    TOPS_CHECK(topsEventElapsedTime(&elapsedTime, start, stop));
    for (int i = 0; i < 2 * size; ++i)
        REQUIRE(hostPtr[i] == float(i % 1000) * float(i % 1000));

    topsStream_t independent;
    TOPS_CHECK(topsStreamCreateWithFlags(&independent, topsStreamNonBlocking));
    TOPS_CHECK(topsMemsetAsync(inputDevPtr, 0, bytes, independent));
    TOPS_CHECK(topsDeviceSynchronize());
    REQUIRE(topsStreamQuery(independent) == topsSuccess);
    TOPS_CHECK(topsStreamDestroy(independent));

    TOPS_CHECK(topsEventDestroy(start));
    TOPS_CHECK(topsEventDestroy(stop));
    for (int i = 0; i < 2; ++i)
        TOPS_CHECK(topsStreamDestroy(stream[i]));
    TOPS_CHECK(topsFree(inputDevPtr));
    TOPS_CHECK(topsFree(outputDevPtr));
    TOPS_CHECK(topsHostFree(hostPtr));
    TOPS_CHECK(topsModuleUnload(module));
    printf("TOPS streams: ok, %.3f ms\n", elapsedTime);
    return 0;
}
