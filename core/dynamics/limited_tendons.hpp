// Lengths and moment arms of the tendons that have limits: of fixed tendons the sums and coefficients of
// core/dynamics/tendon.hpp, of spatial ones the paths of core/dynamics/spatial_tendon.hpp.
#pragma once

#include "core/dynamics/spatial_tendon.hpp"

namespace costate {

// Lengths and moment arms, or their covectors.
template <class T> struct LimitedTendons {
    std::vector<T> length;  // (tendon limits) m or rad
    std::vector<T> arm;     // of limit n from its first_arm on, one for each of its dofs
    explicit LimitedTendons(const Model& m) : length(m.tendon_limits.size(), T(0)), arm(m.limit_arms, T(0)) {}
    void set_zero() {
        std::ranges::fill(length, T(0));
        std::ranges::fill(arm, T(0));
    }
};

// The index of dof j among those of a limit, -1: the tendon does not pull it.
inline int limit_dof(const TendonLimit& limit, int j) {
    const auto at = std::ranges::lower_bound(limit.dofs, j);
    return at == limit.dofs.end() || *at != j ? -1 : static_cast<int>(at - limit.dofs.begin());
}

template <class T>
void measure_tendons(const Model& m, const T* theta,
                     const T* q,  // (nq)
                     const TendonPaths<T>& paths, LimitedTendons<T>& out) {
    std::ranges::fill(out.arm, T(0));
    for (size_t n = 0; n < m.tendon_limits.size(); ++n) {
        const TendonLimit& limit = m.tendon_limits[n];
        const Tendon& tendon = m.tendons[limit.tendon];
        T* arm = out.arm.data() + limit.first_arm;
        out.length[n] = tendon.spatial() ? paths.length[limit.tendon] : tendon_length(tendon, theta, q);
        for (size_t i = 0; i < tendon.joints.size(); ++i)
            arm[limit_dof(limit, tendon.joints[i].v)] += theta[tendon.coefficients + static_cast<int>(i)];
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            arm[i] = paths.arm[tendon.first_arm + i];
    }
}
template <class T>
void measure_tendons_adj(const Model& m, const T* theta, const T* q, const LimitedTendons<T>& bar,
                         TendonPaths<T>& paths_bar, T* theta_bar,
                         T* q_bar)  // (nv)
{
    for (size_t n = 0; n < m.tendon_limits.size(); ++n) {
        const TendonLimit& limit = m.tendon_limits[n];
        const Tendon& tendon = m.tendons[limit.tendon];
        const T* arm_bar = bar.arm.data() + limit.first_arm;
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            paths_bar.arm[tendon.first_arm + i] += arm_bar[i];
        for (size_t i = 0; i < tendon.joints.size(); ++i)
            theta_bar[tendon.coefficients + static_cast<int>(i)] +=
                arm_bar[limit_dof(limit, tendon.joints[i].v)];
        if (tendon.spatial())
            paths_bar.length[limit.tendon] += bar.length[n];
        else
            tendon_length_adj(tendon, theta, q, bar.length[n], theta_bar, q_bar);
    }
}

}  // namespace costate
