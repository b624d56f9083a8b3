// CUDA's side of the comparison: the rows of main.rs, under the same names, with the same sizes, grids and blocks.
//
//   nvcc -O3 -arch=native -o native_cuda native.cu
//
// Takes orders from standard input, a line each, and answers each with a line: "open ROW" makes a row ready, "run TIMES"
// does it so often in a row and answers the seconds of one time, "close" checks the result. The argument shifts all sizes to the right.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cudaError_t code_ = (call);                                                                                    \
        if (code_ != cudaSuccess) {                                                                                    \
            std::printf("error %s: %s\n", #call, cudaGetErrorString(code_));                                           \
            std::fflush(stdout);                                                                                       \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

namespace {

const size_t MIB = size_t(1) << 20;
const size_t CHUNK = 64 * MIB;
const unsigned BLOCK = 256;
unsigned shift_by = 0;

size_t sized(size_t mib) { return mib * MIB >> shift_by; }

// ---- the kernels ----

__global__ void one(float *a)
{
    if (a == nullptr)
        a[1] = 1;
}

__global__ void spin(float *x, unsigned turns)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (unsigned turn = 0; turn < turns; turn++)
        value = value * 0.999f + 0.001f;
    x[i] = value;
}

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

const unsigned TILE = 16;

__global__ void __launch_bounds__(TILE *TILE)
    matmul(const float *a, const float *b, float *c, unsigned rows, unsigned inner, unsigned columns)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (unsigned start = 0; start < inner; start += TILE) {
        left[y][x] = row < rows && start + x < inner ? a[row * inner + start + x] : 0.0f;
        right[y][x] = start + y < inner && column < columns ? b[(start + y) * columns + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}

__global__ void __launch_bounds__(BLOCK) reduce_sum(const float *from, float *to, unsigned n)
{
    __shared__ float shared[BLOCK];
    const unsigned item = threadIdx.x, stride = gridDim.x * BLOCK;
    float mine = 0;
    for (unsigned i = blockIdx.x * BLOCK + item; i < n; i += stride)
        mine += from[i];
    shared[item] = mine;
    for (unsigned width = BLOCK / 2; width > 0; width /= 2) {
        __syncthreads();
        if (item < width)
            shared[item] += shared[item + width];
    }
    if (item == 0)
        to[blockIdx.x] = shared[0];
}

__global__ void __launch_bounds__(BLOCK)
    nbody_step(const float4 *from, float4 *to, float4 *velocities, unsigned n, float dt, float softening)
{
    __shared__ float4 tile[BLOCK];
    const unsigned item = threadIdx.x, i = blockIdx.x * BLOCK + item;
    const float4 none = make_float4(0, 0, 0, 0), own = i < n ? from[i] : none;
    float ax = 0, ay = 0, az = 0;
    for (unsigned start = 0; start < n; start += BLOCK) {
        tile[item] = start + item < n ? from[start + item] : none;
        __syncthreads();
#pragma unroll 16
        for (unsigned k = 0; k < BLOCK; k++) {
            const float4 other = tile[k];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float near = rsqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
            const float pull = other.w * near * near * near;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        float4 velocity = velocities[i];
        velocity.x += dt * ax;
        velocity.y += dt * ay;
        velocity.z += dt * az;
        velocities[i] = velocity;
        to[i] = make_float4(own.x + dt * velocity.x, own.y + dt * velocity.y, own.z + dt * velocity.z, own.w);
    }
}

__global__ void heat_step(const float *from, float *to, unsigned width, unsigned height, unsigned depth, float rate)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= width || y >= height || z >= depth)
        return;
    const unsigned row = width, slice = width * height;
    const unsigned at = z * slice + y * row + x;
    const float here = from[at];
    if (x == 0 || y == 0 || z == 0 || x == width - 1 || y == height - 1 || z == depth - 1) {
        to[at] = here;
        return;
    }
    const float around =
        from[at - 1] + from[at + 1] + from[at - row] + from[at + row] + from[at - slice] + from[at + slice];
    to[at] = here + rate * (around - 6.0f * here);
}

const unsigned SIDE = 32, STEP = 8;

__global__ void __launch_bounds__(SIDE *STEP) transpose(const float *from, float *to, unsigned rows, unsigned columns)
{
    __shared__ float tile[SIDE][SIDE + 1];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
#pragma unroll
    for (unsigned j = 0; j < SIDE; j += STEP)
        if (top + y + j < rows && left + x < columns)
            tile[y + j][x] = from[(top + y + j) * columns + left + x];
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < SIDE; j += STEP)
        if (left + y + j < columns && top + x < rows)
            to[(left + y + j) * rows + top + x] = tile[x][y + j];
}

__global__ void histogram(const unsigned char *data, unsigned *bins, unsigned n)
{
    __shared__ unsigned counts[256];
    const unsigned item = threadIdx.x, block = blockDim.x;
    const unsigned first = blockIdx.x * block + item, stride = gridDim.x * block;
    for (unsigned bin = item; bin < 256; bin += block)
        counts[bin] = 0;
    __syncthreads();
    for (unsigned i = first; i < n / 4; i += stride) {
        const uchar4 four = reinterpret_cast<const uchar4 *>(data)[i];
        atomicAdd(&counts[four.x], 1u);
        atomicAdd(&counts[four.y], 1u);
        atomicAdd(&counts[four.z], 1u);
        atomicAdd(&counts[four.w], 1u);
    }
    for (unsigned i = n / 4 * 4 + first; i < n; i += stride)
        atomicAdd(&counts[data[i]], 1u);
    __syncthreads();
    for (unsigned bin = item; bin < 256; bin += block)
        if (counts[bin] > 0)
            atomicAdd(&bins[bin], counts[bin]);
}

// ---- memory ----

uint32_t bits(float value)
{
    uint32_t word;
    std::memcpy(&word, &value, 4);
    return word;
}

float number(uint32_t word)
{
    float value;
    std::memcpy(&value, &word, 4);
    return value;
}

template <class Word> struct Memory {
    Word *at = nullptr;
    size_t bytes;

    explicit Memory(size_t bytes) : bytes(bytes) { OK(cudaMalloc(reinterpret_cast<void **>(&at), bytes)); }
    Memory(const Memory &) = delete;
    ~Memory() { OK(cudaFree(at)); }

    // Words as `word` says of their numbers.
    template <class F> void fill(F word)
    {
        std::vector<uint32_t> chunk;
        const size_t words = bytes / 4;
        for (size_t start = 0; start < words; start += CHUNK / 4) {
            const size_t count = std::min(CHUNK / 4, words - start);
            chunk.resize(count);
            for (size_t i = 0; i < count; i++)
                chunk[i] = word(start + i);
            OK(cudaMemcpy(reinterpret_cast<char *>(at) + 4 * start, chunk.data(), 4 * count, cudaMemcpyHostToDevice));
        }
    }

    std::vector<uint32_t> words() const
    {
        std::vector<uint32_t> all(bytes / 4);
        OK(cudaMemcpy(all.data(), at, bytes, cudaMemcpyDeviceToHost));
        return all;
    }

    template <class F> std::string expect(F word) const
    {
        const std::vector<uint32_t> got = words();
        for (size_t i = 0; i < got.size(); i++)
            if (got[i] != word(i))
                return "word " + std::to_string(i) + " is wrong";
        return "";
    }
};

using Floats = Memory<float>;
using Bytes = Memory<unsigned char>;

struct Stream {
    cudaStream_t raw;
    Stream() { OK(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking)); }
    Stream(const Stream &) = delete;
    ~Stream() { OK(cudaStreamDestroy(raw)); }
    void wait() const { OK(cudaStreamSynchronize(raw)); }
};

