// Properties of a step on random worlds and states (tests/support/random_world.hpp,
// tests/support/random_state.hpp):
//   finite     the next state and every bar
//   adjoint    <J d, w> = <d, J* w> against dual numbers, for the state, the controls and the parameters
//   central    on a part, against central differences whose stencils stay on one smooth piece
//   bits       the same bits again, in a fresh scratch, and after other states went through the scratch
// COSTATE_STATES=N runs N states; COSTATE_BASE=N starts from other seeds. A failure is shrunk and prints the
// command that replays it: COSTATE_SEED=world/state/bodies,shapes,equalities,actuators.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <doctest/doctest.h>

#include "solvers/step/step.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/random_state.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr int states_per_world = 20, central_every = 5;
// m; the least overlap of a deeper curved shape may be along either of two normals
constexpr double deep = 0.01;
constexpr double adjoint_tolerance = 1e-9, central_tolerance = 1e-6;  // relative to the terms of the sums

// Statistics of the states and the errors of the checks.
struct Tally {
    int worlds = 0, states = 0, with_contacts = 0, sticking = 0, sliding = 0, separating = 0;
    int stencils = 0, rejected = 0, ties = 0, rough = 0, deep = 0;
    double worst_adjoint = 0, worst_central = 0;
    std::set<RowKind> rows;
    std::set<BiasCase> biases;
    std::set<JointType> joints;
    std::set<std::pair<ShapeType, ShapeType>> pairs;

    void add(const World& w, const StepScratch<double>& s) {
        ++states;
        with_contacts += !s.contacts.points.empty();
        for (const RowBlock& block : s.rows.blocks) {
            rows.insert(block.kind);
            if (block.unilateral()) biases.insert(block.bias);
            if (block.kind != RowKind::contact) continue;
            const FeaturePair& f = s.contacts.points[block.index].features;
            pairs.insert(std::minmax(w.shapes.shapes[f.a].type, w.shapes.shapes[f.b].type));
            const double* x = s.impulses.lambda.data() + block.row;
            const double bound = s.rows.bound[block.row + 1] * x[0];
            (x[0] == 0 ? separating
                       : (std::abs(x[1]) < bound && std::abs(x[2]) < bound ? sticking : sliding)) += 1;
        }
    }
};

