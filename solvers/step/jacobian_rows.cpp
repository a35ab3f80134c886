#include "solvers/step/jacobian_rows.hpp"

#include <functional>
#include <optional>

#include "core/math/products.hpp"
#include "solvers/rows/contact_derivatives.hpp"

namespace costate {

namespace {

// The velocities of all bodies, and of the frames that dofs do not move, from those of the joints.
void velocity_frames(const Model& m, const Kinematics<double>& k, StepJacobian::Velocities& out) {
    const std::vector<double>& v = out.v;
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        Motion<double> V = b.parent >= 0 ? out.V[b.parent] : Motion<double>::zero();
        const Motion<double> V_P = V;
        const int split = b.v0 + dofs_carried_by_parent(b);
        for (int j = b.v0; j < split; ++j)
            V += v[j] * k.S[j];
        for (int j = b.v0; j < b.v0 + b.nv; ++j)
            out.behind[j] = j < split ? V_P : V;
        for (int j = split; j < b.v0 + b.nv; ++j)
            V += v[j] * k.S[j];
        out.V[i] = V;
    }
}

// What the derivatives of rows hold constant, and where they go: those of J v + bias to ds, those of J^T lambda to
// the columns of M dv.
struct HeldRows {
    const StepJacobian::Velocities& at;  // v
    const double* lambda;                // (rows)
    bool recovers;                       // with the bias of the recovery
    StepJacobian::Matrix &ds, &response;
};

// True if dof j moves with dof k. Both are on the path to one end.
bool turns_with(const Model& m, int j, int k) {
    if (j >= k) return true;
    const Dof &a = m.dofs[j], &b = m.dofs[k];
    const Body& body = m.bodies[a.body];
    return a.body == b.body && j >= body.v0 + dofs_carried_by_parent(body);
}

// The motions of a contact's two ends by the velocities of bodies, and those that friction feels, with the surfaces.
struct ContactMotions {
    Motion<double> body[2], surface[2];  // [end a, end b]
    RelativeMotion<double> between_bodies, between_surfaces;
    ContactMotions(const World& w, const double* theta, const StepScratch<double>& s,
                   const ContactPoint<double>& c, const StepJacobian::Velocities& at)
        : body{of_body(at, c.body_a), of_body(at, c.body_b)},
          surface{body[0], body[1]},
          between_bodies(c, body[0], body[1]),
          between_surfaces(between_bodies) {
        if (!surfaces_move(w, c)) return;
        for (const auto& [end, shape] : {std::pair(0, c.features.a), std::pair(1, c.features.b)})
            surface[end] +=
                surface_motion<double>(w, theta, shape, s.contacts.X_CS[shape], Vec3<double>::Zero());
        between_surfaces = RelativeMotion<double>(c, surface[0], surface[1]);
    }
    const RelativeMotion<double>& of_row(int r) const { return feels(r) ? between_surfaces : between_bodies; }
    const Motion<double>& of_end(int r, bool end_b) const { return (feels(r) ? surface : body)[end_b]; }

private:
    static bool feels(int r) { return r >= 1 && r <= 3; }
    static Motion<double> of_body(const StepJacobian::Velocities& at, int i) {
        return i < 0 ? Motion<double>::zero() : at.V[i];
    }
};

// Columns of the dofs that move both ends together: they rotate the frame relative to the robot by `twist`
// about the normal, and so the pairs of rows along t1 and t2: of forces, and of rolling friction.
void twisted_frame_columns(const StepScratch<double>& s, const RowBlock& block, const ContactPoint<double>& c,
                           const ContactMotions& motions, const HeldRows& held) {
    const double* lambda = held.lambda + block.row;
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
            const RelativeMotion<double>& motion = motions.of_row(r);
            const Vec3<double> v = r < 3 ? motion.velocity : Vec3<double>(couple_arm(c, r) * motion.rotation);
            held.ds(block.row + r, dofs[i]) += twist * t.t2.dot(v);
            held.ds(block.row + r + 1, dofs[i]) -= twist * t.t1.dot(v);
            const double *row = s.rows.J.data() + block.values + r * block.length,
                         *other = row + block.length;
            for (int l = 0; l < block.length; ++l)
                held.response(dofs[l], dofs[i]) += twist * (lambda[r] * other[l] - lambda[r + 1] * row[l]);
        }
    }
}

