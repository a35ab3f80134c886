// costate bench SCENE --jacobian: times a step and its Jacobian with respect to (q, v, u), computed in closed
// form, by adjoints, by central differences and by Ridders' extrapolation, at states along the scene's
// rollout.
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "adjoint/rollout/state.hpp"
#include "apps/cli/bench.hpp"
#include "apps/cli/replay.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"

namespace costate {

namespace {

using Matrix = StepJacobian::Matrix;

struct At {
    VecX<double> x, u;
};

// Steps from a state displaced along column c of (q, v, u); the result is relative to `base` (2 nv).
class Moved {
public:
    Moved(const Scene& s, StepScratch<double>& scratch)
        : s_(s),
          scratch_(scratch),
          d_(VecX<double>::Zero(s.world.ndx())),
          x_(s.world.nx()),
          next_(s.world.nx()) {}
    void step(const At& at, int column, double e, const VecX<double>& base, VecX<double>& difference) {
        const World& w = s_.world;
        const int ndx = w.ndx();
        u_ = at.u;
        if (column < ndx)
            d_[column] = e;
        else
            u_[column - ndx] += e;
        retract_state(w, at.x.data(), d_.data(), x_.data());
        if (column < ndx) d_[column] = 0;
        costate::step(w, {s_.theta.data(), x_.data(), u_.data()}, scratch_, next_.data());
        state_difference(w, base.data(), next_.data(), difference.data());
    }