bool same_bits(const VecX<double>& a, const VecX<double>& b) {
    const auto same = [](double x, double y) {
        return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}
bool same_bits(const StepBars& a, const StepBars& b) {
    return same_bits(a.theta, b.theta) && same_bits(a.x, b.x) && same_bits(a.u, b.u);
}

// A world with its scratches, and the checks of its states. A check returns an error message, or nothing.
class Checker {
public:
    Checker(std::uint64_t seed, const WorldSize& size, Tally& tally)
        : seed_(seed),
          base_(random_touching_world(seed, size)),
          used_(base_.world),
          duals_(base_.world),
          tally_(tally) {
        ++tally.worlds;
        for (const Body& b : base_.world.model.bodies)
            tally.joints.insert(b.joint);
    }

    std::string check(int index, bool central) {
        const ToyState t = random_state(base_, seed_, index, used_);
        Stream g(seed_, "directions", index);
        const int n = t.world.ndx();
        const VecX<double> w = random_vector(n, g, Regime::random);
        const VecX<double> dx = random_vector(n, g, Regime::random),
                           du = random_vector(t.world.nu(), g, Regime::random);
        const VecX<double> relative =
            random_vector(t.world.np(), g, Regime::random).cwiseProduct(t.theta.cwiseAbs());

        const VecX<double> next = run_step(t, used_);
        const std::uint64_t hash = branch_hash(used_);
        const StepBars bars = step_bars(t, used_, w);
        tally_.add(t.world, used_);
        if (!next.allFinite()) return "the next state is not finite";
        if (!bars.theta.allFinite() || !bars.x.allFinite() || !bars.u.allFinite())
            return "a gradient is not finite";

        std::string wrong = check_bits(t, index, next, hash, bars, w);
        const VecX<double> zt = 0 * relative, zx = 0 * dx, zu = 0 * du;
        // parameters that are 0 are also moved
        const VecX<double> dtheta = relative + 1e-2 * random_vector(t.world.np(), g, Regime::random);
        if (wrong.empty()) wrong = check_adjoint(t, bars, w, "state", zt, dx, zu);
        if (wrong.empty()) wrong = check_adjoint(t, bars, w, "controls", zt, zx, du);
        if (wrong.empty()) wrong = check_adjoint(t, bars, w, "parameters", dtheta, zx, zu);
        if (wrong.empty() && central) wrong = check_central(t, next, hash, bars, w, relative, dx, du);
        return wrong;
    }

private:
    std::string check_bits(const ToyState& t, int index, const VecX<double>& next, std::uint64_t hash,
                           const StepBars& bars, const VecX<double>& w) {
        if (!same_bits(run_step(t, used_), next) || branch_hash(used_) != hash)
            return "a second step differs";
        if (!same_bits(step_bars(t, used_, w), bars)) return "a second adjoint differs";
        StepScratch<double> fresh(t.world);
        if (!same_bits(run_step(t, fresh), next) || branch_hash(fresh) != hash)
            return "a step in a fresh scratch differs";
        if (!same_bits(step_bars(t, fresh, w), bars)) return "an adjoint in a fresh scratch differs";
        random_state(base_, seed_, index + 1, used_);
        if (!same_bits(run_step(t, used_), next) || branch_hash(used_) != hash)
            return "a step after other states differs";
        if (!same_bits(step_bars(t, used_, w), bars)) return "an adjoint after other states differs";
        return {};
    }

    std::string check_adjoint(const ToyState& t, const StepBars& bars, const VecX<double>& w,
                              const char* what, const VecX<double>& dtheta, const VecX<double>& dx,
                              const VecX<double>& du) {
        const VecX<double> y = push_step(t, duals_, dtheta, dx, du);
        if (duals_.contacts.detection.features != used_.contacts.detection.features) {
            if (shallowest_apart() > -deep) return "round-off decides which features meet";
            ++tally_.deep;
            return {};
        }
        if (!same_branches(used_, duals_)) {
            ++tally_.ties;
            return {};
        }
        const double forward = y.dot(w), backward = bars.pair(dtheta, dx, du);
        double scale = sizes(y, w, bars, dtheta, dx, du);
        // the part of the free motion that impulses cancel: an actuator between welded bodies moves nothing
        for (int j = 0; j < t.world.nv(); ++j)
            scale += (std::abs(duals_.v_free[j].d) + std::abs(duals_.impulses.dv[j].d)) *
                     std::abs(w[t.world.nv() + j]);
        // and the round-off of the Jacobian, about 1e-16 per metre: impulses on rows that cannot move have no
        // bound
        for (const D& x : duals_.impulses.lambda)
            scale += 1e-5 * std::abs(x.d);
        for (const D& x : duals_.recovery.kappa)
            scale += 1e-5 * std::abs(x.d);
        const double error = std::abs(forward - backward) / scale;
        if (error > adjoint_tolerance && grows_roundoff()) {
            ++tally_.rough;
            return {};
        }
        tally_.worst_adjoint = std::max(tally_.worst_adjoint, error);
        if (error <= adjoint_tolerance) return {};
        char s[160];
        std::snprintf(s, sizeof s, "adjoint by %s: %.17g forward, %.17g backward, %.1e of their terms", what,
                      forward, backward, error);
        return s;
    }

    // The largest gap of a contact found by only one of the steps on numbers and on dual numbers.
    double shallowest_apart() const {
        double gap = -std::numeric_limits<double>::infinity();
        const auto missing = [&gap](const auto& from, const auto& in) {
            for (const auto& c : from.points) {
                const std::vector<FeaturePair>& f = in.detection.features;
                if (!std::binary_search(f.begin(), f.end(), c.features))
                    gap = std::max(gap, value_of(c.geometry.gap));
            }
        };
        missing(used_.contacts, duals_.contacts);
        missing(duals_.contacts, used_.contacts);
        return gap;
    }

    // True if the sweeps amplified round-off a hundred thousand times, as on contradictory rows. Measured by
    // the difference of impulses between steps on numbers and on dual numbers, which round differently.
    bool grows_roundoff() const {
        const auto parts = [](const std::vector<double>& x, const std::vector<D>& y) {
            double largest = 0, apart = 0;
            for (size_t r = 0; r < x.size(); ++r) {
                largest = std::max(largest, std::abs(x[r]));
                apart = std::max(apart, std::abs(x[r] - y[r].v));
            }
            return apart > 1e-11 * largest;
        };
        return parts(used_.impulses.lambda, duals_.impulses.lambda) ||
               (used_.rows.recovers && parts(used_.recovery.kappa, duals_.recovery.kappa));
    }

    // The smaller steps are for worlds with strong curvature within 1e-6.
    std::string check_central(const ToyState& t, const VecX<double>& next, std::uint64_t hash,
                              const StepBars& bars, const VecX<double>& w, const VecX<double>& dtheta,
                              const VecX<double>& dx, const VecX<double>& du) {
        bool same = true;
        const auto moved = [&](double e) {
            const VecX<double> to = run_step(moved_state(t, e, dtheta, dx, du), used_);
            same = same && branch_hash(used_) == hash;
            return state_difference(t.world.model, next, to).dot(w);
        };
        const auto slope = [&](double e) { return (moved(e) - moved(-e)) / (2 * e); };
        const double adjoint = bars.pair(dtheta, dx, du),
                     scale = 1 + sizes(VecX<double>::Constant(1, adjoint), VecX<double>::Ones(1), bars,
                                       dtheta, dx, du);
        double roundoff = 0;  // of the velocities, from opposing impulses
        for (const double x : used_.impulses.lambda)
            roundoff += 1e-15 * std::abs(x);
        double fd = 0, error = std::numeric_limits<double>::infinity();
        ++tally_.stencils;
        for (double e = 1e-6; e > 5e-9 && error > central_tolerance; e *= 0.1) {
            fd = slope(e);
            error = std::max(0.0, std::abs(fd - adjoint) - roundoff / e) / scale;
            if (!same) {
                ++tally_.rejected;
                return {};
            }
        }
        tally_.worst_central = std::max(tally_.worst_central, error);
        if (error <= central_tolerance) return {};
        char s[160];
        std::snprintf(s, sizeof s, "central differences: %.17g, adjoint %.17g, %.1e of its terms", fd,
                      adjoint, error);
        return s;
    }

    // The sum of the absolute terms on both sides of <J d, w> = <d, J* w>.
    static double sizes(const VecX<double>& y, const VecX<double>& w, const StepBars& b,
                        const VecX<double>& dtheta, const VecX<double>& dx, const VecX<double>& du) {
        const auto sum = [](const VecX<double>& p, const VecX<double>& q) {
            return p.cwiseProduct(q).cwiseAbs().sum();
        };
        return sum(y, w) + sum(b.theta, dtheta) + sum(b.x, dx) + sum(b.u, du) + 1e-300;
    }

    std::uint64_t seed_;
    ToyState base_;
    StepScratch<double> used_;
    StepScratch<D> duals_;
    Tally& tally_;
};

std::string check_case(const RandomCase& c, Tally& tally) {
    return Checker(c.world, c.size, tally).check(c.state, true);
}

// The failure, its shrunk form, and the command that replays it.
std::string report(RandomCase c, const std::string& wrong) {
    Tally unused;
    c.size = shrink(c.size, [&](const WorldSize& size) {
        return !check_case({c.world, c.state, size}, unused).empty();
    });
    std::string text = wrong;
    text += "\nshrunk: ";
    text += check_case(c, unused);
    text += "\nreplay: COSTATE_SEED=";
    text += c.text();
    text += " build/tests/costate_tests --source-file='*/test_properties.cpp'";
    return text;
}

}  // namespace

