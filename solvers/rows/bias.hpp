// The bias of a unilateral row: the solver asks for J v+ + beta >= 0, so -beta is the least velocity along
// the row after the step. Of rigid rows:
//
//   case      where                                 beta                        rho
//   bounce    v < -rest_speed and gap + h v < 0     e v                         0
//   located   the same, gap > 0, Impact::located    e (v + t a) - (h - t) a     0
//   open      gap >= 0                              gap/h                       0
//   slop      -slop <= gap < 0                      0                           0
//   recover   gap < -slop                           0                           erp (gap + slop)/h
//   capped    where that is below -recovery_speed   0                           -recovery_speed
//
// with t = -gap/v and a = (v_free - v)/h. rho is the velocity by which the row is moved in position and which
// is not kept (solvers/step/recovery.hpp). Of rows with springs (solvers/rows/compliance.hpp), which have no
// restitution, slop or cap:
//
//   open      gap >= 0                              gap/h                       0
//   pressed   gap < 0                               erp gap/h, erp of springs   0
#pragma once

#include "core/math/bar.hpp"
#include "solvers/world.hpp"

namespace costate {

enum class BiasCase : unsigned char { bounce, open, slop, recover, capped, pressed, located };

// Whether the bias moves the row by position, within the step, instead of by a velocity that stays.
inline bool by_position(BiasCase bias) { return bias == BiasCase::recover || bias == BiasCase::capped; }

template <> struct BarOf<BiasCase> { using type = NoBar; };

template <class T>
BiasCase bias_case(const World& w, const T* theta, bool springs, const T& gap, const T& v) {
    const double g = value_of(gap), speed = value_of(v), h = value_of(theta[w.time_step.at(0)]),
                 slop = value_of(theta[w.slop.at(0)]);
    if (springs) return g >= 0 ? BiasCase::open : BiasCase::pressed;
    if (speed < -w.settings.rest_speed && g + h * speed < 0)
        return w.settings.impact == Impact::located && g > 0 ? BiasCase::located : BiasCase::bounce;
    if (g >= 0) return BiasCase::open;
    if (g >= -slop) return BiasCase::slop;
    return value_of(theta[w.erp.at(0)]) * (g + slop) < -value_of(theta[w.recovery_speed.at(0)]) * h
               ? BiasCase::capped
               : BiasCase::recover;
}

// When a gap closes, s.
template <class T> T impact_time(const T& gap, const T& v) { return -gap / v; }
template <class T> void impact_time_adj(const T& gap, const T& v, const T& t_bar, T& gap_bar, T& v_bar) {
    gap_bar -= t_bar / v;
    v_bar += t_bar * gap / (v * v);
}

// gap, m; v = J v at the start of the step and v_free = J v_f, m/s; restitution e; erp; slop, m;
// recovery_speed, m/s; h, s
template <class T>
T row_bias(const BiasCase& which, const T& gap, const T& v, const T& v_free, const T& e, const T& erp,
           const T& slop, const T& recovery_speed, const T& h) {
    switch (which) {
        case BiasCase::bounce: return e * v;
        case BiasCase::located: {
            const T t = impact_time(gap, v), a = (v_free - v) / h;
            return e * (v + t * a) - (h - t) * a;
        }
        case BiasCase::open: return gap / h;
        case BiasCase::slop: return T(0);
        case BiasCase::recover: return erp * (gap + slop) / h;
        case BiasCase::pressed: return erp * gap / h;
        case BiasCase::capped: return -recovery_speed;
    }
    return T(0);
}
template <class T>
void row_bias_adj(const BiasCase& which, const T& gap, const T& v, const T& v_free, const T& e, const T& erp,
                  const T& slop, const T&, const T& h, const T& out_bar, NoBar&, T& gap_bar, T& v_bar,
                  T& v_free_bar, T& e_bar, T& erp_bar, T& slop_bar, T& recovery_speed_bar, T& h_bar) {
    switch (which) {
        case BiasCase::bounce:
            e_bar += out_bar * v;
            v_bar += out_bar * e;
            break;
        case BiasCase::located: {
            const T t = impact_time(gap, v), a = (v_free - v) / h, a_bar = out_bar * ((T(1) + e) * t - h);
            e_bar += out_bar * (v + t * a);
            v_bar += out_bar * e - a_bar / h;
            v_free_bar += a_bar / h;
            h_bar -= out_bar * a + a_bar * a / h;
            impact_time_adj<T>(gap, v, out_bar * (T(1) + e) * a, gap_bar, v_bar);
            break;
        }
        case BiasCase::open:
            gap_bar += out_bar / h;
            h_bar -= out_bar * gap / (h * h);
            break;
        case BiasCase::slop: break;
        case BiasCase::pressed:
            gap_bar += out_bar * erp / h;
            erp_bar += out_bar * gap / h;
            h_bar -= out_bar * erp * gap / (h * h);
            break;
        case BiasCase::recover:
            gap_bar += out_bar * erp / h;
            slop_bar += out_bar * erp / h;
            erp_bar += out_bar * (gap + slop) / h;
            h_bar -= out_bar * erp * (gap + slop) / (h * h);
            break;
        case BiasCase::capped: recovery_speed_bar -= out_bar; break;
    }
}

}  // namespace costate
