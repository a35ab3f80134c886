// Gradients of single steps through the equations of the active set against central differences, in every
// scene with contact.
#include <doctest/doctest.h>

#include <random>

#include "adjoint/rollout/state.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"

using namespace costate;

namespace {

// Inputs of a step, or a direction of them, or their covector.
struct StepAt {
    VecX<double> theta, x, u;
};

// Derivative of weights.(q+, v+) along a direction: by step_adj, and by central differences if the steps to
// both sides take the same branches.
struct StepSlope {
    double adjoint = 0, difference = 0, spread = 0;  // spread: between the two differences that agree best
    bool smooth = false;
};

StepSlope slope_through_step(const World& w, const StepAt& at, const VecX<double>& weights, const StepAt& d,
                             StepScratch<double>& s) {
    const auto& [theta, x, u] = at;
    VecX<double> next(w.nx()), moved(w.nx()), start(w.nx()), apart(w.ndx());
    step(w, {theta.data(), x.data(), u.data()}, s, next.data());
    const std::uint64_t branches = branch_hash(s);
    s.clear_bars();
    StepAt bar{VecX<double>::Zero(w.np()), VecX<double>::Zero(w.ndx()), VecX<double>::Zero(w.nu())};
    step_adj(w, {theta.data(), x.data(), u.data()}, s, weights.data(),
             {bar.theta.data(), bar.x.data(), bar.u.data()});
    StepSlope slope;
    slope.adjoint = bar.theta.dot(d.theta) + bar.x.dot(d.x) + bar.u.dot(d.u);
    // Central differences with steps from 1e-7 up to the next branch, each extrapolated with the previous
    // one.
    double last = 0, last_extrapolated = 0, e = 1e-7;
    for (int k = 0; k < 6; ++k, e *= 4) {
        double side[2];
        for (const int sign : {0, 1}) {
            const double length = sign == 0 ? -e : e;
            const VecX<double> theta_moved = theta + length * d.theta, u_moved = u + length * d.u,
                               x_moved = length * d.x;
            retract_state(w, x.data(), x_moved.data(), start.data());
            step(w, {theta_moved.data(), start.data(), u_moved.data()}, s, moved.data());
            if (branch_hash(s) != branches) return slope;
            state_difference(w, next.data(), moved.data(), apart.data());
            side[sign] = weights.dot(apart);
        }
        const double now = (side[1] - side[0]) / (2 * e), extrapolated = (16 * last - now) / 15,
                     spread = std::abs(extrapolated - last_extrapolated);
        if (k > 1 && (!slope.smooth || spread < slope.spread)) {
            slope.difference = extrapolated;
            slope.spread = spread;
            slope.smooth = true;
        }
        last = now;
        last_extrapolated = extrapolated;
    }
    return slope;
}

bool bears(const StepScratch<double>& s) {
    for (const RowBlock& b : s.rows.blocks)
        if (b.kind == RowKind::contact && s.impulses.lambda[b.row] > 0) return true;
    return false;
}

// States of a scene with a loaded contact, spread over its first steps, with their controls.
std::vector<StepAt> bearing_states(const Scene& s, size_t most) {
    std::vector<StepAt> all, chosen;
    StepScratch<double> scratch(s.world);
    VecX<double> x = s.x0, next(x.size()), u(s.world.nu());
    for (int t = 0; t < s.steps && (t < 300 || all.empty()); ++t, x.swap(next)) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
        if (bears(scratch)) all.push_back({s.theta, x, u});
    }
    for (size_t i = 0; i < std::min(most, all.size()); ++i)
        chosen.push_back(all[i * all.size() / std::min(most, all.size())]);
    return chosen;
}

// Numbers of tried directions, of directions with two comparable slopes, and of those with converged sweeps
// or an exact solver.
struct Compared {
    int scenes = 0, states = 0, tried = 0, compared = 0, converged = 0;
    int sharp = 0;  // compared, with differences accurate enough to detect an error of 1e-6
};

// Random directions of states, controls and parameters (relative to their size), from states of a rollout
// with noise on the velocities, and random weights of q+ and v+.
Compared compare_slopes(const std::vector<SolverType>& solvers, unsigned seed) {
    std::mt19937 g(seed);
    std::normal_distribution<double> gauss;
    const auto random = [&](Eigen::Index n) {
        return VecX<double>(VecX<double>::NullaryExpr(n, [&] { return gauss(g); }));
    };
    Compared all;
    for (const std::string& name : shipped_scenes()) {
        Scene s = load_scene(name);
        World& w = s.world;
        if (w.settings.warm_start) continue;
        w.settings.complementarity_aware = false;
        std::vector<StepAt> states_of_scene = bearing_states(s, 6);
        if (states_of_scene.empty()) continue;
        CAPTURE(name);
        w.settings.gradient = ImpulseGradient::implicit;
        StepScratch<double> scratch(w);
        const StepAt none{VecX<double>::Zero(w.np()), VecX<double>::Zero(w.ndx()),
                          VecX<double>::Zero(w.nu())};
        for (StepAt& at : states_of_scene) {
            at.x.segment(w.nq(), w.nv()) += 0.02 * random(w.nv());
            ++all.states;
            for (const SolverType solver : solvers) {
                w.settings.solver = solver;
                w.settings.sweeps = all.states % 2 == 0 ? 30 : 300;  // 30 are often too few, 300 often enough
                const VecX<double> weights = random(w.ndx());
                for (const StepAt& d : {StepAt{none.theta, random(w.ndx()), none.u},
                                        {none.theta, none.x, random(w.nu())},
                                        {at.theta.cwiseProduct(random(w.np())), none.x, none.u}}) {
                    const StepSlope slope = slope_through_step(w, at, weights, d, scratch);
                    ++all.tried;
                    if (!slope.smooth) continue;
                    ++all.compared;
                    if (!scratch.impulses.any_swept()) ++all.converged;
                    const double size = std::max(std::abs(slope.difference), 1e-3);
                    CAPTURE(static_cast<int>(solver));
                    CAPTURE(slope.spread);
                    CAPTURE(slope.adjoint);
                    CAPTURE(slope.difference);
                    // reject an error larger than 20 times the spread of the difference
                    CHECK(std::abs(slope.adjoint - slope.difference) <=
                          std::max(1e-6 * size, 20 * slope.spread));
                    if (20 * slope.spread <= 1e-6 * size) ++all.sharp;
                }
            }
        }
        ++all.scenes;
    }
    MESSAGE(all.scenes << " scenes, " << all.states << " states, " << all.compared << " of " << all.tried
                       << " directions compared, " << all.sharp << " of them to 1e-6");
    CHECK(all.sharp >= 0.9 * all.compared);
    return all;
}

}  // namespace

TEST_CASE(
    "exact solvers: implicit gradients are those of central differences at contact states of every scene") {
    const Compared all = compare_slopes({SolverType::lcp, SolverType::ncp}, 11);
    CHECK(all.scenes >= 30);
    CHECK(all.compared > 0.85 * all.tried);
}

TEST_CASE("apgd: implicit gradients are those of central differences at contact states of every scene") {
    const Compared all = compare_slopes({SolverType::apgd}, 13);
    CHECK(all.scenes >= 30);
    CHECK(all.compared > 0.85 * all.tried);
}

TEST_CASE("pgs: implicit gradients are those of central differences, whether sweeps converged or not") {
    const Compared all = compare_slopes({SolverType::pgs}, 12);
    CHECK(all.compared > 0.7 * all.tried);
    CHECK(all.converged > 50);
    CHECK(all.compared - all.converged > 50);
}
