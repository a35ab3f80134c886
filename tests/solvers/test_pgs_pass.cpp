// The dot-product test of the projected Gauss-Seidel solver, converged or not, with rows of every kind in
// every state.
#include "solvers/complementarity/pgs.hpp"

#include <algorithm>

#include "tests/support/stage_pass.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Every entry of A (symmetric, but moved entry by entry), b, mu, the start -> solution of one island:
// alternating contacts and limits, most of them pressed together, some pulled apart, and one dropped limit.
struct PgsPass : StagePass {
    static inline int sweeps = 50;
    static inline double tolerance = 0;
    // rows at the end
    static inline int free = 0, clamped = 0, sticking = 0, sliding_up = 0, sliding_down = 0;

    static constexpr int rows = 14, first_row = 5, left_out = 7;
    static constexpr RowType u = RowType::unilateral, f = RowType::friction;
    const std::vector<RowType> type{u, f, f, u, u, f, f, u, u, f, f, u, f, f};
    const std::vector<int> normal{0, 5, 5, 0, 0, 9, 9, 0, 0, 13, 13, 0, 16, 16};
    std::vector<unsigned char> dropped;
    std::vector<double> A, b, mu, start, A_bar, b_bar, mu_bar, start_bar, solution, solution_bar;
    std::vector<D> A_dual, b_dual, mu_dual, start_dual, solution_dual;
    PgsTape<double> tape;
    PgsTape<D> tape_dual;
    // inputs read only by rows at a bound, or multiplied by x = 0; friction of other rows
    int inputs_without_effect = 0;

    PgsPass(Rng& g, Regime r)
        : A(rows * rows),
          b(rows),
          mu(rows),
          start(rows),
          A_bar(A),
          b_bar(b),
          mu_bar(b),
          start_bar(b),
          solution(b),
          solution_bar(b),
          A_dual(A.size()),
          b_dual(rows),
          mu_dual(rows),
          start_dual(rows),
          solution_dual(rows) {
        dropped.resize(rows);
        dropped[left_out] = 1;
        Eigen::Matrix<double, rows, 9> G;
        for (double& x : G.reshaped())
            x = g.around_zero(r);
        G.row(left_out).setZero();
        Eigen::Map<Eigen::Matrix<double, rows, rows>>(A.data()) = 0.1 * G * G.transpose();
        for (size_t i = 0; i < rows; ++i) {
            A[i * rows + i] += 0.1;
            b[i] = g.around_zero(r) - (type[i] != RowType::friction ? 1 : 0);
            if (type[i] == RowType::friction) mu[i] = g.uniform(0.2, 1);
            start[i] = g.around_zero(r);
        }
        in.add(A, A_dual, A_bar);
        in.add(b, b_dual, b_bar);
        in.add(mu, mu_dual, mu_bar);
        in.add(start, start_dual, start_bar);
        out.add<double>(solution_dual, solution_bar);
        solution = start;
        pgs(view(A, b, mu), sweeps, tolerance, tape, solution.data());
        if (r == Regime::random) inputs_without_effect = inputs() - count_inputs_with_effect();
    }
    template <class T>
    MlcpView<T> view(const std::vector<T>& A_, const std::vector<T>& b_, const std::vector<T>& mu_) const {
        return {rows,          A_.data(),  b_.data(), type.data(),
                normal.data(), mu_.data(), first_row, dropped.data()};
    }
    int count_inputs_with_effect() {
        std::vector<bool> A_matters(A.size()), b_matters(rows), mu_matters(rows), start_matters(rows);
        for (size_t n = 0; n < static_cast<size_t>(tape.sweeps) * rows; ++n) {
            const size_t row = n % rows;
            const double* x = tape.x.data() + n + rows;
            const bool unilateral = type[row] != RowType::friction;
            const double bound =
                unilateral ? 0 : mu[row] * x[normal[row] - first_row - static_cast<int>(row)];
            const bool moves = row != left_out && (unilateral ? *x > 0 : std::abs(*x) < bound);
            if (!unilateral && !moves && bound > 0) mu_matters[row] = true;
            b_matters[row] = b_matters[row] || moves;
            for (size_t k = row + 1; n < rows && moves && k < rows; ++k)
                start_matters[k] = k != left_out;
            for (size_t k = 0; moves && k < rows; ++k)  // x of row, row - 1, ... as read
                if (x[-static_cast<int>(k)] != 0) A_matters[row * rows + (row + rows - k) % rows] = true;
            if (n + rows < static_cast<size_t>(tape.sweeps) * rows) continue;
            free += unilateral && moves;
            clamped += unilateral && !moves;
            sticking += !unilateral && moves;
            sliding_up += !unilateral && bound > 0 && *x == bound;
            sliding_down += !unilateral && bound > 0 && *x == -bound;
        }
        const auto count = [](const std::vector<bool>& flags) {
            return static_cast<int>(std::ranges::count(flags, true));
        };
        return count(A_matters) + count(b_matters) + count(mu_matters) + count(start_matters);
    }
    void run_duals() override {
        solution_dual = start_dual;
        pgs(view(A_dual, b_dual, mu_dual), sweeps, tolerance, tape_dual, solution_dual.data());
    }
    void run_adjoint() override {
        std::vector<double> x_bar = solution_bar;
        pgs_adj(view(A, b, mu), tape, x_bar.data(), {A_bar.data()}, b_bar.data(), mu_bar.data());
        for (size_t r = 0; r < rows; ++r)
            start_bar[r] += x_bar[r];
    }
};

}  // namespace

