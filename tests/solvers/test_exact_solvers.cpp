// Exact solvers on problems with a solution, on a problem without one, and on a problem where box and cone
// differ.
#include <doctest/doctest.h>

#include "solvers/complementarity/laws.hpp"
#include "solvers/complementarity/solver.hpp"
#include "tests/support/contact_problems.hpp"

using namespace costate;
using namespace costate::test;

namespace {

struct NamedSolver {
    const char* name;
    SolverType type;
    FrictionLaw law;
    double share;  // share of 10 000 problems that must be solved
    ConeMethod method = ConeMethod::gauss_seidel;
};

double residual_after(const NamedSolver& m, const ContactProblem& p) {
    SolverScratch work;
    ActiveSet<double> set;
    Settings settings;
    settings.solver = m.type;
    settings.cone_method = m.method;
    std::vector<double> x(p.b.size());
    solve_exactly(p.view(), settings, m.law, work, set, x.data());
    for (const double impulse : x)
        REQUIRE(std::isfinite(impulse));
    return mlcp_residual(p.view(), x.data(), m.law) / (1 + p.b.cwiseAbs().maxCoeff());
}

}  // namespace

// A = J M^-1 J^T + R, b = -J v* + slack: scattered contacts, stacks, stacks with a mass ratio of up to 10^4
// from bottom to top in which each body is heavier than the one below, and bodies on many more points than
// necessary.
TEST_CASE("exact solvers: problems with a solution are solved to round-off") {
    const NamedSolver methods[] = {{"lcp", SolverType::lcp, FrictionLaw::box, 1},
                                   {"ncp, Gauss-Seidel", SolverType::ncp, FrictionLaw::cone, 0.998},
                                   {"ncp, ADMM", SolverType::ncp, FrictionLaw::cone, 0.998, ConeMethod::admm},
                                   {"ncp, relaxed", SolverType::ncp, FrictionLaw::relaxed_cone, 0.985},
                                   {"apgd", SolverType::apgd, FrictionLaw::relaxed_cone, 0.985}};
    for (const NamedSolver& m : methods) {
        CAPTURE(m.name);
        int solved = 0, all = 0;
        for (const Family family :
             {Family::scattered, Family::stacked, Family::heavy_on_light, Family::redundant})
            for (unsigned seed = 0; seed < 150; ++seed, ++all)
                solved += residual_after(m, contact_problem(family, seed)) <= 1e-10;
        CHECK(solved >= m.share * all);
        MESSAGE(m.name << ": " << solved << " of " << all);
    }
}

// A drawer that slides between four guides and hardly bears on them, and a block that falls on the ground: rows of the
// guides differ by less than the residual of a solution, which may be that of other states than it suggests.
ContactProblem drawer(unsigned seed) {
    constexpr int guides = 4, rows = 3 * guides + 1;
    std::mt19937 g(seed);
    std::normal_distribution<double> gauss;
    const auto tilt = [&] { return 1e-4 * gauss(g); };
    ContactProblem p;
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(rows, 3);  // across, along, the block
    p.b.resize(rows);
    p.mu.setConstant(rows, 1);
    for (int r = 0; r < rows - 1; r += 3) {
        const double along = r % 2 == 0 ? 1 : -1;
        J.row(r) << 1, tilt(), 0;
        J.row(r + 1) << tilt(), tilt(), 0;
        J.row(r + 2) << tilt(), along, 0;
        p.b.segment<3>(r) << 1e-11 * gauss(g), 1e-7 * gauss(g), 0.4 * along;
        p.type.insert(p.type.end(), {RowType::unilateral, RowType::friction, RowType::friction});
        p.normal.insert(p.normal.end(), 3, r);
    }
    J(rows - 1, 2) = 1;
    p.b[rows - 1] = -0.4;
    p.type.push_back(RowType::unilateral);
    p.normal.push_back(rows - 1);
    p.A = J * J.transpose();
    return p;
}

