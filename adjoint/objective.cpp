#include "adjoint/objective.inl"

#include "core/dual.hpp"

namespace costate {

Objective residual_components(const Objective& objective) {
    Objective components;
    for (const Term& term : objective) {
        const auto refuse = [&](const char* why) { throw std::invalid_argument("the term \"" + term.name + "\" " + why); };
        int count = 3;
        bool joints = false;
        switch (term.kind) {
            case TermKind::configuration:
            case TermKind::joint_velocity: joints = true, count = static_cast<int>(term.dofs.size()); break;
            case TermKind::position:
            case TermKind::velocity:
            case TermKind::centre_of_mass:
            case TermKind::linear_momentum:
            case TermKind::angular_momentum: break;
            default: refuse("is no sum of squares at the end");
        }
        if (term.running) refuse("is no sum of squares at the end");
        if (term.weight < 0) refuse("has a negative weight");
        if (term.norm == TermNorm::distance && objective.size() > 1) refuse("is a distance among other terms: use the squared norm");
        for (int k = 0; k < count; ++k) {
            if (!joints && term.axes[k] == 0) continue;
            components.push_back(term);
            components.back().norm = TermNorm::component, components.back().component = k;
            components.back().weight = term.norm == TermNorm::distance ? term.weight : std::sqrt(term.weight);
        }
    }
    return components;
}

#define INSTANTIATE(T)                                                                                                           \
    template T term_value(const World&, const Term&, int, const T*, const T*, const T*, const StepScratch<T>&);                  \
    template void term_value_adj(const World&, const Term&, int, const T*, const T*, const T*, const T&, StepScratch<T>&, T*,    \
                                 T*, T*);                                                                                        \
    template T objective_value(const World&, const Objective&, bool, int, const T*, const T*, const T*, const StepScratch<T>&);  \
    template void objective_value_adj(const World&, const Objective&, bool, int, const T*, const T*, const T*, const T&,         \
                                      StepScratch<T>&, T*, T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