struct Host {
    char *at;
    size_t bytes;
    bool pinned;

    Host(size_t bytes, bool pinned) : bytes(bytes), pinned(pinned)
    {
        if (pinned)
            OK(cudaMallocHost(reinterpret_cast<void **>(&at), bytes));
        else
            at = static_cast<char *>(std::malloc(bytes));
        std::memset(at, 1, bytes);
    }
    Host(const Host &) = delete;
    ~Host()
    {
        if (pinned)
            OK(cudaFreeHost(at));
        else
            std::free(at);
    }
    uint32_t *words() { return reinterpret_cast<uint32_t *>(at); }
};

// ---- rows ----

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start, size_t count)
{
    return std::chrono::duration<double>(Clock::now() - start).count() / double(count);
}

struct Work {
    virtual ~Work() = default;
    // Does it several times in a row and answers the seconds of one time.
    virtual double sample(size_t times) = 0;
    // What is wrong with the result, or nothing.
    virtual std::string check() { return ""; }
};

uint32_t mixed(size_t index) { return uint32_t(index) * 0x9E3779B9u; }

float noise(size_t index)
{
    uint32_t word = uint32_t(index) * 0x9E3779B9u;
    word = (word ^ word >> 15) * 0x85EBCA6Bu;
    return float(word >> 8) / float(1 << 23) - 1.0f;
}

