// Eight threads, each with streams, events and memory of its own, and one module that all of them launch from. Threads
// hand buffers to each other through events: thread t reads what thread t - 1 wrote in the round before.
#include <musa_runtime.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

static const char *const kernels = R"(
__device__ int launches;
__kernel void advance(__global int *to, __global const int *from, int add, int n) {
    int i = get_global_id(0);
    if (i < n) to[i] = from[i] + add;
    if (i == 0) atomic_inc(&launches);
}
)";

static void advance(int *, const int *, int, int) {}
static int launches;

constexpr int threads = 8, rounds = 40, n = 5000;

// Where threads meet between two rounds.
class Barrier {
public:
    void meet() {
        std::unique_lock<std::mutex> lock(mutex);
        int mine = generation;
        if (++arrived == threads) {
            arrived = 0;
            ++generation;
            condition.notify_all();
            return;
        }
        condition.wait(lock, [&] { return generation != mine; });
    }

private:
    std::mutex mutex;
    std::condition_variable condition;
    int arrived = 0, generation = 0;
};

struct Lane {
    musaStream_t stream;
    musaEvent_t written[2];
    int *data[2];
};

int main() {
    musaModule_t module;
    MUSA_CHECK(musaModuleLoadData(&module, kernels));
    REQUIRE(gridclRegisterFunction(module, advance, "advance") == 0);
    REQUIRE(gridclRegisterSymbol(module, &launches, "launches") == 0);

    std::vector<Lane> lanes(threads);
    Barrier barrier;
    std::atomic<int> errors{0};

    auto body = [&](int t) {
        // Errors are each thread's own.
        REQUIRE(musaGetLastError() == musaSuccess);
        Lane &lane = lanes[t];
        MUSA_CHECK(musaStreamCreateWithFlags(&lane.stream, t % 2 ? musaStreamNonBlocking : musaStreamDefault));
        for (int i = 0; i < 2; i++) {
            MUSA_CHECK(musaEventCreateWithFlags(&lane.written[i], musaEventDisableTiming));
            MUSA_CHECK(musaMalloc(&lane.data[i], n * sizeof(int)));
            MUSA_CHECK(musaMemsetAsync(lane.data[i], 0, n * sizeof(int), lane.stream));
            MUSA_CHECK(musaEventRecord(lane.written[i], lane.stream));
        }
        barrier.meet();
        for (int round = 0; round < rounds; round++) {
            Lane &before = lanes[(t + threads - 1) % threads], &after = lanes[(t + 1) % threads];
            int now = round % 2, then = 1 - now;
            // Behind the writer of what is read, and behind the reader of what is written over.
            MUSA_CHECK(musaStreamWaitEvent(lane.stream, before.written[then], 0));
            MUSA_CHECK(musaStreamWaitEvent(lane.stream, after.written[then], 0));
            barrier.meet();
            int *to = lane.data[now], *from = before.data[then], add = 1, count = n;
            void *args[] = {&to, &from, &add, &count};
            MUSA_CHECK(musaLaunchKernel(advance, (n + 63) / 64, 64, args, 0, lane.stream));
            MUSA_CHECK(musaEventRecord(lane.written[now], lane.stream));
            if (musaFree(reinterpret_cast<void *>(16)) == musaErrorInvalidValue) {
                errors += musaGetLastError() == musaErrorInvalidValue;
            }
            barrier.meet();
        }
        std::vector<int> result(n);
        MUSA_CHECK(musaMemcpyAsync(result.data(), lane.data[(rounds - 1) % 2], n * sizeof(int), musaMemcpyDeviceToHost,
                                   lane.stream));
        MUSA_CHECK(musaStreamSynchronize(lane.stream));
        for (int value : result) {
            REQUIRE(value == rounds);
        }
        barrier.meet();
        for (int i = 0; i < 2; i++) {
            MUSA_CHECK(musaFree(lane.data[i]));
            MUSA_CHECK(musaEventDestroy(lane.written[i]));
        }
        MUSA_CHECK(musaStreamDestroy(lane.stream));
    };

    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) {
        all.emplace_back(body, t);
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    int counted = 0;
    MUSA_CHECK(musaMemcpyFromSymbol(&counted, &launches, sizeof(counted)));
    REQUIRE(counted == threads * rounds && errors == threads * rounds);
    REQUIRE(musaGetLastError() == musaSuccess);
    MUSA_CHECK(musaModuleUnload(module));
    printf("%d threads, %d launches: ok\n", threads, counted);
    return 0;
}
