#include "solvers/step/jacobian.hpp"

#include "solvers/step/jacobian_rows.hpp"

namespace costate {

StepJacobian::StepJacobian(const World& w)
    : by_x(w.own_ndx(), w.own_ndx()),
      by_u(w.own_ndx(), w.nu()),
      dynamics(w.model),
      L(w.model.mass_matrix_size),
      unused_theta_bar(VecX<double>::Zero(w.na() > 0 ? w.np() : 0)),
      now(w.model),
      next(now),
      displaced(now) {
    parts.reserve(w.nv());
}

namespace {

bool has_closed_form(const World& w, const StepScratch<double>& s) {
    if (w.model.soft || s.pushed || !w.model.drag_boxes.empty() || !w.model.compensated.empty()) return false;
    if (s.rows.located || has_elastic_gradient(w, s) || s.recovery.any_swept()) return false;
    if (!s.rows.blocks.empty() && !has_implicit_gradient(w, s)) return false;
    for (const RowBlock& b : s.rows.blocks)
        if (b.kind != RowKind::contact && b.kind != RowKind::limit && b.kind != RowKind::dry_friction)
            return false;
    return std::ranges::none_of(w.model.tendons, &Tendon::spatial) &&
           std::ranges::all_of(w.model.actuators,
                               [](const Actuator& a) { return a.on_joint && a.gain_slopes < 0; });
}

// Puts the rows of v+ in the place of those of q+: the rate of displacement is v+, or v+ + w.
void start_rate_rows(int nv, StepJacobian& J) {
    J.by_x.topRows(nv) = J.by_x.middleRows(nv, nv);
    J.by_u.topRows(nv) = J.by_u.middleRows(nv, nv);
}

// Rows of q+ = retract(q, h times the rate of displacement), from those of this rate, which are in their place.
void retract_rows(const World& w, const double* theta, const double* x, const StepScratch<double>& s,
                  StepJacobian& J) {
    const int nv = w.nv();
    const double h = w.h(theta);
    J.by_x.topRows(nv) *= h;
    J.by_u.topRows(nv) *= h;
    for_each_coordinate(
        w.model, [&](int, int iv) { J.by_x(iv, iv) += 1; },
        [&](int iq, int iv) {
            Mat3<double> by_q, by_d;
            for (int i = 0; i < 3; ++i) {
                Vec3<double> q_bar = Vec3<double>::Zero(), d_bar = q_bar;
                retract_quaternion_adj<double>(load_quaternion(x + iq), load3(s.displacement.data() + iv),
                                               Vec3<double>::Unit(i), q_bar, d_bar);
                by_q.row(i) = q_bar.transpose();
                by_d.row(i) = d_bar.transpose();
            }
            J.by_x.middleRows<3>(iv) = (by_d * J.by_x.middleRows<3>(iv)).eval();
            J.by_u.middleRows<3>(iv) = (by_d * J.by_u.middleRows<3>(iv)).eval();
            J.by_x.block<3, 3>(iv, iv) += by_q;
        });
}

// Adds h times the derivatives of the gyroscopic torques by the angular velocities.
void gyroscopic_columns(const World& w, const double* theta, const double* v, StepJacobian& J) {
    const double h = w.h(theta);
    for_each_free_rotation(w.model, [&](int body, int dof, TurnsAbout about) {
        for (int i = 0; i < 3; ++i) {
            MassProperties<double> unused = MassProperties<double>::zero();
            Vec3<double> by_w = Vec3<double>::Zero();
            double unused_h = 0;
            NoBar none;
            gyroscopic_correction_adj<double>(mass_properties(w.model, theta, body), about, load3(v + dof), h,
                                              Vec3<double>::Unit(i), unused, none, by_w, unused_h);
            J.response.block<1, 3>(dof + i, w.nv() + dof) += h * by_w.transpose();
        }
    });
}

// visit(dof, coefficient) for the joints of a tendon, and for those that an actuator drives.
template <class Visit> void for_each_joint(const Tendon& tendon, const double* theta, const Visit& visit) {
    for (size_t i = 0; i < tendon.joints.size(); ++i)
        visit(tendon.joints[i].v, theta[tendon.coefficients + static_cast<int>(i)]);
}
template <class Visit>
void for_each_driven(const Model& m, const double* theta, const Actuator& a, const Visit& visit) {
    if (a.tendon < 0)
        visit(a.v, 1.0);
    else
        for_each_joint(m.tendons[a.tendon], theta, visit);
}

// The derivatives of an activation after the step by itself at its start, and by its control.
struct ActivationSlopes {
    double by_activation = 0, by_control = 0;
};
ActivationSlopes activation_slopes(const World& w, const double* theta, const double* x, const double* u,
                                   const StepScratch<double>& s, int k, StepJacobian& J) {
    ActivationSlopes out;
    double unused_h = 0;
    next_activation_adj(w.model, theta, w.h(theta), k, StateView<double>(w, x).activations[k],
                        u[w.model.activations[k].actuator], s.activation_sides[k], 1.0,
                        J.unused_theta_bar.data(), unused_h, out.by_activation, out.by_control);
    return out;
}

// The derivatives of the force of actuator n, before the gear, by l, l' and what its law reads.
struct ForceSlopes {
    double by_length = 0, by_rate = 0, by_input = 0;
};
ForceSlopes force_slopes(const Model& m, const double* theta, const double* q, const double* v,
                         const Saturation<double>& at, double input, int n) {
    const Actuator& a = m.actuators[n];
    if (a.muscle < 0) {
        const ActuatorLaw<double> law = actuator_law(a.type, m.actuator, theta, n);
        return {law.b1, law.b2, law.gain};
    }
    const double gear = theta[m.actuator.gear.at(n)], length = gear * driven_coordinate(m, theta, a, q),
                 rate = gear * driven_velocity(m, theta, a, v), *p = theta + a.muscle;
    double unused_p_bar[MuscleAt::count] = {};
    ForceSlopes out{0, 0, muscle_force(p, length, rate).active};
    muscle_force_adj(p, length, rate, {clamped_control(a, theta, at, input), 1.0}, unused_p_bar,
                     out.by_length, out.by_rate);
    return out;
}

// Inverse dynamics at q, v and the accelerations free.a, and its derivatives by q and v (nv x nv).
void inverse_dynamics(const World& w, const double* theta, const double* v, StepScratch<double>& s,
                      StepJacobian& J, double* by_q, double* by_v) {
    FreeMotionScratch<double>& free = s.free_motion;
    rnea(w.model, theta, s.kinematics, v, free.a.data(), free.rnea, free.unused.data());
    rnea_derivatives(w.model, theta, s.kinematics, free.crba.Ic, free.rnea, v, free.a.data(), J.dynamics,
                     by_q, by_v);
}

// -dr of the joint forces and of inverse dynamics at (v+ - v)/h, by q, v, activations and u. The term M dv is left out:
// M^-1 makes it the identity. If positions recover, also -dM w, the difference of two inverse dynamics.
void dynamics_columns(const World& w, const double* theta, const double* x, const double* u,
                      StepScratch<double>& s, StepJacobian& J) {
    const Model& m = w.model;
    const int nv = w.nv(), controls = w.own_ndx();
    const double h = w.h(theta), *v = x + w.nq(), *inputs = w.na() > 0 ? s.inputs.data() : u;
    FreeMotionScratch<double>& free = s.free_motion;
    for (size_t j = 0; j < free.a.size(); ++j)
        free.a[j] = (s.v_next[j] - v[j]) / h;
    if (!needs_mass_matrix(w)) {  // the step used ABA
        crba(m, theta, s.kinematics, free.crba, J.L.data());
        for (const Dof& dof : m.dofs)
            J.L[dof.row + dof.depth] += h * s.B[&dof - m.dofs.data()];
        ltl_factor_inplace(m, J.L.data());
    }
    // the upper half of by_x is written last, by the retraction; until then it holds two square matrices
    double *by_q = J.by_x.data(), *by_v = by_q + nv * nv;
    inverse_dynamics(w, theta, v, s, J, by_q, by_v);
    using Square = Eigen::Map<const StepJacobian::Matrix>;
    J.response.leftCols(nv) = -h * Square(by_q, nv, nv);
    J.response.middleCols(nv, nv) = -h * Square(by_v, nv, nv);
    if (s.rows.recovers) {
        J.recovery_response.leftCols(nv) = Square(by_q, nv, nv);
        for (size_t j = 0; j < free.a.size(); ++j)
            free.a[j] += s.recovery.w[j];
        inverse_dynamics(w, theta, v, s, J, by_q, by_v);
        J.recovery_response.leftCols(nv) -= Square(by_q, nv, nv);
    }
    // joint forces: each depends on its own coordinate and its own actuators
    for (const Body& b : m.bodies) {
        if (b.nv == 1) J.response(b.v0, b.v0) -= h * theta[m.stiffness.at(b.v0)];
        if (!has_ball_spring(m, theta, b)) continue;
        const Vec3<double> k(theta[m.stiffness.at(b.v0)], theta[m.stiffness.at(b.v0 + 1)],
                             theta[m.stiffness.at(b.v0 + 2)]);
        J.response.block<3, 3>(b.v0, b.v0) -=
            h * k.asDiagonal() * inverse_right_jacobian(rotation_from_rest(m, theta, b, x));
    }
    for (int j = 0; j < nv; ++j)
        J.response(j, nv + j) -= h * s.B[j];
    if (w.settings.gyroscopic == Gyroscopic::midpoint) gyroscopic_columns(w, theta, v, J);
    for (int n = 0; n < m.nu; ++n) {
        const Actuator& a = m.actuators[n];
        const Saturation<double>& at = s.saturations[n];
        if (!at.force.within()) continue;
        const ForceSlopes f = force_slopes(m, theta, x, v, at, inputs[n], n);
        const double gear = theta[m.actuator.gear.at(n)];
        const int k = a.activation;
        ActivationSlopes read{1, 0};
        if (k >= 0 && m.activations[k].early) read = activation_slopes(w, theta, x, u, s, k, J);
        for_each_driven(m, theta, a, [&](int i, double c_i) {
            for_each_driven(m, theta, a, [&](int j, double c_j) {
                J.response(i, j) += h * gear * gear * f.by_length * c_i * c_j;
                if (!at.implicit) J.response(i, nv + j) += h * gear * gear * f.by_rate * c_i * c_j;
            });
            if (!at.control.within()) return;
            const double by_input = h * gear * f.by_input * c_i;
            if (k >= 0) {
                J.response(i, 2 * nv + k) += by_input * read.by_activation;
                J.response(i, controls + n) += by_input * read.by_control;
            } else {
                J.response(i, controls + n) += by_input;
            }
        });
    }
    for (int n = 0; n < static_cast<int>(m.tendons.size()); ++n) {
        const Tendon& tendon = m.tendons[n];
        const bool slack = spring_side(m, theta, n, tendon_length(tendon, theta, x)) == Side::within;
        const double k = slack ? 0 : theta[m.tendon_stiffness.at(n)], d = theta[m.tendon_damping.at(n)];
        for_each_joint(tendon, theta, [&](int i, double c_i) {
            for_each_joint(tendon, theta, [&](int j, double c_j) {
                J.response(i, j) -= h * k * c_i * c_j;
                J.response(i, nv + j) -= h * d * c_i * c_j;
            });
        });
    }
}

// Moves the chosen columns of a matrix to its front, then room for so many more, with rows of this length.
void keep_columns(const std::vector<int>& chosen, int more, StepJacobian::Matrix& M) {
    double* to = M.data();
    for (Eigen::Index row = 0; row < M.rows(); ++row, to += more) {
        const double* from = M.data() + row * M.cols();
        for (const int column : chosen)
            *to++ = from[column];
    }
}

// Writes columns of (q, v, activations, u), the chosen ones or all, to the nv rows of by_x and by_u from `first`.
template <class Columns>
void put_columns(const std::vector<int>* chosen, const Columns& from, int first, StepJacobian& J) {
    const Eigen::Index nv = from.rows(), of_state = J.by_x.cols();
    if (chosen == nullptr) {
        J.by_x.middleRows(first, nv) = from.leftCols(of_state);
        J.by_u.middleRows(first, nv) = from.rightCols(J.by_u.cols());
        return;
    }
    J.by_x.middleRows(first, nv).setZero();
    J.by_u.middleRows(first, nv).setZero();
    for (int i = 0; i < from.cols(); ++i) {
        const Eigen::Index j = (*chosen)[i];
        (j < of_state ? J.by_x.col(j) : J.by_u.col(j - of_state)).segment(first, nv) = from.col(i);
    }
}

void activation_rows(const World& w, const double* theta, const double* x, const double* u,
                     const StepScratch<double>& s, StepJacobian& J) {
    J.by_x.bottomRows(w.na()).setZero();
    J.by_u.bottomRows(w.na()).setZero();
    for (int k = 0; k < w.na(); ++k) {
        const ActivationSlopes next = activation_slopes(w, theta, x, u, s, k, J);
        J.by_x(2 * w.nv() + k, 2 * w.nv() + k) = next.by_activation;
        J.by_u(2 * w.nv() + k, w.model.activations[k].actuator) = next.by_control;
    }
}

}  // namespace

void step_jacobian(const World& w, const double* theta, const double* x, const double* u,
                   StepScratch<double>& s, StepJacobian& J, const double* wrenches,
                   const std::vector<int>* chosen) {
    if (!has_closed_form(w, s)) return step_jacobian_by_adjoints(w, theta, x, u, s, J, nullptr, wrenches);
    const int nv = w.nv(), all = w.own_ndx() + w.nu(), rows = s.rows.count;
    const int columns = chosen ? static_cast<int>(chosen->size()) : all;
    const bool recovers = s.rows.recovers;
    J.response.setZero(nv, all + rows);
    if (recovers) J.recovery_response.setZero(nv, all);
    dynamics_columns(w, theta, x, u, s, J);
    if (rows > 0) row_columns(w, theta, x, s, J);
    if (chosen) {
        keep_columns(*chosen, rows, J.response);
        keep_columns(*chosen, 0, J.ds);
        if (recovers) {
            keep_columns(*chosen, 0, J.recovery_response);
            keep_columns(*chosen, 0, J.recovery_ds);
        }
    }
    FrontColumns response(J.response.data(), nv, columns + rows), ds(J.ds.data(), rows, columns);
    response.rightCols(rows).setZero();
    for_each_row(s.rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            response(dofs[i], columns + row) = s.rows.J[values + i];
    });
    // without impulses
    const double* L = needs_mass_matrix(w) ? s.free_motion.M.data() : J.L.data();
    ltl_solve_columns_inplace(w.model, L, columns + rows, response.data());
    if (recovers) ltl_solve_columns_inplace(w.model, L, columns, J.recovery_response.data());
    for (int i = 0; i < columns; ++i)
        if (const int j = chosen ? (*chosen)[i] : i; j >= nv && j < 2 * nv) response(j - nv, i) += 1;
    // impulses
    if (rows > 0) {
        J.dlambda.resize(rows, columns);
        for_each_row(s.rows, [&](int row, int length, const int* dofs, int values) {
            J.parts.clear();
            for (int i = 0; i < length; ++i)
                J.parts.push_back({response.row(dofs[i]).data(), s.rows.J[values + i]});
            add_weighted_sum(J.parts.data(), length, columns, ds.row(row).data());
        });
        for (size_t i = 0; i < s.rows.islands.size(); ++i) {
            const Island& island = s.rows.islands[i];
            active_set_response(island_problem(s.rows, s.delassus, s.impulses, i), s.impulses.sets[i],
                                s.impulses.lambda.data() + island.row, columns,
                                ds.data() + island.row * columns, J.dlambda.data() + island.row * columns);
        }
        add_impulse_columns(response, J.dlambda, response);
    }
    put_columns(chosen, response.leftCols(columns), nv, J);
    if (recovers) {
        FrontColumns rate(J.recovery_response.data(), nv, columns);
        recover_columns(s, response, J, rate);
        rate += response.leftCols(columns);
        put_columns(chosen, rate, 0, J);
    } else {
        start_rate_rows(nv, J);
    }
    retract_rows(w, theta, x, s, J);
    activation_rows(w, theta, x, u, s, J);
}