struct Small : Work {
    enum Op { Launch, LaunchAndWait, Record, Cross } op;
    Floats memory{4096};
    Stream streams[2];
    cudaEvent_t event;

    explicit Small(Op op) : op(op) { OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
    ~Small() override { OK(cudaEventDestroy(event)); }
    double sample(size_t times) override
    {
        const auto start = Clock::now();
        for (size_t i = 0; i < times; i++) {
            if (op == Launch || op == LaunchAndWait)
                one<<<1, 64, 0, streams[0].raw>>>(memory.at);
            if (op == LaunchAndWait)
                streams[0].wait();
            if (op == Record || op == Cross)
                OK(cudaEventRecord(event, streams[0].raw));
            if (op == Cross)
                OK(cudaStreamWaitEvent(streams[1].raw, event, 0));
        }
        const double time = since(start, times);
        OK(cudaGetLastError());
        streams[0].wait();
        streams[1].wait();
        return time;
    }
};

struct Copy : Work {
    Host host;
    Bytes memory;
    bool up;

    Copy(size_t bytes, bool pinned, bool up) : host(bytes, pinned), memory(bytes), up(up)
    {
        for (size_t i = 0; i < bytes / 4; i++)
            host.words()[i] = up ? mixed(i) : 0;
        memory.fill([up](size_t i) { return up ? 0 : mixed(i); });
    }
    double sample(size_t times) override
    {
        const auto start = Clock::now();
        for (size_t i = 0; i < times; i++) {
            if (up)
                OK(cudaMemcpy(memory.at, host.at, memory.bytes, cudaMemcpyHostToDevice));
            else
                OK(cudaMemcpy(host.at, memory.at, memory.bytes, cudaMemcpyDeviceToHost));
            // A copy of pageable memory to the device may return before it is there.
            OK(cudaStreamSynchronize(nullptr));
        }
        return since(start, times);
    }
    std::string check() override
    {
        if (up)
            return memory.expect(mixed);
        for (size_t i = 0; i < memory.bytes / 4; i++)
            if (host.words()[i] != mixed(i))
                return "word " + std::to_string(i) + " is wrong";
        return "";
    }
};

struct Within : Work {
    Bytes to, from;
    Stream stream;

    explicit Within(size_t bytes) : to(bytes), from(bytes)
    {
        to.fill([](size_t) { return 0; });
        from.fill(mixed);
    }
    double sample(size_t times) override
    {
        const auto start = Clock::now();
        for (size_t i = 0; i < times; i++)
            OK(cudaMemcpyAsync(to.at, from.at, to.bytes, cudaMemcpyDeviceToDevice, stream.raw));
        stream.wait();
        return since(start, times);
    }
    std::string check() override { return to.expect(mixed); }
};

struct Set : Work {
    Bytes memory;
    size_t first, less;
    Stream stream;

