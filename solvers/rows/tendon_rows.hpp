// Rows of the limits of tendons: gap = l - lower or upper - l, J = dl/dq or -dl/dq.
#pragma once

#include "solvers/rows/row_blocks.hpp"

namespace costate {

// Distance to an end of the range, m or rad. side: +1 lower end, -1 upper end.
template <class T>
T tendon_gap(const Model& m, const T* theta, const TendonMeasures<T>& at, int n, int side) {
    const ParameterInterval& range = m.measured_tendons[n].range;
    return side > 0 ? at.length[n] - theta[range.lower] : theta[range.upper] - at.length[n];
}
template <class T>
void tendon_gap_adj(const Model& m, int n, int side, const T& gap_bar, TendonMeasures<T>& bar, T* theta_bar) {
    const ParameterInterval& range = m.measured_tendons[n].range;
    bar.length[n] += T(side) * gap_bar;
    theta_bar[side > 0 ? range.lower : range.upper] -= T(side) * gap_bar;
}

// dl/dt at velocities v (nv), m/s or rad/s
template <class T> Value<T> limit_rate(const MeasuredTendon& limit, const TendonMeasures<T>& at, const T* v) {
    Value<T> rate(0);
    for (size_t i = 0; i < limit.dofs.size(); ++i)
        rate += value_of(at.arm[limit.first_arm + i]) * value_of(v[limit.dofs[i]]);
    return rate;
}

template <class T> void tendon_limit_row(const Model& m, const RowBlock& block, Rows<T>& rows) {
    const MeasuredTendon& limit = m.measured_tendons[block.index];
    T* J = jacobian_row(rows, block, 0);
    for (int i = 0; i < block.length; ++i)
        if (const int n = measured_dof(limit, rows.chain_dof[block.chain + i]); n >= 0)
            J[i] = T(block.side) * rows.tendons.arm[limit.first_arm + n];
}
template <class T> void tendon_limit_row_adj(const Model& m, const RowBlock& block, Rows<T>& rows) {
    const MeasuredTendon& limit = m.measured_tendons[block.index];
    const T* J_bar = jacobian_row_bar(rows, block, 0);
    for (int i = 0; i < block.length; ++i)
        if (const int n = measured_dof(limit, rows.chain_dof[block.chain + i]); n >= 0)
            rows.tendons_bar.arm[limit.first_arm + n] += T(block.side) * J_bar[i];
}

}  // namespace costate
