// The laws of contact for every solution of every solver: on problems with zeros in all inputs, and along
// every included scene.
#include <doctest/doctest.h>

#include "scenes/scene.hpp"
#include "solvers/complementarity/laws.hpp"
#include "solvers/complementarity/solver.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/contact_problems.hpp"
#include "tests/support/random_state.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

struct SolverOfLaw {
    const char* name;
    SolverType type;
    FrictionLaw law;
    ConeMethod method;
};

constexpr SolverOfLaw named_exact_solvers[] = {
    {"lcp", SolverType::lcp, FrictionLaw::box, ConeMethod::gauss_seidel},
    {"ncp", SolverType::ncp, FrictionLaw::cone, ConeMethod::gauss_seidel},
    {"ncp by ADMM", SolverType::ncp, FrictionLaw::cone, ConeMethod::admm},
    {"relaxed", SolverType::ncp, FrictionLaw::relaxed_cone, ConeMethod::gauss_seidel},
    {"apgd", SolverType::apgd, FrictionLaw::relaxed_cone, ConeMethod::gauss_seidel}};

SolverStatus solve(const SolverOfLaw& m, const MlcpView<double>& p, ActiveSet<double>& set, double* x) {
    SolverScratch work;
    Settings settings;
    settings.solver = m.type;
    settings.cone_method = m.method;
    return solve_exactly(p, settings, m.law, work, set, x);
}

// Sets friction, tangential velocity, normal velocity or all velocities to zero, by the bits of `zeros`.
ContactProblem with_zeros(ContactProblem p, int condim, unsigned zeros, std::mt19937& g) {
    const auto some = [&] { return std::bernoulli_distribution(0.7)(g); };
    for (int r = 0; r < p.b.size(); r += condim) {
        if ((zeros & 1) && some()) p.mu.segment(r + 1, condim - 1).setZero();
        if ((zeros & 2) && some()) p.b.segment(r + 1, condim - 1).setZero();
        if ((zeros & 4) && some()) p.b[r] = 0;
    }
    if (zeros & 8) p.b.setZero();
    return p;
}

// Solves problems of three families with zeros, `seeds` of each, by every solver.
void check_problems_with_zeros(int condim, unsigned seeds) {
    std::mt19937 g(14);
    for (const SolverOfLaw& m : named_exact_solvers) {
        CAPTURE(std::string(m.name));
        int unsolved = 0, all = 0;
        for (const Family family : {Family::scattered, Family::stacked, Family::redundant})
            for (unsigned seed = 0; seed < seeds; ++seed, ++all) {
                CAPTURE(seed);
                const ContactProblem problem =
                    with_zeros(contact_problem(family, seed, condim), condim, seed % 16, g);
                const MlcpView<double> p = problem.view();
                ActiveSet<double> set;
                std::vector<double> x(p.rows);
                const bool solved = solve(m, p, set, x.data()) != SolverStatus::unsolved;
                unsolved += !solved;
                const BrokenLaw broken =
                    solved ? broken_law(p, m.law, x.data(), 1e-8 * (1 + problem.b.cwiseAbs().maxCoeff()))
                           : broken_bound(p, m.law, x.data());
                CHECK_MESSAGE(!broken, std::string(broken.law)
                                           << ", row " << broken.row << ", by " << broken.by);
            }
        MESSAGE(std::string(m.name) << ": " << unsolved << " of " << all << " unsolved");
        CHECK(unsolved <= all / 50);
    }
}

}  // namespace

TEST_CASE(
    "laws: problems with zeros in friction, slip, approach or everywhere are solved by the laws of contact") {
    check_problems_with_zeros(3, 64);
}
TEST_CASE("laws: the same with torsional friction, and with rolling friction") {
    check_problems_with_zeros(4, 32);
    check_problems_with_zeros(6, 32);
}

