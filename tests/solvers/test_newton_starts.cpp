// Where Newton's method on friction cones begins: at the states before the step, and near a solution.
#include <array>

#include <doctest/doctest.h>

#include "scenes/scene.hpp"
#include "solvers/complementarity/laws.hpp"
#include "solvers/complementarity/lcp.hpp"
#include "solvers/complementarity/solver.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/contact_problems.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/stream.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr Family families[] = {Family::scattered, Family::stacked, Family::heavy_on_light, Family::redundant};

struct Solved {
    std::vector<double> x;
    SolverStatus status = SolverStatus::unsolved;
    double residual = 0, factorisations = 0;  // residual: relative
};

// before: velocities of the rows before the impulses, or null
Solved solve(const ContactProblem& p, std::vector<double> start, const double* before) {
    SolverScratch work;
    ActiveSet<double> set;
    MlcpView<double> view = p.view();
    view.before = before;
    Solved out{std::move(start)};
    out.status =
        solve_exactly(view, Settings{.solver = SolverType::ncp}, FrictionLaw::cone, work, set, out.x.data());
    out.residual = mlcp_residual(view, out.x.data(), FrictionLaw::cone) / (1 + p.b.cwiseAbs().maxCoeff());
    out.factorisations = work.cone.work / factorisation_work(view.rows);
    return out;
}
Solved solve(const ContactProblem& p, const double* before = nullptr) {
    return solve(p, std::vector<double>(p.b.size()), before);
}

}  // namespace

// In these problems the impulses change velocities by as much as these are, so that slow slip may be taken for the
// motion of a contact that held; it is then found a factorisation or two later.
TEST_CASE("ncp: the states of a solution need few factorisations to find it again") {
    int again = 0, all = 0;
    for (const Family family : families)
        for (unsigned seed = 0; seed < 100; ++seed, ++all) {
            const ContactProblem p = contact_problem(family, seed);
            const Solved first = solve(p);
            std::vector<double> s(p.b.size());
            mlcp_velocity(p.view(), first.x.data(), s.data());
            const Solved second = solve(p, s.data());
            CHECK(second.residual <= 1e-10);
            again += second.status == SolverStatus::guessed && second.factorisations <= 3.01;
        }
    MESSAGE(again << " of " << all);
    CHECK(again >= 0.9 * all);
}

// The contact of a planar robot whose axes are out of the plane by round-off: its second tangent moves next to nothing, and
// is dropped.
TEST_CASE("exact solvers: a dropped row of friction has no impulse and is no part of the residual") {
    ContactProblem p;
    p.A.resize(3, 3);
    p.A << 0.27, -0.1, 1.8e-10, -0.1, 0.98, -1.8e-10, 1.8e-10, -1.8e-10, 1e-6;
    p.b.resize(3);
    p.b << -0.05, 0, 0;
    p.mu = Eigen::Vector3d::Constant(0.4);
    p.type = {RowType::unilateral, RowType::friction, RowType::friction};
    p.normal = {0, 0, 0};
    const LaneBits dropped[] = {0, 0, 1};
    MlcpView<double> view = p.view();
    view.dropped = dropped;
    for (const SolverType type : {SolverType::lcp, SolverType::ncp, SolverType::apgd}) {
        CAPTURE(static_cast<int>(type));
        SolverScratch work;
        ActiveSet<double> set;
        double x[3] = {};
        const FrictionLaw law = solver_kind(type).law;
        CHECK(solve_exactly(view, Settings{.solver = type}, law, work, set, x) < SolverStatus::smoothed);
        CHECK(x[2] == 0);
        CHECK(mlcp_residual(view, x, law) <= 1e-12);
        CHECK(!broken_law(view, law, x, 1e-12));
    }
}

