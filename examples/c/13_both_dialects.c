/* One program that uses both dialects: they share device memory and dim3, and nothing else. */
#include <musa_runtime.h>
#include <string.h>
#include <tops/tops_runtime.h>

#include "check.h"

static const char *const kernels = "__kernel void plus(__global int *x, int add) { x[get_global_id(0)] += add; }";

int main(void) {
    enum { N = 256 };
    int host[N] = {0}, add = 1;
    void *memory;
    dim3 grid = {N / 64, 1, 1}, block = {64, 1, 1};

    /* Memory of one dialect is memory of the other. */
    TOPS_CHECK(topsMalloc(&memory, sizeof(host)));
    MUSA_CHECK(musaMemcpy(memory, host, sizeof(host), musaMemcpyHostToDevice));

    musaModule_t musaModule;
    topsModule_t topsModule;
    musaFunction_t musaPlus;
    topsFunction_t topsPlus;
    MUSA_CHECK(musaModuleLoadData(&musaModule, kernels));
    TOPS_CHECK(topsModuleLoadData(&topsModule, kernels));
    MUSA_CHECK(musaModuleGetFunction(&musaPlus, musaModule, "plus"));
    TOPS_CHECK(topsModuleGetFunction(&topsPlus, topsModule, "plus"));

    void *args[] = {&memory, &add};
    MUSA_CHECK(musaLaunchKernel(musaPlus, grid, block, args, 0, NULL));
    TOPS_CHECK(topsLaunchKernel(topsPlus, grid, block, args, 0, NULL));
    TOPS_CHECK(topsModuleLaunchKernel(topsPlus, 4, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    TOPS_CHECK(topsMemcpy(host, memory, sizeof(host), topsMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == 3);
    }

    /* A handle of the other dialect is a dead handle, with each dialect's own number; so are last errors. */
    topsStream_t stream;
    TOPS_CHECK(topsStreamCreate(&stream));
    REQUIRE(musaStreamQuery((musaStream_t)(void *)stream) == musaErrorContextIsDestroyed);
    REQUIRE(topsGetLastError() == topsSuccess && musaGetLastError() == musaErrorContextIsDestroyed);
    REQUIRE(topsStreamQuery((topsStream_t)(void *)musaModule) == topsErrorInvalidHandle);
    REQUIRE(topsGetLastError() == topsErrorInvalidHandle && musaGetLastError() == musaSuccess);
    REQUIRE(strstr(gridclLastErrorDetail(), "topsStreamQuery") != NULL);

    /* A host address that was registered with a module of one is good in both. */
    static const char stub = 0;
    REQUIRE(gridclRegisterFunction(musaModule, &stub, "plus") == 0);
    TOPS_CHECK(topsLaunchKernel(&stub, grid, block, args, 0, stream));
    TOPS_CHECK(topsStreamSynchronize(stream));
    MUSA_CHECK(musaMemcpy(host, memory, sizeof(host), musaMemcpyDeviceToHost));
    REQUIRE(host[N - 1] == 4);

    TOPS_CHECK(topsStreamDestroy(stream));
    MUSA_CHECK(musaModuleUnload(musaModule));
    TOPS_CHECK(topsModuleUnload(topsModule));
    MUSA_CHECK(musaFree(memory));
    printf("both dialects: ok\n");
    return 0;
}
