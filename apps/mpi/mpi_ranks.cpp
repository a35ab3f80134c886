// Ranks by MPI. The program loads this library when mpirun or srun has started it; nothing else links MPI.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "adjoint/expectation/ranks.hpp"

namespace costate {
namespace {

// Throws what MPI says about a call that failed.
void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char why[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(code, why, &length);
    throw std::runtime_error(
        std::string("cannot ") + what + " over MPI: " + why +
        "; look for a rank that ended or a link that broke, and start again (with --resume if the run was "
        "saved)");
}

// What fails in MPI throws std::runtime_error.
class MpiRanks final : public Ranks {
    enum Tag { message, progress };

public:
    MpiRanks() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        told_.resize(static_cast<size_t>(size_));
    }
    ~MpiRanks() override { MPI_Finalize(); }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void send(int to, const std::vector<char>& bytes) override {
        const std::uint64_t n = bytes.size();
        check(MPI_Send(&n, 1, MPI_UINT64_T, to, message, MPI_COMM_WORLD), "send to a rank");
        in_parts(n, [&](std::uint64_t at, int count) {
            check(MPI_Send(bytes.data() + at, count, MPI_BYTE, to, message, MPI_COMM_WORLD),
                  "send to a rank");
        });
    }
    std::vector<char> receive(int from) override {
        std::uint64_t n = 0;
        check(MPI_Recv(&n, 1, MPI_UINT64_T, from, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              "receive from a rank");
        std::vector<char> bytes(n);
        in_parts(n, [&](std::uint64_t at, int count) {
            check(MPI_Recv(bytes.data() + at, count, MPI_BYTE, from, message, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE),
                  "receive from a rank");
        });
        return bytes;
    }
    void broadcast(std::vector<char>& bytes) override {
        std::uint64_t n = bytes.size();
        check(MPI_Bcast(&n, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "broadcast");
        bytes.resize(n);
        in_parts(n, [&](std::uint64_t at, int count) {
            check(MPI_Bcast(bytes.data() + at, count, MPI_BYTE, 0, MPI_COMM_WORLD), "broadcast");
        });
    }
    void wait_for_all() override { check(MPI_Barrier(MPI_COMM_WORLD), "wait for all ranks"); }
    void tell(std::int64_t done, bool last) override {
        int sent = 1;
        if (telling_ != MPI_REQUEST_NULL)
            last ? check(MPI_Wait(&telling_, MPI_STATUS_IGNORE), "send to a rank")
                 : check(MPI_Test(&telling_, &sent, MPI_STATUS_IGNORE), "send to a rank");
        if (!sent) return;
        done_ = done;
        check(MPI_Isend(&done_, 1, MPI_INT64_T, 0, progress, MPI_COMM_WORLD, &telling_), "send to a rank");
        if (last) check(MPI_Wait(&telling_, MPI_STATUS_IGNORE), "send to a rank");
    }
    const std::vector<std::int64_t>& told() override {
        for (;;) {
            int arrived = 0;
            MPI_Status status;
            check(MPI_Iprobe(MPI_ANY_SOURCE, progress, MPI_COMM_WORLD, &arrived, &status),
                  "receive from a rank");
            if (!arrived) return told_;
            const int from = status.MPI_SOURCE;
            check(MPI_Recv(&told_[static_cast<size_t>(from)], 1, MPI_INT64_T, from, progress, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE),
                  "receive from a rank");
        }
    }
    void forget() override { std::fill(told_.begin(), told_.end(), 0); }
    void end_all(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

private:
    // MPI counts with an int.
    template <class Part> static void in_parts(std::uint64_t n, const Part& part) {
        constexpr std::uint64_t most = 1u << 30;
        for (std::uint64_t at = 0; at < n; at += most)
            part(at, static_cast<int>(std::min(most, n - at)));
    }
    int rank_ = 0, size_ = 1;
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