void step_jacobian_by_adjoints(const World& w, const double* theta, const double* x, const double* u,
                               StepScratch<double>& s, StepJacobian& J, StepJacobian::Matrix* by_theta,
                               const double* wrenches) {
    const int nv = w.nv(), rows = w.own_ndx(), time_step = w.time_step.at(0);
    const double h = theta[time_step];
    if (by_theta != nullptr) by_theta->setZero(rows, w.np());
    VecX<double> next_bar = VecX<double>::Zero(w.ndx()), x_bar(w.ndx()), u_bar(w.nu()), theta_bar(w.np());
    const bool retracted = displacement_is_h_v(w, s);  // rows of q+ follow from those of v+
    for (int i = retracted ? nv : 0; i < rows; ++i) {
        x_bar.setZero();
        u_bar.setZero();
        theta_bar.setZero();
        next_bar[i] = 1;
        s.clear_bars();
        step_adj_as_solved(w, {theta, x, u, wrenches}, s, next_bar.data(),
                           {theta_bar.data(), x_bar.data(), u_bar.data()});
        next_bar[i] = 0;
        J.by_x.row(i) = x_bar.head(rows).transpose();
        J.by_u.row(i) = u_bar.transpose();
        if (by_theta != nullptr) by_theta->row(i) = theta_bar.transpose();
    }
    if (!retracted) return;
    start_rate_rows(nv, J);
    retract_rows(w, theta, x, s, J);
    if (by_theta == nullptr) return;
    const std::vector<double>& v = v_after(w, s);
    VecX<double> q_bar(nv), d_bar(nv);
    for (int i = 0; i < nv; ++i) {
        q_bar.setZero();
        d_bar.setZero();
        next_bar[i] = 1;
        retract_adj(w.model, x, s.displacement.data(), next_bar.data(), q_bar.data(), d_bar.data());
        next_bar[i] = 0;
        for (int j = 0; j < nv; ++j) {
            if (d_bar[j] == 0) continue;
            by_theta->row(i) += h * d_bar[j] * by_theta->row(nv + j);
            (*by_theta)(i, time_step) += d_bar[j] * v[j];
        }
    }
}

