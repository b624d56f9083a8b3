/* Interprocess events, as in the MUSA guide. The program starts itself a second time: the second process opens the
 * event of the first and waits for it. What it waits for is a callback in the first one's stream, which the first
 * process lets go only after the second has seen that the event is pending. */
#define _POSIX_C_SOURCE 200809L
#include <musa_runtime.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void read_all(int from, void *to, size_t size) {
    for (size_t have = 0; have < size;) {
        ssize_t got = read(from, (char *)to + have, size - have);
        REQUIRE(got > 0);
        have += (size_t)got;
    }
}

static void MUSART_CB hold(musaStream_t stream, musaError_t status, void *userData) {
    (void)stream;
    (void)status;
    char go;
    /* Until the second process says so. */
    read_all(*(int *)userData, &go, 1);
}

/* The second process: reads the handle from its standard input, answers on its standard output. */
static int second(void) {
    musaIpcEventHandle_t handle;
    musaEvent_t remoteEvent;
    musaStream_t stream;
    read_all(STDIN_FILENO, &handle, sizeof(handle));
    MUSA_CHECK(musaIpcOpenEventHandle(&remoteEvent, handle));
    REQUIRE(musaEventQuery(remoteEvent) == musaErrorNotReady);
    MUSA_CHECK(musaStreamCreate(&stream));
    MUSA_CHECK(musaStreamWaitEvent(stream, remoteEvent, 0));
    REQUIRE(write(STDOUT_FILENO, "g", 1) == 1);
    MUSA_CHECK(musaStreamSynchronize(stream));
    REQUIRE(musaEventQuery(remoteEvent) == musaSuccess);
    MUSA_CHECK(musaEventDestroy(remoteEvent));
    MUSA_CHECK(musaStreamDestroy(stream));
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "second") == 0) {
        return second();
    }
    /* Started before the first call: a process that has used the runtime can only exec. */
    int to[2], from[2];
    REQUIRE(pipe(to) == 0 && pipe(from) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execl("/proc/self/exe", argv[0], "second", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);

    musaEvent_t ipcEvent;
    musaStream_t stream;
    MUSA_CHECK(musaStreamCreate(&stream));
    MUSA_CHECK(musaEventCreateWithFlags(&ipcEvent, musaEventInterprocess | musaEventDisableTiming));
    MUSA_CHECK(musaStreamAddCallback(stream, hold, &from[0], 0));
    MUSA_CHECK(musaEventRecord(ipcEvent, stream));

    musaIpcEventHandle_t handle;
    MUSA_CHECK(musaIpcGetEventHandle(&handle, ipcEvent));
    REQUIRE(write(to[1], &handle, sizeof(handle)) == (ssize_t)sizeof(handle));

    int status = -1;
    MUSA_CHECK(musaEventSynchronize(ipcEvent));
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    MUSA_CHECK(musaEventDestroy(ipcEvent));
    MUSA_CHECK(musaStreamDestroy(stream));
    printf("interprocess event: ok\n");
    return 0;
}
