// Errors, as in the MUSA guide: the last error, names and texts, and the check behind a launch. gridcl adds the words:
// which call, which argument, what is wrong with it.
#include <musa_runtime.h>
#include <string.h>

#include "check.h"

static void sink(const char *detail, void *userData) {
    *static_cast<int *>(userData) += strstr(detail, "musa") == detail;
}

int main() {
    // Each error can be fetched once.
    int wrong = musaGetDevice(nullptr) == musaErrorInvalidValue;
    REQUIRE(wrong && musaPeekAtLastError() == musaErrorInvalidValue);
    musaError_t err = musaGetLastError();
    REQUIRE(err == musaErrorInvalidValue && musaGetLastError() == musaSuccess);
    printf("Error: %s\n", musaGetErrorString(err));

    const char *errorName;
    MUSA_CHECK(musaGetErrorName(&errorName, err));
    printf("Error name: %s\n", errorName);
    REQUIRE(strcmp(errorName, "musaErrorInvalidValue") == 0);
    // The SDK's form, in C++.
    REQUIRE(strcmp(musaGetErrorName(musaErrorLaunchTimeout), "musaErrorLaunchTimeout") == 0);
    REQUIRE(musaErrorInvalidDevice == 100 && musaErrorInvalidKernel == 300);
    REQUIRE(musaErrorLaunchFailure == 400 && musaErrorLaunchTimeout == 408);

    int told = 0;
    gridclSetErrorSink(sink, &told);

    // A kernel that does not compile: the words hold the compiler's.
    musaModule_t module;
    err = musaModuleLoadData(&module, "__kernel void broken(__global int *a) { a[0] = foo; }");
    REQUIRE(err == musaErrorInvalidKernel);
    printf("%s\n", gridclLastErrorDetail());
    REQUIRE(strstr(gridclLastErrorDetail(), "foo") != nullptr);

    // A launch that cannot be: the error is there at once.
    MUSA_CHECK(musaModuleLoadData(&module, "__kernel void fine(__global int *a) { a[0] = 1; }"));
    musaFunction_t fine;
    MUSA_CHECK(musaModuleGetFunction(&fine, module, "fine"));
    (void)musaGetLastError();
    int *d_a;
    MUSA_CHECK(musaMalloc(&d_a, sizeof(int)));
    void *args[] = {&d_a};
    (void)musaLaunchKernel(fine, 0, 1, args);
    err = musaGetLastError();
    REQUIRE(err == musaErrorInvalidConfiguration);
    fprintf(stdout, "the launch failed: %s\n", musaGetErrorString(err));
    REQUIRE(strstr(gridclLastErrorDetail(), "musaLaunchKernel: ") == gridclLastErrorDetail());
    REQUIRE(told == 2);
    gridclSetErrorSink(nullptr, nullptr);

    MUSA_CHECK(musaFree(d_a));
    MUSA_CHECK(musaModuleUnload(module));
    printf("errors: ok\n");
    return 0;
}
