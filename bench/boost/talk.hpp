// The cases of bench/src/case/talk_table.rs: fibers that wait for one another. Each checks
// what arrived. Included by main.cpp, after what all cases share.

static constexpr std::size_t BUFFER = 128;

static void check(bool right) {
    if (right) return;
    std::fputs("a value was lost or came twice\n", stderr);
    std::_Exit(1);
}

static void ping_pong(Job const& job, bool apart) {
    auto const times = rounds(job, [&] {
        fibers::unbuffered_channel<std::uint64_t> there, back;
        std::atomic<int> begun{0};
        auto const gate = [&] {
            begun.fetch_add(1);
            while (apart && begun.load() < 2) {}
        };
        std::uint64_t ball = 0;
        auto caller = spawn(job, [&] {
            gate();
            for (std::uint64_t trip = 0; trip < job.n; ++trip) {
                there.push(ball);
                ball = back.value_pop();
            }
        });
        auto echo = spawn(job, [&] {
            gate();
            for (std::uint64_t trip = 0; trip < job.n; ++trip) back.push(there.value_pop() + 1);
        });
        caller.join();
        echo.join();
        check(ball == job.n);
    });
    for (double nanos : times) sample("op", nanos / double(job.n));
}

static void messages(Job const& job, std::uint64_t senders, std::uint64_t receivers) {
    auto const each = job.n / senders;
    auto const total = each * senders;
    auto const times = rounds(job, [&] {
        fibers::buffered_channel<std::uint64_t> channel{BUFFER};
        std::atomic<std::uint64_t> sum{0};
        std::vector<fibers::fiber> receiving, sending;
        for (std::uint64_t at = 0; at < receivers; ++at)
            receiving.push_back(spawn(job, [&] {
                std::uint64_t own = 0, value = 0;
                while (channel.pop(value) == fibers::channel_op_status::success) own += value;
                sum += own;
            }));
        for (std::uint64_t at = 0; at < senders; ++at)
            sending.push_back(spawn(job, [&channel, at, each] {
                for (auto value = at * each; value < (at + 1) * each; ++value)
                    channel.push(value);
            }));
        for (auto& one : sending) one.join();
        channel.close();
        for (auto& one : receiving) one.join();
        check(sum.load() == total * (total - 1) / 2);
    });
    for (double nanos : times) sample("op", nanos / double(total));
}

static void crowd(Job const& job, std::uint64_t count) {
    auto const each = job.n / count;
    auto const times = rounds(job, [&] {
        fibers::mutex mutex;
        std::uint64_t locked = 0;
        std::vector<fibers::fiber> all;
        for (std::uint64_t at = 0; at < count; ++at)
            all.push_back(spawn(job, [&] {
                for (std::uint64_t turn = 0; turn < each; ++turn) {
                    std::lock_guard<fibers::mutex> lock{mutex};
                    ++locked;
                }
            }));
        for (auto& one : all) one.join();
        check(locked == each * count);
    });
    for (double nanos : times) sample("op", nanos / double(each * count));
}

static bool talk(Job const& job) {
    auto const is = [&](char const* name) {
        return job.name == name || job.name == std::string{name} + "-2w";
    };
    if (job.name.rfind("threads-", 0) == 0) std::puts("skip not made for plain threads");
    else if (is("ping-pong")) ping_pong(job, false);
    else if (is("ping-pong-apart")) ping_pong(job, true);
    else if (is("chan-spsc")) messages(job, 1, 1);
    else if (is("chan-mpsc")) messages(job, 4, 1);
    else if (is("chan-mpmc")) messages(job, 4, 4);
    else if (is("crowd-mutex")) crowd(job, 1000);
    else if (is("select-2") || is("select-8")) std::puts("skip no select");
    else if (is("timer")) std::puts("skip no timer by itself");
    else if (is("sleepers-1m")) std::puts("skip no such case");
    else return false;
    return true;
}
