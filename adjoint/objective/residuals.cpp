#include "adjoint/objective/residuals.hpp"

#include <algorithm>

namespace costate {

namespace {

// The number of scalar residuals of a term; 0: the term is not a square.
int dimension(const Term& term) {
    const TermTraits& traits = traits_of(term.kind);
    if (traits.numbers >= 0) return traits.numbers;
    switch (traits.subject) {
        case TermSubject::joints: return static_cast<int>(term.dofs.size());
        case TermSubject::actuators: return static_cast<int>(term.controls.size());
        case TermSubject::file: return term.recording.dimension;
        default: break;
    }
    return 0;
}

// True if the term depends on coordinates, velocities or controls alone, and not on poses.
bool is_of_coordinates(const Term& term) {
    const TermSubject subject = traits_of(term.kind).subject;
    return subject == TermSubject::joints || subject == TermSubject::actuators;
}

// True if the term depends on impulses, whose gradient needs the adjoint of the whole step.
bool is_of_impulses(const Term& term) {
    if (term.kind == TermKind::impulse) return true;
    const std::vector<Signal>& signals = term.recording.signals;
    return std::any_of(signals.begin(), signals.end(),
                       [](const Signal& s) { return s.kind == SignalKind::impulse; });
}

}  // namespace

TermResiduals::TermResiduals(const World& w, const Objective& objective, Columns columns)
    : world_(w),
      pushes_(w),
      of_parameters_(columns == Columns::and_parameters),
      unused_(VecX<double>::Zero(of_parameters_ ? 0 : w.np())) {
    for (const Term& term : objective) {
        const bool square = term.norm != TermNorm::component && term.weight >= 0 && dimension(term) > 0;
        if (square) norms_.push_back(term.norm);
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
    if (is_of_coordinates(term))
        return term_value_adj(w, term, t, theta, x, u, 1.0, s, theta_bar, x_bar, u_bar);
    s.clear_bars();
    term_value_adj(w, term, t, theta, x, u, 1.0, s, theta_bar, x_bar, u_bar);
    if (!u || !is_of_impulses(term))
        return observe_adj(w, theta, x, s, of_parameters_ ? theta_bar : nullptr, x_bar);
    const VecX<double> nothing = VecX<double>::Zero(w.ndx());
    step_adj(w, theta, x, u, s, nothing.data(), theta_bar, x_bar, u_bar, pushes_.at(t, theta));
}

void TermResiduals::linearise(bool running, int t, const double* theta, const double* x, const double* u,
                              StepScratch<double>& s, Residuals& out) {
    const World& w = world_;
    Eigen::Index rows = 0;
    for (const Term& term : squares_)
        if (term.running == running) rows += dimension(term);
    const int columns = w.ndx() + w.nu() + (of_parameters_ ? w.np() : 0);
    const int h_column = w.ndx() + w.nu() + w.time_step.at(0);
    const double h = w.h(theta);
    out.r.setZero(rows);
    out.J.setZero(rows, columns);
    out.linear.setZero(columns);
    const auto per_second = [&](const Term& term) { return running && traits_of(term.kind).per_second; };

    for (const Term& term : others_) {
        if (term.running != running) continue;
        VecX<double> gradient = VecX<double>::Zero(columns);
        add_gradient(term, t, theta, x, u, s, gradient.data());
        out.linear += term.weight * (per_second(term) ? h : 1) * gradient;
        if (of_parameters_ && per_second(term))
            out.linear[h_column] += term.weight * term_value(w, term, t, theta, x, u, s);
    }
    Eigen::Index first = 0;
    for (size_t i = 0; i < squares_.size(); ++i) {
        Term& term = squares_[i];
        if (term.running != running) continue;
        const int n = dimension(term);
        auto r = out.r.segment(first, n);
        auto J = out.J.middleRows(first, n);
        for (term.component = 0; term.component < n; ++term.component) {
            r[term.component] = term_value(w, term, t, theta, x, u, s);
            add_gradient(term, t, theta, x, u, s, J.row(term.component).data());
        }
        const bool distance = norms_[i] == TermNorm::distance;
        const double size = r.norm(), weight = term.weight * (per_second(term) ? h : 1);
        // 2 J^T r = J_0^T r_0 / |r_0|
        const double scale = !distance ? std::sqrt(weight) : size > 0 ? std::sqrt(weight / (2 * size)) : 0;
        r *= scale;
        J *= scale;
        if (of_parameters_ && per_second(term)) J.col(h_column) += r / (distance ? h : 2 * h);
        first += n;
    }
}

}  // namespace costate
