// Compliance R of a unilateral row, v+ + beta + R lambda = 0 while lambda > 0, and the share erp of a
// penetration that beta removes in a step. Both are settings of the world, or follow from springs with
// dampers, one on each compliant side, in series:
//
//   element i    f = k_i x_i + d_i x_i',   x_i its compression, m;   f >= 0 equal in all, sum x_i = -gap
//   implicit     lambda = h f at the end of the step, x_i+ = x_i + h x_i'
//                =>   x_i' = (lambda/h - k_i x_i)/(h k_i + d_i)
//   summed       v+ = -sum x_i'   =>   R = sum 1/(h (h k_i + d_i)),   beta = -sum k_i x_i/(h k_i + d_i)
//
// If the elements are in balance at the start of the step, k_i x_i = -k gap with 1/k = sum 1/k_i, then
//
//   beta = erp gap/h,   erp = h^2 k R
//
// For one element R = 1/(h^2 k + h d) and erp = h k/(h k + d) (Smith, Open Dynamics Engine User Guide, "ERP
// and CFM"). At rest f = -k gap. During motion the balance holds for one element, and for several with equal
// d_i/k_i. A rigid side adds nothing to the sums. While the gap is open, x_i = 0 and beta = gap/h: only the
// part of the motion beyond the gap compresses the springs, and the contact touches at the end of the step or
// not at all. The friction rows of a contact keep the world's R.
#pragma once

#include "core/math/bar.hpp"
#include "solvers/world.hpp"

namespace costate {

// Indices in theta of the stiffness, N/m or N m/rad, and the damping, N s/m or N m s/rad, of a row's
// elements. A row without elements is rigid.
struct Springs {
    int count = 0;
    int stiffness[2] = {-1, -1}, damping[2] = {-1, -1};
    bool any() const { return count > 0; }
    // Adds element n of two slices; n < 0 adds nothing.
    void add(const ParameterSlice& k, const ParameterSlice& d, int n) {
        if (n >= 0) {
            stiffness[count] = k.at(n);
            damping[count++] = d.at(n);
        }
    }
};

// R of one element, 1/kg or 1/(kg m^2): 1/(h (h k + d))
template <class T> T element_compliance(const T& k, const T& d, const T& h) {
    return T(1) / (h * (h * k + d));
}
// -R_bar R^2 times the derivatives of h (h k + d)
template <class T>
void element_compliance_adj(const T& k, const T& d, const T& h, const T& R_bar, T& k_bar, T& d_bar,
                            T& h_bar) {
    const T R = element_compliance(k, d, h), g = -R_bar * R * R;
    k_bar += g * h * h;
    d_bar += g * h;
    h_bar += g * (T(2) * h * k + d);
}

template <class T> struct RowCompliance {
    T R, erp;  // 1/kg or 1/(kg m^2); dimensionless
};

// With c = sum of 1/k_i, m/N:   R = sum of element_compliance,   erp = h^2 R/c
template <class T> RowCompliance<T> row_compliance(const World& w, const T* theta, const Springs& springs) {
    if (!springs.any()) return {theta[w.compliance.at(0)], theta[w.erp.at(0)]};
    const T& h = w.h(theta);
    T R(0), c(0);
    for (int i = 0; i < springs.count; ++i) {
        R += element_compliance(theta[springs.stiffness[i]], theta[springs.damping[i]], h);
        c += T(1) / theta[springs.stiffness[i]];
    }
    return {R, h * h * R / c};
}
// R_bar += h^2 erp_bar/c,   c_bar = -erp erp_bar/c
template <class T>
void row_compliance_adj(const World& w, const T* theta, const Springs& springs, const RowCompliance<T>& bar,
                        T* theta_bar) {
    if (!springs.any()) {
        theta_bar[w.compliance.at(0)] += bar.R;
        theta_bar[w.erp.at(0)] += bar.erp;
        return;
    }
    const T& h = w.h(theta);
    T& h_bar = w.h(theta_bar);
    T c(0);
    for (int i = 0; i < springs.count; ++i)
        c += T(1) / theta[springs.stiffness[i]];
    const RowCompliance<T> out = row_compliance(w, theta, springs);
    const T R_bar = bar.R + h * h * bar.erp / c, c_bar = -out.erp * bar.erp / c;
    h_bar += T(2) * h * out.R / c * bar.erp;
    for (int i = 0; i < springs.count; ++i) {
        const T &k = theta[springs.stiffness[i]], &d = theta[springs.damping[i]];
        element_compliance_adj(k, d, h, R_bar, theta_bar[springs.stiffness[i]], theta_bar[springs.damping[i]],
                               h_bar);
        theta_bar[springs.stiffness[i]] -= c_bar / (k * k);
    }
}

}  // namespace costate