// As of a robot whose joints let its feet slide with ease, in time steps of hours: rows of friction weigh far more than
// the normal, by which the residual of a cone is measured.
TEST_CASE("laws: the friction of a cone has the room that its residual leaves") {
    const double A[9] = {2.5, 0, 0, 0, 6e7, 0, 0, 0, 1.5e8}, b[3] = {-770, 3e10, 0}, mu[3] = {1, 1, 1};
    const RowType type[3] = {RowType::unilateral, RowType::friction, RowType::friction};
    const int normal[3] = {};
    const MlcpView<double> p{3, A, b, type, normal, mu, 0};
    const auto broken = [&](double aside) {
        const double x[3] = {308, -308, aside}, tolerance = 1e3 * acceptable_residual(p, x);
        const bool solved = mlcp_residual(p, x, FrictionLaw::cone) <= tolerance;
        return std::pair(solved, static_cast<bool>(broken_law(p, FrictionLaw::cone, x, tolerance)));
    };
    CHECK(broken(0) == std::pair(true, false));
    CHECK(broken(1e-3) == std::pair(true, false));
    CHECK(broken(300) == std::pair(false, true));
}

// Without friction and slip, the contact opens as soon as it is not pressed.
TEST_CASE("laws: a contact without friction and without slip does not pull") {
    const double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {1.5, 0, 0}, mu[3] = {0, 0, 0};
    const RowType type[3] = {RowType::unilateral, RowType::friction, RowType::friction};
    const int normal[3] = {};
    for (const SolverOfLaw& m : named_exact_solvers) {
        CAPTURE(std::string(m.name));
        ActiveSet<double> set;
        double x[3] = {0, 0, 0};
        CHECK(solve(m, {3, A, b, type, normal, mu, 0}, set, x) != SolverStatus::unsolved);
        CHECK(x[0] == 0);
    }
    double pulling[3] = {-1.5, 0, 0};
    project_on_cone_inplace(0, 2, pulling);
    CHECK(pulling[0] == 0);
    const double unloaded[3] = {-1.5, 0, 0};
    CHECK(mlcp_residual<double>({3, A, b, type, normal, mu, 0}, unloaded, FrictionLaw::cone) > 1);
}

// Derivatives by every number of b and by mu, for a pressed contact without friction and slip.
TEST_CASE("laws: without friction the tangential impulses have no derivative") {
    // A (1, 0, 0) + b = 0
    const double A[9] = {1, 0.1, 0.2, 0.1, 1, 0, 0.2, 0, 1}, b[3] = {-1, 0.1, 0.2}, mu[3] = {0, 0, 0};
    const RowType type[3] = {RowType::unilateral, RowType::friction, RowType::friction};
    const int normal[3] = {};
    const double b_at_rest[3] = {-1, -0.1, -0.2};
    for (const SolverOfLaw& m : named_exact_solvers)
        for (const double* at : {b, b_at_rest}) {
            CAPTURE(std::string(m.name));
            const MlcpView<double> p{3, A, at, type, normal, mu, 0};
            ActiveSet<double> set;
            double x[3] = {0, 0, 0};
            REQUIRE(solve(m, p, set, x) != SolverStatus::unsolved);
            CHECK(x[0] == doctest::Approx(1).epsilon(1e-12));
            for (int t = 1; t <= 2; ++t) {
                double x_bar[3] = {0, 0, 0}, b_bar[3] = {0, 0, 0}, mu_bar[3] = {0, 0, 0};
                x_bar[t] = 1;
                solve_active_set_adj(p, set, x, x_bar, b_bar, mu_bar);
                for (const double bar : b_bar)
                    CHECK(std::abs(bar) < 1e-12);
            }
        }
}

namespace {

struct Outcomes {
    int problems = 0, unsolved = 0;
};

// Steps from x to `next` and checks the laws on all islands.
void check_step(const World& w, FrictionLaw law, const VecX<double>& theta, const VecX<double>& x,
                const VecX<double>& u, StepScratch<double>& s, VecX<double>& next, Outcomes& outcomes) {
    step(w, {theta.data(), x.data(), u.data()}, s, next.data());
    REQUIRE(next.allFinite());
    for (size_t i = 0; i < s.rows.islands.size(); ++i) {
        const MlcpView<double> p = island_problem(s.rows, s.delassus, s.impulses, i);
        const double* lambda = s.impulses.lambda.data() + s.rows.islands[i].row;
        const bool solved = s.impulses.status[i] != SolverStatus::unsolved;
        ++outcomes.problems;
        outcomes.unsolved += !solved;
        const BrokenLaw broken = solved ? broken_law(p, law, lambda, 1e3 * acceptable_residual(p, lambda))
                                        : broken_bound(p, law, lambda);
        REQUIRE_MESSAGE(!broken, std::string(broken.law) << ", row " << broken.row << ", by " << broken.by);
    }
}

void set_solver(Settings& settings, const SolverOfLaw& m) {
    settings.solver = m.type;
    settings.relaxed = m.law == FrictionLaw::relaxed_cone;
    settings.cone_method = m.method;
    settings.gradient = ImpulseGradient::automatic;
}

}  // namespace

