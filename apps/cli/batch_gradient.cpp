#include "apps/cli/batch_gradient.hpp"

#include <charconv>

#include "adjoint/checkpoints/disk_file.hpp"
#include "apps/cli/shared_run.hpp"
#include "apps/io/gradient_report.hpp"
#include "apps/io/progress.hpp"
#include "apps/io/shard_file.hpp"

namespace costate {
namespace {

struct ShardChoice {
    std::int64_t index = 1, of = 1;
};

ShardChoice read_choice(const std::string& text) {
    ShardChoice c;
    const char* const end = text.data() + text.size();
    const auto [slash, error] = std::from_chars(text.data(), end, c.index);
    if (error == std::errc() && slash != end && *slash == '/') {
        const auto [rest, error_of] = std::from_chars(slash + 1, end, c.of);
        if (error_of == std::errc() && rest == end && c.index >= 1 && c.index <= c.of) return c;
    }
    throw UsageError("--shard takes I/N with I from 1 to N, for example 3/8, not '" + text + "'");
}

int shard(const Arguments& a, const Scene& s, BatchLoss& batch, const RolloutInputs& in, Progress& progress) {
    const ShardChoice choice = read_choice(*a.text("shard"));
    const std::string out = *a.text("out");
    const Range blocks = batch.loss().sum_plan().share(choice.index - 1, choice.of);
    Shard result;
    const BatchIdentity identity = batch_identity(s);
    result.version = identity.version;
    result.settings = checksum(identity.settings.data(), identity.settings.size());
    result.trial = checksum(identity.trial.data(), identity.trial.size());
    result.index = choice.index;
    result.of = choice.of;
    result.scene = s.name;
    result.names = gradient_names(s).dump();
    result.part = batch.loss().sum_of_blocks(in, blocks);
    const double seconds = progress.finish();
    if (result.part.failure)
        throw DivergenceError("environment " + std::to_string(result.part.failure.environment) + ": " +
                              result.part.failure.what);
    write_shard(out, result);
    const Range environments = batch.loss().sum_plan().environments_of(blocks);
    if (a.json()) {
        const Report report{{"name", s.name},
                            {"shard", choice.index},
                            {"of", choice.of},
                            {"first_environment", environments.first},
                            {"environments", environments.size()},
                            {"threads", batch.loss().threads()},
                            {"seconds", seconds}};
        std::fputs(to_text(report).c_str(), stdout);
    } else {
        std::printf("%s: shard %lld of %lld, environments %lld to %lld, in %.3g s, in %s\n", s.name.c_str(),
                    static_cast<long long>(choice.index), static_cast<long long>(choice.of),
                    static_cast<long long>(environments.first), static_cast<long long>(environments.last - 1),
                    seconds, out.c_str());
    }
    return done;
}

void check_shard(const Arguments& a, const Scene& s) {
    if (!a.text("shard")) return;
    if (joined_ranks().size() > 1)
        throw UsageError("--shard is for processes that do not know each other: leave out mpirun");
    if (!a.text("out")) throw UsageError("--shard requires --out FILE");
    if (!have_checksums())
        throw UsageError("this build does not support shards: install zlib1g-dev, configure and build again");
    const ShardChoice choice = read_choice(*a.text("shard"));
    const std::int64_t blocks = SumPlan{s.batch.environments}.blocks();
    if (choice.of > blocks)
        throw UsageError("--shard " + *a.text("shard") + ": " + std::to_string(s.batch.environments) +
                         " environments are cut into " + std::to_string(blocks) +
                         " blocks of 16, so at most as many shards compute them");
}

}  // namespace

void report_batch_gradient(const Report& names, const EnvironmentSum& sum,
                           const std::optional<std::string>& out, bool json,
                           const std::function<void(Report&)>& add, const std::string& text) {
    Eigen::Index controls = 0;
    for (const auto& [actuator, of] : names["controls"].items())
        controls += of["size"].get<Eigen::Index>();
    const double loss = mean_loss(sum);
    const auto parameters = static_cast<Eigen::Index>(names["parameters"].size());
    const Eigen::Index tangent =
        static_cast<Eigen::Index>(sum.sum.width()) - 1 - squares_in_row - controls - parameters;
    const Gradient g = mean_gradient(sum, controls, tangent);
    const StandardErrors errors = standard_errors(sum, controls, tangent);
    const auto number = [](double x) { return std::isfinite(x) ? Report(x) : Report(); };
    const Report standard{{"loss", number(errors.loss)},
                          {"controls", number(errors.controls)},
                          {"initial_state", number(errors.initial_state)},
                          {"parameters", number(errors.parameters)}};
    if (out) {
        OutputFiles files;
        Report result = gradient_report(names, loss, g);
        result["environments"] = sum.sum.plan().environments;
        result["standard_errors"] = standard;
        files.write(*out, to_text(result));
        files.commit();
    }
    const auto name = names["name"].get<std::string>();
    if (json) {
        Report report{{"name", name},
                      {"steps", names["steps"]},
                      {"loss", loss},
                      {"gradient_norm", gradient_norm(g)},
                      {"standard_errors", standard}};
        add(report);
        std::fputs(to_text(report).c_str(), stdout);
        return;
    }
    std::printf("%s: mean loss %.10g of %lld environments, gradient norm %.10g\n", name.c_str(), loss,
                static_cast<long long>(sum.sum.plan().environments), gradient_norm(g));
    if (sum.sum.plan().environments > 1)
        std::printf(
            "standard errors: loss %.3g, gradient by controls %.3g, by the start %.3g, by parameters %.3g\n",
            errors.loss, errors.controls, errors.initial_state, errors.parameters);
    std::printf("%s\n", text.c_str());
}

int batch_gradient(const Arguments& a, const Scene& s) {
    const std::optional<std::string> out = a.text("out");
    const bool first = joined_ranks().rank() == 0;
    together([&] {
        check_shard(a, s);
        if (out && first) check_file(*out);
        return true;
    });
    agree_on_scene(s);
    Progress progress("gradient " + s.name);
    BatchLoss batch(a, s, true, first && progress.shown(), [&](double part, const std::string& note) {
        if (progress.due()) progress.draw(part, note);
    });
    const RolloutInputs in{s.theta, s.x0, s.z0};
    if (a.text("shard")) return shard(a, s, batch, in, progress);
    batch.loss().value(in);
    batch.loss().complain();
    const double seconds = progress.finish();
    if (!first) return done;
    const auto add = [&](Report& report) {
        batch.add_to(report);
        report["seconds"] = seconds;
    };
    report_batch_gradient(gradient_names(s), batch.loss().total(), out, a.json(), add, batch.text());
    return done;
}

}  // namespace costate