TEST_CASE(
    "exact solvers: a solution meets the equations of its active set, also where rows nearly coincide") {
    const std::pair<SolverType, FrictionLaw> methods[] = {{SolverType::lcp, FrictionLaw::box},
                                                          {SolverType::ncp, FrictionLaw::cone},
                                                          {SolverType::ncp, FrictionLaw::relaxed_cone}};
    for (const auto& [solver, law] : methods)
        for (unsigned seed = 0; seed < 1000; ++seed) {
            CAPTURE(static_cast<int>(law));
            CAPTURE(seed);
            const ContactProblem p = drawer(seed);
            SolverScratch work;
            ActiveSet<double> set;
            Settings settings;
            settings.solver = solver;
            Eigen::VectorXd x = Eigen::VectorXd::Zero(p.b.size());
            REQUIRE(solve_exactly(p.view(), settings, law, work, set, x.data()) != SolverStatus::unsolved);
            const Eigen::VectorXd s = p.A * x + p.b;
            for (int r = 0; r < p.b.size(); ++r) {
                if (set.state[r] == RowState::separating) CHECK(std::abs(x[r]) <= 1e-13);
                if (p.type[r] == RowType::unilateral && set.state[r] == RowState::clamping)
                    CHECK(std::abs(s[r]) <= 1e-13);
            }
        }
}

TEST_CASE("exact solvers: problems with torsional and rolling friction are solved to round-off") {
    const NamedSolver methods[] = {{"lcp", SolverType::lcp, FrictionLaw::box, 1},
                                   {"ncp, Gauss-Seidel", SolverType::ncp, FrictionLaw::cone, 0.985},
                                   {"ncp, ADMM", SolverType::ncp, FrictionLaw::cone, 0.985, ConeMethod::admm},
                                   {"ncp, relaxed", SolverType::ncp, FrictionLaw::relaxed_cone, 0.975},
                                   {"apgd", SolverType::apgd, FrictionLaw::relaxed_cone, 0.975}};
    for (const int condim : {4, 6})
        for (const NamedSolver& m : methods) {
            CAPTURE(m.name);
            CAPTURE(condim);
            int solved = 0, all = 0;
            for (const Family family :
                 {Family::scattered, Family::stacked, Family::heavy_on_light, Family::redundant})
                for (unsigned seed = 0; seed < 40; ++seed, ++all)
                    solved += residual_after(m, contact_problem(family, seed, condim)) <= 1e-10;
            CHECK(solved >= m.share * all);
            MESSAGE(m.name << ", condim " << condim << ": " << solved << " of " << all);
        }
}

