// The dot-product test of a solution on its active set, for the box, the cone and the relaxed cone.
#include <doctest/doctest.h>

#include "solvers/complementarity/cone.hpp"
#include "tests/support/contact_problems.hpp"
#include "tests/support/stage_pass.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Every entry of A, b and mu -> the solution. Only entries read by rows that are not separating have an
// effect.
struct ActiveSetPass : StagePass {
    static inline FrictionLaw law = FrictionLaw::box;
    static inline int met[6] = {};
    static inline int condim = 3;
    static inline unsigned seed = 0;

    ContactProblem p;
    std::vector<double> A, b, mu, A_bar, b_bar, mu_bar, x, x_bar, s_bar;
    std::vector<D> A_dual, b_dual, mu_dual, x_dual;
    ActiveSet<double> set;
    ActiveSet<D> set_dual;
    LcpScratch box;
    ConeScratch round;
    int inputs_without_effect = 0;

    ActiveSetPass(Rng&, Regime) {
        do {  // until no row is close to another state
            p = contact_problem(Family::scattered, ++seed, condim);
            x.assign(p.b.size(), 0.0);
            solve<double>(p.view(), set, x);
        } while (!clear_cut());
        A.assign(p.A.data(), p.A.data() + p.A.size());
        b.assign(p.b.begin(), p.b.end());
        mu.assign(p.mu.begin(), p.mu.end());
        A_bar = A;
        b_bar = b;
        mu_bar = mu;
        x_bar = s_bar = x;
        A_dual.resize(A.size());
        b_dual.resize(b.size());
        mu_dual.resize(b.size());
        x_dual.resize(b.size());
        in.add(A, A_dual, A_bar);
        in.add(b, b_dual, b_bar);
        in.add(mu, mu_dual, mu_bar);
        out.add<double>(x_dual, x_bar);
        for (const RowState state : set.state)
            ++met[static_cast<int>(state) + 1];
        inputs_without_effect = inputs() - count_inputs_with_effect();
    }
    template <class T> void solve(const MlcpView<T>& view, ActiveSet<T>& active, std::vector<T>& solution) {
        if (law == FrictionLaw::box)
            lcp(view, box, active, solution.data());
        else
            cone(view, law, ConeMethod::gauss_seidel, round, active, solution.data());
    }
    bool clear_cut() const {
        const auto view = p.view();
        if (mlcp_residual(view, x.data(), law) > 1e-12) return false;
        for (int r = 0; r < view.rows; ++r) {
            const double s = set.s[r] / view.a(r, r);
            if (view.type[r] == RowType::unilateral) {
                if (std::abs(x[r]) + std::abs(s) < 1e-2) return false;
                continue;
            }
            const size_t n = view.normal_of(r);
            if (x[n] == 0) continue;
            const auto length = [&](const std::vector<double>& rows) {
                return length_of(rows.data() + n + 1, condim - 1);
            };
            const double force = law == FrictionLaw::box ? std::abs(x[r]) : length(x);
            const double slip = law == FrictionLaw::box ? std::abs(s) : length(set.s);
            if (std::abs(p.mu[r] * x[n] - force) + slip < 1e-2) return false;
        }
        return true;
    }
    int count_inputs_with_effect() const {
        const size_t n = b.size();
        std::vector<bool> reads_s(n), reads_mu(n);
        for (size_t r = 0; r < n; ++r) {
            const RowState state = set.state[r];
            reads_s[r] =
                state == RowState::clamping || state == RowState::dilating || state == RowState::sliding;
            if (state == RowState::lower || state == RowState::upper) reads_mu[r] = true;
            if (state == RowState::sliding) reads_mu[p.normal[r] + 1] = true;
        }
        size_t count = 0;
        for (size_t r = 0; r < n; ++r) {
            count += reads_mu[r] + reads_s[r];
            for (size_t c = 0; c < n; ++c)
                count += reads_s[r] && set.state[c] != RowState::separating;
        }
        return static_cast<int>(count);
    }
    void run_duals() override {
        for (size_t i = 0; i < x.size(); ++i)
            x_dual[i] = x[i];
        const int n = static_cast<int>(b.size());
        set_dual.state = set.state;
        solve_active_set<D>(
            {n, A_dual.data(), b_dual.data(), p.type.data(), p.normal.data(), mu_dual.data(), 0}, set_dual,
            x_dual.data());
    }
    void run_adjoint() override {
        std::ranges::fill(s_bar, 0.0);
        solve_active_set_adj<double>(p.view(), set, x.data(), x_bar.data(), s_bar.data(), mu_bar.data());
        const size_t n = b.size();
        for (size_t r = 0; r < n; ++r) {
            b_bar[r] += s_bar[r];
            for (size_t c = 0; c < n; ++c)
                A_bar[r * n + c] += s_bar[r] * x[c];
        }
    }
};

}  // namespace

TEST_CASE("adjoint: solve_active_set") {
    for (const FrictionLaw law : {FrictionLaw::box, FrictionLaw::cone, FrictionLaw::relaxed_cone})
        for (const int condim : {3, 4, 6}) {
            CAPTURE(static_cast<int>(law));
            CAPTURE(condim);
            ActiveSetPass::law = law;
            ActiveSetPass::condim = condim;
            for (int i = 0; i < (condim == 3 ? 20 : 6); ++i)
                check_pass<ActiveSetPass>(1e-9);
        }
    for (const int met : ActiveSetPass::met)
        CHECK(met >= 10);
}
