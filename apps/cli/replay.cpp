#include "apps/cli/replay.hpp"

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"
#include "scenes/format/json.hpp"

namespace costate {

namespace {

constexpr int steps_before = 10;

Report to_report(const double* numbers, int count) { return std::vector<double>(numbers, numbers + count); }

VecX<double> read_vector(const Node& node, int size) {
    const std::vector<double> numbers = node.numbers(size);
    return Eigen::Map<const VecX<double>>(numbers.data(), size);
}

}  // namespace

void report_divergence(const Scene& scene, const RolloutInputs& inputs, Rollout<Simulation>& rollout) {
    const World& w = scene.world;
    const DivergenceError error(w.model, rollout.divergence());
    const int end = rollout.divergence().step + 1, begin = std::max(0, end - steps_before);
    Report controls = Report::array();
    VecX<double> u(w.nu());
    for (int t = begin; t < end; ++t) {
        scene.plan.evaluate(inputs.z.data(), t, u.data());
        controls.push_back(to_report(u.data(), w.nu()));
    }
    const std::string path = scene.file.stem().string() + "-diverged.json";
    OutputFiles files;
    files.write(path,
                to_text({{"scene", std::filesystem::absolute(scene.file).string()},
                         {"message", error.what()},
                         {"first_step", begin},
                         {"state", to_report(rollout.state(begin, inputs.theta, inputs.z).data(), w.nx())},
                         {"parameters", to_report(inputs.theta.data(), w.np())},
                         {"controls", controls}}));
    files.commit();
    throw DivergenceError(std::string(error.what()) +
                          "; run its last steps again with: costate simulate --from " + path);
}

Scene load_replay(const std::filesystem::path& file, const ImportOptions& options) {
    const Json document = read_json(file);
    const std::string name = file.string();
    const Node node(document, name);
    if (!node.is_object()) node.fail("is not a replay", "give a file that a diverged rollout wrote");
    const std::vector<Node> controls = node["controls"].items();
    if (controls.empty()) node["controls"].fail("has no steps", "give a file that a diverged rollout wrote");
    const int steps = static_cast<int>(controls.size());
    Scene scene = load_scene(node["scene"].text(), steps, options);
    const World& w = scene.world;
    scene.x0 = read_vector(node["state"], w.nx());
    scene.theta = read_vector(node["parameters"], w.np());
    ControlChannel every_step;
    every_step.per_step = true;
    scene.plan =
        ControlPlan(std::vector<ControlChannel>(w.nu(), every_step), steps, scene.theta[w.time_step.offset]);
    scene.z0.resize(scene.plan.size());
    for (int t = 0; t < steps; ++t) {
        const VecX<double> u = read_vector(controls[t], w.nu());
        for (int n = 0; n < w.nu(); ++n)
            scene.z0[scene.plan.channels()[n].offset + t] = u[n];
    }
    return scene;
}

}  // namespace costate
