#include "apps/cli/shared_run.hpp"

#include <cstdlib>
#include <memory>

#include "core/platform/posix.hpp"

namespace costate {
namespace {

constexpr const char* driver = "libcostate_mpi.so";

// Of Open MPI's mpirun; of those that start MPICH and its kin; of srun with PMIx, which does not say how many
bool started_with_others() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
        if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
    return std::getenv("PMIX_RANK") != nullptr;
}

OneRank ranks_alone;
std::unique_ptr<Ranks> ranks_joined;

// The fault of the lowest rank that has one.
struct Fault {
    int rank = 0;
    std::string what;
    void add(const Fault& other) {
        if (!other.what.empty() && (what.empty() || other.rank < rank)) *this = other;
    }
    template <class Archive> void transfer(Archive& a) { a(rank, what); }
};

}  // namespace

Ranks& joined_ranks() { return ranks_joined ? *ranks_joined : static_cast<Ranks&>(ranks_alone); }

void join_ranks() {
    if (ranks_joined || !started_with_others()) return;
    // MPI loads parts of itself, which look for its symbols
    void* const library = ::dlopen(driver, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        const char* why = ::dlerror();
        throw UsageError(
            std::string("mpirun started several processes, but ") + driver + " cannot be loaded (" +
            (why ? why : "unknown") +
            "): install libopenmpi-dev, configure and build again, or start costate without mpirun");
    }
    using Version = const char* (*)();
    using Join = Ranks* (*)();
    const auto version = reinterpret_cast<Version>(::dlsym(library, "costate_mpi_version"));
    const auto join = reinterpret_cast<Join>(::dlsym(library, "costate_mpi_join"));
    if (!version || !join || std::string(version()) != COSTATE_VERSION_TEXT)
        throw UsageError(std::string(driver) + " is of another version than costate " COSTATE_VERSION_TEXT +
                         ": install both from one build");
    ranks_joined.reset(join());
}

void leave_ranks() { ranks_joined.reset(); }

void agree(const std::string& what) {
    Ranks& ranks = joined_ranks();
    Fault fault{ranks.rank(), what};
    add_up(ranks, fault);
    if (!fault.what.empty())
        throw AgreedError(fault.rank == 0 ? fault.what
                                          : "rank " + std::to_string(fault.rank) + ": " + fault.what);
}

void agree_on(const std::vector<char>& bytes, const std::string& what) {
    std::vector<char> first = bytes;
    joined_ranks().broadcast(first);
    agree(first == bytes ? "" : what);
}

}  // namespace costate