TEST_CASE("laws: along every shipped scene, by every solver") {
    Outcomes outcomes;
    for (const std::string& name : shipped_scenes()) {
        CAPTURE(name);
        Scene scene = load_scene(name);
        for (const SolverOfLaw& m : named_exact_solvers) {
            CAPTURE(std::string(m.name));
            World& w = scene.world;
            set_solver(w.settings, m);
            StepScratch<double> s(w);
            VecX<double> x = scene.x0, next(w.nx());
            if (x.size() != w.nx()) continue;
            const VecX<double> u = VecX<double>::Zero(w.nu());
            for (int t = 0; t < std::min(scene.steps, 60); ++t) {
                CAPTURE(t);
                check_step(w, m.law, scene.theta, x, u, s, next, outcomes);
                x = next;
            }
        }
    }
    MESSAGE(outcomes.unsolved << " of " << outcomes.problems << " problems unsolved");
    CHECK(outcomes.unsolved <= outcomes.problems / 1000);
}

TEST_CASE("laws: on random worlds in contact, by every solver") {
    Outcomes outcomes;
    for (const SolverOfLaw& m : named_exact_solvers) {
        CAPTURE(std::string(m.name));
        for (std::uint64_t seed = 1; seed <= 200; ++seed) {
            CAPTURE(seed);
            ToyState base = random_touching_world(seed, {}, {true, seed % 3 == 0, seed % 5 == 0});
            if (base.world.nv() == 0) continue;
            set_solver(base.world.settings, m);
            StepScratch<double> s(base.world);
            VecX<double> next(base.world.nx());
            for (int k = 0; k < 20; ++k) {
                const ToyState t = random_state(base, seed, k, s);
                check_step(t.world, m.law, t.theta, t.x, t.u, s, next, outcomes);
            }
        }
    }
    MESSAGE(outcomes.unsolved << " of " << outcomes.problems << " problems unsolved");
    CHECK(outcomes.unsolved <= outcomes.problems / 20);
}

TEST_CASE("laws: Newton's cradle of five passes the speed on, by every solver") {
    for (const char* solver : {R"({"type": "pgs"})", R"({"type": "lcp"})", R"({"type": "ncp"})",
                               R"({"type": "ncp", "method": "admm"})"}) {
        CAPTURE(std::string(solver));
        const Scene scene =
            scene_of_text(R"({"name": "cradle", "steps": 40, "time_step": 0.001, "gravity": [0, 0, 0],
            "contact": {"compliance": 0}, "solver": )" +
                          std::string(solver) + R"(,
            "models": [{"name": "balls", "copies": {"count": 5, "offset": [0.101, 0, 0]}, "model": {"bodies": [{"name": "ball", "mass": 1,
                "inertia": [0.001, 0.001, 0.001, 0, 0, 0], "joint": {"type": "free"},
                "shapes": [{"type": "sphere", "radius": 0.05, "friction": 0, "restitution": 1}]}]}}],
            "initial": {"velocities": {"balls0/ball": {"linear": [1, 0, 0]}}}})");
        const VecX<double> v = walk(scene, 40).segment(scene.world.nq(), scene.world.nv());
        double worst = 0;
        for (int ball = 0; ball < 5; ++ball)
            worst = std::max(worst, std::abs(v[6 * ball] - (ball == 4 ? 1 : 0)));
        CHECK(worst < 1e-9);
        MESSAGE("cradle, " << std::string(solver) << ": largest error of a speed " << worst << " m/s");
    }
}

