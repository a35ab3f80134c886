// Replaces view.cpp and report.cpp in builds without the viewer.
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/viewer/report.hpp"

namespace costate {

namespace {

[[noreturn]] void complain() {
    throw UsageError(
        "this build has no viewer, because npm, its packages or zlib were missing: install them, "
        "configure and build again");
}

int view(const Arguments&) { complain(); }

}  // namespace

bool have_viewer() { return false; }
std::string optimization_report(const Optimization&, Rollout<Simulation>&) { complain(); }

const Command view_command{
    "view", "not in this build: npm, its packages or zlib were missing", "costate view throw", {}, {}, view};

}  // namespace costate
