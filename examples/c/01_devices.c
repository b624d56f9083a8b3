/* Devices, as in the MUSA guide's chapter "device management": how many, what they can do, which is current. */
#include <musa_runtime.h>
#include <stdio.h>

#include "check.h"

int main(void) {
    int deviceCount;
    MUSA_CHECK(musaGetDeviceCount(&deviceCount));
    printf("Available devices: %d\n", deviceCount);
    REQUIRE(deviceCount > 0);

    for (int deviceId = 0; deviceId < deviceCount; deviceId++) {
        musaDeviceProp_t prop;
        MUSA_CHECK(musaGetDeviceProperties(&prop, deviceId));
        printf("Device Name: %s\n", prop.name);
        printf("Total Global Memory: %zu MB\n", prop.totalGlobalMem / 1024 / 1024);
        printf("Compute Capability: %d.%d\n", prop.major, prop.minor);
        printf("Multiprocessor Count: %d\n", prop.multiProcessorCount);
        printf("Max Threads Per Block: %d\n", prop.maxThreadsPerBlock);
        printf("Warp Size: %d\n", prop.warpSize);
        REQUIRE(prop.name[0] != 0 && prop.totalGlobalMem > 0 && prop.maxThreadsPerBlock > 0);

        int processors;
        MUSA_CHECK(musaDeviceGetAttribute(&processors, musaDevAttrMultiProcessorCount, deviceId));
        REQUIRE(processors == prop.multiProcessorCount);

        MUSA_CHECK(musaSetDevice(deviceId));
        int currentDevice;
        MUSA_CHECK(musaGetDevice(&currentDevice));
        printf("Current device: %d\n", currentDevice);
        REQUIRE(currentDevice == deviceId);

        char pciBusId[16];
        MUSA_CHECK(musaDeviceGetPCIBusId(pciBusId, sizeof(pciBusId), deviceId));
        int found;
        MUSA_CHECK(musaDeviceGetByPCIBusId(&found, pciBusId));
        REQUIRE(found == deviceId);

        musaUuid_t uuid;
        MUSA_CHECK(musaDeviceGetUuid(&uuid, deviceId));
        printf("PCI %s, UUID begins with %02x%02x\n", pciBusId, uuid.bytes[0], uuid.bytes[1]);

        MUSA_CHECK(musaDeviceSynchronize());
        MUSA_CHECK(musaDeviceReset());
    }
    printf("devices: ok\n");
    return 0;
}
