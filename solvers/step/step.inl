// The bodies of solvers/step/step.hpp's templates, for the files that instantiate them: solvers/step/step.cpp
// for double and Dual<double>.
#pragma once

#include "solvers/step/step.hpp"

namespace costate {

template <class T>
StepScratch<T>::StepScratch(const World& w)
    : saturations(w.nu()),
      kinematics(w.model),
      free_motion(w.model),
      contacts(w),
      rows(w),
      delassus(w),
      impulses(w),
      recovery(w),
      bar(w.model) {
    for (auto* x : {&tau, &B, &v_free, &v_next, &displacement, &v_next_bar, &displacement_bar, &v_free_bar,
                    &tau_bar, &B_bar})
        x->assign(w.nv(), T(0));
}

template <class T> void StepScratch<T>::clear_bars() {
    bar.set_zero();
    contacts.points_bar.assign(contacts.points.size(), ContactPointBar<T>::zero());
    rows.J_bar.assign(rows.J.size(), T(0));
    rows.beta_bar.assign(rows.beta.size(), T(0));
    rows.recovery_bar.assign(rows.beta.size(), T(0));
    rows.R_bar.assign(rows.R.size(), T(0));
    rows.mu_bar.assign(rows.mu.size(), T(0));
    rows.time_bar.assign(rows.mu.size(), T(0));
    delassus.A_bar.assign(delassus.A.size(), T(0));
    delassus.W_bar.assign(delassus.W.size(), T(0));
    impulses.lambda_bar.assign(impulses.lambda.size(), T(0));
    std::fill(free_motion.M_bar.begin(), free_motion.M_bar.end(), T(0));
    for (auto* x : {&displacement_bar, &tau_bar, &B_bar})
        std::fill(x->begin(), x->end(), T(0));
}

template <class T> int contact_row(const StepScratch<T>& s, int contact) {
    for (const RowBlock& block : s.rows.blocks)
        if (block.kind == RowKind::contact && block.index == contact) return block.row;
    return -1;
}

template <class T>
void step(const World& w, const T* theta, const T* x, const T* u, StepScratch<T>& s, T* x_next) {
    const T *q = x, *v = x + w.nq(), &h = theta[w.time_step.at(0)];
    T *q_next = x_next, *v_next = x_next + w.nq();
    FreeMotionScratch<T>& free = s.free_motion;
    // 1 joint forces
    actuation(w.model, theta, q, v, u, s.saturations.data(), s.tau.data(), s.B.data());
    if (w.settings.gyroscopic == Gyroscopic::midpoint) gyroscopic_torques(w.model, theta, h, v, s.tau.data());
    // 2 poses, axes, velocities; what pushes along them
    kinematics(w.model, theta, q, v, s.kinematics);
    thrust(w.model, theta, s.kinematics, s.saturations.data(), u, s.tau.data());
    // 3 mass matrix and its factor
    mass_matrix(w, theta, s.kinematics, s.B.data(), free);
    // 4 velocity without impulses
    free_acceleration(w, theta, s.kinematics, v, s.tau.data(), s.B.data(), free);
    for (int j = 0; j < w.nv(); ++j)
        s.v_free[j] = v[j] + h * free.a[j];
    // 5 features that meet
    place_shapes(w, theta, s.kinematics, s.contacts);
    detect_contacts(w, theta, s.contacts);
    // 6 contact points, normals, gaps
    make_contacts(w, theta, s.kinematics, s.contacts);
    // 7 constraint rows
    make_rows(w, theta, q, v, s.v_free.data(), s.kinematics, s.contacts, s.rows);
    // 8 Delassus operator
    delassus(w, free.M.data(), s.rows, s.delassus);
    // 9 impulses, from those of the last step
    warm_start(w, x + w.nq() + w.nv(), s.contacts, s.rows, s.impulses);
    solve_impulses(w, s.rows, s.delassus, s.v_free.data(), s.impulses);
    // 10 velocity with impulses, configuration
    apply_impulses(w, free.M.data(), s.rows, s.delassus, s.impulses);
    for (size_t n = 0; n < s.v_next.size(); ++n)
        s.v_next[n] = s.v_free[n] + s.impulses.dv[n];
    recover_positions(w, free.M.data(), s.rows, s.delassus, s.impulses, s.v_next.data(), s.recovery);
    for (size_t n = 0; n < s.v_next.size(); ++n)
        s.displacement[n] = h * (s.v_next[n] + s.recovery.w[n]);
    std::ranges::copy(s.v_next, v_next);
    late_displacement(w, theta, q, free.M.data(), s.contacts, s.rows, s.impulses, s.displacement.data());
    retract(w.model, q, s.displacement.data(), q_next);
    keep_impulses(w, s.contacts, s.rows, s.impulses, x_next + w.nq() + w.nv());
}

namespace {

template <class T>
void pull_back_step(const World& w, const T* theta, const T* x, const T* u, StepScratch<T>& s,
                    const T* x_next_bar, Labels labels, T* theta_bar, T* x_bar, T* u_bar) {
    const T *q = x, *v = x + w.nq(), &h = theta[w.time_step.at(0)];
    T *q_bar = x_bar, *v_bar = x_bar + w.nv(), &h_bar = theta_bar[w.time_step.at(0)];
    FreeMotionScratch<T>& free = s.free_motion;
    // 10 velocity with impulses, configuration
    keep_impulses_adj(w, s.rows, x_next_bar + 2 * w.nv(), s.impulses);
    if (w.settings.impact == Impact::elastic) {
        std::fill(s.v_free_bar.begin(), s.v_free_bar.end(), T(0));  // unused if none bounces
        retract_adj(w.model, q, s.displacement.data(), x_next_bar, s.v_free_bar.data(),
                    s.displacement_bar.data());
        if (elastic_displacement_inplace(s.rows, s.contacts, s.impulses, s.displacement_bar.data())) {
            for (int j = 0; j < w.nv(); ++j) {
                T& d_bar = s.displacement_bar[j];
                q_bar[j] += d_bar;
                v_bar[j] += h * d_bar;
                h_bar += d_bar * v[j];
                d_bar = T(0);
            }
        } else {
            for (int j = 0; j < w.nv(); ++j)
                q_bar[j] += s.v_free_bar[j];
        }
    } else {
        retract_adj(w.model, q, s.displacement.data(), x_next_bar, q_bar, s.displacement_bar.data());
    }
    late_displacement_adj(w, theta, q, free.M.data(), s.contacts, s.rows, s.impulses,
                          s.displacement_bar.data(), free.M_bar.data());
    for (int j = 0; j < w.nv(); ++j) {
        const size_t n = j;
        h_bar += s.displacement_bar[n] * (s.v_next[n] + s.recovery.w[n]);
        s.displacement_bar[n] *= h;
        s.v_next_bar[n] = x_next_bar[w.nv() + j] + s.displacement_bar[n];
    }
    recover_positions_adj(w, free.M.data(), s.rows, s.delassus, s.impulses, s.recovery, s.v_next.data(),
                          s.displacement_bar.data(), s.v_next_bar.data(), free.M_bar.data());
    // without rows the equations of motion alone; operator by operator where ABA was asked for
    const bool free_by_equations =
        s.rows.islands.empty() && w.settings.forward_dynamics != ForwardDynamics::aba;
    const bool by_equations = has_implicit_gradient(w, s) || free_by_equations;
    const bool implicit = by_equations && needs_mass_matrix(w);
    std::fill(s.v_free_bar.begin(), s.v_free_bar.end(), T(0));
    if (implicit) {
        // 10, 9, 8, 4 and 3 at once, by the equations that v+ and the impulses obey
        pull_back_dynamics(w, theta, s.kinematics, free, s.rows, s.delassus, s.impulses, v, s.v_next.data(),
                           s.v_next_bar.data(), labels, s.bar, theta_bar, v_bar, s.tau_bar.data(),
                           s.B_bar.data());
        if (s.recovery.any_swept())
            delassus_adj(w, free.M.data(), s.rows, s.delassus, free.M_bar.data());  // 8, of the recovery
    } else {
        s.v_free_bar = s.v_next_bar;
        apply_impulses_adj(w, free.M.data(), s.rows, s.impulses, s.v_next_bar.data(), free.M_bar.data());
        // 9 impulses, from those of the last step
        solve_impulses_adj(s.rows, s.delassus, s.v_free.data(), s.impulses, s.v_free_bar.data());
        warm_start_adj(w, s.rows, s.impulses, x_bar + 2 * w.nv());
        // 8 Delassus operator
        delassus_adj(w, free.M.data(), s.rows, s.delassus, free.M_bar.data());
    }
    // 7 constraint rows
    make_rows_adj(w, theta, q, v, s.v_free.data(), s.kinematics, s.contacts, s.rows, s.bar, theta_bar, q_bar,
                  v_bar, s.v_free_bar.data());
    // 6 contact points, normals, gaps
    make_contacts_adj(w, theta, s.kinematics, s.contacts, s.bar, theta_bar);
    // 5 features that meet: decided, nothing flows
    const bool by_mass_matrix = s.rows.located || s.rows.recovers;  // the displacement depends on M by itself
    // which 10-3 has written over
    if (implicit && by_mass_matrix)
        free_acceleration(w, theta, s.kinematics, v, s.tau.data(), s.B.data(), free);
    if (!implicit || by_mass_matrix) {
        // 4 velocity without impulses
        for (int j = 0; j < w.nv(); ++j) {
            const size_t n = j;
            v_bar[j] += s.v_free_bar[n];
            h_bar += s.v_free_bar[n] * free.a[n];
            free.a_bar[n] = h * s.v_free_bar[n];
        }
        free_acceleration_adj(w, theta, s.kinematics, v, s.B.data(), free, s.bar, theta_bar, v_bar,
                              s.tau_bar.data(), s.B_bar.data());
        // 3 mass matrix and its factor
        mass_matrix_adj(w, theta, s.kinematics, s.B.data(), free, s.bar, theta_bar, s.B_bar.data());
    }
    // 2 poses, axes, velocities; what pushes along them
    thrust_adj(w.model, theta, s.kinematics, s.saturations.data(), u, s.tau_bar.data(), s.bar, theta_bar,
               u_bar);
    kinematics_adj(w.model, theta, q, v, s.kinematics, s.bar, theta_bar, q_bar, v_bar);
    // 1 joint forces
    if (w.settings.gyroscopic == Gyroscopic::midpoint)
        gyroscopic_torques_adj(w.model, theta, h, v, s.tau_bar.data(), theta_bar, h_bar, v_bar);
    actuation_adj(w.model, theta, q, v, u, s.saturations.data(), s.tau_bar.data(), s.B_bar.data(), theta_bar,
                  q_bar, v_bar, u_bar);
}

// What an objective has seeded, to be pulled back twice.
template <class T> struct Seeds {
    KinematicsBar<T> bar;
    std::vector<T> lambda_bar;
    std::vector<ContactPointBar<T>> points_bar;
    explicit Seeds(const StepScratch<T>& s)
        : bar(s.bar),
          lambda_bar(s.impulses.lambda_bar),
          points_bar(s.contacts.points_bar) {}
    void restore(StepScratch<T>& s) const {
        s.clear_bars();
        s.bar = bar;
        s.impulses.lambda_bar = lambda_bar;
        s.contacts.points_bar = points_bar;
    }
};

// Through both sets of contacts, keeping the larger gradient, by |q_bar|^2 + |tau_bar|^2/h.
template <class T>
void pull_back_both_ways(const World& w, const T* theta, const T* x, const T* u, StepScratch<T>& s,
                         const T* x_next_bar, T* theta_bar, T* x_bar, T* u_bar) {
    const Seeds<T> seeds(s);
    struct Way {
        VecX<T> theta, x, u;
        double size = 0;
    } ways[2];
    for (const Labels labels : {Labels::solved, Labels::relabelled}) {
        Way& way = ways[static_cast<int>(labels)];
        way.theta.setZero(w.np());
        way.x.setZero(w.ndx());
        way.u.setZero(w.nu());
        seeds.restore(s);
        pull_back_step(w, theta, x, u, s, x_next_bar, labels, way.theta.data(), way.x.data(), way.u.data());
        for (int j = 0; j < w.nv(); ++j) {
            const double q_bar = value_of(way.x[j]), tau_bar = value_of(s.tau_bar[j]);
            way.size += q_bar * q_bar + tau_bar * tau_bar / value_of(theta[w.time_step.at(0)]);
        }
    }
    const Way& larger = ways[ways[1].size > ways[0].size ? 1 : 0];
    for (int i = 0; i < w.np(); ++i)
        theta_bar[i] += larger.theta[i];
    for (int i = 0; i < w.ndx(); ++i)
        x_bar[i] += larger.x[i];
    for (int i = 0; i < w.nu(); ++i)
        u_bar[i] += larger.u[i];
}

}  // namespace

template <class T>
void step_adj(const World& w, const T* theta, const T* x, const T* u, StepScratch<T>& s, const T* x_next_bar,
              T* theta_bar, T* x_bar, T* u_bar) {
    if (w.settings.complementarity_aware && has_implicit_gradient(w, s) && !s.rows.islands.empty())
        return pull_back_both_ways(w, theta, x, u, s, x_next_bar, theta_bar, x_bar, u_bar);
    step_adj_as_solved(w, theta, x, u, s, x_next_bar, theta_bar, x_bar, u_bar);
}

template <class T>
void step_adj_as_solved(const World& w, const T* theta, const T* x, const T* u, StepScratch<T>& s,
                        const T* x_next_bar, T* theta_bar, T* x_bar, T* u_bar) {
    pull_back_step(w, theta, x, u, s, x_next_bar, Labels::solved, theta_bar, x_bar, u_bar);
}

template <class T> void observe(const World& w, const T* theta, const T* x, StepScratch<T>& s) {
    kinematics(w.model, theta, x, x + w.nq(), s.kinematics);
}

template <class T>
void observe_adj(const World& w, const T* theta, const T* x, StepScratch<T>& s, T* theta_bar, T* x_bar) {
    kinematics_adj(w.model, theta, x, x + w.nq(), s.kinematics, s.bar, theta_bar, x_bar, x_bar + w.nv());
}

}  // namespace costate
