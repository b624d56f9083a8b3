/* On a machine without an OpenCL loader: the library loads, and the first call says what is missing. */
#include <musa_runtime.h>
#include <stdio.h>
#include <string.h>
#include <tops/tops_runtime.h>

#define EXPECT(what) do { if (!(what)) { printf("not so: %s: %s\n", #what, gridclLastErrorDetail()); return 1; } } while (0)

int main(void) {
    int count = 7;
    void* memory = NULL;
    EXPECT(strcmp(gridclLastErrorDetail(), "") == 0);
    EXPECT(musaMalloc(&memory, 64) == musaErrorDevicesUnavailable);
    EXPECT(strstr(gridclLastErrorDetail(), "musaMalloc: no OpenCL device") != NULL);
    EXPECT(strstr(gridclLastErrorDetail(), "OPENCL_DYLIB_PATH") != NULL);
    EXPECT(musaGetDeviceCount(&count) == musaErrorDevicesUnavailable && count == 0);
    EXPECT(topsGetDeviceCount(&count) == topsErrorNoDevice && count == 0);
    EXPECT(musaGetLastError() == musaErrorDevicesUnavailable);
    EXPECT(musaGetLastError() == musaSuccess);
    printf("says what is missing\n");
    return 0;
}