    Set(size_t bytes, size_t first, size_t less) : memory(bytes), first(first), less(less)
    {
        memory.fill([](size_t) { return 0; });
    }
    double sample(size_t times) override
    {
        const auto start = Clock::now();
        for (size_t i = 0; i < times; i++)
            OK(cudaMemsetAsync(memory.at + first, 0x5A, memory.bytes - less, stream.raw));
        stream.wait();
        return since(start, times);
    }
    std::string check() override
    {
        const size_t end = first + memory.bytes - less;
        return memory.expect([&](size_t word) {
            uint32_t value = 0;
            for (size_t at = 0; at < 4; at++)
                if (4 * word + at >= first && 4 * word + at < end)
                    value |= 0x5Au << (8 * at);
            return value;
        });
    }
};

struct Malloc : Work {
    size_t bytes;

    explicit Malloc(size_t bytes) : bytes(bytes) {}
    double sample(size_t times) override
    {
        const auto start = Clock::now();
        for (size_t i = 0; i < times; i++)
            Bytes memory(bytes);
        return since(start, times);
    }
};

const size_t PARTS = 64;

struct Pipeline : Work {
    enum Stage { In, Kernel, Out, All } stage;
    size_t part = 8 * MIB >> shift_by;
    Host source{PARTS * part, true}, target{PARTS * part, true};
    Bytes memory{PARTS * part};
    Stream streams[4];

    explicit Pipeline(Stage stage) : stage(stage)
    {
        for (size_t i = 0; i < source.bytes / 4; i++)
            source.words()[i] = bits(float(i % 1024));
        memory.fill([](size_t) { return 0; });
    }
    double sample(size_t times) override
    {
        const auto start = Clock::now();
        for (size_t turn = 0; turn < times * PARTS; turn++) {
            const size_t number = turn % PARTS;
            cudaStream_t stream = streams[stage == All ? number % 4 : 0].raw;
            const size_t at = number * part;
            if (stage == In || stage == All)
                OK(cudaMemcpyAsync(memory.at + at, source.at + at, part, cudaMemcpyHostToDevice, stream));
            if (stage == Kernel || stage == All)
                spin<<<unsigned(part / 4 / BLOCK), BLOCK, 0, stream>>>(reinterpret_cast<float *>(memory.at + at), 1000);
            if (stage == Out || stage == All)
                OK(cudaMemcpyAsync(target.at + at, memory.at + at, part, cudaMemcpyDeviceToHost, stream));
        }
        OK(cudaGetLastError());
        for (Stream &stream : streams)
            stream.wait();
        return since(start, times);
    }
    std::string check() override
    {
        if (stage != All)
            return "";
        std::vector<float> expected(1024);
        for (size_t i = 0; i < 1024; i++) {
            expected[i] = float(i);
            for (int turn = 0; turn < 1000; turn++)
                expected[i] = std::fma(expected[i], 0.999f, 0.001f);
        }
        for (size_t i = 0; i < target.bytes / 4; i++) {
            const float wanted = expected[i % 1024];
            if (!(std::fabs(number(target.words()[i]) - wanted) <= 1e-3f * std::fmax(std::fabs(wanted), 1.0f)))
                return "element " + std::to_string(i) + " is wrong";
        }
        return "";
    }
};

// Launches one after the other; `check` looks at what they did.
struct Kernels : Work {
    std::vector<std::unique_ptr<Floats>> memory;
    Stream stream;
    std::function<void(Kernels &)> launch;
    std::function<std::string(Kernels &)> look;
    unsigned ran = 0;

