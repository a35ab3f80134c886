#include "adjoint/objective/objective.inl"

#include "core/math/dual.hpp"

namespace costate {

void check_least_squares(const Objective& objective) {
    for (const Term& term : objective) {
        const auto refuse = [&](const char* why) {
            throw std::invalid_argument("the term \"" + term.name + "\" " + why);
        };
        const TermNorm norm = norm_of(term);
        if (norm == TermNorm::linear) refuse("is not a sum of squares");
        if (term.weight < 0) refuse("has a negative weight");
        if (norm == TermNorm::distance && objective.size() > 1)
            refuse("is a distance combined with other terms: use the squared norm");
        if (norm == TermNorm::distance && term.running) refuse("is a sum of distances: use the squared norm");
    }
}

Objective residual_components(const Objective& objective) {
    Objective components;
    for (const Term& term : objective) {
        const TermNorm norm = norm_of(term);
        if (term.running || term.kind == TermKind::recording || norm == TermNorm::huber) return {};
        const bool has_axes = traits_of(term.kind).has_target && !term.length;
        for (int k = 0; k < residual_size(term); ++k) {
            if (has_axes && term.axes[k] == 0) continue;
            components.push_back(term);
            components.back().norm = TermNorm::component;
            components.back().component = k;
            components.back().weight = norm == TermNorm::distance ? term.weight : std::sqrt(term.weight);
        }
    }
    return components;
}

int residual_size(const Term& term) {
    const TermTraits& traits = traits_of(term.kind);
    if (term.length) return 1;
    if (traits.numbers >= 0) return traits.numbers;
    switch (traits.subject) {
        case TermSubject::joints: return static_cast<int>(term.dofs.size());
        case TermSubject::actuators: return static_cast<int>(term.controls.size());
        case TermSubject::file: return term.recording.dimension;
        case TermSubject::sensor: return term.sensors[0].size;
        default: return 0;
    }
}

#define INSTANTIATE(T)                                                                                       \
    template T term_value(const World&, const Term&, int, const StepInputs<T>&, const StepScratch<T>&);      \
    template void term_value_adj(const World&, const Term&, int, const StepInputs<T>&, const T&,             \
                                 StepScratch<T>&, const StepInputBars<T>&);                                  \
    template T term_share(const World&, const Term&, bool, int, const StepInputs<T>&,                        \
                          const StepScratch<T>&);                                                            \
    template T objective_value(const World&, const Objective&, bool, int, const StepInputs<T>&,              \
                               const StepScratch<T>&);                                                       \
    template void objective_value_adj(const World&, const Objective&, bool, int, const StepInputs<T>&,       \
                                      const T&, StepScratch<T>&, const StepInputBars<T>&);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
