// Processes that share a sum, called ranks: what carries their bytes, and sums over all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "adjoint/checkpoints/archive.hpp"

namespace costate {

// A driver: MPI's is apps/mpi/. All ranks call its members in the same order.
class Ranks {
public:
    virtual ~Ranks() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual void send(int to, const std::vector<char>& bytes) = 0;
    virtual std::vector<char> receive(int from) = 0;
    virtual void broadcast(std::vector<char>& bytes) = 0;  // those of rank 0, to all
    virtual void wait_for_all() = 0;
    // Tells rank 0 how far this rank is, without waiting for it; what comes before the `last` of a call may be left out.
    virtual void tell(std::int64_t done, bool last) = 0;
    // What each rank told last (size), of rank 0; 0 for those that told nothing since forget().
    virtual const std::vector<std::int64_t>& told() = 0;
    virtual void forget() = 0;
    // Ends all ranks with this exit code, whatever they do.
    virtual void end_all(int code) = 0;
};

// A process by itself.
class OneRank final : public Ranks {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void send(int, const std::vector<char>&) override {}
    std::vector<char> receive(int) override { return {}; }
    void broadcast(std::vector<char>&) override {}
    void wait_for_all() override {}
    void tell(std::int64_t, bool) override {}
    const std::vector<std::int64_t>& told() override { return told_; }
    void forget() override {}
    void end_all(int) override {}

private:
    const std::vector<std::int64_t> told_{0};
};

template <class T> std::vector<char> bytes_of(T& value) {
    ArchiveWriter writer;
    value.transfer(writer);
    return std::move(writer.bytes);
}
template <class T> void read_bytes(const std::vector<char>& bytes, T& value) {
    ArchiveReader reader(bytes);
    value.transfer(reader);
}

// Makes the values of all ranks their sum, by T::add and T::transfer: in log2 of their number rounds to rank 0, and
// back to all.
template <class T> void add_up(Ranks& ranks, T& value) {
    const int me = ranks.rank(), n = ranks.size();
    if (n == 1) return;
    for (int step = 1; step < n; step *= 2) {
        if (me & step) {
            ranks.send(me - step, bytes_of(value));
            break;
        }
        if (me + step >= n) continue;
        T other;
        read_bytes(ranks.receive(me + step), other);
        value.add(other);
    }
    std::vector<char> total;
    if (me == 0) total = bytes_of(value);
    ranks.broadcast(total);
    if (me > 0) read_bytes(total, value);
}

}  // namespace costate
