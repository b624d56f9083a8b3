// The TOPS document's chapter 7.1: memory, symbols and page-locked memory. A module declares the constant array; the
// program's own array of that name stands for it, as it would in a program that the vendor's compiler translates.
#include <string.h>
#include <tops/tops_runtime.h>

#include "check.h"

static const char *const kernels = R"(
__constant__ float constData[256];
__device__ int counter = 5;
__kernel void addConstants(__global float *x) {
    int i = get_global_id(0);
    x[i] += constData[i % 256];
    if (i == 0) counter += 1;
}
)";

// Stand for the symbols; their own contents are never touched.
static float constData[256];
static int counter;

int main() {
    topsModule_t module;
    topsFunction_t addConstants;
    TOPS_CHECK(topsModuleLoadData(&module, kernels));
    TOPS_CHECK(topsModuleGetFunction(&addConstants, module, "addConstants"));
    REQUIRE(gridclRegisterSymbol(module, constData, "constData") == 0);
    REQUIRE(gridclRegisterSymbol(module, &counter, "counter") == 0);

    // 7.1: linear memory, 256 floats.
    float data[256];
    int size = sizeof(data);
    void *devPtr;
    TOPS_CHECK(topsMalloc(&devPtr, size));
    for (int i = 0; i < 256; i++) {
        data[i] = float(i);
    }
    TOPS_CHECK(topsMemcpy(devPtr, data, size, topsMemcpyHostToDevice));

    // 7.1: constant memory from an array of the host.
    TOPS_CHECK(topsMemcpyToSymbol(constData, data, sizeof(data)));
    size_t bytes;
    void *where;
    TOPS_CHECK(topsGetSymbolSize(&bytes, constData));
    TOPS_CHECK(topsGetSymbolAddress(&where, constData));
    REQUIRE(bytes == sizeof(constData) && where != nullptr && where != constData);

    void *args[] = {&devPtr};
    TOPS_CHECK(topsLaunchKernel(addConstants, dim3(4), dim3(64), args));
    float result[256];
    TOPS_CHECK(topsMemcpy(result, devPtr, size, topsMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) {
        REQUIRE(result[i] == 2 * data[i]);
    }
    int counted = 0;
    TOPS_CHECK(topsMemcpyFromSymbol(&counted, &counter, sizeof(counted)));
    REQUIRE(counted == 6 && counter == 0 && constData[1] == 0);
    // A symbol is also found by its name.
    TOPS_CHECK(topsMemcpyFromSymbol(&counted, "counter", sizeof(counted)));
    REQUIRE(counted == 6);

    // 7.1: page-locked memory, allocated, and registered for memory that is there already.
    float *hostPtr;
    TOPS_CHECK(topsHostMalloc((void **)&hostPtr, size));
    TOPS_CHECK(topsMemcpy(hostPtr, devPtr, size, topsMemcpyDeviceToHost));
    REQUIRE(memcmp(hostPtr, result, size) == 0);
    TOPS_CHECK(topsHostFree(hostPtr));
    float *pageable = static_cast<float *>(malloc(size));
    TOPS_CHECK(topsHostRegister(pageable, size, topsHostRegisterDefault));
    TOPS_CHECK(topsMemcpy(pageable, devPtr, size, topsMemcpyDeviceToHost));
    REQUIRE(memcmp(pageable, result, size) == 0);
    TOPS_CHECK(topsHostUnregister(pageable));
    free(pageable);

    TOPS_CHECK(topsFree(devPtr));
    TOPS_CHECK(topsModuleUnload(module));
    REQUIRE(topsGetSymbolSize(&bytes, constData) == topsErrorInvalidSymbol);
    printf("TOPS memory: ok\n");
    return 0;
}