// Its tangents move, but no impulse moves them.
TEST_CASE("exact solvers: a contact whose friction rows are all dropped is one without friction") {
    ContactProblem p;
    p.A = ContactProblem::Matrix::Identity(3, 3) * 1e-14;
    p.A(0, 0) = 2;
    p.b.resize(3);
    p.b << -1, 1, -2;
    p.mu = Eigen::Vector3d::Constant(0.4);
    p.type = {RowType::unilateral, RowType::friction, RowType::friction};
    p.normal = {0, 0, 0};
    const LaneBits dropped[] = {0, 1, 1};
    MlcpView<double> view = p.view();
    view.dropped = dropped;
    for (const SolverType type : {SolverType::lcp, SolverType::ncp, SolverType::apgd})
        for (const bool relaxed : {false, true}) {
            if (relaxed && type != SolverType::ncp) continue;
            CAPTURE(static_cast<int>(type));
            CAPTURE(relaxed);
            const FrictionLaw law = relaxed ? FrictionLaw::relaxed_cone : solver_kind(type).law;
            SolverScratch work;
            ActiveSet<double> set;
            double x[3] = {};
            CHECK(solve_exactly(view, Settings{.solver = type}, law, work, set, x) < SolverStatus::smoothed);
            CHECK(x[0] == doctest::Approx(0.5).epsilon(1e-12));
            CHECK(mlcp_residual(view, x, law) <= 1e-12);
            const double x_bar[3] = {1, 1, 1};
            double s_bar[3] = {}, bound_bar[3] = {};
            solve_active_set_adj(view, set, x, x_bar, s_bar, bound_bar);
            CHECK(s_bar[0] == doctest::Approx(-0.5).epsilon(1e-12));
            for (const double other : {s_bar[1], s_bar[2], bound_bar[0], bound_bar[1], bound_bar[2]})
                CHECK(other == 0);
        }
}

TEST_CASE("ncp: velocities before the step that say nothing of its states do no harm") {
    Stream g(5, "before");
    int solved = 0, all = 0;
    for (const Family family : families)
        for (unsigned seed = 0; seed < 100; ++seed, ++all) {
            const ContactProblem p = contact_problem(family, seed);
            std::vector<double> before(p.b.size());
            for (double& v : before)
                v = (seed % 2 == 0 ? 1 : 1e-5) * g.uniform(-1, 1);
            solved += solve(p, before.data()).residual <= 1e-10;
        }
    CHECK(solved == all);
}

// A block that is pushed by a little more than its friction, then in another direction: at the old impulses it seems
// to slip across the push. Newton's method has to find the direction of a slip that is almost 0.
TEST_CASE("ncp: Newton's method follows the direction of slow slip") {
    constexpr double mu = 0.5;
    for (const double slip : {1e-2, 1e-4, 1e-6, 1e-8})
        for (const double turn : {0.05, 0.2, 0.5, 1.0}) {
            CAPTURE(slip);
            CAPTURE(turn);
            ContactProblem p;
            p.A = ContactProblem::Matrix::Identity(3, 3);
            p.A(0, 1) = p.A(1, 0) = 0.1;
            p.mu = Eigen::Vector3d(0, mu, mu);
            p.type = {RowType::unilateral, RowType::friction, RowType::friction};
            p.normal = {0, 0, 0};
            const auto pushed = [&](double angle) {
                p.b = Eigen::Vector3d(-1, (mu + slip) * std::cos(angle), (mu + slip) * std::sin(angle));
                return p;
            };
            const Solved second = solve(pushed(turn), solve(pushed(0)).x, nullptr);
            CHECK(second.residual <= 1e-11);
            CHECK(second.status == SolverStatus::guessed);
            CHECK(second.factorisations <= 3);
        }
}

namespace {

struct Guesses {
    double share;           // of the problems that were solved from a guess of their states
    double factorisations;  // of all rows, a step
};

Guesses guesses(Scene scene) {
    scene.world.settings.solver = SolverType::ncp;
    StepScratch<double> scratch(scene.world);
    VecX<double> x = scene.x0.head(scene.world.nx()), next(x), u(scene.world.nu());
    int guessed = 0, solved = 0;
    double work = 0;
    for (int k = 0; k < scene.steps; ++k, x.swap(next)) {
        scene.plan.evaluate(scene.z0.data(), k, u.data());
        step(scene.world, {scene.theta.data(), x.data(), u.data()}, scratch, next.data());
        work += scratch.impulses.solver.cone.work / factorisation_work(scratch.impulses.b.size());
        for (const SolverStatus status : scratch.impulses.status) {
            ++solved;
            guessed += status == SolverStatus::guessed;
        }
    }
    MESSAGE(scene.name << ": " << guessed << " of " << solved << ", factorisations " << work / scene.steps);
    return {static_cast<double>(guessed) / solved, work / scene.steps};
}

}  // namespace

TEST_CASE(
    "ncp: of robots that stand, walk or fall, most problems are solved from the states before the step") {
    for (const std::string name : {"go1_stand", "half_cheetah", "hopper", "humanoid", "box_slide"}) {
        CAPTURE(name);
        CHECK(guesses(load_scene(name, 300)).share >= 0.95);
    }
}

