// costate-compare-TOOL SCENE: the gradient of the scene's rollout by one tool, in a process of its own:
// times, memory, and by how much it differs from the gradient by adjoints. One JSON object on stdout.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <cxxopts.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/beside/autodiff/compare.hpp"

namespace costate {

namespace {

// VmRSS or VmHWM, bytes.
double status_bytes(const char* entry) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (double kib = 0; word == entry && status >> kib) return kib * 1024;
    return 0;
}

// |a - b| over |b|, greatest entries; nothing where there is no a.
std::optional<double> difference(const VecX<double>& a, const VecX<double>& b) {
    if (a.size() == 0) return {};
    return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

double median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return 0.5 * (x[(x.size() - 1) / 2] + x[x.size() / 2]);
}

Checkpointing parse_checkpointing(const std::string& text) {
    using Kind = Checkpointing::Kind;
    if (text == "every_step") return {};
    for (const auto& [name, kind] : {std::pair{"every_kth:", Kind::every_kth},
                                     {"restart:", Kind::restart},
                                     {"binomial:", Kind::binomial}}) {
        if (!text.starts_with(name)) continue;
        const std::string number = text.substr(std::strlen(name));
        int value = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (error == std::errc() && end == number.data() + number.size() && value > 0) return {kind, value};
    }
    throw SceneError("--checkpoints takes every_step, every_kth:K, restart:K or binomial:SLOTS, not '" +
                     text + "'");
}

void compare(const Scene& s, const std::string& checkpoints, int repeat) {
    const Checkpointing checkpointing = parse_checkpointing(checkpoints);
    if (s.world.settings.solver != SolverType::pgs)
        throw SceneError(s.file.string() + "#/solver: the comparison takes pgs alone");
    const double before = status_bytes("VmRSS:");
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak counts from here
    Differentiated d;
    std::vector<double> forward, backward;
    for (int k = 0; k < repeat; ++k) {
        d = differentiate(s, checkpointing);
        forward.push_back(1e6 * d.forward_seconds / s.steps);
        backward.push_back(1e6 * d.backward_seconds / s.steps);
    }
    const double peak = status_bytes("VmHWM:");
    const Differentiated ours = differentiate_by_costate(s, {});
    nlohmann::ordered_json errors;
    double worst = std::abs(d.loss - ours.loss) / std::abs(ours.loss);
    errors["loss"] = worst;
    for (const auto& [kind, mine, reference] :
         {std::tuple{"initial_state", &d.gradient.initial_state, &ours.gradient.initial_state},
          {"controls", &d.gradient.controls, &ours.gradient.controls},
          {"parameters", &d.gradient.parameters, &ours.gradient.parameters}})
        if (const auto e = difference(*mine, *reference)) {
            errors[kind] = *e;
            worst = std::isfinite(*e) ? std::max(worst, *e) : *e;
        }
    const nlohmann::ordered_json report{{"tool", tool.name},
                                        {"version", tool.version},
                                        {"mode", tool.mode},
                                        {"scene", s.name},
                                        {"steps", s.steps},
                                        {"checkpoints", checkpoints},
                                        {"repeat", repeat},
                                        {"forward_us", median(forward)},
                                        {"backward_us", median(backward)},
                                        {"memory_bytes", peak - before},
                                        {"peak_bytes", peak},
                                        {"checkpoint_bytes", d.checkpoint_bytes},
                                        {"forward_evaluations", d.forward_evaluations},
                                        {"operations", d.operations},
                                        {"loss", d.loss},
                                        {"relative_error", worst},
                                        {"errors", errors}};
    std::cout << report.dump(1) << '\n';
}

}  // namespace

}  // namespace costate

int main(int argc, char** argv) try {
    using namespace costate;
    cxxopts::Options options(
        "costate-compare", "The gradient of a rollout by " + std::string(tool.name) + ", in time and memory");
    options.add_options()("scene", "SCENE", cxxopts::value<std::string>())(
        "steps", "of the rollout", cxxopts::value<int>())("repeat", "times, of which the median counts",
                                                          cxxopts::value<int>()->default_value("1"))(
        "checkpoints", "every_step, every_kth:K, restart:K or binomial:SLOTS (costate alone)",
        cxxopts::value<std::string>()->default_value("every_step"))("help", "this");
    options.parse_positional("scene");
    options.positional_help("SCENE");
    const auto given = options.parse(argc, argv);
    if (given.count("help")) {
        std::cout << options.help();
        return 0;
    }
    if (!given.count("scene")) throw SceneError("which scene? costate-compare SCENE --steps N");
    const int steps = given.count("steps") ? given["steps"].as<int>() : 0, repeat = given["repeat"].as<int>();
    if ((given.count("steps") && steps < 1) || repeat < 1)
        throw SceneError("--steps and --repeat take numbers from 1");
    const Scene scene =
        load_scene(given["scene"].as<std::string>(), steps > 0 ? std::optional<int>(steps) : std::nullopt);
    compare(scene, given["checkpoints"].as<std::string>(), repeat);
    return 0;
} catch (const std::exception& e) {
    std::cerr << "costate-compare: " << e.what() << '\n';
    return 2;
}
