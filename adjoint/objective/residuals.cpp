#include "adjoint/objective/residuals.hpp"

#include <algorithm>

#include "solvers/sensors/sensors.hpp"

namespace costate {

namespace {

// True if the term depends on coordinates, velocities or controls alone, and not on poses.
bool is_of_coordinates(const Term& term) {
    return term.kind == TermKind::configuration || term.kind == TermKind::joint_velocity ||
           term.kind == TermKind::effort || term.kind == TermKind::symmetry;
}

// True if the term depends on results of the step, whose gradient needs the adjoint of the whole step.
bool reads_results(const Term& term) {
    if (term.kind == TermKind::impulse || reads_step(term.sensors)) return true;
    const std::vector<Signal>& signals = term.recording.signals;
    return std::any_of(signals.begin(), signals.end(),
                       [](const Signal& s) { return s.kind == SignalKind::impulse; });
}

// True if the component has the factor 0.
bool is_left_out(const Term& term) {
    return traits_of(term.kind).has_target && !term.length && term.axes[term.component] == 0;
}

// Weights the residuals r of a term and their rows J, so that 2 J^T r is the gradient of its share of the
// loss. J^T r is w J_0^T r_0 for w |r|^2, w J_0^T r_0/(2 |r_0|) for w |r|, and w d J_0^T r_0/|r_0| for a number
// beyond Huber's threshold d. h: the factor of an integral, or 0. h_column: that of its derivative, or -1.
template <class Vector, class Matrix>
void scale(TermNorm norm, const Term& term, double h, int h_column, Vector& r, Matrix& J) {
    const double weight = term.weight * (h > 0 ? h : 1), size = r.norm();
    for (Eigen::Index k = 0; k < r.size(); ++k) {
        double share = 1;  // of the square
        if (norm == TermNorm::huber) share = std::min(1.0, term.threshold / std::abs(r[k]));
        double factor = std::sqrt(weight * share);
        if (norm == TermNorm::distance) factor = size > 0 ? std::sqrt(weight / (2 * size)) : 0;
        r[k] *= factor;
        J.row(k) *= factor;
        if (h > 0 && h_column >= 0)
            J(k, h_column) += r[k] * (norm == TermNorm::distance ? 1 : 1 - 0.5 * share) / h;
    }
}

}  // namespace

TermResiduals::TermResiduals(const World& w, const Objective& objective, Columns columns)
    : world_(w),
      pushes_(w),
      of_parameters_(columns == Columns::and_parameters),
      unused_(VecX<double>::Zero(of_parameters_ ? 0 : w.np())) {
    for (const Term& term : objective) {
        const TermNorm norm = norm_of(term);
        const bool square = norm != TermNorm::component && norm != TermNorm::linear && term.weight >= 0;
        if (square) norms_.push_back(norm);
        (square ? squares_ : others_).push_back(term);
        if (square) squares_.back().norm = TermNorm::component;
    }
}

// row += the gradient of the term's value
void TermResiduals::add_gradient(const Term& term, int t, const double* theta, const double* x,
                                 const double* u, StepScratch<double>& s, double* row) {
    const World& w = world_;
    double *x_bar = row, *u_bar = x_bar + w.ndx();
    double* theta_bar = of_parameters_ ? u_bar + w.nu() : unused_.data();
    VecX<double> x_next_bar = VecX<double>::Zero(w.ndx());
    const bool of_coordinates = is_of_coordinates(term);
    if (!of_coordinates) s.clear_bars();
    term_value_adj<double>(w, term, t, {theta, x, u}, 1.0, s, {theta_bar, x_bar, u_bar});
    if (of_coordinates) return;
    if (!term.running || !reads_results(term))
        return observe_adj(w, theta, x, s, of_parameters_ ? theta_bar : nullptr, x_bar);
    step_adj(w, {theta, x, u, pushes_.at(t, theta)}, s, x_next_bar.data(), {theta_bar, x_bar, u_bar});
}

void TermResiduals::linearise(bool running, int t, const double* theta, const double* x, const double* u,
                              StepScratch<double>& s, Residuals& out) {
    const World& w = world_;
    Eigen::Index rows = 0;
    for (const Term& term : squares_)
        if (counts(term, running, t)) rows += residual_size(term);
    const int columns = w.ndx() + w.nu() + (of_parameters_ ? w.np() : 0);
    const int h_column = of_parameters_ ? w.ndx() + w.nu() + w.time_step.at(0) : -1;
    const double h = w.h(theta);
    out.r.setZero(rows);
    out.J.setZero(rows, columns);
    out.linear.setZero(columns);

    for (const Term& term : others_) {
        if (!counts(term, running, t)) continue;
        VecX<double> gradient = VecX<double>::Zero(columns);
        add_gradient(term, t, theta, x, u, s, gradient.data());
        out.linear += term.weight * (is_integral(term) ? h : 1) * gradient;
        if (of_parameters_ && is_integral(term))
            out.linear[h_column] += term.weight * term_value(w, term, t, {theta, x, u}, s);
    }
    Eigen::Index first = 0;
    for (size_t i = 0; i < squares_.size(); ++i) {
        Term& term = squares_[i];
        if (!counts(term, running, t)) continue;
        const int n = residual_size(term);
        auto r = out.r.segment(first, n);
        auto J = out.J.middleRows(first, n);
        for (term.component = 0; term.component < n; ++term.component) {
            double& value = r[term.component];
            value = term_value(w, term, t, {theta, x, u}, s);
            if (value == 0 && (term.bounded() || is_left_out(term))) continue;
            add_gradient(term, t, theta, x, u, s, J.row(term.component).data());
        }
        scale(norms_[i], term, is_integral(term) ? h : 0, h_column, r, J);
        first += n;
    }
}

}  // namespace costate
