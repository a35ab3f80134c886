#include "apps/cli/optimize/session.hpp"

#include "apps/cli/shared_run.hpp"
#include "apps/io/output.hpp"

namespace costate {

namespace {

constexpr int noted[] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t noted_signal = 0;

void note(int signal) { noted_signal = signal; }

// A checksum of everything that the result depends on.
std::uint32_t identity(const Scene& s) {
    ArchiveWriter all;
    add_identity(all, s);
    all(s.batch.environments);
    add_identity(all, s.optimize);
    return checksum(all.bytes.data(), all.bytes.size());
}

// All ranks end after the same iteration: that in which rank 0 has noted a signal.
bool interrupted_together() {
    std::vector<char> noted{NotedSignals::arrived()};
    joined_ranks().broadcast(noted);
    return noted[0] != 0;
}

}  // namespace

void add_identity(ArchiveWriter& all, const OptimizeSettings& o) {
    all(o.method, o.iterations, o.max_loss_evaluations, o.max_gradient_evaluations);
    all(o.learning_rate, o.square, o.momentum, o.segment, o.horizon);
    all(o.population, o.sigma, o.seed);
    all(o.gradient_tolerance, o.target_loss, o.rounds, o.penalty_growth);
    for (const OptimizeStage& stage : o.stages) {
        all(stage.method, stage.iterations);
        for (const auto& [index, value] : stage.parameters)
            all(index, value);
    }
}

NotedSignals::NotedSignals() {
    noted_signal = 0;
    struct sigaction action = {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the second one has the default effect
    for (size_t i = 0; i < std::size(noted); ++i) {
        sigaction(noted[i], nullptr, &before_[i]);
        if (before_[i].sa_handler != SIG_IGN) sigaction(noted[i], &action, nullptr);
    }
}

NotedSignals::~NotedSignals() {
    for (size_t i = 0; i < std::size(noted); ++i)
        sigaction(noted[i], &before_[i], nullptr);
}

bool NotedSignals::arrived() { return noted_signal != 0; }

OptimizeSession::OptimizeSession(const Arguments& a, const Scene& scene)
    : resume_(a.text("resume")),
      save_(a.text("save") ? a.text("save") : resume_) {
    const double every = a.nonnegative("save-every").value_or(30);
    if (a.text("save-every") && !save_) throw UsageError("--save-every requires --save FILE");
    saves_ = save_.has_value();
    if (!save_) return;
    if (!have_checksums())
        throw UsageError(
            "this build does not support saved runs: install zlib1g-dev, configure and build again");
    for (const Method method : methods_of(scene.optimize))
        if (const std::string why = why_not_saved(method); !why.empty())
            throw UsageError("--save: " + why +
                             ", so its runs cannot be saved; leave out --save, or choose " +
                             "another method");
    if (joined_ranks().rank() > 0) return;
    check_file(*save_);
    lock_.emplace(*save_);
    const std::uint32_t of = identity(scene);
    if (resume_) saved_ = load_run(*resume_, of);
    saver_.emplace(*save_, of, every);
}

void OptimizeSession::share() { joined_ranks().broadcast(saved_); }

OptimizeResult OptimizeSession::run(const OptimizeProgress& progress,
                                    const std::function<OptimizeResult(const Pauses&)>& method) {
    const NotedSignals signals;
    Pauses pauses{progress, interrupted_together, {}, saved_};
    if (saves_)
        pauses.save = [&](const std::function<std::vector<char>()>& bytes, bool last) {
            if (saver_ && (last || saver_->due())) saver_->save(bytes);
        };
    try {
        return method(pauses);
    } catch (const ResumeError& e) {
        throw AgreedError("cannot resume '" + *resume_ + "': " + e.what() + "; start the run again");
    }
}

void OptimizeSession::finish(const OptimizeResult& r) const {
    std::error_code ignored;
    if (save_ && r.stopped != "interrupted") std::filesystem::remove(*save_, ignored);
}

}  // namespace costate