TEST_CASE("laws: a ball thrown up from a floor without friction flies") {
    for (const char* solver : {"pgs", "lcp", "ncp"}) {
        CAPTURE(std::string(solver));
        const Scene scene = scene_of_text(
            R"({"name": "thrown", "steps": 100, "ground": {"friction": 0}, "solver": {"type": ")" +
            std::string(solver) + R"("},
            "models": [{"name": "ball", "position": [0, 0, 0.05], "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 1,
                "inertia": [0.001, 0.001, 0.001, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.05}]}]}}],
            "initial": {"velocities": {"ball": {"linear": [0, 0, 1.5]}}}})");
        const VecX<double> x = walk(scene, 100);
        CHECK(x[2] == doctest::Approx(0.05 + 0.15 - 0.5 * 9.81 * 0.01).epsilon(0.01));
        CHECK(x[scene.world.nq() + 2] == doctest::Approx(1.5 - 0.981).epsilon(1e-9));
    }
}

// A disc on a vertical hinge overlaps the floor by 1 mm. No impulse can open this contact, so the contact
// must not brake the disc.
TEST_CASE("laws: contact that its joint cannot open carries no impulse and holds nothing") {
    for (const char* solver : {"pgs", "lcp", "ncp"}) {
        CAPTURE(std::string(solver));
        const Scene scene =
            scene_of_text(R"({"name": "disc", "steps": 10, "ground": true, "solver": {"type": ")" +
                          std::string(solver) + R"("},
            "models": [{"name": "disc", "position": [0, 0, 0.019], "model": {"bodies": [{"name": "disc", "mass": 1,
                "inertia": [0.01, 0.01, 0.02, 0, 0, 0], "joint": {"name": "hinge", "type": "revolute", "axis": [0, 0, 1]},
                "shapes": [{"type": "cylinder", "radius": 0.1, "half_length": 0.02}]}],
                "actuators": [{"name": "motor", "type": "motor", "joint": "hinge"}]}}]})");
        StepScratch<double> s(scene.world);
        VecX<double> next(scene.world.nx());
        const VecX<double> u = VecX<double>::Constant(1, 1.0);
        step(scene.world, {scene.theta.data(), scene.x0.data(), u.data()}, s, next.data());
        CHECK(!s.rows.blocks.empty());
        for (const double impulse : s.impulses.lambda)
            CHECK(impulse == 0);
        CHECK(next[1] == doctest::Approx(scene.theta[scene.world.time_step.at(0)] * 1 / 0.02).epsilon(1e-12));
    }
}

// 125 spheres that touch all their neighbours, some with an overlap: one island of hundreds of rows, in which
// Newton's method has equations that cannot be factored.
TEST_CASE("laws: a block of touching spheres gets finite impulses within their bounds, by every solver") {
    std::mt19937 g(125);
    std::uniform_real_distribution<double> off(-1e-4, 1e-4);
    std::string balls;
    for (int k = 0; k < 125; ++k) {
        const std::string at = std::to_string(0.1 * (k % 5) + off(g)) + ", " +
                               std::to_string(0.1 * (k / 5 % 5) + off(g)) + ", " +
                               std::to_string(0.05 + 0.1 * (k / 25) + off(g));
        balls +=
            std::string(k == 0 ? "" : ", ") + R"({"name": "b)" + std::to_string(k) + R"(", "position": [)" +
            at +
            R"(], "model": {"bodies": [{"name": "ball", "mass": 0.1, "inertia": [1e-4, 1e-4, 1e-4, 0, 0, 0], "joint": {"type": "free"},
                     "shapes": [{"type": "sphere", "radius": 0.05, "friction": 0.6}]}]}})";
    }
    for (const char* solver : {"pgs", "lcp", "ncp"}) {
        CAPTURE(std::string(solver));
        const Scene scene = scene_of_text(
            R"({"name": "block", "steps": 2, "time_step": 0.002, "ground": true, "solver": {"type": ")" +
            std::string(solver) + R"("}, "models": [)" + balls + "]}");
        const VecX<double> end = walk(scene, 2, [&](const VecX<double>&, const StepScratch<double>& s) {
            CHECK(s.rows.count > 500);
            for (size_t i = 0; i < s.rows.islands.size(); ++i) {
                const BrokenLaw broken = broken_bound(island_problem(s.rows, s.delassus, s.impulses, i),
                                                      scene.world.friction_law(),
                                                      s.impulses.lambda.data() + s.rows.islands[i].row);
                CHECK_MESSAGE(!broken, std::string(broken.law == nullptr ? "" : broken.law)
                                           << " by " << broken.by);
            }
        });
        CHECK(end.allFinite());
    }
}
