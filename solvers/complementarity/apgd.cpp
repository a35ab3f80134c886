// Accelerated projected gradient descent (Mazhar, Heyn, Negrut & Tasora, Using Nesterov's method to
// accelerate multibody dynamics with friction and contact, ACM Trans. Graph. 34, 2015, algorithm 1) on the
// convex problem
//
//   min x.(A x/2 + b)   over the cones and bounds
//
// whose solution obeys the law of the relaxed cone. It multiplies by A and needs no factors of it.
#include "solvers/complementarity/solver.hpp"

namespace costate {

namespace {

constexpr int max_iterations = 200, max_doublings = 30;

void project_inplace(const MlcpView<double>& p, double* x) {
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) {
            x[r] = 0;
        } else if (const int friction = p.friction_rows(r); friction > 0) {
            project_on_cone_inplace(p.mu(r + 1), friction, x + r);
            r += friction;
        } else if (p.type[r] == RowType::unilateral) {
            x[r] = std::max(0.0, x[r]);
        } else if (p.type[r] == RowType::boxed) {
            x[r] = std::clamp(x[r], -p.max_impulse(r), p.max_impulse(r));
        }
    }
}

using Vector = Eigen::Map<Eigen::VectorXd>;

// x.(A x/2 + b), where s = A x + b
double objective(const MlcpView<double>& p, const Vector& x, const Vector& s) {
    return x.dot(s + Eigen::Map<const Eigen::VectorXd>(p.b, p.rows)) / 2;
}

}  // namespace

void apgd_inplace(const MlcpView<double>& p, double tolerance, ApgdScratch& w, double* start) {
    for (std::vector<double>* it : {&w.y, &w.gradient, &w.next, &w.s})
        it->resize(p.rows);
    Vector x(start, p.rows), y(w.y.data(), p.rows), gradient(w.gradient.data(), p.rows),
        next(w.next.data(), p.rows), s(w.s.data(), p.rows);
    project_inplace(p, start);
    y = x;
    double theta = 1, lipschitz = 0;
    for (int r = 0; r < p.rows; ++r)
        lipschitz = std::max(lipschitz, p.diagonal(r));
    for (int k = 0; k < max_iterations && mlcp_residual(p, start, FrictionLaw::relaxed_cone) > tolerance;
         ++k) {
        mlcp_velocity(p, y.data(), gradient.data());
        const double before = objective(p, y, gradient);
        // the step 1/L, with L doubled until the quadratic of that curvature bounds the objective
        for (int i = 0; i < max_doublings; ++i, lipschitz *= 2) {
            next = y - gradient / lipschitz;
            project_inplace(p, next.data());
            mlcp_velocity(p, next.data(), s.data());
            const double bound = before + gradient.dot(next - y) + lipschitz / 2 * (next - y).squaredNorm();
            if (objective(p, next, s) <= bound) break;
        }
        // Nesterov's momentum, from rest again where it climbs (O'Donoghue & Candes 2015)
        const double theta_next = (-theta * theta + theta * std::sqrt(theta * theta + 4)) / 2;
        const double momentum = theta * (1 - theta) / (theta * theta + theta_next);
        const bool climbs = gradient.dot(next - x) > 0;
        y = next;
        if (!climbs) y += momentum * (next - x);
        theta = climbs ? 1 : theta_next;
        lipschitz *= 0.9;
        x = next;
    }
}

template <class T> SolverStatus apgd(const MlcpView<T>& p, SolverScratch& w, ActiveSet<T>& set, T* x) {
    return with_values(
        p, set, x, [&](const MlcpView<double>& values, ActiveSet<double>& found, double* start) {
            guess_inplace(values, found.s, start);
            apgd_inplace(values, acceptable_residual(values, start), w.apgd, start);
            return cone(values, FrictionLaw::relaxed_cone, ConeMethod::gauss_seidel, w.cone, found, start);
        });
}

template SolverStatus apgd(const MlcpView<double>&, SolverScratch&, ActiveSet<double>&, double*);
template SolverStatus apgd(const MlcpView<Dual<double>>&, SolverScratch&, ActiveSet<Dual<double>>&,
                           Dual<double>*);

}  // namespace costate