    template <class F> void block(size_t words, F word)
    {
        memory.push_back(std::unique_ptr<Floats>(new Floats(4 * words)));
        memory.back()->fill(word);
    }
    float *at(size_t index) { return memory[index]->at; }
    double sample(size_t times) override
    {
        const auto start = Clock::now();
        for (size_t i = 0; i < times; i++)
            launch(*this);
        OK(cudaGetLastError());
        stream.wait();
        ran += unsigned(times);
        return since(start, times);
    }
    std::string check() override { return look(*this); }
};

std::string far_from(double got, double wanted, double by, size_t at)
{
    return std::fabs(got - wanted) <= by ? "" : "element " + std::to_string(at) + " is wrong";
}

std::unique_ptr<Kernels> open_vector_add(size_t n)
{
    std::unique_ptr<Kernels> work(new Kernels);
    const auto a = [](size_t i) { return float(i % 4099); };
    const auto b = [](size_t i) { return float(i % 1021); };
    work->block(n, [=](size_t i) { return bits(a(i)); });
    work->block(n, [=](size_t i) { return bits(b(i)); });
    work->block(n, [](size_t) { return 0; });
    work->launch = [n](Kernels &k) {
        vector_add<<<unsigned(n / BLOCK), BLOCK, 0, k.stream.raw>>>(k.at(0), k.at(1), k.at(2), int(n));
    };
    work->look = [=](Kernels &k) { return k.memory[2]->expect([=](size_t i) { return bits(a(i) + b(i)); }); };
    return work;
}

std::unique_ptr<Kernels> open_matmul(size_t side)
{
    std::unique_ptr<Kernels> work(new Kernels);
    const size_t n = side * side;
    const auto b = [](size_t i) { return noise(i ^ 0x55555555u); };
    work->block(n, [](size_t i) { return bits(noise(i)); });
    work->block(n, [=](size_t i) { return bits(b(i)); });
    work->block(n, [](size_t) { return 0; });
    work->launch = [side](Kernels &k) {
        const unsigned s = unsigned(side), tiles = s / TILE;
        matmul<<<dim3(tiles, tiles), dim3(TILE, TILE), 0, k.stream.raw>>>(k.at(0), k.at(1), k.at(2), s, s, s);
    };
    work->look = [=](Kernels &k) {
        const std::vector<uint32_t> c = k.memory[2]->words();
        for (size_t at = 0; at < n; at += n / 251) {
            double sum = 0;
            for (size_t i = 0; i < side; i++)
                sum += double(noise(at / side * side + i)) * b(i * side + at % side);
            const std::string wrong = far_from(number(c[at]), sum, 1e-2, at);
            if (!wrong.empty())
                return wrong;
        }
        return std::string();
    };
    return work;
}

std::unique_ptr<Kernels> open_reduce(size_t n)
{
    std::unique_ptr<Kernels> work(new Kernels);
    const unsigned GRID = 2048;
    work->block(n, [](size_t i) { return bits(float(i % 5)); });
    work->block(GRID, [](size_t) { return 0; });
    work->block(1, [](size_t) { return 0; });
    work->launch = [=](Kernels &k) {
        reduce_sum<<<GRID, BLOCK, 0, k.stream.raw>>>(k.at(0), k.at(1), unsigned(n));
        reduce_sum<<<1, BLOCK, 0, k.stream.raw>>>(k.at(1), k.at(2), GRID);
    };
    work->look = [=](Kernels &k) {
        double wanted = 0;
        for (size_t i = 0; i < n; i++)
            wanted += double(i % 5);
        return far_from(number(k.memory[2]->words()[0]), wanted, 1e-4 * wanted, 0);
    };
    return work;
}

std::unique_ptr<Kernels> open_nbody(size_t n)
{
    std::unique_ptr<Kernels> work(new Kernels);
    const float softening = 0.05f;
    const auto body = [n](size_t i) { return i % 4 == 3 ? 1.0f / float(n) : noise(i); };
    work->block(4 * n, [=](size_t i) { return bits(body(i)); });
    work->block(4 * n, [](size_t) { return 0; });
    work->block(4 * n, [](size_t) { return 0; });
    work->launch = [=](Kernels &k) {
        nbody_step<<<unsigned((n + BLOCK - 1) / BLOCK), BLOCK, 0, k.stream.raw>>>(
            reinterpret_cast<const float4 *>(k.at(0)), reinterpret_cast<float4 *>(k.at(1)),
            reinterpret_cast<float4 *>(k.at(2)), unsigned(n), 1.0f, softening);
    };
    work->look = [=](Kernels &k) {
        const std::vector<uint32_t> velocities = k.memory[2]->words();
        for (size_t at = 0; at < n; at += n / 13) {
            double pull[3] = {0, 0, 0};
            for (size_t other = 0; other < n; other++) {
                double d[3], square = double(softening) * softening;
                for (int axis = 0; axis < 3; axis++) {
                    d[axis] = double(body(4 * other + axis)) - body(4 * at + axis);
                    square += d[axis] * d[axis];
                }
                for (int axis = 0; axis < 3; axis++)
                    pull[axis] += body(4 * other + 3) / (square * std::sqrt(square)) * d[axis];
            }
            const double size = std::sqrt(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2]);
            for (int axis = 0; axis < 3; axis++) {
                const double got = double(number(velocities[4 * at + axis])) / k.ran;
                const std::string wrong = far_from(got, pull[axis], 1e-2 * std::fmax(size, 1e-3), at);
                if (!wrong.empty())
                    return wrong;
            }
        }
        return std::string();
    };
    return work;
}