// Any b has a solution by the relaxed cone, because A is positive definite.
TEST_CASE(
    "interior point: approaches the solution with cones, single contacts, bounded and free rows, also of a "
    "factored A") {
    std::mt19937 random(7);
    std::normal_distribution<double> gauss;
    constexpr int problems = 200, dofs = 12;
    int close = 0, closer = 0, near = 0;
    for (int n = 0; n < problems; ++n) {
        ContactProblem p;
        const auto add = [&](RowType type, double bound) {
            p.type.push_back(type);
            p.normal.push_back(static_cast<int>(p.type.size()) - 1);
            p.mu.conservativeResize(p.mu.size() + 1);
            p.mu[p.mu.size() - 1] = bound;
        };
        for (const int friction : {2, 0, 3, 5, 2}) {
            const int normal = static_cast<int>(p.type.size());
            const double mu = n % 3 == 0 && friction == 3 ? 0 : 0.1 + std::abs(gauss(random));
            add(RowType::unilateral, 0);
            for (int i = 0; i < friction; ++i) {
                add(RowType::friction, mu);
                p.normal.back() = normal;
            }
        }
        for (const double bound : {0.0, 0.1, 1.0, 10.0})
            add(RowType::boxed, bound);
        add(RowType::free, 0);
        const Eigen::Index rows = static_cast<Eigen::Index>(p.type.size());
        const Eigen::MatrixXd columns =
            Eigen::MatrixXd::NullaryExpr(rows, dofs, [&] { return gauss(random); });
        const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> W = columns;
        p.A = W * W.transpose() + 1e-6 * Eigen::MatrixXd::Identity(rows, rows);
        p.b = Eigen::VectorXd::NullaryExpr(rows, [&] { return gauss(random); });
        std::vector<size_t> start;
        std::vector<int> column;
        for (size_t r = 0; r <= p.type.size(); ++r) {
            start.push_back(r * dofs);
            for (int j = 0; j < dofs; ++j)
                column.push_back(j);
        }
        const std::vector<double> R(p.type.size(), 1e-6);
        const Eigen::VectorXd diagonal = p.A.diagonal();
        std::vector<double> along(dofs), swept(dofs), velocity(p.type.size());
        const int tree[] = {0, dofs};
        const FactoredOperator<double> A{
            static_cast<int>(rows), dofs,         start.data(), column.data(),   W.data(), R.data(),
            diagonal.data(),        along.data(), swept.data(), velocity.data(), tree,     1};
        for (const FactoredOperator<double>* factored :
             {static_cast<const FactoredOperator<double>*>(nullptr), &A}) {
            MlcpView<double> view = p.view();
            view.factored = factored;
            if (factored != nullptr) view.A = nullptr;
            std::vector<double> x(p.type.size());
            InteriorPoint method;
            method.start(view, FrictionLaw::relaxed_cone, x.data());
            const auto residual = [&] {
                return mlcp_residual(p.view(), x.data(), FrictionLaw::relaxed_cone);
            };
            if (factored != nullptr) {
                near += method.advance(1e-8, x.data()) && residual() <= 1e-2;
            } else {
                close += method.advance(1e-12, x.data()) && residual() <= 1e-4;
                method.advance(1e-20, x.data());  // as far as round-off permits
                closer += residual() <= 1e-6;
            }
            CHECK_FALSE(broken_bound(p.view(), FrictionLaw::relaxed_cone, x.data()));
        }
    }
    MESSAGE(close << " and " << closer << ", factored " << near << ", of " << problems);
    CHECK(close >= 0.98 * problems);
    CHECK(closer >= 0.98 * problems);
    CHECK(near >= 0.8 * problems);
}

TEST_CASE("interior point: approaches most solutions of Coulomb's law") {
    for (const int condim : {3, 4, 6}) {
        int solved = 0, all = 0;
        for (const Family family : {Family::scattered, Family::stacked, Family::redundant})
            for (unsigned seed = 0; seed < 50; ++seed, ++all) {
                const ContactProblem p = contact_problem(family, seed, condim);
                std::vector<double> x(p.b.size());
                InteriorPoint method;
                method.start(p.view(), FrictionLaw::cone, x.data());
                solved += method.advance(1e-12, x.data()) &&
                          mlcp_residual(p.view(), x.data(), FrictionLaw::cone) <= 1e-4;
            }
        MESSAGE("rows of a contact " << condim << ": " << solved << " of " << all);
        CHECK(solved >= 0.94 * all);
    }
}

TEST_CASE("apgd: its iterations alone come close to the solution of the convex problem") {
    for (const Family family : {Family::scattered, Family::stacked})
        for (unsigned seed = 0; seed < 20; ++seed) {
            CAPTURE(seed);
            const ContactProblem p = contact_problem(family, seed);
            ApgdScratch work;
            std::vector<double> x(p.b.size());
            const double before = mlcp_residual(p.view(), x.data(), FrictionLaw::relaxed_cone);
            apgd_inplace(p.view(), 0, work, x.data());
            CHECK(mlcp_residual(p.view(), x.data(), FrictionLaw::relaxed_cone) <= 1e-2 * before);
        }
}

