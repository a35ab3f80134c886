// The law of a soft constraint as MuJoCo defines it (MuJoCo documentation, "Constraint model" and "Solver
// parameters"). A constraint with error r and velocity v is accelerated towards
//
//   a_ref = -b v - k d r
//
// against a regularization in proportion to (1 - d)/d. With 7 parameters s = (solref, solimp) it has
//
//   k = 1/(d_max t zeta)^2,   b = 2/(d_max t)     solref = (t, zeta), t at least 2 h
//   k = -s_0/d_max^2,         b = -s_1/d_max      both negative
//   d = d_min + (d_max - d_min) y(|r|/width)      solimp = (d_min, d_max, width, midpoint m, power p)
//   y(x) = m (x/m)^p  if x <= m,   1 - (1 - m) ((1 - x)/(1 - m))^p  beyond, 1 from x = 1 on
#pragma once

#include <cmath>

#include "core/math/elementary.hpp"
#include "core/model/softness.hpp"
#include "solvers/world.hpp"

namespace costate {

inline constexpr double least_impedance = 1e-4, greatest_impedance = 0.9999;

template <class T> using SoftParameters = Eigen::Matrix<T, 7, 1>;

// The one or two elements of a constraint, as indices into theta, and how they are mixed.
struct SoftElements {
    int count = 0;
    int solref[2] = {-1, -1}, solimp[2] = {-1, -1};
    double weight = 1;  // of the first element
    bool any() const { return count > 0; }
    void add(const SoftnessSlices& slices, int n) {
        solref[count] = slices.solref.at(n);
        solimp[count++] = slices.solimp.at(n);
    }
};

// Weighted mean of the elements; of two solref that are not both positive the lesser numbers.
template <class T> SoftParameters<T> soft_parameters(const T* theta, const SoftElements& e) {
    SoftParameters<T> s;
    const auto at = [&](int element, int i) -> const T& {
        return theta[i < 2 ? e.solref[element] + i : e.solimp[element] + i - 2];
    };
    const bool means = e.count == 2 && value_of(at(0, 0)) > 0 && value_of(at(1, 0)) > 0;
    for (int i = 0; i < 7; ++i) {
        if (e.count == 1)
            s[i] = at(0, i);
        else if (i >= 2 || means)
            s[i] = e.weight * at(0, i) + (1 - e.weight) * at(1, i);
        else
            s[i] = at(0, i) < at(1, i) ? at(0, i) : at(1, i);
    }
    return s;
}
template <class T>
void soft_parameters_adj(const T* theta, const SoftElements& e, const SoftParameters<T>& s_bar,
                         T* theta_bar) {
    const auto at = [&](int element, int i) {
        return i < 2 ? e.solref[element] + i : e.solimp[element] + i - 2;
    };
    const bool means = e.count == 2 && value_of(theta[at(0, 0)]) > 0 && value_of(theta[at(1, 0)]) > 0;
    for (int i = 0; i < 7; ++i) {
        if (e.count == 1) {
            theta_bar[at(0, i)] += s_bar[i];
        } else if (i >= 2 || means) {
            theta_bar[at(0, i)] += e.weight * s_bar[i];
            theta_bar[at(1, i)] += (1 - e.weight) * s_bar[i];
        } else {
            theta_bar[at(theta[at(0, i)] < theta[at(1, i)] ? 0 : 1, i)] += s_bar[i];
        }
    }
}

// x within [lower, upper]; the adjoint passes nothing on outside.
template <class T> T within_range(const T& x, double lower, double upper) {
    return clamp_value(x, T(lower), T(upper));
}
template <class T> void within_range_adj(const T& x, double lower, double upper, const T& out_bar, T& x_bar) {
    if (value_of(x) >= lower && value_of(x) <= upper) x_bar += out_bar;
}

// The part of the curve y that holds x: y = m z^p with z = x/m, or 1 - m z^p with z and m measured from 1.
template <class T> struct ImpedanceArc {
    T m, p, z, z_p;  // z_p = z^p
    bool falls;      // measured from 1
    ImpedanceArc(const T& x, const SoftParameters<T>& s) {
        m = within_range(s[5], least_impedance, greatest_impedance);
        p = s[6] < T(1) ? T(1) : s[6];
        falls = x > m;
        if (falls) m = T(1) - m;
        z = (falls ? T(1) - x : x) / m;
        z_p = exp(p * log(z));
    }
    T y() const { return falls ? T(1) - m * z_p : m * z_p; }
};

// d at the error r
template <class T> T impedance(const SoftParameters<T>& s, const T& r) {
    const T d_min = within_range(s[2], least_impedance, greatest_impedance),
            d_max = within_range(s[3], least_impedance, greatest_impedance);
    if (value_of(s[4]) <= 1e-15) return T(0.5) * (d_min + d_max);
    const T x = (r < T(0) ? -r : r) / s[4];
    if (value_of(x) >= 1) return d_max;
    if (value_of(x) <= 0) return d_min;
    return d_min + (d_max - d_min) * ImpedanceArc<T>(x, s).y();
}
//   dy/dx = p z^(p-1),   dy/dmidpoint = (1 - p) z^p,   dy/dp = +-m z^p log z
template <class T>
void impedance_adj(const SoftParameters<T>& s, const T& r, const T& d_bar, SoftParameters<T>& s_bar,
                   T& r_bar) {
    const T d_min = within_range(s[2], least_impedance, greatest_impedance),
            d_max = within_range(s[3], least_impedance, greatest_impedance);
    T y(0);  // share of d_max
    if (value_of(s[4]) <= 1e-15) {
        y = T(0.5);
    } else {
        const T x = (r < T(0) ? -r : r) / s[4];
        if (value_of(x) >= 1) {
            y = T(1);
        } else if (value_of(x) > 0) {
            const ImpedanceArc<T> arc(x, s);
            y = arc.y();
            const T y_bar = d_bar * (d_max - d_min), x_bar = y_bar * arc.p * arc.z_p / arc.z;
            within_range_adj<T>(s[5], least_impedance, greatest_impedance, y_bar * (T(1) - arc.p) * arc.z_p,
                                s_bar[5]);
            if (value_of(s[6]) >= 1) s_bar[6] += y_bar * (arc.falls ? -arc.m : arc.m) * arc.z_p * log(arc.z);
            s_bar[4] -= x_bar * x / s[4];
            r_bar += r < T(0) ? T(-x_bar / s[4]) : T(x_bar / s[4]);
        }
    }
    within_range_adj<T>(s[2], least_impedance, greatest_impedance, d_bar * (T(1) - y), s_bar[2]);
    within_range_adj<T>(s[3], least_impedance, greatest_impedance, d_bar * y, s_bar[3]);
}

template <class T> struct SoftGains {
    T k, b;  // 1/s^2, 1/s
};
template <class T> SoftGains<T> soft_gains(const SoftParameters<T>& s, const T& h) {
    const T d_max = within_range(s[3], least_impedance, greatest_impedance);
    if (!(value_of(s[0]) > 0)) return {-s[0] / (d_max * d_max), -s[1] / d_max};
    const T t = s[0] < T(2) * h ? T(2) * h : s[0], rate = T(1) / (d_max * t);
    return {rate * rate / (s[1] * s[1]), T(2) * rate};
}
template <class T>
void soft_gains_adj(const SoftParameters<T>& s, const T& h, const SoftGains<T>& bar, SoftParameters<T>& s_bar,
                    T& h_bar) {
    const T d_max = within_range(s[3], least_impedance, greatest_impedance);
    T d_bar(0);
    if (!(value_of(s[0]) > 0)) {
        s_bar[0] -= bar.k / (d_max * d_max);
        s_bar[1] -= bar.b / d_max;
        d_bar = T(2) * bar.k * s[0] / (d_max * d_max * d_max) + bar.b * s[1] / (d_max * d_max);
    } else {
        const bool shortest = s[0] < T(2) * h;
        const T t = shortest ? T(2) * h : s[0], rate = T(1) / (d_max * t);
        const T rate_bar = T(2) * (bar.k * rate / (s[1] * s[1]) + bar.b);
        s_bar[1] -= T(2) * bar.k * rate * rate / (s[1] * s[1] * s[1]);
        d_bar = -rate_bar * rate / d_max;
        (shortest ? h_bar : s_bar[0]) -= (shortest ? T(2) : T(1)) * rate_bar * rate / t;
    }
    within_range_adj<T>(s[3], least_impedance, greatest_impedance, d_bar, s_bar[3]);
}

}  // namespace costate