// The columns of a contact's rows by q and, through the bias, by v at the start of the step. by: derivatives of the
// bias.
void contact_columns(const World& w, const double* theta, const StepScratch<double>& s, const RowBlock& block,
                     const ContactDerivatives<double>& D, const BiasInputs<double>& by,
                     const StepJacobian::Velocities& start, const HeldRows& held) {
    const Kinematics<double>& k = s.kinematics;
    const ContactPoint<double>& c = s.contacts.points[block.index];
    const double* lambda = held.lambda + block.row;
    const ContactMotions now(w, theta, s, c, start), motions(w, theta, s, c, held.at);
    const ContactImpulse<double> f(c, lambda);
    const Force<double> W[] = {contact_wrench(c, f, false), contact_wrench(c, f, true)};
    const int* dofs = s.rows.chain_dof.data() + block.chain;
    const signed char* sign = s.rows.chain_sign.data() + block.chain;
    twisted_frame_columns(s, block, c, motions, held);
    for (int i = 0; i < block.length; ++i) {
        if (sign[i] == 0) continue;
        const int j = dofs[i];
        const bool end_b = sign[i] < 0;
        const Motion<double>& S = k.S[j];
        const ContactMotion<double> d = contact_motion(D, end_b, S);
        for (int r = 0; r < block.rows; ++r)
            held.ds(block.row + r, j) += row_velocity_derivative(c, r, d, end_b, S, motions.of_row(r),
                                                                 motions.of_end(r, end_b), held.at.behind[j]);
        held.ds(block.row, j) += by.gap * d.gap;
        if (by.v != 0)
            held.ds(block.row, j) += by.v * row_velocity_derivative(c, 0, d, end_b, S, now.of_row(0),
                                                                    now.of_end(0, end_b), start.behind[j]);
        if (f.is_zero()) continue;
        const Force<double> on[] = {wrench_derivative(c, lambda, d, false),
                                    wrench_derivative(c, lambda, d, true)};
        const Force<double> turned = cross_force(S, W[end_b]);
        for (int l = 0; l < block.length; ++l) {
            if (sign[l] == 0) continue;
            const bool at_b = sign[l] < 0;
            double g = dot(k.S[dofs[l]], on[at_b]);
            if (at_b == end_b && turns_with(w.model, dofs[l], j)) g -= dot(k.S[dofs[l]], turned);
            held.response(dofs[l], j) += at_b ? -g : g;
        }
    }
}

}  // namespace

void row_columns(const World& w, const double* theta, const double* x, const StepScratch<double>& s,
                 StepJacobian& J) {
    const Kinematics<double>& k = s.kinematics;
    const bool recovers = s.rows.recovers;
    const HeldRows of_step{J.next, s.impulses.lambda.data(), false, J.ds, J.response},
        of_recovery{J.displaced, s.recovery.kappa.data(), true, J.recovery_ds, J.recovery_response};
    J.ds.setZero(s.rows.count, w.own_ndx() + w.nu());
    J.now.v.assign(x + w.nq(), x + w.nq() + w.nv());
    J.next.v = s.v_next;
    velocity_frames(w.model, k, J.now);
    velocity_frames(w.model, k, J.next);
    if (recovers) {
        J.recovery_ds.setZero(J.ds.rows(), J.ds.cols());
        std::ranges::transform(s.v_next, s.recovery.w, J.displaced.v.begin(), std::plus());
        velocity_frames(w.model, k, J.displaced);
    }
    for (const RowBlock& block : s.rows.blocks) {
        if (!block.unilateral()) continue;
        const size_t row = block.row;
        const BiasInputs<double> in =
            bias_inputs<double>(w, theta, 0, s.rows.v_before[row], 0, block_restitution(block, s.contacts),
                                row_compliance(w, theta, block.springs).erp);
        BiasInputs<double> by = BiasInputs<double>::zero();
        NoBar none;
        row_bias_adj<double>(block.bias, in, 1, none, by);
        const auto add = [&](const HeldRows& held, const ContactDerivatives<double>* D) {
            BiasInputs<double> part = by;
            if (by_position(block.bias) && !held.recovers) part.gap = 0;
            for (int i = 0; part.v != 0 && i < block.length; ++i)
                held.ds(block.row, w.nv() + s.rows.chain_dof[block.chain + i]) +=
                    part.v * s.rows.J[block.values + i];
            if (D != nullptr)
                contact_columns(w, theta, s, block, *D, part, J.now, held);
            else
                held.ds(block.row, w.model.limits[block.index].v) += part.gap * block.side;
        };
        std::optional<ContactDerivatives<double>> D;
        if (block.kind == RowKind::contact)
            D = contact_derivatives(w, theta, s.contacts, s.contacts.points[block.index]);
        add(of_step, D ? &*D : nullptr);
        if (recovers) add(of_recovery, D ? &*D : nullptr);
    }
}

void add_impulse_columns(const FrontColumns& response, const StepJacobian::Matrix& dlambda,
                         FrontColumns& to) {
    const Eigen::Index rows = dlambda.rows(), columns = dlambda.cols();
    // the transposed product, whose factors are stored by columns
    add_product(columns, rows, to.rows(), dlambda.data(), response.data() + response.cols() - rows, 1,
                response.cols(), to.data(), to.cols());
}

void recover_columns(StepScratch<double>& s, const FrontColumns& response, StepJacobian& J,
                     FrontColumns& by_recovery) {
    const Eigen::Index columns = by_recovery.cols();
    FrontColumns ds(J.recovery_ds.data(), s.rows.count, columns);
    for_each_row(s.rows, [&](int row, int length, const int* dofs, int values) {
        ds.row(row) += s.rows.R[row] * J.dlambda.row(row);
        for (int i = 0; i < length; ++i)
            ds.row(row) +=
                s.rows.J[values + i] * (response.row(dofs[i]).head(columns) + by_recovery.row(dofs[i]));
    });
    J.dkappa.setZero(s.rows.count, columns);
    for (size_t i = 0; i < s.rows.islands.size(); ++i) {
        const Island& island = s.rows.islands[i];
        if (!recovers(s.rows, island)) continue;
        active_set_response(recovery_problem(s.rows, s.delassus, s.impulses, s.recovery, i),
                            s.recovery.sets[i], s.recovery.kappa.data() + island.row,
                            static_cast<int>(columns), ds.data() + island.row * columns,
                            J.dkappa.data() + island.row * columns);
    }
    add_impulse_columns(response, J.dkappa, by_recovery);
}

}  // namespace costate
