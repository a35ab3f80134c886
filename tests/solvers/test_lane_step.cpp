// Steps in lanes: states, gradients and what the solver reports have the bits of single steps, with different
// contacts and parameters in each lane.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "adjoint/rollout/state.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/lane_step.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/random_state.hpp"
#include "tests/support/toy_worlds.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Equal numbers, or both not a number.
bool same(const VecX<double>& a, const VecX<double>& b) {
    return std::ranges::equal(a, b,
                              [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

bool skips(const LaneStep* lanes) {
    if (lanes == nullptr) MESSAGE("skipped: this machine has no lanes");
    return lanes == nullptr;
}

// Environments of one world: their parameters, states, controls and covectors.
struct LanePaths {
    const World& w;
    LaneStep& lanes;
    size_t width;
    std::vector<VecX<double>> theta, x, u, bar;
    std::vector<VecX<double>> x_next, theta_bar, x_bar, u_bar;
    StepScratch<double> scratch;
    int parted = 0, parted_in_reverse = 0, shared = 0, differing_rows = 0;

    LanePaths(const World& world, LaneStep& step, const VecX<double>& parameters, const VecX<double>& start)
        : w(world),
          lanes(step),
          width(static_cast<size_t>(step.width())),
          theta(width, parameters),
          x(width, start),
          u(width, VecX<double>::Zero(w.nu())),
          bar(width, VecX<double>::Zero(w.ndx())),
          x_next(x),
          theta_bar(width, VecX<double>::Zero(w.np())),
          x_bar(bar),
          u_bar(u),
          scratch(w) {}

    std::vector<double> gathered(const std::vector<VecX<double>>& each) const {
        std::vector<double> all(width * static_cast<size_t>(each[0].size()));
        for (size_t i = 0; i < width; ++i)
            for (Eigen::Index k = 0; k < each[i].size(); ++k)
                all[static_cast<size_t>(k) * width + i] = each[i][k];
        return all;
    }
    VecX<double> lane_of(const std::vector<double>& all, size_t i) const {
        VecX<double> x_i(static_cast<Eigen::Index>(all.size() / width));
        for (Eigen::Index k = 0; k < x_i.size(); ++k)
            x_i[k] = all[static_cast<size_t>(k) * width + i];
        return x_i;
    }

    // One step of each environment by itself, and all of them in lanes. Moves on.
    void step_and_compare() {
        std::vector<const double*> parameters;
        for (const VecX<double>& it : theta)
            parameters.push_back(it.data());
        lanes.set_parameters(parameters.data());
        const std::vector<double> x_all = gathered(x), u_all = gathered(u), bar_all = gathered(bar);
        std::vector<double> next_all(x_all.size()), theta_all(width * static_cast<size_t>(w.np())),
            x_bar_all(bar_all.size()), u_bar_all(u_all.size());
        SolverOutcome of_lanes[max_lanes];
        const bool together = lanes.step(x_all.data(), u_all.data(), next_all.data());
        if (together) lanes.outcomes(of_lanes);
        const bool back = together && lanes.step_adj(x_all.data(), u_all.data(), bar_all.data(),
                                                     theta_all.data(), x_bar_all.data(), u_bar_all.data());
        ++(together ? shared : parted);
        parted_in_reverse += together && !back;
        int rows = -1;
        for (size_t i = 0; i < width; ++i) {
            CAPTURE(i);
            step(w, {parameters[i], x[i].data(), u[i].data()}, scratch, x_next[i].data());
            differing_rows += rows >= 0 && rows != scratch.rows.count;
            rows = scratch.rows.count;
            if (together) {
                CHECK(same(lane_of(next_all, i), x_next[i]));
                const SolverOutcome mine = solver_outcome(w, scratch);
                CHECK(of_lanes[i].residual == mine.residual);
                CHECK(of_lanes[i].converged == mine.converged);
            }
            if (back) {
                theta_bar[i].setZero();
                x_bar[i].setZero();
                u_bar[i].setZero();
                scratch.clear_bars();
                step_adj(w, {parameters[i], x[i].data(), u[i].data()}, scratch, bar[i].data(),
                         {theta_bar[i].data(), x_bar[i].data(), u_bar[i].data()});
                CHECK(same(lane_of(theta_all, i), theta_bar[i]));
                CHECK(same(lane_of(x_bar_all, i), x_bar[i]));
                CHECK(same(lane_of(u_bar_all, i), u_bar[i]));
            }
            if (x_next[i].allFinite()) x[i] = x_next[i];
        }
    }
};

VecX<double> normal_vector(Stream& g, int n) {
    VecX<double> v(n);
    for (double& it : v)
        it = g.normal();
    return v;
}

}  // namespace

TEST_CASE(
    "lane steps: the bits of single steps on included scenes, with other states and parameters in each "
    "lane") {
    int shared = 0, parted = 0, differing_rows = 0;
    for (const std::string name : {"quadruped_stand", "go1_stand", "ant", "half_cheetah", "hopper", "walker",
                                   "humanoid_jump", "biped_stand", "atlas_stand", "throw", "catapult",
                                   "four_bar", "jump_worm", "quadcopter", "racecar", "bounce"}) {
        CAPTURE(name);
        const Scene s = load_scene(name, 40);
        const std::unique_ptr<LaneStep> lanes = make_lane_step(s.world);
        if (skips(lanes.get())) return;
        LanePaths paths(s.world, *lanes, s.theta, s.x0);
        Stream g(7, name);
        const int nv = s.world.nv();
        for (VecX<double>& x : paths.x)
            x.segment(s.world.nq(), nv) += 0.3 * normal_vector(g, nv);
        const auto own = [&](VecX<double>& theta) {
            for (double& it : theta)
                it *= 1 + 1e-3 * g.normal();
        };
        for (int t = 0; t < 40; ++t) {
            CAPTURE(t);
            if (t == 20) std::ranges::for_each(paths.theta, own);
            for (size_t i = 0; i < paths.width; ++i) {
                s.plan.evaluate(s.z0.data(), t, paths.u[i].data());
                paths.u[i] += 0.01 * normal_vector(g, s.world.nu());
                paths.bar[i] = normal_vector(g, s.world.ndx());
            }
            paths.step_and_compare();
        }
        MESSAGE(name, ": ", paths.shared, " steps in lanes, ", paths.parted, " parted");
        shared += paths.shared;
        parted += paths.parted;
        differing_rows += paths.differing_rows;
    }
    CHECK(4 * parted < shared);
    CHECK(differing_rows > 100);
}

TEST_CASE("lane steps: the bits of single steps in random worlds of all joints, shapes, rows and solvers") {
    int shared = 0, shared_solvers = 0;
    for (const SolverKind& kind : solver_kinds) {
        int of_solver = 0;
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            ToyState base =
                random_touching_world(seed, {.bodies = 5, .shapes = 8},
                                      {.springs = seed % 2 == 0, .thrusters = true, .tendons = true});
            base.world.settings.solver = kind.type;
            base.world.settings.gradient =
                seed % 3 == 0 ? ImpulseGradient::implicit : ImpulseGradient::automatic;
            if (!make_lane_step(base.world)) continue;
            CAPTURE(kind.name);
            CAPTURE(seed);
            const std::unique_ptr<LaneStep> lanes = make_lane_step(base.world);
            LanePaths paths(base.world, *lanes, base.theta, base.x);
            for (int index = 0; index < 3; ++index) {
                const ToyState t = random_state(base, seed, index, paths.scratch);
                Stream g(seed, "lanes", index);
                for (size_t i = 0; i < paths.width; ++i) {
                    paths.x[i] = t.x;
                    paths.x[i].segment(base.world.nq(), base.world.nv()) +=
                        1e-3 * normal_vector(g, base.world.nv());
                    paths.u[i] = t.u;
                    paths.bar[i] = normal_vector(g, base.world.ndx());
                }
                paths.step_and_compare();
            }
            of_solver += paths.shared;
        }
        shared += of_solver;
        shared_solvers += of_solver > 0;
    }
    if (skips(make_lane_step(load_scene("throw", 1).world).get())) return;
    CHECK(shared > 150);
    CHECK(shared_solvers == 4);
}

TEST_CASE("lane steps: the bits of single steps by MuJoCo's law, with both cones of friction") {
    int shared = 0;
    for (const FrictionCone cone : {FrictionCone::elliptic, FrictionCone::pyramidal})
        for (const SolverType solver : {SolverType::pgs, SolverType::ncp})
            for (unsigned seed = 1; seed <= 20; ++seed) {
                CAPTURE(seed);
                Settings settings = soft_sweeping(cone);
                settings.solver = solver;
                settings.relaxed = true;
                const ToyState t = toy_contact_state(seed, settings);
                const std::unique_ptr<LaneStep> lanes = make_lane_step(t.world);
                if (skips(lanes.get())) return;
                LanePaths paths(t.world, *lanes, t.theta, t.x);
                Stream g(seed, "soft lanes");
                for (size_t i = 0; i < paths.width; ++i) {
                    paths.x[i].segment(t.world.nq(), t.world.nv()) += 1e-3 * normal_vector(g, t.world.nv());
                    paths.bar[i] = normal_vector(g, t.world.ndx());
                }
                paths.step_and_compare();
                shared += paths.shared - paths.parted_in_reverse;
            }
    CHECK(shared > 40);
}

TEST_CASE("lane steps: the bits of single steps with controls and forces beyond their limits in some lanes") {
    for (const std::string name : {"ant", "go1_stand", "atlas_stand", "quadcopter", "half_cheetah"}) {
        CAPTURE(name);
        const Scene s = load_scene(name, 10);
        const std::unique_ptr<LaneStep> lanes = make_lane_step(s.world);
        if (skips(lanes.get())) return;
        LanePaths paths(s.world, *lanes, s.theta, s.x0);
        Stream g(3, name);
        int saturated = 0, free = 0;
        for (int t = 0; t < 10; ++t) {
            for (size_t i = 0; i < paths.width; ++i) {
                paths.u[i] = (t % 2 == 0 ? 100 : 1) * normal_vector(g, s.world.nu());
                paths.bar[i] = normal_vector(g, s.world.ndx());
            }
            paths.step_and_compare();
            for (const Saturation<double>& at : paths.scratch.saturations) {
                const bool within = at.control.within() && at.force.within();
                saturated += !within;
                free += within;
            }
        }
        CHECK(saturated > 0);
        CHECK(free > 0);
        CHECK(paths.parted == 0);
        CHECK(paths.parted_in_reverse <= 1);  // where a lane touches nothing
    }
}

TEST_CASE("lane steps: lanes that cannot share a step part, and are as before") {
    const Scene s =
        mjcf(R"(<worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body></worldbody>
        <tendon><fixed stiffness="10" springlength="-1 1"><joint joint="j" coef="1"/></fixed></tendon>)")
            .scene();
    const std::unique_ptr<LaneStep> lanes = make_lane_step(s.world);
    if (skips(lanes.get())) return;
    LanePaths paths(s.world, *lanes, s.theta, s.x0);
    paths.x[0][0] = 2;  // the spring of the others is slack
    paths.step_and_compare();
    CHECK(paths.parted == 1);
    for (VecX<double>& x : paths.x)
        x = s.x0;
    paths.step_and_compare();
    CHECK(paths.shared == 1);
}