std::unique_ptr<Kernels> open_stencil(size_t side)
{
    std::unique_ptr<Kernels> work(new Kernels);
    const float rate = 0.1f;
    const size_t n = side * side * side;
    work->block(n, [](size_t i) { return bits(noise(i)); });
    work->block(n, [](size_t) { return 0; });
    work->launch = [=](Kernels &k) {
        const unsigned s = unsigned(side);
        heat_step<<<dim3(s / 64, s / 4, s), dim3(64, 4), 0, k.stream.raw>>>(k.at(0), k.at(1), s, s, s, rate);
    };
    work->look = [=](Kernels &k) {
        const std::vector<uint32_t> to = k.memory[1]->words();
        for (size_t at = 0; at < n; at += n / 10007) {
            const size_t place[3] = {at % side, at / side % side, at / side / side};
            bool surface = false;
            for (size_t x : place)
                surface = surface || x == 0 || x == side - 1;
            float wanted = noise(at);
            if (!surface) {
                float around = 0;
                for (size_t step : {size_t(1), side, side * side})
                    around += noise(at - step) + noise(at + step);
                wanted += rate * (around - 6.0f * noise(at));
            }
            const std::string wrong = far_from(number(to[at]), wanted, 1e-5, at);
            if (!wrong.empty())
                return wrong;
        }
        return std::string();
    };
    return work;
}

std::unique_ptr<Kernels> open_transpose(size_t side)
{
    std::unique_ptr<Kernels> work(new Kernels);
    const size_t n = side * side;
    work->block(n, [](size_t i) { return uint32_t(i); });
    work->block(n, [](size_t) { return 0; });
    work->launch = [=](Kernels &k) {
        const unsigned s = unsigned(side), tiles = s / SIDE;
        transpose<<<dim3(tiles, tiles), dim3(SIDE, STEP), 0, k.stream.raw>>>(k.at(0), k.at(1), s, s);
    };
    work->look = [=](Kernels &k) {
        return k.memory[1]->expect([=](size_t i) { return uint32_t(i % side * side + i / side); });
    };
    return work;
}

std::unique_ptr<Kernels> open_histogram(size_t n)
{
    std::unique_ptr<Kernels> work(new Kernels);
    const auto word = [](size_t i) {
        const uint32_t word = uint32_t(i) * 0x9E3779B9u;
        return (word ^ word >> 15) * 0x85EBCA6Bu;
    };
    work->block(n / 4, word);
    work->block(256, [](size_t) { return 0; });
    work->launch = [=](Kernels &k) {
        histogram<<<2048, BLOCK, 0, k.stream.raw>>>(reinterpret_cast<const unsigned char *>(k.at(0)),
                                                    reinterpret_cast<unsigned *>(k.at(1)), unsigned(n));
    };
    work->look = [=](Kernels &k) {
        std::vector<uint32_t> counts(256);
        for (size_t i = 0; i < n / 4; i++)
            for (int byte = 0; byte < 4; byte++)
                counts[word(i) >> (8 * byte) & 255]++;
        return k.memory[1]->expect([&](size_t bin) { return uint32_t(counts[bin] * k.ran); });
    };
    return work;
}

