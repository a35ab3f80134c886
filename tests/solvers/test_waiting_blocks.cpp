// Blocks of rows that wait outside the problem: the step has the same velocities as with all rows.
#include <array>

#include <doctest/doctest.h>

#include "adjoint/rollout/state.hpp"
#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/observation.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/random_state.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// v+ of a step with all contacts of the margin, in which no block waits.
VecX<double> velocity_with_all_rows(const ToyState& t, StepScratch<double>& s) {
    const World& w = t.world;
    run_step(t, s);  // stages 1 to 4 do not depend on contacts
    const double* theta = t.theta.data();
    s.contacts.nearing.clear();
    detect_contacts(w, theta, s.contacts);
    make_contacts(w, theta, s.kinematics, s.contacts);
    const double* M = s.free_motion.M.data();
    const StateView<double> at(w, t.x.data());
    find_blocks(w, theta, at, s.contacts, s.rows);
    make_rows(w, theta, at, s.v_free.data(), s.kinematics, s.contacts, s.rows);
    delassus(w, M, s.rows, s.delassus);
    warm_start(w, at.kept, s.contacts, s.rows, s.impulses);
    solve_impulses(w, s.rows, s.delassus, at.v, s.v_free.data(), s.impulses);
    apply_impulses(w, M, s.rows, s.delassus, s.impulses);
    VecX<double> v(w.nv());
    for (int j = 0; j < w.nv(); ++j)
        v[j] = s.v_free[j] + s.impulses.dv[j];
    return v;
}

// The largest residual of the impulses of `some` in the problem of `all`, relative to what is acceptable. The
// rows that only `all` has get no impulse.
double residual_among_all(const World& w, const StepScratch<double>& some, StepScratch<double>& all) {
    std::ranges::fill(all.impulses.lambda, 0.0);
    const auto same = [&](const RowBlock& a, const RowBlock& b) {
        if (a.kind != b.kind || a.side != b.side) return false;
        if (a.kind != RowKind::contact) return a.index == b.index;
        return all.contacts.points[a.index].features == some.contacts.points[b.index].features;
    };
    for (const RowBlock& to : all.rows.blocks)
        for (const RowBlock& from : some.rows.blocks)
            if (same(to, from))
                std::copy_n(some.impulses.lambda.begin() + from.row, from.rows,
                            all.impulses.lambda.begin() + to.row);
    double worst = 0;
    for (size_t i = 0; i < all.rows.islands.size(); ++i) {
        const MlcpView<double> p = island_problem(all.rows, all.delassus, all.impulses, i);
        const double* x = all.impulses.lambda.data() + all.rows.islands[i].row;
        worst = std::max(worst, mlcp_residual(p, x, w.friction_law()) / acceptable_residual(p, x));
    }
    return worst;
}

bool solved(const World& w, const StepScratch<double>& s) { return solver_outcome(w, s).converged; }

// True if `all` has the contacts of `some`, and of overlaps no more: on bodies that overlap deeply, which features
// stand for the contact may depend on how far contacts are sought.
bool same_overlaps(const StepScratch<double>& some, const StepScratch<double>& all) {
    const auto has = [](const StepScratch<double>& s, const ContactPoint<double>& c) {
        return std::ranges::any_of(s.contacts.points,
                                   [&](const ContactPoint<double>& it) { return it.features == c.features; });
    };
    return std::ranges::all_of(some.contacts.points,
                               [&](const ContactPoint<double>& c) { return has(all, c); }) &&
           std::ranges::all_of(all.contacts.points, [&](const ContactPoint<double>& c) {
               return c.geometry.gap > 0 || has(some, c);
           });
}

int number_waiting(const StepScratch<double>& s) {
    return static_cast<int>(std::ranges::count(s.rows.waits, 1));
}

}  // namespace

