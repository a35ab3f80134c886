// Definitions of the templates of solvers/step/step.hpp, for the files that instantiate them:
// solvers/step/step.cpp for double, solvers/step/step_tangent.cpp for Dual<double>.
#pragma once

#include "solvers/step/distant_contacts.hpp"
#include "solvers/step/runge_kutta.hpp"
#include "solvers/step/step.hpp"

namespace costate {

template <class T>
StepScratch<T>::StepScratch(const World& w)
    : saturations(w.nu()),
      kinematics(w.model),
      paths(w.model),
      springs(w.model.tendons.size(), Side::within),
      wrenches(w.model.bodies.size(), Force<T>::zero()),
      late_damping(w),
      free_motion(w.model),
      contacts(w),
      rows(w),
      delassus(w),
      impulses(w),
      recovery(w),
      bar(w.model),
      wrenches_bar(w.model.bodies.size(), Motion<T>::zero()),
      paths_bar(w.model),
      two_active_sets(w) {
    for (auto* x : {&tau, &B, &v_free, &v_next, &displacement, &v_next_bar, &velocity_bar, &displacement_bar,
                    &v_free_bar, &tau_bar, &B_bar})
        x->assign(w.nv(), T(0));
    activation_sides.resize(w.na());
    if (w.na() > 0) {
        inputs.resize(w.nu());
        inputs_bar.resize(w.nu());
    }
}

template <class T> StepScratch<T>::StepScratch(StepScratch&&) = default;
template <class T> StepScratch<T>::~StepScratch() = default;

template <class T> void StepScratch<T>::clear_bars() {
    if (runge_kutta)
        for (StepScratch& later : runge_kutta->scratch)
            later.clear_bars();
    bar.set_zero();
    contacts.points_bar.assign(contacts.points.size(), ContactPointBar<T>::zero());
    rows.J_bar.assign(rows.J.size(), T(0));
    rows.beta_bar.assign(rows.beta.size(), T(0));
    rows.recovery_bar.assign(rows.beta.size(), T(0));
    rows.R_bar.assign(rows.R.size(), T(0));
    rows.bound_bar.assign(rows.bound.size(), T(0));
    rows.time_bar.assign(rows.bound.size(), T(0));
    rows.tendons_bar.set_zero();
    delassus.A_bar.assign(delassus.A.size(), T(0));
    delassus.W_bar.assign(delassus.W.size(), T(0));
    impulses.lambda_bar.assign(impulses.lambda.size(), T(0));
    std::fill(wrenches_bar.begin(), wrenches_bar.end(), Motion<T>::zero());
    std::fill(free_motion.M_bar.begin(), free_motion.M_bar.end(), T(0));
    for (auto* x : {&velocity_bar, &displacement_bar, &tau_bar, &B_bar, &late_damping.D_bar})
        std::fill(x->begin(), x->end(), T(0));
}

namespace {

// Notes the sides on which the springs of tendons with slack pull.
template <class T> void note_springs(const Model& m, const T* theta, const T* q, StepScratch<T>& s) {
    for (int n = 0; n < static_cast<int>(m.tendons.size()); ++n)
        s.springs[n] = value_of(theta[m.tendon_slack.at(n)]) == 0
                           ? Side::within
                           : spring_side<T>(m, theta, n,
                                            m.tendons[n].spatial() ? s.paths.length[n]
                                                                   : tendon_length(m.tendons[n], theta, q));
}

// Places the external wrenches (bodies x 6) in the common frames and adds them to the joint forces.
template <class T> void push_bodies(const World& w, const T* theta, const T* wrenches, StepScratch<T>& s) {
    s.pushed = wrenches != nullptr;
    if (!s.pushed) return;
    for (size_t i = 0; i < s.wrenches.size(); ++i)
        s.wrenches[i] =
            external_wrench<T>(s.kinematics.X[i], load3(theta + w.model.com.at(static_cast<int>(i))),
                               load3(wrenches + 6 * i), load3(wrenches + 6 * i + 3));
    apply_wrenches(w.model, s.kinematics, s.wrenches, s.tau.data());
}
template <class T>
void push_bodies_adj(const World& w, const T* theta, const T* wrenches, StepScratch<T>& s, T* theta_bar,
                     T* wrenches_bar) {
    if (!s.pushed) return;
    apply_wrenches_adj(w.model, s.kinematics, s.wrenches, s.tau_bar.data(), s.bar, s.wrenches_bar);
    for (size_t i = 0; i < s.wrenches.size(); ++i) {
        const int com = w.model.com.at(static_cast<int>(i));
        Vec3<T> com_bar = Vec3<T>::Zero(), f_bar = com_bar, n_bar = com_bar;
        external_wrench_adj<T>(s.kinematics.X[i], load3(theta + com), load3(wrenches + 6 * i),
                               load3(wrenches + 6 * i + 3), s.wrenches_bar[i], s.bar.X[i], com_bar, f_bar,
                               n_bar);
        add3(theta_bar + com, com_bar);
        if (wrenches_bar == nullptr) continue;
        add3(wrenches_bar + 6 * i, f_bar);
        add3(wrenches_bar + 6 * i + 3, n_bar);
    }
}

// Contacts, and the blocks that wait outside the problem, are on dual numbers those that the step on doubles has
// settled on: with round-off, or with another solution of the problem, a step would choose others.
template <class T> void find_features(const World& w, const T* theta, StepScratch<T>& s) {
    if constexpr (std::is_same_v<T, Dual<double>>)
        if (s.found != nullptr) {
            s.contacts.detection.features = s.found->contacts.detection.features;
            s.contacts.lanes = s.found->contacts.lanes;
            return;
        }
    detect_contacts(w, theta, s.contacts);
}
// A number for the contacts that were found, and for the lanes that have them.
template <class T> std::uint64_t hash_contacts(const ContactScratch<T>& s) {
    std::uint64_t hash = hash_features(s.detection.features);
    for (const LaneBits bits : s.lanes)
        hash = mixed(hash, bits);
    return hash;
}
// True if the solution moves shapes farther than expected, and finds more contacts there.
template <class T> bool finds_more_features(const World& w, const T* theta, const T* v, StepScratch<T>& s) {
    if (s.found != nullptr) return false;
    const bool by_velocity = exceeds_reach(w, theta, v, s.v_next.data(), s.kinematics, s.contacts);
    const bool by_displacement =
        s.rows.recovers && exceeds_reach(w, theta, v, s.displacement.data(), s.kinematics, s.contacts);
    if (!by_velocity && !by_displacement) return false;
    const std::uint64_t before = hash_contacts(s.contacts);
    find_features(w, theta, s);
    return hash_contacts(s.contacts) != before;
}
template <class T>
void choose_waiting_blocks(const World& w, const T* theta, const StateView<T>& x, StepScratch<T>& s) {
    if constexpr (std::is_same_v<T, Dual<double>>)
        if (s.found != nullptr && s.found->rows.waits.size() == s.rows.found.size()) {
            s.rows.waits = s.found->rows.waits;
            return;
        }
    hold_back_blocks(w, theta, x, s.v_free.data(), s.kinematics, s.contacts, s.rows);
}

// A whole step, or a stage of one.
template <class T> void step_once(const World& w, const StepInputs<T>& in, StepScratch<T>& s, T* x_next) {
    const auto& [theta, x, u, wrenches] = in;
    const StateView<T> at(w, x);
    const T *q = at.q, *v = at.v, &h = w.h(theta),
            *inputs = force_inputs(w.model, theta, h, at.activations, u, s.inputs.data());
    T *q_next = x_next, *v_next = x_next + w.nq();
    FreeMotionScratch<T>& free = s.free_motion;
    const auto lap = [&s](Stage stage) {
        if (s.clock != nullptr) s.clock->lap(stage);
    };
    if (s.clock != nullptr) s.clock->start();
    // 1 joint forces
    actuation(w.model, theta, q, v, inputs, s.saturations.data(), s.tau.data(), s.B.data());
    if (w.damps_late()) postpone_damping(w, theta, v, s.tau.data(), s.B.data(), s.late_damping);
    if (w.settings.gyroscopic == Gyroscopic::midpoint) gyroscopic_torques(w.model, theta, h, v, s.tau.data());
    lap(Stage::joint_forces);
    // 2 poses, axes, velocities, spatial tendons, thrust, medium, carried weight, external wrenches
    kinematics(w.model, theta, q, v, s.kinematics);
    place_tendons(w.model, theta, s.kinematics, s.paths);
    measure_tendons(w.model, theta, q, s.paths, s.rows.tendons);
    pull_paths(w.model, theta, s.paths, v, inputs, s.saturations.data(), s.tau.data());
    note_springs(w.model, theta, q, s);
    thrust(w.model, theta, s.kinematics, s.saturations.data(), inputs, s.tau.data());
    medium_forces(w.model, theta, s.kinematics, s.tau.data());
    compensate_gravity(w.model, theta, s.kinematics, s.tau.data());
    push_bodies(w, theta, wrenches, s);
    lap(Stage::kinematics);
    // 3 mass matrix and its factor
    mass_matrix(w, theta, s.kinematics, s.B.data(), free, s.late_damping);
    lap(Stage::mass_matrix);
    // 4 velocity without impulses
    free_acceleration(w, theta, s.kinematics, v, s.tau.data(), s.B.data(), free);
    for (int j = 0; j < w.nv(); ++j)
        s.v_free[j] = v[j] + h * free.a[j];
    lap(Stage::free_velocity);
    // 5 features that meet
    place_shapes(w, theta, s.kinematics, s.contacts);
    expect_change(w, theta, v, s.v_free.data(), s.kinematics, s.contacts);
    find_features(w, theta, s);
    do {
        lap(Stage::detection);
        // 6 contact points, normals, gaps
        make_contacts(w, theta, s.kinematics, s.contacts);
        lap(Stage::contacts);
        // 7 constraint rows
        find_blocks(w, theta, at, s.contacts, s.rows);
        choose_waiting_blocks(w, theta, at, s);
        do {
            make_rows(w, theta, at, s.v_free.data(), s.kinematics, s.contacts, s.rows);
            lap(Stage::rows);
            // 8 Delassus operator
            delassus(w, free.M.data(), s.rows, s.delassus);
            lap(Stage::delassus);
            // 9 impulses, starting from those of the last step
            warm_start(w, at.kept, s.contacts, s.rows, s.impulses);
            solve_impulses(w, s.rows, s.delassus, at.v, s.v_free.data(), s.impulses);
            lap(Stage::impulses);
            // 10 velocity with impulses, configuration, activations
            apply_impulses(w, free.M.data(), s.rows, s.delassus, s.impulses);
            for (size_t n = 0; n < s.v_next.size(); ++n)
                s.v_next[n] = s.v_free[n] + s.impulses.dv[n];
            recover_positions(w, free.M.data(), s.rows, s.delassus, s.impulses, s.v_next.data(), s.recovery);
            for (size_t n = 0; n < s.v_next.size(); ++n)
                s.displacement[n] = s.v_next[n] + s.recovery.w[n];
            lap(Stage::motion);
        } while (s.found == nullptr && wake_blocks(w, theta, at, s.v_next.data(), s.displacement.data(),
                                                   s.kinematics, s.contacts, s.rows));
    } while (finds_more_features(w, theta, v, s));
    if (w.damps_late()) {
        damp_late(w, theta, v, s.v_next.data(), s.late_damping);
        s.displacement = s.late_damping.v;
    }
    std::ranges::copy(v_after(w, s), v_next);
    for (T& d : s.displacement)
        d *= h;
    impact_displacement(w, theta, q, free.M.data(), s.contacts, s.rows, s.impulses, s.displacement.data());
    retract(w.model, q, s.displacement.data(), q_next);
    step_activations(w.model, theta, h, at.activations, u, s.activation_sides.data(), v_next + w.nv());
    keep_impulses(w, s.contacts, s.rows, s.impulses, x_next + w.own_nx());
    lap(Stage::motion);
}

// Adjoint of q+ = retract(q, displacement) with displacement = h (v+ + w) - impact_displacement. Leaves the
// covector of v+ and of w in s.displacement_bar.
template <class T>
void pull_back_configuration(const World& w, const T* theta, const T* q, const T* q_next_bar,
                             StepScratch<T>& s, T* theta_bar, T* q_bar) {
    retract_adj(w.model, q, s.displacement.data(), q_next_bar, q_bar, s.displacement_bar.data());
    impact_displacement_adj(w, theta, q, s.free_motion.M.data(), s.contacts, s.rows, s.impulses,
                            s.displacement_bar.data(), s.free_motion.M_bar.data());
    for (int j = 0; j < w.nv(); ++j) {
        w.h(theta_bar) += s.displacement_bar[j] * (v_after(w, s)[j] + s.recovery.w[j]);
        s.displacement_bar[j] *= w.h(theta);
    }
}

// The same with the gradient of an elastic impact: q+ depends on q and v at the start, and not on v+.
template <class T>
void pull_back_elastic_configuration(const World& w, const T* theta, const StateView<T>& x,
                                     const T* q_next_bar, StepScratch<T>& s, T* theta_bar,
                                     const StateBars<T>& bar) {
    std::fill(s.v_free_bar.begin(), s.v_free_bar.end(), T(0));  // of q, unused
    retract_adj(w.model, x.q, s.displacement.data(), q_next_bar, s.v_free_bar.data(),
                s.displacement_bar.data());
    elastic_displacement_inplace(s.rows, s.contacts, s.impulses, s.displacement_bar.data());
    for (int j = 0; j < w.nv(); ++j) {
        T& d_bar = s.displacement_bar[j];
        bar.q[j] += d_bar;
        bar.v[j] += w.h(theta) * d_bar;
        w.h(theta_bar) += d_bar * x.v[j];
        d_bar = T(0);
    }
}

// Reverse of 10, 9 and 8 operator by operator: from the covector of v+ to the covectors of the rows, of the
// factor of M and of the free velocity.
template <class T> void pull_back_impulses(const World& w, StepScratch<T>& s, T* kept_bar) {
    FreeMotionScratch<T>& free = s.free_motion;
    // 10 velocity with impulses
    s.v_free_bar = s.v_next_bar;
    apply_impulses_adj(w, free.M.data(), s.rows, s.impulses, s.v_next_bar.data(), free.M_bar.data());
    // 9 impulses, starting from those of the last step
    solve_impulses_adj(s.rows, s.delassus, s.v_free.data(), s.impulses, s.v_free_bar.data());
    warm_start_adj(w, s.rows, s.impulses, kept_bar);
    // 8 Delassus operator
    delassus_adj(w, free.M.data(), s.rows, s.delassus, free.M_bar.data());
}

// Reverse of 10, 9, 8, 4 and 3 together, by the equations that v+ and the impulses satisfy
// (solvers/step/implicit.hpp).
template <class T>
void pull_back_equations(const World& w, const T* theta, const T* v, StepScratch<T>& s, ContactLabels labels,
                         T* theta_bar, T* v_bar) {
    FreeMotionScratch<T>& free = s.free_motion;
    std::fill(s.v_free_bar.begin(), s.v_free_bar.end(), T(0));
    constrained_response(w, free.M.data(), s.rows, s.delassus, s.impulses, s.v_next_bar.data(), labels);
    // the terms s_bar.s and w.J^T lambda
    const T power = pull_back_row_velocities(s.rows, s.impulses, s.v_next.data());
    // the term -w.r: inverse dynamics at a = (v+ - v)/h
    const T& h = w.h(theta);
    T& h_bar = w.h(theta_bar);
    const std::vector<T>& response = s.impulses.w;
    for (int j = 0; j < w.nv(); ++j) {
        free.a[j] = (s.v_next[j] - v[j]) / h;
        free.rhs_bar[j] = -h * response[j];
        free.a_bar[j] = T(0);
        s.tau_bar[j] += h * response[j];
        s.B_bar[j] -= h * response[j] * s.v_next[j];
    }
    rnea(w.model, theta, s.kinematics, v, free.a.data(), free.rnea, free.unused.data());
    rnea_adj(w.model, theta, s.kinematics, v, free.a.data(), free.rnea, free.rhs_bar.data(), s.bar, theta_bar,
             v_bar, free.a_bar.data());
    h_bar -= power / h;  // h [c + B v+ - tau] = J^T lambda - M (v+ - v)
    for (int j = 0; j < w.nv(); ++j) {
        v_bar[j] -= free.a_bar[j] / h;
        h_bar -= free.a_bar[j] * free.a[j] / h;
    }
    if (s.recovery.any_swept()) delassus_adj(w, free.M.data(), s.rows, s.delassus, free.M_bar.data());
}

// Reverse of 4 and 3 operator by operator: from s.v_free_bar and the covector of the factor of M.
template <class T>
void pull_back_free_motion(const World& w, const T* theta, const T* v, StepScratch<T>& s, T* theta_bar,
                           T* v_bar) {
    FreeMotionScratch<T>& free = s.free_motion;
    // 4 velocity without impulses
    for (int j = 0; j < w.nv(); ++j) {
        v_bar[j] += s.v_free_bar[j];
        w.h(theta_bar) += s.v_free_bar[j] * free.a[j];
        free.a_bar[j] = w.h(theta) * s.v_free_bar[j];
    }
    free_acceleration_adj(w, theta, s.kinematics, v, s.B.data(), free, s.bar, theta_bar, v_bar,
                          s.tau_bar.data(), s.B_bar.data());
    // 3 mass matrix and its factor
    mass_matrix_adj(w, theta, s.kinematics, s.B.data(), free, s.bar, theta_bar, s.B_bar.data());
}

// True if v+ is pulled back through the equations of motion: with rows if has_implicit_gradient, without rows
// unless the setting is ABA.
template <class T> bool by_equations(const World& w, const StepScratch<T>& s) {
    if (!needs_mass_matrix(w)) return false;
    return has_implicit_gradient(w, s) ||
           (s.rows.islands.empty() && w.settings.forward_dynamics != ForwardDynamics::aba);
}

// The stages of `step` from the last to the first. felt: with contacts that are felt from a distance.
template <class T>
void pull_back_step(const World& w, const StepInputs<T>& in, StepScratch<T>& s, const T* x_next_bar,
                    ContactLabels labels, bool felt, const StepInputBars<T>& out) {
    const auto& [theta, x, u, wrenches] = in;
    const auto& [theta_bar, x_bar, u_bar, wrenches_bar] = out;
    const StateView<T> at(w, x);
    const StateBars<T> bar(w, x_bar);
    FreeMotionScratch<T>& free = s.free_motion;
    const bool activated = w.na() > 0;
    const T* inputs = force_inputs(w.model, theta, w.h(theta), at.activations, u, s.inputs.data());
    std::ranges::fill(s.inputs_bar, T(0));
    T* inputs_bar = activated ? s.inputs_bar.data() : u_bar;
    // 10 velocity with impulses, configuration, activations
    keep_impulses_adj(w, s.rows, x_next_bar + w.own_ndx(), s.impulses);
    step_activations_adj(w.model, theta, w.h(theta), at.activations, u, s.activation_sides.data(),
                         x_next_bar + 2 * w.nv(), theta_bar, w.h(theta_bar), bar.activations, u_bar);
    if (has_elastic_gradient(w, s))
        pull_back_elastic_configuration(w, theta, at, x_next_bar, s, theta_bar, bar);
    else
        pull_back_configuration(w, theta, at.q, x_next_bar, s, theta_bar, bar.q);
    for (int j = 0; j < w.nv(); ++j)
        s.v_next_bar[j] = x_next_bar[w.nv() + j] + s.displacement_bar[j];
    if (w.damps_late())
        damp_late_adj(w, theta, at.v, s.late_damping, s.v_next_bar.data(), theta_bar, bar.v,
                      free.M_bar.data());
    for (int j = 0; j < w.nv(); ++j)
        s.v_next_bar[j] += s.velocity_bar[j];
    recover_positions_adj(w, free.M.data(), s.rows, s.delassus, s.impulses, s.recovery, s.v_next.data(),
                          s.displacement_bar.data(), s.v_next_bar.data(), free.M_bar.data());
    // 9 impulses, 8 Delassus operator
    const bool implicit = by_equations(w, s);
    if (implicit)
        pull_back_equations(w, theta, at.v, s, labels, theta_bar, bar.v);
    else
        pull_back_impulses(w, s, bar.kept);
    // 7 constraint rows
    make_rows_adj(w, theta, at, s.v_free.data(), s.kinematics, s.contacts, s.rows,
                  RowBars<T>{theta_bar, bar.q, bar.v, s.v_free_bar.data(), s.bar});
    // 6 contact points, normals, gaps
    make_contacts_adj(w, theta, s.kinematics, s.contacts, s.bar, theta_bar);
    // 5 features that meet: discrete, no derivative
    // 4 velocity without impulses, 3 mass matrix. The equations have them, but not what depends on them besides:
    // located impacts on both, recovery and late damping on M
    if (implicit && s.rows.located)  // pull_back_equations has overwritten s.free_motion
        free_acceleration(w, theta, s.kinematics, at.v, s.tau.data(), s.B.data(), free);
    if (!implicit || s.rows.located)
        pull_back_free_motion(w, theta, at.v, s, theta_bar, bar.v);
    else if (s.rows.recovers || w.damps_late())
        mass_matrix_adj(w, theta, s.kinematics, s.B.data(), free, s.bar, theta_bar, s.B_bar.data());
    if (felt) feel_distant_contacts(w, theta, s, theta_bar);
    // 2 poses, axes, velocities, spatial tendons, thrust, medium, carried weight, external wrenches
    push_bodies_adj(w, theta, wrenches, s, theta_bar, wrenches_bar);
    compensate_gravity_adj(w.model, theta, s.kinematics, s.tau_bar.data(), s.bar, theta_bar);
    medium_forces_adj(w.model, theta, s.kinematics, s.tau_bar.data(), s.bar, theta_bar);
    thrust_adj(w.model, theta, s.kinematics, s.saturations.data(), inputs, s.tau_bar.data(), s.bar, theta_bar,
               inputs_bar);
    s.paths_bar.set_zero();
    measure_tendons_adj(w.model, theta, at.q, s.rows.tendons_bar, s.paths_bar, theta_bar, bar.q);
    pull_paths_adj(w.model, theta, s.paths, at.v, inputs, s.saturations.data(), s.tau_bar.data(), s.paths_bar,
                   theta_bar, bar.v, inputs_bar);
    place_tendons_adj(w.model, theta, s.kinematics, s.paths_bar, s.bar, theta_bar);
    kinematics_adj(w.model, theta, at.q, at.v, s.kinematics, s.bar, theta_bar, bar.q, bar.v);
    // 1 joint forces
    if (w.settings.gyroscopic == Gyroscopic::midpoint)
        gyroscopic_torques_adj(w.model, theta, w.h(theta), at.v, s.tau_bar.data(), theta_bar, w.h(theta_bar),
                               bar.v);
    if (w.damps_late())
        postpone_damping_adj(w, at.v, s.late_damping, s.tau_bar.data(), theta_bar, bar.v, s.B_bar.data());
    actuation_adj(w.model, theta, at.q, at.v, inputs, s.saturations.data(), s.tau_bar.data(), s.B_bar.data(),
                  theta_bar, bar.q, bar.v, inputs_bar);
    if (activated)
        force_inputs_adj(w.model, theta, w.h(theta), at.activations, u, inputs_bar, theta_bar, w.h(theta_bar),
                         bar.activations, u_bar);
}

// Pulls back through both active sets and adds the larger gradient, measured by |q_bar|^2 + |tau_bar|^2/h.
template <class T>
void pull_back_both_active_sets(const World& w, const StepInputs<T>& in, StepScratch<T>& s,
                                const T* x_next_bar, const StepInputBars<T>& bar) {
    TwoActiveSets<T>& sets = s.two_active_sets;
    sets.keep_seeds(s);
    for (const ContactLabels labels : {ContactLabels::solved, ContactLabels::relabelled}) {
        typename TwoActiveSets<T>::Pullback& pullback = sets.pullbacks[static_cast<int>(labels)];
        pullback.clear(w);
        s.clear_bars();
        sets.restore_seeds(s);
        pull_back_step<T>(w, in, s, x_next_bar, labels, w.settings.felt_distance > 0, pullback.bars());
        for (int j = 0; j < w.nv(); ++j) {
            const Value<T> q_bar = value_of(pullback.x[j]), tau_bar = value_of(s.tau_bar[j]);
            pullback.size += q_bar * q_bar + tau_bar * tau_bar / value_of(w.h(in.theta));
        }
    }
    sets.larger().add_to(bar);
}

// Reverse of step_once.
template <class T>
void pull_back_once(const World& w, const StepInputs<T>& in, StepScratch<T>& s, const T* x_next_bar,
                    const StepInputBars<T>& bar) {
    if (w.settings.complementarity_aware && has_implicit_gradient(w, s) && !s.rows.islands.empty())
        return pull_back_both_active_sets(w, in, s, x_next_bar, bar);
    pull_back_step(w, in, s, x_next_bar, ContactLabels::solved, w.settings.felt_distance > 0, bar);
}

// The later stages of Runge-Kutta's method. Those of a step on dual numbers follow those of the step on doubles.
template <class T> void prepare_stages(const World& w, StepScratch<T>& s) {
    if (!s.runge_kutta) s.runge_kutta = std::make_unique<RungeKutta<T>>(w);
    for (size_t i = 0; i < s.runge_kutta->scratch.size(); ++i) {
        StepScratch<T>& later = s.runge_kutta->scratch[i];
        later.clock = s.clock;
        if (s.found == nullptr) continue;
        later.found = &s.found->runge_kutta->scratch[i];
        later.impulses.found = &later.found->impulses;
    }
}

}  // namespace

template <class T> void step(const World& w, const StepInputs<T>& in, StepScratch<T>& s, T* x_next) {
    if (w.settings.integrator != Integrator::mujoco_rk4) return step_once(w, in, s, x_next);
    prepare_stages(w, s);
    runge_kutta(w, in, s, x_next, [&](const StepInputs<T>& stage, StepScratch<T>& scratch, T* unused) {
        step_once(w, stage, scratch, unused);
    });
}

template <class T>
void step_adj(const World& w, const StepInputs<T>& in, StepScratch<T>& s, const T* x_next_bar,
              const StepInputBars<T>& bar) {
    if (w.settings.integrator != Integrator::mujoco_rk4) return pull_back_once(w, in, s, x_next_bar, bar);
    runge_kutta_adj(w, in, s, x_next_bar, bar,
                    [&](const StepInputs<T>& stage, StepScratch<T>& scratch, const T* no_bar,
                        const StepInputBars<T>& bars) { pull_back_once(w, stage, scratch, no_bar, bars); });
}

template <class T>
void step_adj_as_solved(const World& w, const StepInputs<T>& in, StepScratch<T>& s, const T* x_next_bar,
                        const StepInputBars<T>& bar) {
    const auto pull_back = [&](const StepInputs<T>& inputs, StepScratch<T>& scratch, const T* next_bar,
                               const StepInputBars<T>& bars) {
        pull_back_step(w, inputs, scratch, next_bar, ContactLabels::solved, false, bars);
    };
    if (w.settings.integrator != Integrator::mujoco_rk4) return pull_back(in, s, x_next_bar, bar);
    runge_kutta_adj(w, in, s, x_next_bar, bar, pull_back);
}

template <class T> void observe(const World& w, const T* theta, const T* x, StepScratch<T>& s) {
    kinematics(w.model, theta, x, x + w.nq(), s.kinematics);
}

template <class T>
void observe_adj(const World& w, const T* theta, const T* x, StepScratch<T>& s, T* theta_bar, T* x_bar) {
    kinematics_adj(w.model, theta, x, x + w.nq(), s.kinematics, s.bar, theta_bar, x_bar, x_bar + w.nv());
}

#define COSTATE_INSTANTIATE_STEP(T)                                                                          \
    template struct StepScratch<T>;                                                                          \
    template void step(const World&, const StepInputs<T>&, StepScratch<T>&, T*);                             \
    template void step_adj(const World&, const StepInputs<T>&, StepScratch<T>&, const T*,                    \
                           const StepInputBars<T>&);                                                         \
    template void step_adj_as_solved(const World&, const StepInputs<T>&, StepScratch<T>&, const T*,          \
                                     const StepInputBars<T>&);                                               \
    template void observe(const World&, const T*, const T*, StepScratch<T>&);                                \
    template void observe_adj(const World&, const T*, const T*, StepScratch<T>&, T*, T*);

}  // namespace costate
