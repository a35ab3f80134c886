// Threads that wait for work between calls. Which of them does what is left to chance: the work may not
// depend on it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace costate {

// The system gives no thread more.
struct NoThread : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The pool was created before fork(): its threads are not in this process.
struct ForkedProcess : std::runtime_error {
    ForkedProcess();
};

// `wanted`, or one for each core if that is 0.
int thread_count(int wanted);

class ThreadPool {
public:
    // So many threads, 1 or more; the one that calls `run` is one of them. Throws NoThread.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // True if the threads of the pool are in this process. A pool of one thread is in every process.
    bool is_here() const;

    // Called every 20 ms by the calling thread while it waits for the others. It must not throw.
    void set_idle(std::function<void()> idle) { idle_ = std::move(idle); }

    // work(thread, i) for each i < n, and returns when all is done; thread 0 is the calling one. `work` must
    // not throw, and only one thread may call at a time. Nothing is allocated. Throws ForkedProcess.
    template <class Work> void run(int n, const Work& work) {
        run(
            n, [](const void* it, int thread, int i) { (*static_cast<const Work*>(it))(thread, i); }, &work);
    }

private:
    using Call = void (*)(const void* work, int thread, int i);
    void run(int n, Call call, const void* work);
    void help(int thread);
    void share(int thread);
    void wait();
    void stop();

    const int process_;
    std::function<void()> idle_;
    std::mutex mutex_;
    std::condition_variable begin_, end_;
    std::uint64_t round_ = 0;  // of calls of run
    int busy_ = 0;             // helpers in this round
    bool stopping_ = false;
    Call call_ = nullptr;
    const void* work_ = nullptr;
    int n_ = 0, grain_ = 1;
    std::atomic<int> next_{0};
    std::vector<std::thread> helpers_;
};

// Ends a pool. In a process without its threads, which nobody can wait for, the pool is left as it is.
struct EndThreadPool {
    void operator()(ThreadPool* pool) const {
        if (pool->is_here()) delete pool;
    }
};
using OwnedThreadPool = std::unique_ptr<ThreadPool, EndThreadPool>;

}  // namespace costate
