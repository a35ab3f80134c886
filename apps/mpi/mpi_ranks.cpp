// Ranks by MPI. The program loads this library when mpirun or srun has started it; nothing else links MPI.
#include <mpi.h>

#include <algorithm>
#include <cstdint>

#include "adjoint/expectation/ranks.hpp"

namespace costate {
namespace {

// Whatever fails in MPI ends all ranks with its message: that is the default of MPI_COMM_WORLD.
class MpiRanks final : public Ranks {
public:
    MpiRanks() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    ~MpiRanks() override { MPI_Finalize(); }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void send(int to, const std::vector<char>& bytes) override {
        const std::uint64_t n = bytes.size();
        MPI_Send(&n, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
        in_parts(n, [&](std::uint64_t at, int count) {
            MPI_Send(bytes.data() + at, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        });
    }
    std::vector<char> receive(int from) override {
        std::uint64_t n = 0;
        MPI_Recv(&n, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::vector<char> bytes(n);
        in_parts(n, [&](std::uint64_t at, int count) {
            MPI_Recv(bytes.data() + at, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
        return bytes;
    }
    void broadcast(std::vector<char>& bytes) override {
        std::uint64_t n = bytes.size();
        MPI_Bcast(&n, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        bytes.resize(n);
        in_parts(n, [&](std::uint64_t at, int count) {
            MPI_Bcast(bytes.data() + at, count, MPI_BYTE, 0, MPI_COMM_WORLD);
        });
    }
    void wait_for_all() override { MPI_Barrier(MPI_COMM_WORLD); }
    void end_all(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

private:
    // MPI counts with an int.
    template <class Part> static void in_parts(std::uint64_t n, const Part& part) {
        constexpr std::uint64_t most = 1u << 30;
        for (std::uint64_t at = 0; at < n; at += most)
            part(at, static_cast<int>(std::min(most, n - at)));
    }
    int rank_ = 0, size_ = 1;
};

}  // namespace
}  // namespace costate

extern "C" {
__attribute__((visibility("default"))) const char* costate_mpi_version() { return COSTATE_VERSION_TEXT; }
__attribute__((visibility("default"))) costate::Ranks* costate_mpi_join() { return new costate::MpiRanks; }
}
