// Coulomb's friction may have several solutions (Painleve's paradox): a step on dual numbers takes the one of the step
// on doubles.
#include <doctest/doctest.h>

#include "solvers/step/tangent_step.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {
namespace {

// A body whose lowest point, 0.3 m beside and below its centre of mass, slides to the right and hardly leaves the ground:
// friction may also catch it, because stopping the point turns the body into the ground.
Scene leaning_body() {
    return scene_from_json(parse_json(R"({"steps": 1, "time_step": 0.001, "gravity": [0, 0, 0],
        "ground": {"friction": 2}, "solver": {"type": "ncp"},
        "models": [{"name": "m", "position": [0, 0, 0.4], "model": {"bodies": [
            {"name": "body", "joint": {"type": "free"}, "mass": 1, "inertia": [0.05, 0.05, 0.05, 0, 0, 0],
             "shapes": [{"type": "sphere", "radius": 0.1, "position": [0.3, 0, -0.3], "friction": 2}]}]}}],
        "initial": {"velocities": {"m/body": {"linear": [1, 0, 0.001]}}}})",
                                      "leaning.json"),
                           "leaning.json");
}

}  // namespace

TEST_CASE("a step on dual numbers has the solution of the step on doubles, where friction has two") {
    using D = Dual<double>;
    const Scene scene = leaning_body();
    const World& w = scene.world;
    const int nq = w.nq(), nv = w.nv();
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    const VecX<double> u(0);
    // two solutions: it slides on, or it sticks
    step(w, scene.theta.data(), scene.x0.data(), u.data(), s, next.data());
    REQUIRE(s.impulses.lambda.size() == 3);
    CHECK(s.impulses.lambda[0] == 0);
    const double slides = next[nq];
    s.impulses.solution = {0.3993, -0.466267, 0};
    step(w, scene.theta.data(), scene.x0.data(), u.data(), s, next.data());
    const std::vector<double> sticking = s.impulses.lambda;
    CHECK(sticking[0] > 0.3);
    const double sticks = next[nq];
    CHECK(std::abs(sticks - slides) > 0.3);

    // duals start at the solution that they are given
    StepScratch<D> duals(w);
    const VecX<D> theta = scene.theta.cast<D>(), u_dual(0);
    VecX<D> x = scene.x0.cast<D>(), x_next(w.nx());
    x[nq].d = 1;
    for (const bool stick : {false, true}) {
        duals.impulses.solution = stick ? sticking : std::vector<double>(3, 0.0);
        step(w, theta.data(), x.data(), u_dual.data(), duals, x_next.data());
        CHECK(x_next[nq].v == doctest::Approx(stick ? sticks : slides).epsilon(1e-12));
        CHECK(x_next[nq].d == doctest::Approx(stick ? 1 - 2.8 / 6 : 1).epsilon(1e-4));
    }
    TangentStep tangent(w);
    tangent(theta.data(), x.data(), u_dual.data(), x_next.data());
    s.impulses.solution.clear();
    step(w, scene.theta.data(), scene.x0.data(), u.data(), s, next.data());
    for (int i = 0; i < nq + nv; ++i)
        CHECK(x_next[i].v == next[i]);
    CHECK(x_next[nq].d == doctest::Approx(1));
}

}  // namespace costate::test