// The feet stay where they are while joints with dry friction give way faster and faster: the velocity that held a foot
// in one step is not quite that which holds it in the next.
TEST_CASE("ncp: the states before the step are found on the feet of a robot that collapses") {
    const auto leg_and_arm = [](const std::string& sign) {
        return "<body pos=\"0 " + sign + R"(.1 -.1">
            <joint axis="0 1 0"/><joint axis="1 0 0"/><joint axis="0 0 1"/>
            <geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".04" mass="3" contype="0" conaffinity="0"/>
            <body pos=".1 0 -.3"><joint axis="0 1 0"/>
                <geom type="capsule" fromto="0 0 0 -.1 0 -.3" size=".03" mass="2" contype="0" conaffinity="0"/>
                <body pos="-.1 0 -.3"><joint axis="0 1 0"/><joint axis="1 0 0"/>
                    <geom type="box" pos=".03 0 -.03" size=".1 .04 .02" mass=".5" friction=".6"/>
                </body></body></body>
            <body pos="0 )" +
               sign + R"(.15 .1">
            <joint axis="0 1 0"/><joint axis="1 0 0"/><joint axis="0 0 1"/>
            <geom type="capsule" fromto="0 0 0 .05 0 -.2" size=".03" mass="1" contype="0" conaffinity="0"/>
            <body pos=".05 0 -.2"><joint axis="0 1 0"/>
                <geom type="capsule" fromto="0 0 0 .2 0 0" size=".03" mass=".7" contype="0" conaffinity="0"/>
            </body></body>)";
    };
    Json json = mjcf(R"(<option timestep="0.002"/>
        <default><joint frictionloss=".1" armature=".01" damping=".5"/></default>
        <worldbody>
            <geom type="plane" size="1 1 1"/>
            <body pos="0 0 .751"><freejoint/>
                <geom type="box" size=".08 .12 .15" mass="12" contype="0" conaffinity="0"/>)" +
                     leg_and_arm("") + leg_and_arm("-") + R"(
            </body>
        </worldbody>)")
                    .scene_json();
    json["steps"] = 500;
    const Guesses found = guesses(scene_from_json(json, "biped.json"));
    CHECK(found.share == 1);
    CHECK(found.factorisations <= 2);
}

namespace {

// Contacts of one to six rows, friction at rest and free rows, with the compliance of their contact, on a few dofs.
struct FactoredProblem {
    std::vector<double> W, R, diagonal, b, bound, along, swept, velocity;
    std::vector<size_t> start{0};
    std::vector<int> column, normal, tree;
    std::vector<RowType> type;
    std::vector<LaneBits> dropped;
    FactoredOperator<double> A{};
    FactoredProblem(unsigned seed, double compliance) {
        std::mt19937 g(seed);
        const auto integer = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(g); };
        const auto uniform = [&](double lo, double hi) {
            return std::uniform_real_distribution<double>(lo, hi)(g);
        };
        const int dofs = integer(2, 12), contacts = integer(1, 10);
        for (int c = 0; c < contacts; ++c) {
            const RowType first =
                c % 5 == 3 ? RowType::boxed : (c % 5 == 4 ? RowType::free : RowType::unilateral);
            const int rows = first == RowType::unilateral ? std::array{1, 3, 4, 6}[integer(0, 3)] : 1,
                      length = integer(1, dofs), at = integer(0, dofs - length),
                      n = static_cast<int>(b.size());
            const double mu = uniform(0.1, 1.5), R_n = compliance * uniform(0.01, 1),
                         R_T = R_n / uniform(0.2, 10);
            for (int i = 0; i < rows; ++i) {
                double sum = 0;
                for (int k = 0; k < length; ++k) {
                    W.push_back(uniform(-1, 1));
                    column.push_back(at + k);
                    sum += W.back() * W.back();
                }
                start.push_back(W.size());
                R.push_back(i == 0 ? R_n : R_T);
                diagonal.push_back(sum + R.back());
                b.push_back(uniform(-1, 0.5));
                bound.push_back(first == RowType::boxed ? 0.1 : mu);
                type.push_back(i == 0 ? first : RowType::friction);
                normal.push_back(n);
                dropped.push_back(i == 2 && integer(0, 4) == 0);
            }
        }
        const int rows = static_cast<int>(b.size());
        along.resize(dofs);
        swept.resize(dofs);
        velocity.resize(rows);
        tree = {0, dofs};
        A = {rows,         dofs,         start.data(),    column.data(), W.data(), R.data(), diagonal.data(),
             along.data(), swept.data(), velocity.data(), tree.data(),   1};
    }
    MlcpView<double> view() const {
        return {A.rows, nullptr, b.data(), type.data(), normal.data(), bound.data(), 0, dropped.data(), &A};
    }
    ContactProblem::Matrix dense() const {
        ContactProblem::Matrix rows = ContactProblem::Matrix::Zero(A.rows, A.dofs);
        for (int r = 0; r < A.rows; ++r)
            for (size_t k = start[r]; k < start[r + 1]; ++k)
                rows(r, column[k]) = W[k];
        ContactProblem::Matrix out = rows * rows.transpose();
        out.diagonal() += Eigen::Map<const Eigen::VectorXd>(R.data(), A.rows);
        return out;
    }
};

}  // namespace