TEST_CASE(
    "waiting blocks: the impulses solve the problem with all rows, on random worlds by every exact solver") {
    int compared = 0, equal = 0, waiting = 0, not_sought = 0, touching = 0, of_other_features = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        ToyState base = random_touching_world(seed, {}, {true, seed % 3 == 0});
        if (base.world.nv() == 0) continue;
        base.world.settings.solver = std::array{SolverType::lcp, SolverType::ncp, SolverType::apgd}[seed % 3];
        base.world.settings.warm_start = false;
        StepScratch<double> s(base.world), all(base.world);
        for (int k = 0; k < 10; ++k) {
            const ToyState t = random_state(base, seed, k, s);
            const VecX<double> x_next = run_step(t, s), v = velocity_with_all_rows(t, all);
            if (!solved(t.world, s) || !solved(t.world, all)) continue;
            if (!same_overlaps(s, all)) {
                ++of_other_features;
                continue;
            }
            ++compared;
            waiting += number_waiting(s);
            not_sought += static_cast<int>(all.contacts.points.size() - s.contacts.points.size());
            touching += !s.rows.blocks.empty();
            // a box or a cone of friction may have several solutions
            equal += (x_next.segment(t.world.nq(), t.world.nv()) - v).cwiseAbs().maxCoeff() <
                     1e-8 * std::max(1.0, v.cwiseAbs().maxCoeff());
            CHECK(residual_among_all(t.world, s, all) <= 10);
        }
    }
    CHECK(compared > 3000);
    CHECK(waiting > 1000);
    CHECK(not_sought > 500);
    CHECK(touching > 1000);
    CHECK(equal > 0.999 * compared);
    CHECK(of_other_features < 0.001 * compared);
}

// The box hangs 1 mm above the ground, which it would not reach in this step. A fast ball hits it from above.
TEST_CASE("waiting blocks: an impact closes a gap that the free velocity leaves open") {
    const Scene scene = scene_from_json(
        parse_json(R"({"name": "b", "steps": 10, "time_step": 0.002, "ground": true, "models": [
        {"name": "box", "model": {"bodies": [{"name": "box", "joint": {"type": "free"}, "mass": 1,
            "inertia": [0.01, 0.01, 0.01, 0, 0, 0],
            "shapes": [{"type": "box", "half_extents": [0.1, 0.1, 0.1]}]}]}},
        {"name": "ball", "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 5,
            "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.05}]}]}}]})",
                   "b"),
        "b.json");
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp, SolverType::apgd}) {
        CAPTURE(static_cast<int>(solver));
        ToyState t{scene.world, scene.theta, scene.x0, VecX<double>::Zero(0)};
        t.world.settings.solver = solver;
        t.world.settings.warm_start = false;
        const int nq = t.world.nq();
        t.x[2] = 0.101;
        t.x[7 + 2] = 0.251 + 0.001;
        t.x[nq + 6 + 2] = -10;
        StepScratch<double> s(t.world), all(t.world);
        const VecX<double> x_next = run_step(t, s);
        CHECK(number_waiting(s) == 0);
        CHECK(x_next[2] > 0.1 - 1e-4);
        const VecX<double> v = velocity_with_all_rows(t, all);
        CHECK((x_next.segment(nq, t.world.nv()) - v).cwiseAbs().maxCoeff() < 1e-6);
        // without the ball, the box has no rows, and 1 mm is too far for contacts
        t.x[7 + 2] = 1;
        run_step(t, s);
        CHECK(s.contacts.points.empty() == bounds_reach(t.world));
        CHECK(s.rows.blocks.empty());
        t.x[2] = 0.10014;
        run_step(t, s);
        CHECK(number_waiting(s) == 4);
        CHECK(s.rows.blocks.empty());
        CHECK(observe_contact(t.world, s, 0).impulse.isZero());
    }
}

// A ball that falls fast changes its velocity by more than the free motion lets expect. The step looks farther. If
// there is another ball, it solves again while the new contact waits, and then with both.
TEST_CASE("waiting blocks: a problem is solved again only with contacts that it did not have") {
    const Scene scene = scene_from_json(
        parse_json(R"({"name": "b", "steps": 10, "time_step": 0.002, "ground": true, "models": [
        {"name": "low", "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 1,
            "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.05}]}]}},
        {"name": "high", "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 1,
            "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.05}]}]}}]})",
                   "b"),
        "b.json");
    ToyState t{scene.world, scene.theta, scene.x0, VecX<double>::Zero(0)};
    const int nq = t.world.nq();
    StepScratch<double> s(t.world);
    for (const bool near : {false, true}) {
        CAPTURE(near);
        t.x[2] = 0.0501;
        t.x[7 + 2] = t.x[2] + 0.1 + (near ? 0.004 : 0.5);
        t.x[nq + 2] = t.x[nq + 6 + 2] = -3;  // the gap between them closes by the impact alone
        StageClock clock;
        s.clock = &clock;
        run_step(t, s);
        CHECK(clock.entered[static_cast<size_t>(Stage::impulses)] == (near ? 3 : 1));
        CHECK(s.contacts.points.size() == (near ? 2 : 1));
    }
}
