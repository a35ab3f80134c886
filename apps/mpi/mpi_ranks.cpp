// Ranks by MPI. The program loads this library when mpirun or srun has started it; nothing else links MPI.
//
// A rank that stops, or a link that breaks without a word, would leave the others waiting for ever. So nobody waits for
// longer than a patience: $COSTATE_PATIENCE, s, and ten times what this rank computed before; 0: for ever. Those who wait
// for a neighbour in the tree of ranks give up first, so that the rank that stopped is named, once.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "adjoint/batch/ranks.hpp"

namespace costate {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(
        what +
        "; look for a rank that ended or a link that broke, and start again (with --resume if the "
        "run was saved)");
}

// What fails in MPI throws std::runtime_error.
class MpiRanks final : public Ranks {
    enum Tag { message, progress };

public:
    MpiRanks() {
        std::signal(SIGPIPE, SIG_IGN);  // a link that breaks is MPI's to mend, and does not kill the rank
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        told_.resize(static_cast<size_t>(size_));
        if (const char* patience = std::getenv("COSTATE_PATIENCE")) patience_ = std::atof(patience);
    }
    ~MpiRanks() override { MPI_Finalize(); }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void send(int to, const std::vector<char>& bytes) override {
        const std::uint64_t n = bytes.size();
        const auto start = [&](const void* from, int count, MPI_Datatype type) {
            complete(to, [&](MPI_Request* r) {
                return MPI_Isend(from, count, type, to, message, MPI_COMM_WORLD, r);
            });
        };
        start(&n, 1, MPI_UINT64_T);
        in_parts(n, [&](std::uint64_t at, int count) { start(bytes.data() + at, count, MPI_BYTE); });
    }
    std::vector<char> receive(int from) override {
        std::uint64_t n = 0;
        const auto start = [&](void* to, int count, MPI_Datatype type) {
            complete(from, [&](MPI_Request* r) {
                return MPI_Irecv(to, count, type, from, message, MPI_COMM_WORLD, r);
            });
        };
        start(&n, 1, MPI_UINT64_T);
        std::vector<char> bytes(n);
        in_parts(n, [&](std::uint64_t at, int count) { start(bytes.data() + at, count, MPI_BYTE); });
        return bytes;
    }
    void broadcast(std::vector<char>& bytes) override {
        std::uint64_t n = bytes.size();
        const auto start = [&](void* data, int count, MPI_Datatype type) {
            complete(everyone,
                     [&](MPI_Request* r) { return MPI_Ibcast(data, count, type, 0, MPI_COMM_WORLD, r); });
        };
        start(&n, 1, MPI_UINT64_T);
        bytes.resize(n);
        in_parts(n, [&](std::uint64_t at, int count) { start(bytes.data() + at, count, MPI_BYTE); });
    }
    void wait_for_all() override {
        // up the tree of add_up, and back; not MPI_Barrier, which does not say for whom it waits
        for (int step = 1; step < size_; step *= 2) {
            if (rank_ & step) {
                send(rank_ - step, {});
                break;
            }
            if (rank_ + step < size_) receive(rank_ + step);
        }
        std::vector<char> nothing;
        broadcast(nothing);
    }
    void tell(std::int64_t done, bool last) override {
        int sent = 1;
        if (telling_ != MPI_REQUEST_NULL && !last) check(MPI_Test(&telling_, &sent, MPI_STATUS_IGNORE));
        if (!sent) return;
        if (telling_ != MPI_REQUEST_NULL) wait(0, telling_);
        done_ = done;
        check(MPI_Isend(&done_, 1, MPI_INT64_T, 0, progress, MPI_COMM_WORLD, &telling_));
        if (last) wait(0, telling_);
    }
    const std::vector<std::int64_t>& told() override {
        for (;;) {
            int arrived = 0;
            MPI_Status status;
            check(MPI_Iprobe(MPI_ANY_SOURCE, progress, MPI_COMM_WORLD, &arrived, &status));
            if (!arrived) return told_;
            std::int64_t* its = &told_[static_cast<size_t>(status.MPI_SOURCE)];
            check(MPI_Recv(its, 1, MPI_INT64_T, status.MPI_SOURCE, progress, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
        }
    }
    void forget() override { std::fill(told_.begin(), told_.end(), 0); }
    void end_all(int code) override {
        // mpirun ends the others when one has failed. After MPI_Abort Debian's mpirun (Open MPI 4.1, PMIx 4)
        // crashes at its own end now and then, so that the code is lost.
        if (std::getenv("OMPI_COMM_WORLD_SIZE")) std::_Exit(code);
        MPI_Abort(MPI_COMM_WORLD, code);
    }

private:
    // MPI counts with an int.
    template <class Part> static void in_parts(std::uint64_t n, const Part& part) {
        constexpr std::uint64_t most = 1u << 30;
        for (std::uint64_t at = 0; at < n; at += most)
            part(at, static_cast<int>(std::min(most, n - at)));
    }

    static void check(int code) {
        if (code == MPI_SUCCESS) return;
        char why[MPI_MAX_ERROR_STRING + 1] = "";
        int length = 0;
        MPI_Error_string(code, why, &length);
        fail(std::string("MPI reports '") + why + "'");
    }
    // Starts a request and waits for its end, which a rank or `everyone` brings about.
    static constexpr int everyone = -1;
    template <class Start> void complete(int whom, const Start& start) {
        MPI_Request request = MPI_REQUEST_NULL;
        check(start(&request));
        wait(whom, request);
    }
    void wait(int whom, MPI_Request& request) {
        const Clock::time_point begin = Clock::now();
        // a call of several waits in a row has what was computed before the first of them
        if (const double since = seconds_since(last_); since > 1e-3) computed_ = since;
        for (int done = 0; !done;) {
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            if (!done && patience_ > 0 && seconds_since(begin) > patience_ + 10 * computed_ + later(whom))
                fail("waited " + std::to_string(static_cast<long>(seconds_since(begin))) + " s for " +
                     (whom == everyone ? "the other ranks" : "rank " + std::to_string(whom)));
        }
        last_ = Clock::now();
    }
    // How much longer those wait who are further from `whom`, s. Of those that wait for each other, the lowest rank
    // gives up first.
    double later(int whom) const {
        if (whom == everyone) return 3 * std::log2(2.0 * size_) + 1.5 * std::log2(1.0 + rank_);
        return 3 * std::log2(std::max(1.0, std::abs(1.0 * whom - rank_))) + (whom < rank_ ? 1.5 : 0);
    }

    int rank_ = 0, size_ = 1;
    double patience_ = 600;                  // s
    double computed_ = 0;                    // s, before the last waits
    Clock::time_point last_ = Clock::now();  // the end of the last wait
    std::vector<std::int64_t> told_;
    std::int64_t done_ = 0;  // on its way to rank 0
    MPI_Request telling_ = MPI_REQUEST_NULL;
};

}  // namespace
}  // namespace costate

extern "C" {
__attribute__((visibility("default"))) const char* costate_mpi_version() { return COSTATE_VERSION_TEXT; }
__attribute__((visibility("default"))) costate::Ranks* costate_mpi_join() { return new costate::MpiRanks; }
}