// The solution is unique.
TEST_CASE("ncp, relaxed: Newton's method on the dofs finds the solution that the rows' equations have") {
    const auto solve_problem = [](const MlcpView<double>& p, double* x) {
        SolverScratch work;
        ActiveSet<double> set;
        return solve_exactly(p, Settings{.solver = SolverType::ncp}, FrictionLaw::relaxed_cone, work, set, x);
    };
    std::vector<int> rows_of(1 + max_contact_rows, 0);
    int compared = 0;
    for (unsigned seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        const bool stiff = seed % 3 == 0;
        const FactoredProblem problem(seed, stiff ? 1e-3 : 0.3);
        const MlcpView<double> p = problem.view();
        std::vector<double> x(p.rows, 0.0), y(x);
        const SolverStatus status = solve_problem(p, x.data());
        if (!stiff) CHECK(status == SolverStatus::primal);
        CHECK(status <= SolverStatus::pivoted);
        CHECK(mlcp_residual(p, x.data(), FrictionLaw::relaxed_cone) <= acceptable_residual(p, x.data()));
        CHECK(!broken_law(p, FrictionLaw::relaxed_cone, x.data(), 1e-9));
        MlcpView<double> dense = p;
        const ContactProblem::Matrix A = problem.dense();
        dense.A = A.data();
        dense.factored = nullptr;
        if (solve_problem(dense, y.data()) == SolverStatus::unsolved) continue;  // a wedge with huge impulses
        ++compared;
        double largest = 0, apart = 0;
        for (int r = 0; r < p.rows; ++r) {
            largest = std::max(largest, std::abs(y[r]));
            apart = std::max(apart, std::abs(x[r] - y[r]));
            if (!p.drops(r)) rows_of[p.friction_rows(r)] += x[r] > 0;
        }
        CHECK(apart <= 1e-7 * (1e-3 + largest));
        CHECK(solve_problem(p, y.data()) <= SolverStatus::primal);  // from the solution
    }
    CHECK(compared >= 398);
    for (const int friction : {0, 2, 3, 5})
        CHECK(rows_of[friction] > 50);
}

// G is factored once its adjoint asks; without sliding, G does not depend on the impulses.
TEST_CASE("ncp, relaxed: the adjoint of a solution on the dofs is that of its factored equations") {
    int linear = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        FactoredProblem problem(seed, 0.3);
        for (RowType& type : problem.type)
            if (seed % 2 == 0 && type == RowType::friction) type = RowType::unilateral;
        const MlcpView<double> p = problem.view();
        const size_t rows = p.rows;
        SolverScratch work;
        ActiveSet<double> set, factored;
        std::vector<double> x(rows, 0.0), x_bar(rows, 1.0), s_bar(rows, 0.0), bound_bar(s_bar);
        REQUIRE(solve_exactly(p, Settings{.solver = SolverType::ncp}, FrictionLaw::relaxed_cone, work, set,
                              x.data()) == SolverStatus::primal);
        linear += set.active.size() > 1 && std::ranges::count(set.state, RowState::dilating) == 0;
        solve_active_set_adj(p, set, x.data(), x_bar.data(), s_bar.data(), bound_bar.data());
        std::vector<double> s_bar_factored(rows, 0.0), bound_bar_factored(s_bar_factored);
        linearise_at(p, FrictionLaw::relaxed_cone, factored, x.data());
        solve_active_set_adj(p, factored, x.data(), x_bar.data(), s_bar_factored.data(),
                             bound_bar_factored.data());
        for (size_t r = 0; r < rows; ++r)
            CHECK(std::abs(s_bar[r] - s_bar_factored[r]) <= 1e-9 * (1 + std::abs(s_bar_factored[r])));
    }
    CHECK(linear > 10);
}

TEST_CASE("ncp, relaxed: Newton's method on the dofs refuses rows without compliance, and leaves the start") {
    FactoredProblem problem(1, 0.3);
    problem.R.back() = 0;
    std::vector<double> x(problem.A.rows, 0.25);
    PrimalNewton method;
    CHECK_FALSE(method.solve(problem.view(), x.data()));
    CHECK(std::ranges::count(x, 0.25) == problem.A.rows);
    MlcpView<double> dense = problem.view();
    dense.factored = nullptr;
    CHECK_FALSE(method.solve(dense, x.data()));
}