TEST_CASE("properties: a step of random worlds, its adjoint, its bits") {
    Tally tally;
    if (const char* text = std::getenv("COSTATE_SEED")) {
        const std::string wrong = check_case(RandomCase::parse(text), tally);
        CHECK_MESSAGE(wrong.empty(), wrong);
        return;
    }
    const int states = number_from("COSTATE_STATES", 10000), first = number_from("COSTATE_BASE", 1);
    int failures = 0;
    for (std::uint64_t world = static_cast<std::uint64_t>(first);
         tally.states < states && failures < number_from("COSTATE_MOST", 5); ++world) {
        Checker checker(world, {}, tally);
        for (int k = 0; k < states_per_world; ++k) {
            const std::string wrong = checker.check(k, k % central_every == 0);
            if (wrong.empty()) continue;
            ++failures;
            FAIL_CHECK(report({world, k, {}}, wrong));
            break;
        }
    }
    MESSAGE(tally.worlds, " worlds, ", tally.states, " states, ", tally.with_contacts,
            " in contact; contacts: ", tally.sticking, " stick, ", tally.sliding, " slide, ",
            tally.separating, " separate");
    MESSAGE("worst error of the adjoint ", tally.worst_adjoint, ", of central differences ",
            tally.worst_central, " with ", tally.rejected, " of ", tally.stencils, " stencils rejected; ",
            tally.pairs.size(), " pairs of shape types; ", tally.ties, " ties, ", tally.rough, " too rough, ",
            tally.deep, " too deep");
    if (states < 10000 || failures > 0) return;
    // the states cover the cases of a step, and few checks are skipped
    CHECK(tally.states >= 10000);
    CHECK(tally.with_contacts > tally.states / 2);
    for (const int contacts : {tally.sticking, tally.sliding, tally.separating})
        CHECK(contacts > tally.states / 5);
    CHECK(tally.rows.size() == 7);
    CHECK(tally.biases.size() == 5);
    CHECK(tally.joints.size() == 6);
    CHECK(tally.pairs.size() >= 30);  // of 33
    // 4 % of them have a contact deeper than the slop that neither closes nor opens, without gravity: its row
    // is on both sides
    CHECK(tally.ties + tally.rough <= tally.states / 20);
    CHECK(tally.deep <= tally.states / 50000);
    CHECK(tally.stencils >= tally.states / central_every);
    CHECK(tally.rejected <= tally.stencils / 20);
}

