// Sweeps by the law of a cone on a factored operator: the dot-product test, converged or not, with contacts
// in every state, and convergence to a solution.
#include "solvers/complementarity/cone_sweeps.hpp"

#include <algorithm>

#include "solvers/complementarity/laws.hpp"
#include "tests/support/stage_pass.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// W, R, b, mu, the start, each along a random direction -> the result. The island has six contacts, a limit,
// a boxed row and a free row. One contact cannot open, and another contact has one dropped friction row.
struct ConeSweepsPass : StagePass {
    static inline int sweeps = 20;
    static inline FrictionLaw law = FrictionLaw::cone;
    static inline int condim = 3;                       // rows of a contact
    static inline int open = 0, held = 0, sliding = 0;  // contacts at the end

    static constexpr int contacts = 6, dofs = 30, first_row = 4, width = 12;
    const int friction = condim - 1, rows = condim * contacts + 3;
    std::vector<RowType> type;
    std::vector<int> normal, column;
    std::vector<size_t> start_of;
    std::vector<unsigned char> dropped;
    std::vector<double> W, R, b, mu, start, W_bar, R_bar, b_bar, mu_bar, start_bar, solution, solution_bar;
    std::vector<D> W_dual, R_dual, b_dual, mu_dual, start_dual, solution_dual;
    ConeTape<double> tape;
    ConeTape<D> tape_dual;

    template <class T> struct Problem {
        std::vector<T> diagonal, along, swept, velocity;
        FactoredOperator<T> A;
        MlcpView<T> view;
    };
    template <class T>
    Problem<T> problem(const std::vector<T>& W_, const std::vector<T>& R_, const std::vector<T>& b_,
                       const std::vector<T>& mu_) const {
        Problem<T> p;
        p.along.resize(dofs);
        p.swept.resize(dofs);
        p.velocity.resize(rows);
        for (int r = 0; r < rows; ++r) {
            T sum = R_[r];
            for (size_t k = start_of[r]; k < start_of[r + 1]; ++k)
                sum += W_[k] * W_[k];
            p.diagonal.push_back(sum);
        }
        p.A = {rows,
               dofs,
               start_of.data(),
               column.data(),
               W_.data(),
               R_.data(),
               p.diagonal.data(),
               p.along.data(),
               p.swept.data(),
               p.velocity.data(),
               nullptr,
               0};
        p.view = {rows,       nullptr,   b_.data(),      type.data(), normal.data(),
                  mu_.data(), first_row, dropped.data(), nullptr};
        return p;
    }

