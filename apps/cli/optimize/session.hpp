// What surrounds an optimization: it can be interrupted, saved and resumed.
#pragma once

#include "adjoint/optimize/optimize.hpp"
#include "apps/cli/run_saver.hpp"
#include "core/platform/posix.hpp"

namespace costate {

inline constexpr Option save_run_option{
    "save", "FILE",
    "save the run to FILE at intervals (not with cmaes; lbfgs is then costate's own, not NLopt's)"};

// While it lives, the first control-C, or SIGTERM, is only noted, and the second one kills. Signals that are
// ignored, as those of background jobs may be, stay so.
class NotedSignals {
public:
    NotedSignals();
    ~NotedSignals();
    NotedSignals(const NotedSignals&) = delete;
    NotedSignals& operator=(const NotedSignals&) = delete;
    static bool arrived();

private:
    struct sigaction before_[2];
};

// Adds the settings that the result depends on.
void add_identity(ArchiveWriter& all, const OptimizeSettings& o);

class OptimizeSession {
public:
    // Checks --save, --save-every and --resume; on rank 0 also locks the file and reads the saved run.
    OptimizeSession(const Arguments& a, const Scene& scene);

    // Gives all ranks the saved run.
    void share();
    // Optimizes by `method` until the end or until the first control-C.
    OptimizeResult run(const OptimizeProgress& progress,
                       const std::function<OptimizeResult(const Pauses&)>& method);
    // Removes the file of a run that came to its end.
    void finish(const OptimizeResult& r) const;
    const std::optional<std::string>& file() const { return save_; }

private:
    std::optional<std::string> resume_, save_;
    std::optional<RunLock> lock_;
    std::optional<RunSaver> saver_;
    std::vector<char> saved_;
    bool saves_ = false;
};

}  // namespace costate
