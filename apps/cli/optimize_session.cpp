#include "apps/cli/optimize_session.hpp"

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
    const OptimizeSettings& o = s.optimize;
    all(o.method), all(o.iterations), all(o.max_loss_evaluations), all(o.max_gradient_evaluations);
    all(o.learning_rate), all(o.square), all(o.momentum), all(o.segment), all(o.horizon);
    all(o.gradient_tolerance), all(o.target_loss);
    return checksum(all.bytes.data(), all.bytes.size());
}

}  // namespace

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
    if (!save_) return;
    if (!have_checksums())
        throw UsageError(
            "this build does not support saved runs: install zlib1g-dev, configure and build again");
    if (const std::string why = why_not_saved(scene.optimize.method); !why.empty())
        throw UsageError("--save: " + why + ", so its runs cannot be saved; leave out --save, or choose " +
                         "another method");
    check_file(*save_);
    lock_.emplace(*save_);
    const std::uint32_t of = identity(scene);
    if (resume_) saved_ = load_run(*resume_, of);
    saver_.emplace(*save_, of, every);
}

OptimizeResult OptimizeSession::run(Rollout<Simulation>& rollout, const Variables& variables,
                                    const OptimizeSettings& settings, const OptimizeProgress& progress) {
    const NotedSignals signals;
    Pauses pauses{progress, NotedSignals::arrived, {}, saved_};
    if (saver_)
        pauses.save = [&](const std::function<std::vector<char>()>& bytes, bool last) {
            if (last || saver_->due()) saver_->save(bytes);
        };
    try {
        return optimize(rollout, variables, settings, pauses);
    } catch (const ResumeError& e) {
        throw UsageError("cannot resume '" + *resume_ + "': " + e.what() + "; start the run again");
    }
}

void OptimizeSession::finish(const OptimizeResult& r) const {
    std::error_code ignored;
    if (save_ && r.stopped != "interrupted") std::filesystem::remove(*save_, ignored);
}

}  // namespace costate