// splitmix64 from 0 as published by its author; all other numbers follow from it.
TEST_CASE("properties: a seed gives the same numbers on every platform") {
    Stream g(0);
    CHECK(g.bits() == 0xe220a8397b1dcdafu);
    CHECK(g.bits() == 0x6e789e6aa1b965f4u);
    CHECK(Stream(1, "body", 2).bits() != Stream(1, "body", 3).bits());
    CHECK(Stream(1, "body", 2).bits() != Stream(1, "shape", 2).bits());
}

TEST_CASE("properties: a smaller world is a part of the larger one") {
    const ToyState whole = random_touching_world(3, {}), part = random_touching_world(3, {2, 3, 0, 1});
    CHECK(whole.world.model.bodies.size() > part.world.model.bodies.size());
    for (const Body& b : part.world.model.bodies)
        CHECK(whole.world.model.body_index(b.name) >= 0);
    for (const Shape& shape : part.world.shapes.shapes) {
        const int i = part.world.shapes.index(shape.name), j = whole.world.shapes.index(shape.name);
        REQUIRE(j >= 0);
        CHECK(load3(part.theta.data() + part.world.shapes.size.at(i)) ==
              load3(whole.theta.data() + whole.world.shapes.size.at(j)));
    }
}

TEST_CASE("properties: shrinking finds the smallest size that still fails") {
    int tried = 0;
    const WorldSize least = shrink(
        {}, [&](const WorldSize& n) { return ++tried, n.bodies >= 3 && n.shapes + n.equalities >= 7; });
    CHECK(least == WorldSize{3, 4, 3, 0});
    CHECK(tried < 100);
    const RandomCase name{17, 4, least};
    CHECK(RandomCase::parse(name.text().c_str()).text() == "17/4/3,4,3,0");
}
