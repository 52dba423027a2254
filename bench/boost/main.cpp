// The cases of bench/src/case/table.rs for Boost.Fiber.
//
// Arguments and answers are those of a child of `compare`: CASE WORKERS N WARMUPS ROUNDS
// STACK in, one `SERIES NUMBER` a line out, or `skip REASON`.
//
// On one worker the default round-robin scheduler runs everything. On two, both threads use
// `work_stealing` and spin when idle: a suspended thread of it is not woken by new work.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>
#include <boost/version.hpp>

namespace fibers = boost::fibers;

struct Job {
    std::string name;
    unsigned workers;
    std::uint64_t n, warmups, rounds;
    std::size_t stack;
};

static std::int64_t now() {
    static auto const start = std::chrono::steady_clock::now();
    auto const elapsed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count() + 1;
}

static void sample(char const* series, double value) { std::printf("%s %f\n", series, value); }

static std::vector<double> rounds(Job const& job, std::function<void()> const& round) {
    std::vector<double> times;
    for (std::uint64_t index = 0; index < job.warmups + job.rounds; ++index) {
        auto const from = now();
        round();
        if (index >= job.warmups) times.push_back(double(now() - from));
    }
    return times;
}

static double status(std::string const& name) {
    std::ifstream file{"/proc/self/status"};
    for (std::string line; std::getline(file, line);)
        if (line.rfind(name, 0) == 0) return std::atof(line.c_str() + name.size());
    return 0;
}

// Counts fibers down to zero and wakes the one that waits.
class Countdown {
public:
    explicit Countdown(std::uint64_t count) : left_{count} {}
    void done() {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            std::lock_guard<fibers::mutex> lock{mutex_};
            ended_ = true;
            changed_.notify_one();
        }
    }
    void wait() {
        std::unique_lock<fibers::mutex> lock{mutex_};
        changed_.wait(lock, [this] { return ended_; });
    }

private:
    std::atomic<std::uint64_t> left_;
    bool ended_ = false;
    fibers::mutex mutex_;
    fibers::condition_variable changed_;
};

// On one worker stacks come from a pool that keeps them for the next fiber. The pool is not
// safe between threads, so on two workers they come from the allocator, which is told to
// keep what it has instead of mapping every stack anew.
template <typename Work>
static fibers::fiber spawn(Job const& job, Work&& work) {
    static auto const size =
        job.stack != 0 ? job.stack : fibers::fixedsize_stack::traits_type::default_size();
    static fibers::pooled_fixedsize_stack pool{size};
    static fibers::fixedsize_stack plain{size};
    if (job.workers == 1)
        return fibers::fiber{std::allocator_arg, pool, std::forward<Work>(work)};
    return fibers::fiber{std::allocator_arg, plain, std::forward<Work>(work)};
}

static void yields(Job const& job, std::uint64_t count) {
    auto const each = job.n / count;
    auto const times = rounds(job, [&] {
        std::vector<fibers::fiber> all;
        for (std::uint64_t index = 0; index < count; ++index)
            all.push_back(spawn(job, [each] {
                for (std::uint64_t turn = 0; turn < each; ++turn) boost::this_fiber::yield();
            }));
        for (auto& one : all) one.join();
    });
    for (double nanos : times) sample("op", nanos / double(each * count));
}

static void spawn_join(Job const& job, bool yield) {
    auto const times = rounds(job, [&] {
        for (std::uint64_t index = 0; index < job.n; ++index)
            spawn(job, [yield] {
                if (yield) boost::this_fiber::yield();
            }).join();
    });
    for (double nanos : times) sample("op", nanos / double(job.n));
}

static void spawn_many(Job const& job) {
    auto const times = rounds(job, [&] {
        Countdown left{job.n};
        for (std::uint64_t index = 0; index < job.n; ++index) {
            std::uint64_t const captured[3] = {index, index, index};
            spawn(job, [captured, &left] {
                asm volatile("" : : "r"(captured) : "memory");
                left.done();
            }).detach();
        }
        left.wait();
    });
    sample("cold", times[0] / double(job.n));
    for (std::size_t index = 1; index < times.size(); ++index)
        sample("warm", times[index] / double(job.n));
    sample("peak", status("VmHWM:") / 1024);
}

static std::uint64_t node(Job const& job, std::uint64_t number, std::uint64_t leaves) {
    if (leaves == 1) return number;
    auto const below = leaves / 10;
    std::uint64_t results[10];
    std::vector<fibers::fiber> children;
    children.reserve(10);
    for (std::uint64_t index = 0; index < 10; ++index)
        children.push_back(spawn(job, [&job, &results, index, number, below] {
            results[index] = node(job, number + index * below, below);
        }));
    std::uint64_t sum = 0;
    for (std::uint64_t index = 0; index < 10; ++index) {
        children[index].join();
        sum += results[index];
    }
    return sum;
}

