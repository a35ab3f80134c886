#include "scenes/format/names.hpp"
#include "scenes/read/task/task_reader.hpp"

namespace costate {

namespace {

Method read_method(const Node& node) {
    return static_cast<Method>(resolve_one(node, "choice", method_names()));
}

}  // namespace

OptimizeSettings read_optimize(const Node& scene, const World& world, const VecX<double>& theta,
                               const ParameterMap& variables) {
    OptimizeSettings s;
    const auto node = scene.find("optimize");
    if (!node) return s;
    node->expect_keys("optimize");
    if (const auto method = node->find("method")) s.method = read_method(*method);
    if (const auto n = node->find("iterations"))
        s.iterations = static_cast<int>(n->integer(0, 1'000'000'000));
    if (const auto n = node->find("max_loss_evaluations"))
        s.max_loss_evaluations = static_cast<int>(n->integer(1, 1'000'000'000));
    if (const auto n = node->find("max_gradient_evaluations"))
        s.max_gradient_evaluations = static_cast<int>(n->integer(1, 1'000'000'000));
    s.learning_rate = node->positive_or("learning_rate", s.learning_rate);
    s.momentum = node->nonnegative_or("momentum", s.momentum);
    if (s.momentum >= 1) (*node)["momentum"].fail("must be below 1", "use for example 0.9");
    if (const auto square = node->find("square")) s.square = square->boolean();
    if (const auto n = node->find("segment")) s.segment = static_cast<int>(n->integer(1, 1'000'000'000));
    if (const auto n = node->find("horizon")) s.horizon = static_cast<int>(n->integer(1, 1'000'000));
    if (const auto n = node->find("population")) s.population = static_cast<int>(n->integer(5, 1'000'000));
    s.sigma = node->positive_or("sigma", s.sigma);
    if (const auto n = node->find("seed")) s.seed = static_cast<unsigned>(n->integer(0, 1'000'000'000));
    s.gradient_tolerance = node->nonnegative_or("gradient_tolerance", s.gradient_tolerance);
    if (const auto n = node->find("rounds")) s.rounds = static_cast<int>(n->integer(1, 1'000'000));
    s.penalty_growth = node->number_or("penalty_growth", s.penalty_growth);
    if (s.penalty_growth <= 1) (*node)["penalty_growth"].fail("must be above 1", "use for example 10");
    s.target_loss = node->number_or("target_loss", s.target_loss);
    const auto stages = node->find("stages");
    for (const Node& stage : stages ? stages->items() : std::vector<Node>()) {
        stage.expect_keys("stage");
        s.stages.push_back({s.method, s.iterations, {}});
        if (const auto method = stage.find("method")) s.stages.back().method = read_method(*method);
        if (s.stages.back().method == Method::receding_horizon)
            stage.fail("a receding horizon is no stage of another optimization",
                       "give the stage another \"method\"");
        if (const auto n = stage.find("iterations"))
            s.stages.back().iterations = static_cast<int>(n->integer(0, 1'000'000'000));
        if (const auto values = stage.find("parameters"))
            s.stages.back().parameters = read_values(*values, world, theta, variables);
    }
    return s;
}

}  // namespace costate
