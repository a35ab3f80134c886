// The bias of a unilateral row: the solver asks for J v+ + beta >= 0, so -beta is the least velocity a row may leave with.
//   bounce    v < -rest_speed and gap + h v < 0    beta = e v        restitution
//   open      gap >= 0                             beta = gap/h      may close, not cross
//   slop      -slop <= gap < 0                     beta = 0
//   recover   gap < -slop                          beta = erp (gap + slop)/h
//   capped    the above below -recovery_speed      beta = -recovery_speed
#pragma once

#include "core/bar.hpp"
#include "solvers/world.hpp"

namespace costate {

enum class BiasCase : unsigned char { bounce, open, slop, recover, capped };

struct BiasRule {
    BiasCase which = BiasCase::open;
    double slop = 0, cap = 0;
};
template <> struct BarOf<BiasRule> { using type = NoBar; };

template <class T> BiasRule bias_rule(const Settings& s, const T& gap, const T& v, const T& erp, const T& h) {
    BiasRule rule{BiasCase::recover, s.slop, s.recovery_speed};
    if (value_of(v) < -s.rest_speed && value_of(gap) + value_of(h) * value_of(v) < 0) rule.which = BiasCase::bounce;
    else if (value_of(gap) >= 0) rule.which = BiasCase::open;
    else if (value_of(gap) >= -s.slop) rule.which = BiasCase::slop;
    else if (value_of(erp) * (value_of(gap) + s.slop) < -s.recovery_speed * value_of(h)) rule.which = BiasCase::capped;
    return rule;
}

// gap, m; v = J v at the start of the step, m/s; restitution e; erp; h, s
template <class T> T row_bias(const BiasRule& rule, const T& gap, const T& v, const T& e, const T& erp, const T& h) {
    switch (rule.which) {
        case BiasCase::bounce: return e * v;
        case BiasCase::open: return gap / h;
        case BiasCase::slop: return T(0);
        case BiasCase::recover: return erp * (gap + T(rule.slop)) / h;
        case BiasCase::capped: return T(-rule.cap);
    }
    return T(0);
}
template <class T>
void row_bias_adj(const BiasRule& rule, const T& gap, const T& v, const T& e, const T& erp, const T& h, const T& out_bar, NoBar&, T& gap_bar,
                  T& v_bar, T& e_bar, T& erp_bar, T& h_bar) {
    switch (rule.which) {
        case BiasCase::bounce: e_bar += out_bar * v, v_bar += out_bar * e; break;
        case BiasCase::open: gap_bar += out_bar / h, h_bar -= out_bar * gap / (h * h); break;
        case BiasCase::recover:
            gap_bar += out_bar * erp / h;
            erp_bar += out_bar * (gap + T(rule.slop)) / h;
            h_bar -= out_bar * erp * (gap + T(rule.slop)) / (h * h);
            break;
        case BiasCase::slop:
        case BiasCase::capped: break;
    }
}

}  // namespace costate