void step_jvp(const World& w, const double* theta, const double* x, const double* u, const double* theta_dot,
              const double* x_dot, const double* u_dot, TangentStep& tangent_step, double* x_next_dot) {
    using D = Dual<double>;
    const auto lift = [](const double* value, const double* dot, int n) {
        VecX<D> y(n);
        for (int i = 0; i < n; ++i)
            y[i] = {value[i], dot[i]};
        return y;
    };
    const Model& m = w.model;
    const VecX<D> theta_d = lift(theta, theta_dot, w.np()), u_d = lift(u, u_dot, w.nu());
    VecX<D> x_d = Eigen::Map<const VecX<double>>(x, w.nx()).cast<D>(), next(w.nx()), d(w.nv());
    const VecX<D> q = x_d.head(w.nq());
    const int behind_q = w.nx() - w.nq();
    for (int i = 0; i < w.nv(); ++i)
        d[i] = {0, x_dot[i]};
    for (int i = 0; i < behind_q; ++i)
        x_d[w.nq() + i].d = x_dot[w.nv() + i];
    retract(m, q.data(), d.data(), x_d.data());
    for (int i = 0; i < w.nq(); ++i)
        x_d[i].v = x[i];  // its bits: the retraction by 0 rounds
    tangent_step(theta_d.data(), x_d.data(), u_d.data(), next.data());
    VecX<D> values(w.nq());
    for (int i = 0; i < w.nq(); ++i)
        values[i] = next[i].v;
    difference(m, values.data(), next.data(), d.data());
    for (int i = 0; i < w.nv(); ++i)
        x_next_dot[i] = d[i].d;
    for (int i = 0; i < behind_q; ++i)
        x_next_dot[w.nv() + i] = next[w.nq() + i].d;
}

void state_jacobian(const World& w, const double* theta, const double* x, const double* u,
                    StepScratch<double>& s, StepJacobian::Matrix& by_x, StepJacobian::Matrix& by_u,
                    StepJacobian::Matrix& by_theta) {
    VecX<double> next_bar = VecX<double>::Zero(w.ndx());
    by_x.setZero(w.ndx(), w.ndx());
    by_u.setZero(w.ndx(), w.nu());
    by_theta.setZero(w.ndx(), w.np());
    for (int i = 0; i < w.ndx(); ++i) {
        if (w.is_key(i + w.nq() - w.nv())) continue;
        next_bar[i] = 1;
        s.clear_bars();
        double *theta_bar = by_theta.row(i).data(), *x_bar = by_x.row(i).data(), *u_bar = by_u.row(i).data();
        step_adj_as_solved(w, {theta, x, u}, s, next_bar.data(), {theta_bar, x_bar, u_bar});
        next_bar[i] = 0;
    }
}

}  // namespace costate