    std::uint64_t branches() const { return branch_hash(scratch_); }

private:
    const Scene& s_;
    StepScratch<double>& scratch_;
    VecX<double> d_, u_, x_, next_;
};

void central_differences(const At& at, const VecX<double>& base, Moved& moved, Matrix& J) {
    constexpr double e = 1e-6;
    VecX<double> plus(J.rows()), minus(J.rows());
    for (int c = 0; c < J.cols(); ++c) {
        moved.step(at, c, e, base, plus);
        moved.step(at, c, -e, base, minus);
        J.col(c) = (plus - minus) / (2 * e);
    }
}

// The largest difference between `closed` and `differences`, relative to the largest entry. Counts only
// columns whose two displaced steps take the same branches as the step itself.
double apart(const StepJacobian& closed, const Matrix& differences, const At& at, const VecX<double>& base,
             std::uint64_t branches, Moved& moved) {
    constexpr double e = 1e-6;
    VecX<double> unused(differences.rows());
    double worst = 0;
    for (int c = 0; c < differences.cols(); ++c) {
        bool same = true;
        for (const double side : {e, -e}) {
            moved.step(at, c, side, base, unused);
            same = same && moved.branches() == branches;
        }
        const auto n = closed.by_x.cols();
        if (same)
            worst =
                std::max(worst, (differences.col(c) - (c < n ? closed.by_x.col(c) : closed.by_u.col(c - n)))
                                    .cwiseAbs()
                                    .maxCoeff());
    }
    return worst / std::max(1.0, closed.by_x.cwiseAbs().maxCoeff());
}

// Ridders 1982: Neville's extrapolation of central differences to step 0. Steps decrease by a factor of 1.4
// until the error estimate grows.
void ridders(const At& at, const VecX<double>& base, Moved& moved, Matrix& J) {
    constexpr int most = 10;
    constexpr double first = 1e-3, ratio = 1.4;
    VecX<double> plus(J.rows()), minus(J.rows());
    VecX<double> table[most][most];
    for (int c = 0; c < J.cols(); ++c) {
        double e = first, best = unlimited;
        for (int i = 0; i < most; ++i, e /= ratio) {
            moved.step(at, c, e, base, plus);
            moved.step(at, c, -e, base, minus);
            table[0][i] = (plus - minus) / (2 * e);
            double factor = ratio * ratio;
            for (int j = 1; j <= i; ++j, factor *= ratio * ratio) {
                table[j][i] = (factor * table[j - 1][i] - table[j - 1][i - 1]) / (factor - 1);
                const double error = std::max((table[j][i] - table[j - 1][i]).cwiseAbs().maxCoeff(),
                                              (table[j][i] - table[j - 1][i - 1]).cwiseAbs().maxCoeff());
                if (error <= best) {
                    best = error;
                    J.col(c) = table[j][i];
                }
            }
            if (i > 0 && (table[i][i] - table[i - 1][i - 1]).cwiseAbs().maxCoeff() >= 2 * best) break;
        }
    }
}

}  // namespace

int bench_jacobian(const Arguments& a, int repeat) {
    Scene s = a.load();
    World& w = s.world;
    if (w.settings.warm_start)
        throw UsageError("--jacobian does not support warm starts; switch \"warm_start\" off");
    const bool swept = !w.implicit_gradient();
    if (swept) w.settings.solver = SolverType::lcp;  // its gradient has a closed form
    // states along the rollout
    std::vector<At> at;
    int rows = 0;
    {
        Simulation simulation(w, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, s.steps);
        const int every = std::max(1, s.steps / 50);
        rollout.forward(s.theta, s.x0, s.z0, [&](int t, const double* x, const double* u) {
            if (u == nullptr || t % every != 0) return;
            at.push_back(
                {Eigen::Map<const VecX<double>>(x, w.nx()), Eigen::Map<const VecX<double>>(u, w.nu())});
            rows = std::max(rows, simulation.observation().rows());
        });
        if (rollout.divergence()) report_divergence(s, {s.theta, s.x0, s.z0}, rollout);
    }
    StepScratch<double> scratch(w), aside(w);
    StepJacobian closed(w), reversed(w);
    Moved moved(s, aside);
    VecX<double> next(w.nx());
    Matrix differences(w.ndx(), w.ndx() + w.nu()), extrapolated = differences;
    Times forward, jacobian, adjoints, central, ridder;
    double from_differences = 0, from_adjoints = 0;
    for (int k = 0; k < repeat; ++k) {
        const bool first = k == 0;
        double times[5] = {};
        for (const At& here : at) {
            const auto timed = [&](double& sum, const auto& work) {
                const Stopwatch watch;
                work();
                sum += watch.seconds();
            };
            timed(times[0], [&] {
                step(w, {s.theta.data(), here.x.data(), here.u.data()}, scratch, next.data());
            });
            timed(times[1],
                  [&] { step_jacobian(w, s.theta.data(), here.x.data(), here.u.data(), scratch, closed); });
            timed(times[2], [&] {
                step_jacobian_by_adjoints(w, s.theta.data(), here.x.data(), here.u.data(), scratch, reversed);
            });
            timed(times[3], [&] { central_differences(here, next, moved, differences); });
            if (first || k == 1) timed(times[4], [&] { ridders(here, next, moved, extrapolated); });
            if (!first) continue;
            from_differences = std::max(from_differences,
                                        apart(closed, differences, here, next, branch_hash(scratch), moved));
            from_adjoints = std::max(from_adjoints, (closed.by_x - reversed.by_x).cwiseAbs().maxCoeff() /
                                                        std::max(1.0, closed.by_x.cwiseAbs().maxCoeff()));
        }
        if (first) continue;  // the first run allocates
        Times* all[] = {&forward, &jacobian, &adjoints, &central, &ridder};
        for (int i = 0; i < 5; ++i)
            if (times[i] > 0) all[i]->us.push_back(1e6 * times[i] / static_cast<double>(at.size()));
    }
    const Report report{{"name", s.name},
                        {"dofs", w.nv()},
                        {"controls", w.nu()},
                        {"rows", rows},
                        {"states", at.size()},
                        {"solver", swept ? "lcp" : "as in the scene"},
                        {"forward_us", forward.median()},
                        {"jacobian_us", jacobian.median()},
                        {"adjoints_us", adjoints.median()},
                        {"central_difference_us", central.median()},
                        {"ridders_us", ridder.median()},
                        {"apart_from_central_difference", from_differences},
                        {"apart_from_adjoints", from_adjoints}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: %d dofs, %d controls, up to %d rows; %zu states, median of %d%s\n\n", s.name.c_str(),
                w.nv(), w.nu(), rows, at.size(), repeat - 1, swept ? "; solver lcp instead of pgs" : "");
    std::printf("step                 %10.2f us\n", forward.median());
    std::printf("Jacobian             %10.2f us  with respect to (q, v, u)\n", jacobian.median());
    std::printf("  by adjoints        %10.2f us  differs by at most %.2g of the largest entry\n",
                adjoints.median(), from_adjoints);
    std::printf("central differences  %10.2f us  differ by at most %.2g where no branch changes\n",
                central.median(), from_differences);
    std::printf("Ridders' method      %10.2f us\n", ridder.median());
    return done;
}

}  // namespace costate
