// Lengths and moment arms of the tendons that have limits or are coupled: of fixed tendons the sums and coefficients of
// core/dynamics/tendon.hpp, of spatial ones the paths of core/dynamics/spatial_tendon.hpp.
#pragma once

#include "core/dynamics/spatial_tendon.hpp"

namespace costate {

// Lengths and moment arms, or their covectors.
template <class T> struct TendonMeasures {
    std::vector<T> length;  // (measured tendons) m or rad
    std::vector<T> arm;     // of tendon n from its first_arm on, one for each of its dofs
    explicit TendonMeasures(const Model& m)
        : length(m.measured_tendons.size(), T(0)),
          arm(m.measured_arms, T(0)) {}
    void set_zero() {
        std::ranges::fill(length, T(0));
        std::ranges::fill(arm, T(0));
    }
};

// The index of dof j among those of a tendon, -1: it does not pull this dof.
inline int measured_dof(const MeasuredTendon& tendon, int j) {
    const auto at = std::ranges::lower_bound(tendon.dofs, j);
    return at == tendon.dofs.end() || *at != j ? -1 : static_cast<int>(at - tendon.dofs.begin());
}

template <class T>
void measure_tendons(const Model& m, const T* theta,
                     const T* q,  // (nq)
                     const TendonPaths<T>& paths, TendonMeasures<T>& out) {
    std::ranges::fill(out.arm, T(0));
    for (size_t n = 0; n < m.measured_tendons.size(); ++n) {
        const MeasuredTendon& measured = m.measured_tendons[n];
        const Tendon& tendon = m.tendons[measured.tendon];
        T* arm = out.arm.data() + measured.first_arm;
        out.length[n] = tendon.spatial() ? paths.length[measured.tendon] : tendon_length(tendon, theta, q);
        for (size_t i = 0; i < tendon.joints.size(); ++i)
            arm[measured_dof(measured, tendon.joints[i].v)] +=
                theta[tendon.coefficients + static_cast<int>(i)];
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            arm[i] = paths.arm[tendon.first_arm + i];
    }
}
template <class T>
void measure_tendons_adj(const Model& m, const T* theta, const T* q, const TendonMeasures<T>& bar,
                         TendonPaths<T>& paths_bar, T* theta_bar,
                         T* q_bar)  // (nv)
{
    for (size_t n = 0; n < m.measured_tendons.size(); ++n) {
        const MeasuredTendon& measured = m.measured_tendons[n];
        const Tendon& tendon = m.tendons[measured.tendon];
        const T* arm_bar = bar.arm.data() + measured.first_arm;
        for (size_t i = 0; i < tendon.dofs.size(); ++i)
            paths_bar.arm[tendon.first_arm + i] += arm_bar[i];
        for (size_t i = 0; i < tendon.joints.size(); ++i)
            theta_bar[tendon.coefficients + static_cast<int>(i)] +=
                arm_bar[measured_dof(measured, tendon.joints[i].v)];
        if (tendon.spatial())
            paths_bar.length[measured.tendon] += bar.length[n];
        else
            tendon_length_adj(tendon, theta, q, bar.length[n], theta_bar, q_bar);
    }
}

}  // namespace costate
