#include "adjoint/objective/objective.inl"

#include "core/math/dual.hpp"

namespace costate {

void check_least_squares(const Objective& objective) {
    for (const Term& term : objective) {
        const auto refuse = [&](const char* why) {
            throw std::invalid_argument("the term \"" + term.name + "\" " + why);
        };
        if (traits_of(term.kind).numbers == 0) refuse("is not a sum of squares");
        if (term.weight < 0) refuse("has a negative weight");
        if (term.norm == TermNorm::distance && objective.size() > 1)
            refuse("is a distance combined with other terms: use the squared norm");
        if (term.norm == TermNorm::distance && term.running)
            refuse("is a sum of distances: use the squared norm");
    }
}

Objective residual_components(const Objective& objective) {
    Objective components;
    for (const Term& term : objective) {
        if (term.running || term.kind == TermKind::recording) return {};
        const bool joints = traits_of(term.kind).subject == TermSubject::joints;
        const int count = joints ? static_cast<int>(term.dofs.size()) : 3;
        for (int k = 0; k < count; ++k) {
            if (!joints && term.axes[k] == 0) continue;
            components.push_back(term);
            components.back().norm = TermNorm::component;
            components.back().component = k;
            components.back().weight = term.norm == TermNorm::distance ? term.weight : std::sqrt(term.weight);
        }
    }
    return components;
}

#define INSTANTIATE(T)                                                                                       \
    template T term_value(const World&, const Term&, int, const T*, const T*, const T*,                      \
                          const StepScratch<T>&);                                                            \
    template void term_value_adj(const World&, const Term&, int, const T*, const T*, const T*, const T&,     \
                                 StepScratch<T>&, T*, T*, T*);                                               \
    template T objective_value(const World&, const Objective&, bool, int, const T*, const T*, const T*,      \
                               const StepScratch<T>&);                                                       \
    template void objective_value_adj(const World&, const Objective&, bool, int, const T*, const T*,         \
                                      const T*, const T&, StepScratch<T>&, T*, T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
