#include "solvers/step/jacobian.hpp"

#include "solvers/rows/contact_derivatives.hpp"

namespace costate {

StepJacobian::StepJacobian(const World& w)
    : by_x(2 * w.nv(), 2 * w.nv()),
      by_u(2 * w.nv(), w.nu()),
      dynamics(w.model),
      L(w.model.mass_matrix_size),
      V_next(w.model.bodies.size()),
      V_behind(w.model.dofs.size()),
      V_next_behind(V_behind),
      response(w.nv(), 2 * w.nv() + w.nu()) {}

namespace {

bool has_closed_form(const World& w, const StepScratch<double>& s) {
    if (w.model.soft || s.pushed || !w.model.drag_boxes.empty()) return false;
    if (!displacement_is_h_v(w, s)) return false;
    if (!s.rows.blocks.empty() && !has_implicit_gradient(w, s)) return false;
    for (const RowBlock& b : s.rows.blocks)
        if (b.kind != RowKind::contact && b.kind != RowKind::limit && b.kind != RowKind::dry_friction)
            return false;
    return std::ranges::none_of(w.model.tendons, &Tendon::spatial) &&
           std::ranges::all_of(w.model.actuators, &Actuator::on_joint);
}

// Rows of q+ from those of v+, if displacement_is_h_v: q+ = retract(q, d), d = h v+.
void retract_rows(const World& w, const double* theta, const double* x, const StepScratch<double>& s,
                  StepJacobian& J) {
    const int nv = w.nv();
    const double h = w.h(theta);
    J.by_x.topRows(nv) = h * J.by_x.bottomRows(nv);
    J.by_u.topRows(nv) = h * J.by_u.bottomRows(nv);
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

// -dr of the joint forces and of inverse dynamics at (v+ - v)/h, by q, v and u. The term M dv is left out:
// M^-1 makes it the identity.
void dynamics_columns(const World& w, const double* theta, const double* x, StepScratch<double>& s,
                      StepJacobian& J) {
    const Model& m = w.model;
    const int nv = w.nv();
    const double h = w.h(theta), *v = x + w.nq();
    FreeMotionScratch<double>& free = s.free_motion;
    for (size_t j = 0; j < free.a.size(); ++j)
        free.a[j] = (s.v_next[j] - v[j]) / h;
    rnea(m, theta, s.kinematics, v, free.a.data(), free.rnea, free.unused.data());
    if (!needs_mass_matrix(w)) {  // the step used ABA
        crba(m, theta, s.kinematics, free.crba, J.L.data());
        for (const Dof& dof : m.dofs)
            J.L[dof.row + dof.depth] += h * s.B[&dof - m.dofs.data()];
        ltl_factor_inplace(m, J.L.data());
    }
    // the upper half of by_x is written last, by the retraction; until then it holds two square matrices
    double *by_q = J.by_x.data(), *by_v = by_q + nv * nv;
    rnea_derivatives(m, theta, s.kinematics, free.crba.Ic, free.rnea, v, free.a.data(), J.dynamics, by_q,
                     by_v);
    using Square = Eigen::Map<const StepJacobian::Matrix>;
    J.response.leftCols(nv) = -h * Square(by_q, nv, nv);
    J.response.middleCols(nv, nv) = -h * Square(by_v, nv, nv);
    // joint forces: each depends on its own coordinate and its own actuators
    for (const Body& b : m.bodies)
        if (b.nv == 1) J.response(b.v0, b.v0) -= h * theta[m.stiffness.at(b.v0)];
    for (int j = 0; j < nv; ++j)
        J.response(j, nv + j) -= h * s.B[j];
    if (w.settings.gyroscopic == Gyroscopic::midpoint) gyroscopic_columns(w, theta, v, J);
    for (int n = 0; n < m.nu; ++n) {
        const Actuator& a = m.actuators[n];
        const Saturation& at = s.saturations[n];
        if (at.force != Side::within) continue;
        const ActuatorLaw<double> law = actuator_law(a.type, m.actuator, theta, n);
        const double gear = theta[m.actuator.gear.at(n)];
        for_each_driven(m, theta, a, [&](int i, double c_i) {
            for_each_driven(m, theta, a, [&](int j, double c_j) {
                J.response(i, j) += h * gear * gear * law.b1 * c_i * c_j;
                if (!at.implicit) J.response(i, nv + j) += h * gear * gear * law.b2 * c_i * c_j;
            });
            if (at.control == Side::within) J.response(i, 2 * nv + n) += h * gear * law.gain * c_i;
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

// Velocities for the derivatives of contacts.
void velocity_frames(const World& w, const double* x, const StepScratch<double>& s, StepJacobian& J) {
    const Model& m = w.model;
    const Kinematics<double>& k = s.kinematics;
    const double* v = x + w.nq();
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        Motion<double> V = Motion<double>::zero(), V_next = V;
        if (b.parent >= 0) {
            V = k.V[b.parent];
            V_next = J.V_next[b.parent];
        }
        const Motion<double> V_P = V, V_next_P = V_next;
        const int split = b.v0 + dofs_carried_by_parent(b);
        for (int j = b.v0; j < split; ++j) {
            V += v[j] * k.S[j];
            V_next += s.v_next[j] * k.S[j];
        }
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            const size_t n = j;
            J.V_behind[n] = j < split ? V_P : V;
            J.V_next_behind[n] = j < split ? V_next_P : V_next;
        }
        for (int j = split; j < b.v0 + b.nv; ++j)
            V_next += s.v_next[j] * k.S[j];
        J.V_next[i] = V_next;
    }
}

// True if dof j moves with dof k. Both are on the path to one end.
bool turns_with(const Model& m, int j, int k) {
    if (j >= k) return true;
    const Dof &a = m.dofs[j], &b = m.dofs[k];
    const Body& body = m.bodies[a.body];
    return a.body == b.body && j >= body.v0 + dofs_carried_by_parent(body);
}

// Columns of the dofs that move both ends together: they rotate the frame relative to the robot by `twist`
// about the normal, and so the pairs of rows along t1 and t2: of forces, and of rolling friction.
void twisted_frame_columns(const StepScratch<double>& s, const RowBlock& block, const ContactPoint<double>& c,
                           const RelativeMotion<double>& next, StepJacobian& J) {
    const double* lambda = s.impulses.lambda.data() + block.row;
    const int* dofs = s.rows.chain_dof.data() + block.chain;
    const signed char* sign = s.rows.chain_sign.data() + block.chain;
    if (block.length == 0 || sign[block.length - 1] != 0) return;  // such dofs are at the end of the chain
    const Tangents<double>& t = c.tangents;
    const Vec3<double> by_turn = frame_twist(c);
    for (int i = 0; i < block.length; ++i) {
        if (sign[i] != 0) continue;
        const double twist = by_turn.dot(s.kinematics.S[dofs[i]].ang);
        if (twist == 0) continue;
        for (int r = 1; r + 1 < block.rows; r += 3) {
            const Vec3<double> v = r < 3 ? next.velocity : Vec3<double>(couple_arm(c, r) * next.rotation);
            J.ds(block.row + r, dofs[i]) += twist * t.t2.dot(v);
            J.ds(block.row + r + 1, dofs[i]) -= twist * t.t1.dot(v);
            const double *row = s.rows.J.data() + block.values + r * block.length,
                         *other = row + block.length;
            for (int l = 0; l < block.length; ++l)
                J.response(dofs[l], dofs[i]) += twist * (lambda[r] * other[l] - lambda[r + 1] * row[l]);
        }
    }
}

// ds of a contact's rows by q and, through the bias, by v. Adds d(J^T lambda) by q to the columns of
// -dr.
void contact_columns(const World& w, const double* theta, const StepScratch<double>& s, const RowBlock& block,
                     double beta_gap, double beta_v, StepJacobian& J) {
    const Kinematics<double>& k = s.kinematics;
    const ContactPoint<double>& c = s.contacts.points[block.index];
    const ContactDerivatives<double> D = contact_derivatives(w, theta, s.contacts, c);
    const double* lambda = s.impulses.lambda.data() + block.row;
    const auto of = [](const std::vector<Motion<double>>& V, int body) {
        return body < 0 ? Motion<double>::zero() : V[body];
    };
    const int bodies[] = {c.body_a, c.body_b};
    const RelativeMotion<double> now(c, of(k.V, c.body_a), of(k.V, c.body_b)),
        next(c, of(J.V_next, c.body_a), of(J.V_next, c.body_b));
    const ContactImpulse<double> f(c, lambda);
    const Force<double> W[] = {contact_wrench(c, f, false), contact_wrench(c, f, true)};
    const int* dofs = s.rows.chain_dof.data() + block.chain;
    const signed char* sign = s.rows.chain_sign.data() + block.chain;
    twisted_frame_columns(s, block, c, next, J);
    for (int i = 0; i < block.length; ++i) {
        if (sign[i] == 0) continue;
        const size_t n = dofs[i];
        const bool end_b = sign[i] < 0;
        const Motion<double>& S = k.S[n];
        const ContactMotion<double> d = contact_motion(D, end_b, S);
        for (int r = 0; r < block.rows; ++r)
            J.ds(block.row + r, dofs[i]) += row_velocity_derivative(
                c, r, d, end_b, S, next, of(J.V_next, bodies[end_b]), J.V_next_behind[n]);
        J.ds(block.row, dofs[i]) += beta_gap * d.gap;
        if (beta_v != 0)
            J.ds(block.row, dofs[i]) +=
                beta_v *
                row_velocity_derivative(c, 0, d, end_b, S, now, of(k.V, bodies[end_b]), J.V_behind[n]);
        if (f.is_zero()) continue;
        const Force<double> on[] = {wrench_derivative(c, lambda, d, false),
                                    wrench_derivative(c, lambda, d, true)};
        const Force<double> turned = cross_force(S, W[end_b]);
        for (int l = 0; l < block.length; ++l) {
            if (sign[l] == 0) continue;
            const bool at_b = sign[l] < 0;
            double g = dot(k.S[dofs[l]], on[at_b]);
            if (at_b == end_b && turns_with(w.model, dofs[l], dofs[i])) g -= dot(k.S[dofs[l]], turned);
            J.response(dofs[l], dofs[i]) += at_b ? -g : g;
        }
    }
}

// ds of every row by q and v, with v+ and lambda held constant, and d(J^T lambda).
void row_columns(const World& w, const double* theta, const double* x, const StepScratch<double>& s,
                 StepJacobian& J) {
    J.ds.setZero(s.rows.count, 2 * w.nv() + w.nu());
    velocity_frames(w, x, s, J);
    for (const RowBlock& block : s.rows.blocks) {
        if (!block.unilateral()) continue;
        const size_t row = block.row;
        const BiasInputs<double> in =
            bias_inputs<double>(w, theta, 0, s.rows.v_before[row], 0, block_restitution(block, s.contacts),
                                row_compliance(w, theta, block.springs).erp);
        BiasInputs<double> by = BiasInputs<double>::zero();
        NoBar none;
        row_bias_adj<double>(block.bias, in, 1, none, by);
        const double gap_bar = by.gap, v_bar = by.v;
        if (v_bar != 0)
            for (int i = 0; i < block.length; ++i)
                J.ds(block.row, w.nv() + s.rows.chain_dof[block.chain + i]) +=
                    v_bar * s.rows.J[block.values + i];
        if (block.kind == RowKind::contact)
            contact_columns(w, theta, s, block, gap_bar, v_bar, J);
        else
            J.ds(block.row, w.model.limits[block.index].v) += gap_bar * block.side;
    }
}

}  // namespace

void step_jacobian(const World& w, const double* theta, const double* x, const double* u,
                   StepScratch<double>& s, StepJacobian& J, const double* wrenches) {
    if (!has_closed_form(w, s)) return step_jacobian_by_adjoints(w, theta, x, u, s, J, nullptr, wrenches);
    const int nv = w.nv(), columns = 2 * nv + w.nu(), rows = s.rows.count;
    J.response.setZero(nv, columns + rows);
    dynamics_columns(w, theta, x, s, J);
    if (rows > 0) row_columns(w, theta, x, s, J);
    for_each_row(s.rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            J.response(dofs[i], columns + row) = s.rows.J[values + i];
    });
    // without impulses
    ltl_solve_columns_inplace(w.model, needs_mass_matrix(w) ? s.free_motion.M.data() : J.L.data(),
                              static_cast<int>(J.response.cols()), J.response.data());
    for (int j = 0; j < nv; ++j)
        J.response(j, nv + j) += 1;
    // impulses
    if (rows > 0) {
        J.dlambda.resize(rows, columns);
        for_each_row(s.rows, [&](int row, int length, const int* dofs, int values) {
            for (int i = 0; i < length; ++i)
                J.ds.row(row) += s.rows.J[values + i] * J.response.row(dofs[i]).head(columns);
        });
        for (size_t i = 0; i < s.rows.islands.size(); ++i) {
            const Island& island = s.rows.islands[i];
            active_set_response(island_problem(s.rows, s.delassus, s.impulses, i), s.impulses.sets[i],
                                s.impulses.lambda.data() + island.row, columns,
                                J.ds.data() + island.row * columns, J.dlambda.data() + island.row * columns);
        }
        J.response.leftCols(columns).noalias() += J.response.rightCols(rows) * J.dlambda;
    }
    J.by_x.bottomRows(nv) = J.response.leftCols(2 * nv);
    J.by_u.bottomRows(nv) = J.response.middleCols(2 * nv, w.nu());
    retract_rows(w, theta, x, s, J);
}

void step_jacobian_by_adjoints(const World& w, const double* theta, const double* x, const double* u,
                               StepScratch<double>& s, StepJacobian& J, StepJacobian::Matrix* by_theta,
                               const double* wrenches) {
    const int nv = w.nv(), time_step = w.time_step.at(0);
    const double h = theta[time_step];
    if (by_theta != nullptr) by_theta->setZero(2 * nv, w.np());
    VecX<double> next_bar = VecX<double>::Zero(w.ndx()), x_bar(w.ndx()), u_bar(w.nu()), theta_bar(w.np());
    const bool retracted = displacement_is_h_v(w, s);  // rows of q+ follow from those of v+
    for (int i = retracted ? nv : 0; i < 2 * nv; ++i) {
        x_bar.setZero();
        u_bar.setZero();
        theta_bar.setZero();
        next_bar[i] = 1;
        s.clear_bars();
        step_adj_as_solved(w, theta, x, u, s, next_bar.data(), theta_bar.data(), x_bar.data(), u_bar.data(),
                           wrenches);
        next_bar[i] = 0;
        J.by_x.row(i) = x_bar.head(2 * nv).transpose();
        J.by_u.row(i) = u_bar.transpose();
        if (by_theta != nullptr) by_theta->row(i) = theta_bar.transpose();
    }
    if (!retracted) return;
    retract_rows(w, theta, x, s, J);
    if (by_theta == nullptr) return;
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
            (*by_theta)(i, time_step) += d_bar[j] * s.v_next[j];
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
        step_adj_as_solved(w, theta, x, u, s, next_bar.data(), theta_bar, x_bar, u_bar);
        next_bar[i] = 0;
    }
}

}  // namespace costate