// Two planes close on a body from both sides, and no impulse opens both. The result is finite and reported as
// unsolved.
TEST_CASE("exact solvers: a wedge without compliance has no solution and is reported as unsolved") {
    const double A[4] = {1, -1, -1, 1}, b[2] = {-1, -1}, mu[2] = {0, 0};
    const RowType type[2] = {RowType::unilateral, RowType::unilateral};
    const int normal[2] = {};
    const MlcpView<double> p{2, A, b, type, normal, mu, 0};
    LcpScratch box;
    ConeScratch round;
    ActiveSet<double> set;
    double x[2] = {0, 0};
    CHECK(lcp(p, box, set, x) == SolverStatus::unsolved);
    CHECK(std::isfinite(x[0] + x[1]));
    double y[2] = {0, 0}, x_bar[2] = {1, 0}, s_bar[2] = {0, 0}, mu_bar[2] = {0, 0};
    CHECK(cone(p, FrictionLaw::cone, ConeMethod::gauss_seidel, round, set, y) == SolverStatus::unsolved);
    CHECK(std::isfinite(y[0] + y[1]));
    solve_active_set_adj(p, set, y, x_bar, s_bar, mu_bar);
    CHECK(std::isfinite(s_bar[0] + s_bar[1]));
}

// A block slides at 45 degrees to the tangents. Friction is sqrt(2) mu N with the box and mu N with the cone.
// With the relaxed cone the block lifts off at mu times its slip.
TEST_CASE("exact solvers: box, cone and relaxed cone on a block that slides diagonally") {
    const double A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 3, 3}, mu[3] = {0, 0.5, 0.5};
    const RowType type[3] = {RowType::unilateral, RowType::friction, RowType::friction};
    const int normal[3] = {};
    const MlcpView<double> p{3, A, b, type, normal, mu, 0};
    LcpScratch box;
    ConeScratch round;
    ActiveSet<double> set;
    double x[3] = {0, 0, 0}, s[3];
    lcp(p, box, set, x);
    CHECK(std::hypot(x[1], x[2]) == doctest::Approx(std::sqrt(2.0) * 0.5 * x[0]).epsilon(1e-12));
    CHECK(x[0] == doctest::Approx(1).epsilon(1e-12));
    double y[3] = {0, 0, 0};
    cone(p, FrictionLaw::cone, ConeMethod::gauss_seidel, round, set, y);
    CHECK(std::hypot(y[1], y[2]) == doctest::Approx(0.5 * y[0]).epsilon(1e-12));
    CHECK(y[0] == doctest::Approx(1).epsilon(1e-12));
    double z[3] = {0, 0, 0};
    cone(p, FrictionLaw::relaxed_cone, ConeMethod::gauss_seidel, round, set, z);
    mlcp_velocity(p, z, s);
    CHECK(s[0] == doctest::Approx(0.5 * std::hypot(s[1], s[2])).epsilon(1e-12));
}

// A planar robot's contact has one friction row out of the plane, which no impulse moves: the first or the second.
// Pressed by 1 N s with a derivative of 1, sliding friction is -0.5 N s with a derivative of -0.5.
TEST_CASE("exact solvers: friction of a planar robot slides in either friction row, with its derivative") {
    using D = Dual<double>;
    const D A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu[3] = {0, 0.5, 0.5};
    const RowType type[3] = {RowType::unilateral, RowType::friction, RowType::friction};
    const int normal[3] = {};
    for (const int moves : {1, 2})
        for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::relaxed_cone}) {
            CAPTURE(moves);
            CAPTURE(static_cast<int>(law));
            D b[3] = {{-1, -1}, 0, 0}, x[3] = {};
            b[moves] = 3;
            LaneBits dropped[3] = {};
            dropped[3 - moves] = 1;
            ConeScratch work;
            ActiveSet<D> set;
            CHECK(cone(MlcpView<D>{3, A, b, type, normal, mu, 0, dropped}, law, ConeMethod::gauss_seidel,
                       work, set, x) != SolverStatus::unsolved);
            CHECK(set.state[moves] == RowState::sliding);
            CHECK(x[3 - moves].v == 0);
            CHECK(x[moves].v == doctest::Approx(-0.5 * x[0].v).epsilon(1e-12));
            CHECK(x[moves].d == doctest::Approx(-0.5 * x[0].d).epsilon(1e-12));
            if (law != FrictionLaw::cone) continue;
            CHECK(x[0].v == doctest::Approx(1).epsilon(1e-12));
            CHECK(x[0].d == doctest::Approx(1).epsilon(1e-12));
        }
}
