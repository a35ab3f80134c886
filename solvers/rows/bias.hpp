// The bias beta of a unilateral row. The solver enforces J v+ + beta >= 0, so -beta is the least velocity
// along the row after the step. For rigid rows:
//
//   case      condition                             beta                        rho
//   bounce    v < -rest_speed and gap + h v < 0     e v                         0
//   located   as bounce, gap > 0, Impact::located   e (v + t a) - (h - t) a     0
//   open      gap >= 0                              gap/h                       0
//   slop      -slop <= gap < 0                      0                           0
//   recover   gap < -slop                           0                           erp (gap + slop)/h
//   capped    rho of recover < -recovery_speed      0                           -recovery_speed
//
// with t = -gap/v and a = (v_free - v)/h. The velocity rho moves the row in position only; it is not part of
// v+ (solvers/step/recovery.hpp). Rows with springs (solvers/rows/compliance.hpp) have no restitution, slop
// or cap:
//
//   open      gap >= 0                              gap/h                       0
//   pressed   gap < 0                               erp gap/h, erp of springs   0
#pragma once

#include <algorithm>

#include "core/math/bar.hpp"
#include "core/math/lanes.hpp"
#include "solvers/world.hpp"

namespace costate {

enum class BiasCase : unsigned char { bounce, open, slop, recover, capped, pressed, located };

// True if the bias moves the row in position within the step, and not by a velocity that is part of v+.
inline bool by_position(BiasCase bias) { return bias == BiasCase::recover || bias == BiasCase::capped; }

template <> struct BarOf<BiasCase> { using type = NoBar; };

template <class T>
BiasCase bias_case(const World& w, const T* theta, bool springs, const T& gap, const T& v, int i = 0) {
    const auto at = [i](const T& x) { return lane(value_of(x), i); };
    const double g = at(gap), speed = at(v), h = at(w.h(theta)), slop = at(theta[w.slop.at(0)]);
    if (springs) return g >= 0 ? BiasCase::open : BiasCase::pressed;
    if (speed < -w.settings.rest_speed && g + h * speed < 0)
        return w.settings.impact == Impact::located && g > 0 ? BiasCase::located : BiasCase::bounce;
    if (g >= 0) return BiasCase::open;
    if (g >= -slop) return BiasCase::slop;
    return at(theta[w.erp.at(0)]) * (g + slop) < -at(theta[w.recovery_speed.at(0)]) * h ? BiasCase::capped
                                                                                        : BiasCase::recover;
}

// The case of a row in each lane. In lanes that do not have the row it is `slop`, whose bias is 0.
struct BiasCases {
    BiasCase of[max_lanes] = {};
    BiasCases& operator=(BiasCase it) {
        std::ranges::fill(of, it);
        return *this;
    }
    // NOLINTNEXTLINE(google-explicit-constructor)
    operator BiasCase() const { return of[0]; }
};
template <class T>
BiasCases bias_cases(const World& w, const T* theta, bool springs, const T& gap, const T& v, LaneBits lanes) {
    BiasCases cases;
    for (int i = 0; i < lanes_of<T>; ++i)
        cases.of[i] = (lanes >> i & 1) != 0 ? bias_case(w, theta, springs, gap, v, i) : BiasCase::slop;
    return cases;
}

// The lanes in which a row has a case that satisfies `is`.
template <class T, class Is> Condition<T> where_case(const BiasCases& cases, const Is& is) {
    return lanes_where<T>([&](int i) { return is(cases.of[i]); });
}
// Calls visit(case, lanes that have it) once for each case.
template <class T, class Visit> void for_each_case(const BiasCases& cases, const Visit& visit) {
    for (int i = 0; i < lanes_of<T>; ++i) {
        const BiasCase* first = std::find(cases.of, cases.of + i, cases.of[i]);
        if (first != cases.of + i) continue;
        visit(*first, where_case<T>(cases, [&](BiasCase it) { return it == *first; }));
    }
}

// Time from the beginning of the step until a gap closes, s.
template <class T> T impact_time(const T& gap, const T& v) { return -gap / v; }
template <class T> void impact_time_adj(const T& gap, const T& v, const T& t_bar, T& gap_bar, T& v_bar) {
    gap_bar -= t_bar / v;
    v_bar += t_bar * gap / (v * v);
}

// Inputs of a bias; in an adjoint, their covectors.
template <class T> struct BiasInputs {
    T gap;                   // m or rad
    T v, v_free;             // J v at the start of the step and J v_f, m/s or rad/s
    T restitution, erp;      // dimensionless
    T slop, recovery_speed;  // m, m/s
    T h;                     // s
    static BiasInputs zero() { return {T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0)}; }
    static constexpr T BiasInputs::*members[] = {
        &BiasInputs::gap, &BiasInputs::v,    &BiasInputs::v_free,         &BiasInputs::restitution,
        &BiasInputs::erp, &BiasInputs::slop, &BiasInputs::recovery_speed, &BiasInputs::h};
};

// beta; for cases that are by_position, rho
template <class T> T row_bias(const BiasCase& which, const BiasInputs<T>& in) {
    switch (which) {
        case BiasCase::bounce: return in.restitution * in.v;
        case BiasCase::located: {
            const T t = impact_time(in.gap, in.v), a = (in.v_free - in.v) / in.h;
            return in.restitution * (in.v + t * a) - (in.h - t) * a;
        }
        case BiasCase::open: return in.gap / in.h;
        case BiasCase::slop: return T(0);
        case BiasCase::recover: return in.erp * (in.gap + in.slop) / in.h;
        case BiasCase::pressed: return in.erp * in.gap / in.h;
        case BiasCase::capped: return -in.recovery_speed;
    }
    return T(0);
}
template <class T>
void row_bias_adj(const BiasCase& which, const BiasInputs<T>& in, const T& out_bar, NoBar&,
                  BiasInputs<T>& bar) {
    const T &h = in.h, &e = in.restitution;
    switch (which) {
        case BiasCase::bounce:
            bar.restitution += out_bar * in.v;
            bar.v += out_bar * e;
            break;
        case BiasCase::located: {
            const T t = impact_time(in.gap, in.v), a = (in.v_free - in.v) / h;
            const T a_bar = out_bar * ((T(1) + e) * t - h);
            bar.restitution += out_bar * (in.v + t * a);
            bar.v += out_bar * e - a_bar / h;
            bar.v_free += a_bar / h;
            bar.h -= out_bar * a + a_bar * a / h;
            impact_time_adj<T>(in.gap, in.v, out_bar * (T(1) + e) * a, bar.gap, bar.v);
            break;
        }
        case BiasCase::open:
            bar.gap += out_bar / h;
            bar.h -= out_bar * in.gap / (h * h);
            break;
        case BiasCase::slop: break;
        case BiasCase::pressed:
            bar.gap += out_bar * in.erp / h;
            bar.erp += out_bar * in.gap / h;
            bar.h -= out_bar * in.erp * in.gap / (h * h);
            break;
        case BiasCase::recover:
            bar.gap += out_bar * in.erp / h;
            bar.slop += out_bar * in.erp / h;
            bar.erp += out_bar * (in.gap + in.slop) / h;
            bar.h -= out_bar * in.erp * (in.gap + in.slop) / (h * h);
            break;
        case BiasCase::capped: bar.recovery_speed -= out_bar; break;
    }
}

}  // namespace costate
