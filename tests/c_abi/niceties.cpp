// What the headers add in C++: default arguments, typed pointers, dim3's constructors, helpers, texts.
#include <musa_runtime.h>
#include <string.h>
#include <tops/tops_runtime.h>

#include "../../examples/c/check.h"

static_assert(dim3().x == 1 && dim3(7).y == 1 && dim3(7, 8).z == 1 && dim3(7, 8, 9).z == 9, "what is not given is 1");
static_assert(sizeof(dim3) == 12, "three numbers");

static void stub(int *) {}

static unsigned int product(dim3 shape) { return shape.x * shape.y * shape.z; }

static void musa() {
    int device;
    MUSA_CHECK(musaGetDevice(&device));
    float *memory, *pinned, *mapped, *managed = nullptr, *pitched, *ordered;
    const float *read_only;
    size_t pitch;
    MUSA_CHECK(musaMalloc(&memory, 1024));
    MUSA_CHECK(musaMalloc(&read_only, 1024));
    MUSA_CHECK(musaMallocHost(&pinned, 1024));
    MUSA_CHECK(musaHostAlloc(&mapped, 1024));
    MUSA_CHECK(musaMallocPitch(&pitched, &pitch, 100, 3));
    MUSA_CHECK(musaMallocAsync(&ordered, 1024));
    musaError_t answer = musaMallocManaged(&managed, 1024);
    REQUIRE(answer == musaSuccess || answer == musaErrorNotSupported);

    musaStream_t stream;
    musaEvent_t event;
    MUSA_CHECK(musaStreamCreate(&stream));
    MUSA_CHECK(musaEventCreate(&event));
    MUSA_CHECK(musaMemsetAsync(memory, 0, 1024));
    MUSA_CHECK(musaMemcpyAsync(pinned, memory, 1024, musaMemcpyDeviceToHost));
    MUSA_CHECK(musaEventRecord(event));
    MUSA_CHECK(musaStreamWaitEvent(stream, event));
    MUSA_CHECK(musaStreamSynchronize(stream));
    MUSA_CHECK(musaMemset2DAsync(pitched, pitch, 0, 100, 3));

    musaPitchedPtr rows = make_musaPitchedPtr(pitched, pitch, 100, 3);
    musaExtent extent = make_musaExtent(100, 3, 1);
    musaPos position = make_musaPos(1, 2, 3);
    musaChannelFormatDesc format = musaCreateChannelDesc(8, 8, 0, 0, musaChannelFormatKindUnsigned);
    REQUIRE(rows.ptr == pitched && extent.depth == 1 && position.z == 3 && format.y == 8);
    REQUIRE(strcmp(musaGetErrorName(musaErrorNotReady), "musaErrorNotReady") == 0);
    REQUIRE(musaGetErrorName(static_cast<musaError_t>(12345))[0] != 0);
    (void)musaGetLastError();

    // A function of the program stands for a kernel wherever one is meant.
    musaModule_t module;
    musaFuncAttributes attributes;
    int grid = 0, block = 0;
    MUSA_CHECK(musaModuleLoadData(&module, "__kernel void one(__global int *x) { x[get_global_id(0)] = 1; }"));
    REQUIRE(gridclRegisterFunction(module, stub, "one") == 0);
    MUSA_CHECK(musaFuncGetAttributes(&attributes, stub));
    MUSA_CHECK(musaOccupancyMaxPotentialBlockSize(&grid, &block, stub));
    REQUIRE(attributes.maxThreadsPerBlock > 0 && grid > 0 && block > 0);
    MUSA_CHECK(musaModuleUnload(module));

    MUSA_CHECK(musaFreeAsync(ordered));
    MUSA_CHECK(musaFree(managed));
    MUSA_CHECK(musaFree(pitched));
    MUSA_CHECK(musaFreeHost(mapped));
    MUSA_CHECK(musaFreeHost(pinned));
    MUSA_CHECK(musaFree(const_cast<float *>(read_only)));
    MUSA_CHECK(musaFree(memory));
    MUSA_CHECK(musaEventDestroy(event));
    MUSA_CHECK(musaStreamDestroy(stream));
}

static void tops() {
    int *memory, *pinned, *where;
    TOPS_CHECK(topsMalloc(&memory, 1024));
    TOPS_CHECK(topsHostMalloc(&pinned, 1024));
    topsModule_t module;
    topsFunction_t add;
    TOPS_CHECK(topsModuleLoadData(&module, "__device__ int seven = 7;"
                                           "__kernel void add(__global int *x) { x[get_global_id(0)] += seven; }"));
    TOPS_CHECK(topsModuleGetFunction(&add, module, "add"));
    int eight = 8, back = 0;
    TOPS_CHECK(topsMemcpyToSymbol("seven", &eight, sizeof(eight)));
    TOPS_CHECK(topsMemcpyFromSymbol(&back, "seven", sizeof(back)));
    TOPS_CHECK(topsGetSymbolAddress(&where, "seven"));
    REQUIRE(back == 8 && where != nullptr);
    TOPS_CHECK(topsMemset(memory, 0, 1024));
    void *args[] = {&memory};
    TOPS_CHECK(topsLaunchKernel(add, 4, 64, args));
    TOPS_CHECK(topsMemcpy(pinned, memory, 1024, topsMemcpyDeviceToHost));
    REQUIRE(pinned[0] == 8 && pinned[255] == 8);
    topsEvent_t event;
    TOPS_CHECK(topsEventCreate(&event));
    TOPS_CHECK(topsEventRecord(event));
    TOPS_CHECK(topsEventSynchronize(event));
    TOPS_CHECK(topsEventDestroy(event));
    TOPS_CHECK(topsHostFree(pinned));
    TOPS_CHECK(topsFree(memory));
    TOPS_CHECK(topsModuleUnload(module));
}

int main() {
    REQUIRE(product(6) == 6 && product({2, 3}) == 6);
    musa();
    tops();
    printf("niceties: ok\n");
    return 0;
}
