// Ranks that are threads of one process, for tests of what ranks do without a driver.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "adjoint/batch/ranks.hpp"

namespace costate::test {

class ThreadRanks {
public:
    explicit ThreadRanks(int n) : n_(n), told_(static_cast<size_t>(n)) {}

    // work(ranks) by n ranks at once; returns when all are done.
    template <class Work> void run(const Work& work) {
        std::vector<std::thread> threads;
        for (int r = 0; r < n_; ++r)
            threads.emplace_back([&, r] {
                One one(*this, r);
                work(static_cast<Ranks&>(one));
            });
        for (std::thread& t : threads)
            t.join();
    }
    int messages() const { return messages_; }

private:
    class One final : public Ranks {
    public:
        One(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
        int rank() const override { return rank_; }
        int size() const override { return all_.n_; }
        void send(int to, const std::vector<char>& bytes) override { all_.put(rank_, to, bytes); }
        std::vector<char> receive(int from) override { return all_.take(from, rank_); }
        void broadcast(std::vector<char>& bytes) override {
            for (int r = 1; r < size() && rank_ == 0; ++r)
                send(r, bytes);
            if (rank_ > 0) bytes = receive(0);
        }
        void wait_for_all() override {}
        void tell(std::int64_t done, bool) override {
            const std::lock_guard lock(all_.mutex_);
            all_.told_[static_cast<size_t>(rank_)] = done;
        }
        const std::vector<std::int64_t>& told() override {
            const std::lock_guard lock(all_.mutex_);
            return told_ = all_.told_;
        }
        void forget() override {}  // for one call
        void end_all(int) override {}

    private:
        ThreadRanks& all_;
        int rank_;
        std::vector<std::int64_t> told_;
    };

    void put(int from, int to, const std::vector<char>& bytes) {
        const std::lock_guard lock(mutex_);
        boxes_[{from, to}].push_back(bytes);
        ++messages_;
        arrived_.notify_all();
    }
    std::vector<char> take(int from, int to) {
        std::unique_lock lock(mutex_);
        std::deque<std::vector<char>>& box = boxes_[{from, to}];
        arrived_.wait(lock, [&] { return !box.empty(); });
        std::vector<char> bytes = std::move(box.front());
        box.pop_front();
        return bytes;
    }

    const int n_;
    int messages_ = 0;
    std::vector<std::int64_t> told_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::pair<int, int>, std::deque<std::vector<char>>> boxes_;
};

}  // namespace costate::test