std::unique_ptr<Work> open(const std::string &row)
{
    using P = std::unique_ptr<Work>;
    const unsigned half = shift_by / 2, third = shift_by / 3;
    if (row == "launch") return P(new Small(Small::Launch));
    if (row == "sync") return P(new Small(Small::LaunchAndWait));
    if (row == "record") return P(new Small(Small::Record));
    if (row == "cross") return P(new Small(Small::Cross));
    if (row == "h2d_pinned") return P(new Copy(sized(256), true, true));
    if (row == "d2h_pinned") return P(new Copy(sized(256), true, false));
    if (row == "h2d_pageable_64") return P(new Copy(sized(64), false, true));
    if (row == "d2h_pageable_64") return P(new Copy(sized(64), false, false));
    if (row == "h2d_pageable_256") return P(new Copy(sized(256), false, true));
    if (row == "d2h_pageable_256") return P(new Copy(sized(256), false, false));
    if (row == "d2d") return P(new Within(sized(1024)));
    if (row == "memset" || row == "memset_wait") return P(new Set(sized(1024), 0, 0));
    if (row == "memset_odd") return P(new Set(sized(1024), 1, 3));
    if (row == "malloc_1k") return P(new Malloc(1 << 10));
    if (row == "malloc_64k") return P(new Malloc(64 << 10));
    if (row == "malloc_1m") return P(new Malloc(MIB));
    if (row == "malloc_64m") return P(new Malloc(sized(64)));
    if (row == "stage_in") return P(new Pipeline(Pipeline::In));
    if (row == "stage_kernel") return P(new Pipeline(Pipeline::Kernel));
    if (row == "stage_out") return P(new Pipeline(Pipeline::Out));
    if (row == "pipeline") return P(new Pipeline(Pipeline::All));
    if (row == "vector_add") return open_vector_add(256 * MIB >> shift_by);
    if (row == "matmul") return open_matmul(4096 >> half);
    if (row == "reduce") return open_reduce(256 * MIB >> shift_by);
    if (row == "nbody") return open_nbody(131072 >> half);
    if (row == "stencil" || row == "stencil_wait") return open_stencil(512 >> third);
    if (row == "transpose") return open_transpose(16384 >> half);
    if (row == "histogram") return open_histogram(1024 * MIB >> shift_by);
    return nullptr;
}

} // namespace

int main(int count, char **arguments)
{
    if (count > 1)
        shift_by = unsigned(std::atoi(arguments[1]));
    cudaDeviceProp device;
    int driver = 0, runtime = 0;
    OK(cudaGetDeviceProperties(&device, 0));
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    std::printf("%s, driver's CUDA %d, runtime %d\n", device.name, driver, runtime);
    std::fflush(stdout);
    std::unique_ptr<Work> work;
    for (std::string order; std::getline(std::cin, order) && order != "quit"; std::fflush(stdout)) {
        if (order.compare(0, 5, "open ") == 0) {
            work = open(order.substr(5));
            OK(cudaDeviceSynchronize());
            std::puts(work ? "ok" : "no such row");
        } else if (order.compare(0, 4, "run ") == 0 && work) {
            std::printf("%.9g\n", work->sample(std::stoul(order.substr(4))));
        } else if (order == "close" && work) {
            const std::string wrong = work->check();
            work.reset();
            std::puts(wrong.empty() ? "ok" : wrong.c_str());
        } else {
            std::puts("what?");
        }
    }
}
