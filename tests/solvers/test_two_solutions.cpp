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
    step(w, {scene.theta.data(), scene.x0.data(), u.data()}, s, next.data());
    REQUIRE(s.impulses.lambda.size() == 3);
    CHECK(s.impulses.lambda[0] == 0);
    const double slides = next[nq];
    ImpulseScratch<double> sticking = s.impulses;
    const MlcpView<double> p = island_problem(s.rows, s.delassus, sticking, 0);
    sticking.sets[0].state.assign(3, RowState::clamping);
    solve_active_set(p, sticking.sets[0], sticking.lambda.data());
    CHECK(sticking.lambda[0] > 0.3);
    CHECK(mlcp_residual(p, sticking.lambda.data(), FrictionLaw::cone) < 1e-12);

    // duals have the solution that a step on doubles has found
    StepScratch<D> duals(w);
    const VecX<D> theta = scene.theta.cast<D>(), u_dual(0);
    VecX<D> x = scene.x0.cast<D>(), x_next(w.nx());
    x[nq].d = 1;
    for (const bool stick : {false, true}) {
        duals.impulses.found = stick ? &sticking : &s.impulses;
        step(w, {theta.data(), x.data(), u_dual.data()}, duals, x_next.data());
        CHECK(std::abs(x_next[nq].v - slides) == doctest::Approx(stick ? 0.4663 : 0).epsilon(1e-3));
        CHECK(x_next[nq].d == doctest::Approx(stick ? 1 - 2.8 / 6 : 1).epsilon(1e-4));
    }
    TangentStep tangent(w);
    tangent(theta.data(), x.data(), u_dual.data(), x_next.data());
    for (int i = 0; i < nq + nv; ++i)
        CHECK(x_next[i].v == next[i]);
    CHECK(x_next[nq].d == doctest::Approx(1));
}

TEST_CASE("a step on dual numbers has the contacts and the waiting blocks of the step on doubles") {
    using D = Dual<double>;
    const Scene scene = scene_from_json(parse_json(R"({"steps": 1, "time_step": 0.001, "ground": {},
        "solver": {"type": "ncp"}, "models": [{"name": "m", "position": [0, 0, 0.101], "model": {"bodies": [
            {"name": "box", "joint": {"type": "free"}, "mass": 1, "inertia": [0.01, 0.01, 0.01, 0, 0, 0],
             "shapes": [{"type": "box", "half_extents": [0.1, 0.1, 0.1]}]}]}}],
        "initial": {"velocities": {"m/box": {"linear": [0, 0, -2]}}}})",
                                                   "box.json"),
                                        "box.json");
    const World& w = scene.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    step(w, {scene.theta.data(), scene.x0.data(), static_cast<const double*>(nullptr)}, s, next.data());
    REQUIRE(s.contacts.points.size() == 4);
    REQUIRE(s.impulses.lambda.size() == 12);

    // as if round-off had found three contacts, and two of them waited
    s.contacts.detection.features.pop_back();
    s.contacts.lanes.pop_back();
    s.rows.waits = {1, 0, 1};
    StepScratch<D> duals(w);
    duals.found = &s;
    const VecX<D> theta = scene.theta.cast<D>(), x = scene.x0.cast<D>();
    VecX<D> x_next(w.nx());
    step(w, {theta.data(), x.data(), static_cast<const D*>(nullptr)}, duals, x_next.data());
    CHECK(duals.contacts.points.size() == 3);
    CHECK(duals.impulses.lambda.size() == 3);
    CHECK(duals.rows.contact_row == std::vector<int>{-1, 0, -1});
}

}  // namespace costate::test