static void skynet(Job const& job) {
    auto const times = rounds(job, [&] {
        if (node(job, 0, job.n) != job.n * (job.n - 1) / 2) std::abort();
    });
    for (double nanos : times) sample("total", nanos / 1e6);
}

static void parked(Job const& job) {
    std::atomic<std::uint64_t> started{0};
    fibers::mutex mutex;
    fibers::condition_variable gate;
    fibers::fixedsize_stack each{job.stack};
    auto const before = status("VmRSS:") + status("VmPTE:");
    for (std::uint64_t index = 0; index < job.n; ++index)
        fibers::fiber{std::allocator_arg, each, [&] {
                          std::unique_lock<fibers::mutex> lock{mutex};
                          started.fetch_add(1);
                          gate.wait(lock);
                      }}.detach();
    while (started.load() < job.n) boost::this_fiber::yield();
    auto const grown = status("VmRSS:") + status("VmPTE:") - before;
    sample("bytes", grown * 1024 / double(job.n));
    std::fflush(stdout);
    std::_Exit(0);
}

static void throughput(Job const& job) {
    constexpr std::uint64_t batch = 1000;
    auto const batches = job.n / batch / job.workers;
    auto const times = rounds(job, [&] {
        std::vector<fibers::fiber> spawners;
        for (unsigned worker = 0; worker < job.workers; ++worker)
            spawners.push_back(spawn(job, [&job, batches] {
                for (std::uint64_t index = 0; index < batches; ++index) {
                    Countdown left{batch};
                    for (std::uint64_t one = 0; one < batch; ++one)
                        spawn(job, [&left] { left.done(); }).detach();
                    left.wait();
                }
            }));
        for (auto& spawner : spawners) spawner.join();
    });
    for (double nanos : times) sample("rate", double(batches * batch * job.workers) * 1e3 / nanos);
}

// Times from spawn to start while the parent computes: at most `limit`, then for `pause` more. With
// `pair`, a second fiber is spawned after the first one, and the time counts from then.
static void child_starts(Job const& job, std::int64_t limit, std::int64_t pause, bool pair) {
    std::vector<std::int64_t> seen;
    for (std::uint64_t index = 0; index < job.warmups + job.n; ++index) {
        std::atomic<std::int64_t> stamp{0};
        auto const before = now();
        auto child = spawn(job, [&stamp] { stamp.store(now()); });
        auto const from = pair ? now() : before;
        fibers::fiber second;
        if (pair) second = spawn(job, [] {});
        while (stamp.load() == 0 && now() - from < limit) {}
        auto const at = stamp.load();
        auto const since = at < from ? before : from;
        seen.push_back(at != 0 ? std::min(at - since, limit) : limit);
        for (auto const until = now() + pause; now() < until;) {}
        child.join();
        if (pair) second.join();
    }
    for (std::uint64_t index = job.warmups; index < seen.size(); ++index)
        sample("latency", double(seen[index]));
}

static void busy_child(Job const& job) { child_starts(job, 10'000'000, 300'000, false); }

static void hand_over(Job const& job) { child_starts(job, 1'000'000, 0, true); }

#include "talk.hpp"

static bool run(Job const& job) {
    if (job.name == "yield-2") yields(job, 2);
    else if (job.name == "yield-100") yields(job, 100);
    else if (job.name == "spawn-join") spawn_join(job, false);
    else if (job.name == "spawn-join-yield") spawn_join(job, true);
    else if (job.name == "spawn-1m") spawn_many(job);
    else if (job.name.rfind("skynet", 0) == 0) skynet(job);
    else if (job.name.rfind("parked", 0) == 0) parked(job);
    else if (job.name == "throughput") throughput(job);
    else if (job.name == "busy-child") busy_child(job);
    else if (job.name == "hand-over") hand_over(job);
    else return talk(job);
    return true;
}

int main(int count, char** arguments) {
    if (count == 2) return std::puts("boost " BOOST_LIB_VERSION), 0;
    if (count != 7) return std::puts("skip wrong arguments"), 0;
    auto const number = [&](int index) { return std::strtoull(arguments[index], nullptr, 10); };
    Job const job{arguments[1], unsigned(number(2)), number(3), number(4), number(5), number(6)};
    if (job.name.rfind("parked", 0) != 0 && job.workers > 1) {
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
        for (unsigned worker = 1; worker < job.workers; ++worker)
            std::thread{[&job] {
                fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(job.workers, false);
                fibers::mutex mutex;
                fibers::condition_variable never;
                std::unique_lock<fibers::mutex> lock{mutex};
                never.wait(lock, [] { return false; });
            }}.detach();
        fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(job.workers, false);
    }
    bool const known = run(job);
    if (!known) std::puts("skip no such case");
    std::fflush(stdout);
    std::_Exit(0);
}