TEST_CASE("adjoint: pgs") {
    for (const int sweeps : {1, 2, 5, 50})
        for (const double tolerance : {0.0, 1e-2}) {
            CAPTURE(sweeps);
            CAPTURE(tolerance);
            PgsPass::sweeps = sweeps;
            PgsPass::tolerance = tolerance;
            check_pass<PgsPass>(1e-11);
        }
    for (const int met :
         {PgsPass::free, PgsPass::clamped, PgsPass::sticking, PgsPass::sliding_up, PgsPass::sliding_down})
        CHECK(met >= 10);
}

namespace {

// One normal row and one friction row with friction coefficient mu; b: of the friction row. Returns the
// derivative of the friction impulse by mu.
struct SmallPgs {
    double value, by_mu, by_mu_dual, by_b, by_b_dual;
    SmallPgs(double mu, double b_normal, double b_friction) {
        const double A[4] = {2, 0, 0, 3}, b[2] = {b_normal, b_friction}, mus[2] = {0, mu};
        const RowType type[2] = {RowType::unilateral, RowType::friction};
        const int normal[2] = {};
        double x[2] = {}, bar[2] = {0, 1}, A_bar[4] = {}, b_bar[2] = {}, mu_bar[2] = {};
        const MlcpView<double> p{2, A, b, type, normal, mus, 0};
        PgsTape<double> tape;
        pgs(p, 4, 0, tape, x);
        pgs_adj(p, tape, bar, {A_bar}, b_bar, mu_bar);
        value = x[1];
        by_mu = mu_bar[1];
        by_b = b_bar[1];
        const D A_dual[4] = {2.0, 0.0, 0.0, 3.0};
        const auto along = [&](double d_b, double d_mu) {
            const D b_dual[2] = {b_normal, {b_friction, d_b}}, mu_dual[2] = {0.0, {mu, d_mu}};
            D y[2];
            PgsTape<D> duals;
            pgs(MlcpView<D>{2, A_dual, b_dual, type, normal, mu_dual, 0}, 4, 0, duals, y);
            return y[1].d;
        };
        by_b_dual = along(1, 0);
        by_mu_dual = along(0, 1);
    }
};

}  // namespace

TEST_CASE("pgs: the gradient at a friction coefficient of 0 is that at a small one") {
    for (const double b : {-0.7, 0.7}) {
        const SmallPgs none(0, -1, b), little(1e-6, -1, b);
        CHECK(none.value == 0);
        CHECK(none.by_mu == doctest::Approx((little.value - none.value) / 1e-6));
        CHECK(none.by_mu == none.by_mu_dual);
        CHECK(little.by_mu == doctest::Approx(none.by_mu));
    }
}

// With two bounds of 0 the row is clamped for every scalar.
TEST_CASE("pgs: a row without slip under no load is clamped for numbers and duals alike") {
    for (const double mu : {0.0, 0.5}) {
        const SmallPgs p(mu, 1, 0);
        CHECK(p.value == 0);
        CHECK(p.by_b == 0);
        CHECK(p.by_b_dual == 0);
        CHECK(p.by_mu == p.by_mu_dual);
    }
}

// Nothing moves the second friction row of a planar robot's contact, so no friction coefficient gives it an
// impulse, and its derivative by a coefficient of 0 is 0, too.
TEST_CASE("pgs: a dropped friction row has no derivative by a friction coefficient of 0") {
    const RowType type[3] = {RowType::unilateral, RowType::friction, RowType::friction};
    const int normal[3] = {};
    const LaneBits dropped[3] = {0, 0, 1};
    const D A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1e-6}, b[3] = {-1, 0.7, 0}, mu[3] = {0, {0, 1}, {0, 1}};
    PgsTape<D> tape;
    D x[3] = {};
    pgs(MlcpView<D>{3, A, b, type, normal, mu, 0, dropped}, 4, 0, tape, x);
    CHECK(x[1].v == 0);
    CHECK(x[1].d == -1);
    CHECK(x[2].v == 0);
    CHECK(x[2].d == 0);
}