    ConeSweepsPass(Rng& g, Regime r) : dropped(rows), b(rows), mu(rows), start(rows) {
        for (int i = 0; i < contacts; ++i) {
            type.push_back(RowType::unilateral);
            type.insert(type.end(), friction, RowType::friction);
            normal.insert(normal.end(), condim, first_row + condim * i);
        }
        type.insert(type.end(), {RowType::unilateral, RowType::boxed, RowType::free});
        normal.resize(rows);
        std::fill_n(dropped.begin() + condim, condim, 1);
        dropped[3 * condim - 1] = 1;
        start_of.push_back(0);
        for (int row = 0; row < rows; ++row) {
            for (int k = 0; k < width; ++k)
                column.push_back(2 * (std::min(row, condim * contacts) / condim) + k + (k > 5 ? 6 : 0));
            start_of.push_back(column.size());
        }
        for (int& j : column)
            j %= dofs;
        W.resize(column.size());
        for (double& w : W)
            w = 0.5 * g.around_zero(r);
        for (int row = 0; row < rows; ++row)
            if (dropped[row] != 0) std::fill_n(W.begin() + width * row, width, 0.0);
        R.assign(rows, 0.1);
        for (int i = 0; i < rows; ++i) {
            const bool unilateral = type[i] == RowType::unilateral;
            b[i] = g.around_zero(r) - (unilateral ? (i % 2 == 0 ? 1.0 : -1.0) : 0);
            if (dropped[i] != 0) b[i] = 0;  // rows that nothing moves have no velocity
            if (!unilateral && type[i] != RowType::free)
                mu[i] = i < condim * contacts && i % condim > 1 ? mu[i - 1]
                        : condim == 3                           ? g.uniform(0.2, 0.8)
                                                                : g.uniform(0.05, 0.2);
            if (dropped[i] == 0) start[i] = unilateral ? g.uniform(0, 1) : 0;
        }
        W_bar.assign(W.size(), 0);
        R_bar.assign(rows, 0);
        b_bar.assign(rows, 0);
        mu_bar.assign(rows, 0);
        start_bar.assign(rows, 0);
        solution_bar.assign(rows, 0);
        W_dual.resize(W.size());
        R_dual.resize(rows);
        b_dual.resize(rows);
        mu_dual.resize(rows);
        start_dual.resize(rows);
        solution_dual.resize(rows);
        // A single number may have no effect, depending on the open contacts. A direction of all numbers has
        // one.
        const auto add = [&](auto& x, auto& dual, auto& bar) {
            in.add_along_direction(g, [&](Inputs& all) { all.add<double>(x, dual, bar); });
        };
        add(W, W_dual, W_bar);
        add(R, R_dual, R_bar);
        add(b, b_dual, b_bar);
        add(mu, mu_dual, mu_bar);
        add(start, start_dual, start_bar);
        out.add<double>(solution_dual, solution_bar);
        solution = start;
        Problem<double> p = problem(W, R, b, mu);
        p.view.factored = &p.A;
        cone_sweeps(p.view, law, sweeps, tape, solution.data());
        for (int i = 0; i < rows - 3; i += condim) {
            if (dropped[i] != 0) continue;
            const double bound = mu[i + 1] * solution[i],
                         force = length_of(solution.data() + i + 1, friction);
            (bound == 0 ? open : force < (1 - 1e-9) * bound ? held : sliding) += 1;
        }
    }
    void run_duals() override {
        solution_dual = start_dual;
        Problem<D> p = problem(W_dual, R_dual, b_dual, mu_dual);
        p.view.factored = &p.A;
        cone_sweeps(p.view, law, sweeps, tape_dual, solution_dual.data());
    }
    void run_adjoint() override {
        std::vector<double> x_bar = solution_bar;
        Problem<double> p = problem(W, R, b, mu);
        p.view.factored = &p.A;
        cone_sweeps_adj(p.view, law, tape, x_bar.data(), {nullptr, W_bar.data(), R_bar.data()}, b_bar.data(),
                        mu_bar.data());
        for (int r = 0; r < rows; ++r)
            start_bar[r] += x_bar[r];
    }
};

}  // namespace

TEST_CASE("adjoint: cone_sweeps") {
    for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::relaxed_cone})
        for (const int condim : {3, 4, 6})
            for (const int sweeps : {1, 2, 20}) {
                CAPTURE(sweeps);
                CAPTURE(condim);
                ConeSweepsPass::law = law;
                ConeSweepsPass::sweeps = sweeps;
                ConeSweepsPass::condim = condim;
                check_pass<ConeSweepsPass>(1e-11);
            }
    for (const int met : {ConeSweepsPass::open, ConeSweepsPass::held, ConeSweepsPass::sliding})
        CHECK(met >= 5);
}

TEST_CASE("cone sweeps converge to a solution, and every iterate is within the bounds") {
    Rng g(11);
    for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::relaxed_cone})
        for (int trial = 0; trial < 20; ++trial) {
            ConeSweepsPass::law = law;
            ConeSweepsPass::sweeps = 2000;
            ConeSweepsPass::condim = trial < 10 ? 3 : (trial < 15 ? 4 : 6);
            const ConeSweepsPass pass(g, Regime::random);
            auto p = pass.problem(pass.W, pass.R, pass.b, pass.mu);
            p.view.factored = &p.A;
            for (int k = 0; k <= 2000; k += 100)
                CHECK(!broken_bound(p.view, law, pass.tape.x.data() + k * pass.rows));
            CHECK(mlcp_residual(p.view, pass.solution.data(), law) <= 1e-9);
        }
}
