#include "apps/cli/batch_loss.hpp"

#include "apps/cli/run_saver.hpp"
#include "apps/cli/shared_run.hpp"
#include "scenes/memory.hpp"

namespace costate {

int thread_count(const Arguments& a) {
    return ExpectedLoss::thread_count(
        {.threads = a.integer("threads", joined_ranks().size() > 1 ? 1 : 0, 1, 4096)});
}

void choose_environments(const Arguments& a, Scene& s) {
    if (!a.text("environments")) return;
    if (s.batch.environments == 0)
        throw UsageError("--environments requires a scene with a \"batch\"; " + s.file.string() +
                         " has none");
    s.batch.environments = a.integer("environments", 0, 0, 1'000'000'000);
}

BatchIdentity batch_identity(const Scene& s) {
    ArchiveWriter settings, trial;
    add_identity(settings, s);
    settings(s.batch.environments);
    NoisySimulation simulation(s.world, s.objective, s.batch);
    Rollout<NoisySimulation> rollout(simulation, s.plan, Schedule::forward_only(s.steps));
    const RolloutInputs in = environment_inputs(s.world, s.batch, 0, {s.theta, s.x0, s.z0});
    trial(rollout.forward(in.theta, in.x0, in.z));
    if (rollout.divergence())
        trial(rollout.divergence());
    else
        trial(rollout.last_state());
    return {COSTATE_VERSION_TEXT, std::move(settings.bytes), std::move(trial.bytes)};
}

void agree_on_scene(const Scene& s, const std::vector<char>& options) {
    if (joined_ranks().size() == 1) return;
    BatchIdentity identity = batch_identity(s);
    identity.settings.insert(identity.settings.end(), options.begin(), options.end());
    agree_on({identity.version.begin(), identity.version.end()},
             "its costate is of version " + identity.version +
                 ", that of rank 0 of another one; install one version");
    agree_on(identity.settings,
             "its scene or its options are not those of rank 0; start all ranks with the same");
    agree_on(identity.trial,
             "the same scene gives other numbers than on rank 0; a model file or the mathematical "
             "library differs");
}

void check_batch_options(const Arguments& a, const Scene& s, std::initializer_list<const char*> options,
                         bool shared) {
    if (s.batch.environments == 0) {
        if (shared) return;
        if (joined_ranks().size() > 1)
            throw UsageError(s.file.string() + " has no \"batch\", so " +
                             std::to_string(joined_ranks().size()) +
                             " ranks have nothing to share: start costate without mpirun");
        for (const char* option : {"threads", "shard"})
            if (a.text(option))
                throw UsageError(std::string("--") + option + " requires a scene with a \"batch\"; " +
                                 s.file.string() + " has none");
        return;
    }
    for (const char* option : options)
        if (a.text(option))
            throw UsageError(std::string("--") + option + " is for one rollout, but " + s.file.string() +
                             " has a \"batch\": leave it out");
}

BatchLoss::BatchLoss(const Arguments& a, const Scene& s, bool gradients, bool shown,
                     const std::function<void(double part, const std::string& note)>& draw)
    : scene_(s) {
    Ranks& ranks = joined_ranks();
    ExpectedLossOptions o;
    o.threads = thread_count(a);
    o.gradients = gradients;
    o.ranks = &ranks;
    std::vector<char> follow{shown};
    ranks.broadcast(follow);
    o.follow = follow[0] != 0 && ranks.size() > 1;
    if (shown)
        o.between = [draw](const EnvironmentProgress& p) {
            draw(static_cast<double>(p.done) / static_cast<double>(p.of),
                 p.behind >= 0 ? "rank " + std::to_string(p.behind) + " is behind" : "");
        };
    const Schedule schedule = environment_schedule(
        s, std::int64_t{ExpectedLoss::thread_count(o)} * ExpectedLoss::group_size(s.batch, o));
    loss_ = std::make_unique<ExpectedLoss>(s.world, s.objective, s.plan, s.batch, schedule, o);
}

void BatchLoss::add_to(Report& report) const {
    const ExpectedLossTimes& t = loss_->times();
    report["environments"] = scene_.batch.environments;
    report["threads"] = loss_->threads();
    report["ranks"] = joined_ranks().size();
    report["batch_bytes"] = loss_->bytes();
    report["share_in_lanes"] = share_in_lanes();
    report["compute_seconds"] = t.compute;
    report["wait_seconds"] = t.wait;
    report["reduce_seconds"] = t.reduce;
    report["slowest_rank"] = t.ranks.slowest;
}

double BatchLoss::share_in_lanes() const {
    const LaneUse use = loss_->lane_use();
    return use.all > 0 ? static_cast<double>(use.shared) / static_cast<double>(use.all) : 0;
}

std::string BatchLoss::text() const {
    const ExpectedLossTimes& t = loss_->times();
    const int ranks = joined_ranks().size();
    char line[256];
    std::snprintf(
        line, sizeof line, "%lld environments on %d thread%s%s, %zu bytes",
        static_cast<long long>(scene_.batch.environments), loss_->threads(), loss_->threads() > 1 ? "s" : "",
        ranks > 1 ? (" of each of " + std::to_string(ranks) + " ranks").c_str() : "", loss_->bytes());
    std::string text = line;
    if (const double share = share_in_lanes(); share > 0) {
        std::snprintf(line, sizeof line, ", %.0f %% of their steps in lanes", 100 * share);
        text += line;
    }
    if (ranks == 1) return text;
    std::snprintf(line, sizeof line, "; rank 0 computed for %.3g s, waited for %.3g s and summed for %.3g s",
                  t.compute, t.wait, t.reduce);
    text += line;
    const double mean = t.ranks.sum / ranks;
    if (t.ranks.longest > 1.5 * mean) {
        std::snprintf(line, sizeof line, "; rank %d once took %.1f times the mean", t.ranks.slowest,
                      t.ranks.longest / mean);
        text += line;
    }
    return text;
}

}  // namespace costate
