#include "adjoint/batch/thread_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>

namespace costate {

ForkedProcess::ForkedProcess()
    : std::runtime_error(
          "its threads are in the process that called fork(); create a new one in this process, or use one "
          "thread") {}

int thread_count(int wanted) {
    return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) : process_(getpid()) {
    helpers_.reserve(threads - 1);
    try {
        for (int thread = 1; thread < threads; ++thread)
            helpers_.emplace_back([this, thread] { help(thread); });
    } catch (const std::system_error&) {
        stop();
        throw NoThread("the system gives no thread more; use less than " + std::to_string(threads));
    } catch (...) {
        stop();
        throw;
    }
}

ThreadPool::~ThreadPool() { stop(); }

bool ThreadPool::is_here() const { return helpers_.empty() || process_ == getpid(); }

void ThreadPool::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    begin_.notify_all();
    for (std::thread& helper : helpers_)
        helper.join();
}

void ThreadPool::run(int n, Call call, const void* work) {
    if (!is_here()) throw ForkedProcess();
    constexpr int shares = 8;  // a thread, so that one with hard environments leaves others to the rest
    {
        const std::lock_guard lock(mutex_);
        call_ = call;
        work_ = work;
        n_ = n;
        grain_ = std::max(1, n / (shares * (static_cast<int>(helpers_.size()) + 1)));
        next_.store(0, std::memory_order_relaxed);
        busy_ = static_cast<int>(helpers_.size());
        ++round_;
    }
    begin_.notify_all();
    share(0);
    wait();
}

// Until all helpers have ended this round.
void ThreadPool::wait() {
    constexpr std::chrono::milliseconds pause(20);
    std::unique_lock lock(mutex_);
    const auto done = [&] { return busy_ == 0; };
    if (!idle_) return end_.wait(lock, done);
    while (!end_.wait_for(lock, pause, done)) {
        lock.unlock();
        idle_();
        lock.lock();
    }
}

void ThreadPool::help(int thread) {
    std::uint64_t seen = 0;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            begin_.wait(lock, [&] { return stopping_ || round_ != seen; });
            if (stopping_) return;
            seen = round_;
        }
        share(thread);
        const std::lock_guard lock(mutex_);
        if (--busy_ == 0) end_.notify_one();
    }
}

void ThreadPool::share(int thread) {
    for (int from; (from = next_.fetch_add(grain_, std::memory_order_relaxed)) < n_;)
        for (int i = from; i < std::min(from + grain_, n_); ++i)
            call_(work_, thread, i);
}

}  // namespace costate
