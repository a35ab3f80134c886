// Where bodies and sites of all environments are and how they move, and the reverse of that.
#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"
#include "core/dynamics/queries.hpp"

namespace costate {
namespace {

// A frame fixed in a body: its origin there, m, and its axes.
struct BodyFrame {
    int body, site = -1;  // -1: the body's own frame
    Vec3<double> origin = Vec3<double>::Zero();
    Mat3<double> axes = Mat3<double>::Identity();
    BodyFrame(const Model& m, const double* theta, int index) : body(index) {
        const int bodies = static_cast<int>(m.bodies.size());
        if (index < bodies) return;
        site = index - bodies;
        const Site& s = m.sites[site];
        body = s.body;
        origin = load3(theta + m.site_position.at(site));
        axes = s.R_BS;
    }
    // In the common frame of the body's tree
    Transform<double> pose(const Kinematics<double>& k) const {
        const Transform<double>& X = k.X[body];
        return {X.R * axes, transform_point(X, origin)};
    }
};

void write3(const Vec3<double>& v, double* out) { std::copy_n(v.data(), 3, out); }

// pose (7), or null
void write_pose(const Model& m, const Kinematics<double>& k, const BodyFrame& frame, double* pose) {
    if (!pose) return;
    const Transform<double> X = frame.pose(k);
    const Quaternion<double> r = orientation(X);
    write3(k.origin[m.bodies[frame.body].tree] + X.p, pose);
    pose[3] = r.w;
    write3(r.v, pose + 4);
}
// pose_bar (6), or null: adds to the covectors of the body's pose and of the frame's origin in world axes
void pose_backward(const Transform<double>& X, const double* pose_bar, Force<double>& X_bar,
                   Vec3<double>& p_bar) {
    if (!pose_bar) return;
    p_bar += load3(pose_bar);
    orientation_adj(X, load3(pose_bar + 3), X_bar);
}

// velocity (6), or null
void write_velocity(const Kinematics<double>& k, const BodyFrame& frame, double* velocity) {
    if (!velocity) return;
    const Motion<double>& V = k.V[frame.body];
    write3(point_velocity<double>(V, frame.pose(k).p), velocity);
    write3(V.ang, velocity + 3);
}
// velocity_bar (6), or null
void velocity_backward(const Motion<double>& V, const Transform<double>& X, const double* velocity_bar,
                       Force<double>& V_bar, Vec3<double>& p_bar) {
    if (!velocity_bar) return;
    point_velocity_adj(V, X.p, load3(velocity_bar), V_bar, p_bar);
    V_bar.ang += load3(velocity_bar + 3);
}

}  // namespace

// Leaves poses and velocities in the worker's scratch, at a state of the caller's or the batch's own.
void Batch::observe_state(Worker& worker, size_t e, const double* x) const {
    Workspace& s = *worker.workspace;
    normalize_state(world_, (x ? x : x_.data()) + e * nx(), s.x.data());
    observe(world_, parameters(e), s.x.data(), s.step);
}

void Batch::poses(const double* x, const int* frames, size_t n, double* poses, double* velocities) {
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        observe_state(worker, e, x);
        const Kinematics<double>& k = worker.workspace->step.kinematics;
        for (size_t i = 0; i < n; ++i) {
            const BodyFrame frame(world_.model, parameters(e), frames[i]);
            write_pose(world_.model, k, frame, poses ? poses + (e * n + i) * 7 : nullptr);
            write_velocity(k, frame, velocities ? velocities + (e * n + i) * 6 : nullptr);
        }
    });
}

void Batch::poses_backward(const double* x, const int* frames, size_t n, const double* poses_bar,
                           const double* velocities_bar, double* x_bar, double* theta_bar, ThetaBar of) {
    const Model& m = world_.model;
    double* const rows = theta_bar_rows(theta_bar, of);
    workers_->for_each(n_env(), [&](Worker& worker, size_t e) {
        observe_state(worker, e, x);
        StepScratch<double>& s = worker.workspace->step;
        VecX<double>& sum = worker.gradient.parameters;
        s.bar.set_zero();
        sum.setZero();
        worker.x_bar.setZero();
        for (size_t i = 0; i < n; ++i) {
            const BodyFrame frame(m, parameters(e), frames[i]);
            const size_t body = frame.body;
            const Transform<double> X = frame.pose(s.kinematics);
            Vec3<double> p_bar = Vec3<double>::Zero(), origin_bar = Vec3<double>::Zero();
            const double* velocity_bar = velocities_bar ? velocities_bar + (e * n + i) * 6 : nullptr;
            velocity_backward(s.kinematics.V[body], X, velocity_bar, s.bar.V[body], p_bar);
            double pose_bar[6];
            if (poses_bar)
                coordinates_.read_pose_bar(orientation(X), poses_bar + (e * n + i) * pose_bar_width(),
                                           pose_bar);
            pose_backward(X, poses_bar ? pose_bar : nullptr, s.bar.X[body], p_bar);
            transform_point_adj(s.kinematics.X[body], frame.origin, p_bar, s.bar.X[body], origin_bar);
            if (frame.site >= 0) add3(sum.data() + m.site_position.at(frame.site), origin_bar);
        }
        observe_adj(world_, parameters(e), worker.workspace->x.data(), s, sum.data(), worker.x_bar.data());
        if (x_bar)
            coordinates_.write_state_bar(world_, (x ? x : x_.data()) + e * nx(), worker.x_bar.data(),
                                         x_bar + e * state_bar_width());
        if (rows) std::copy(sum.begin(), sum.end(), rows + e * np());
    });
    sum_theta_bar(theta_bar, of);
}

}  // namespace costate
