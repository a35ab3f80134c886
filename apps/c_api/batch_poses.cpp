// Where bodies and sites of all environments are and how they move, and the reverse of that.
#include "apps/c_api/ambient.hpp"
#include "apps/c_api/batch.hpp"
#include "core/dynamics/queries.hpp"
#include "solvers/step/step.hpp"

namespace costate::c_api {
namespace {

// A frame fixed in a body: its origin there, m, and its axes.
struct Frame {
    int body, site = -1;  // -1: the body's own frame
    Vec3<double> origin = Vec3<double>::Zero();
    Mat3<double> axes = Mat3<double>::Identity();
    Frame(const Model& m, const double* theta, int index) : body(index) {
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

void check_frames(const Model& m, const int* frames, size_t n) {
    check_given("frames", frames, n);
    for (size_t i = 0; i < n; ++i)
        check_index("frame", frames[i], m.bodies.size() + m.sites.size());
}

// At a state of the caller's or the batch's own.
void look(const Batch& b, Lane& lane, size_t e, const double* x) {
    Workspace& s = *lane.workspace;
    copy_state(b.world(), (x ? x : b.x.data()) + e * b.nx(), s.x.data());
    observe(b.world(), b.parameters(e), s.x.data(), s.step);
}

void write_pose(const Model& m, const Kinematics<double>& k, const Frame& frame, double* out) {
    const Transform<double> X = frame.pose(k);
    const Quaternion<double> r = orientation(X);
    const Vec3<double> p = k.origin[m.bodies[frame.body].tree] + X.p;
    write(p, out);
    out[3] = r.w;
    write(r.v, out + 4);
}

void write_velocity(const Kinematics<double>& k, const Frame& frame, double* out) {
    const Motion<double>& V = k.V[frame.body];
    const Vec3<double> lin = point_velocity<double>(V, frame.pose(k).p);
    write(lin, out);
    write(V.ang, out + 3);
}

// Adds to the scratch's covectors and to theta_bar (np).
void seed(const Model& m, const Frame& frame, const double* pose_bar, const double* velocity_bar,
          StepScratch<double>& s, double* theta_bar) {
    const size_t body = frame.body;
    const Transform<double> X = frame.pose(s.kinematics);
    Vec3<double> p_bar = Vec3<double>::Zero(), origin_bar = Vec3<double>::Zero();
    if (velocity_bar) {
        point_velocity_adj(s.kinematics.V[body], X.p, load3(velocity_bar), s.bar.V[body], p_bar);
        s.bar.V[body].ang += load3(velocity_bar + 3);
    }
    if (pose_bar) {
        p_bar += load3(pose_bar);
        orientation_adj(X, load3(pose_bar + 3), s.bar.X[body]);
    }
    transform_point_adj(s.kinematics.X[body], frame.origin, p_bar, s.bar.X[body], origin_bar);
    if (frame.site >= 0) add3(theta_bar + m.site_position.at(frame.site), origin_bar);
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_poses(costate_batch* batch, const double* x, const int* frames, size_t n, double* poses,
                        double* velocities) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        const Model& m = b.world().model;
        if (x) check_states(b, "x", x, 1);
        check_frames(m, frames, n);
        b.begin();
        b.for_each([&](Lane& lane, size_t e) {
            look(b, lane, e, x);
            const Kinematics<double>& k = lane.workspace->step.kinematics;
            for (size_t i = 0; i < n; ++i) {
                const Frame frame(m, b.parameters(e), frames[i]);
                if (poses) write_pose(m, k, frame, poses + (e * n + i) * 7);
                if (velocities) write_velocity(k, frame, velocities + (e * n + i) * 6);
            }
        });
        return COSTATE_OK;
    });
}

int costate_batch_poses_vjp(costate_batch* batch, const double* x, const int* frames, size_t n,
                            const double* poses_bar, const double* velocities_bar, double* x_bar,
                            double* theta_bar, size_t theta_size) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        const Model& m = b.world().model;
        const size_t n_env = b.options.n_env, width = b.options.ambient ? 7 : 6;
        if (x) check_states(b, "x", x, 1);
        check_frames(m, frames, n);
        if (poses_bar) check_rows("poses_bar", poses_bar, 1, n_env, n * width);
        if (velocities_bar) check_rows("velocities_bar", velocities_bar, 1, n_env, n * 6);
        const ParameterGradient parameters(b, theta_bar, theta_size);
        b.begin();
        b.for_each([&](Lane& lane, size_t e) {
            look(b, lane, e, x);
            StepScratch<double>& s = lane.workspace->step;
            VecX<double>& sum = lane.gradient.parameters;
            s.bar.set_zero();
            sum.setZero();
            lane.x_bar.setZero();
            for (size_t i = 0; i < n; ++i) {
                const Frame frame(m, b.parameters(e), frames[i]);
                double bar[6];
                const double* given = poses_bar ? poses_bar + (e * n + i) * width : nullptr;
                if (given) std::copy_n(given, 3, bar);
                if (given && !b.options.ambient) std::copy_n(given + 3, 3, bar + 3);
                if (given && b.options.ambient) {
                    const Quaternion<double> r = orientation(frame.pose(s.kinematics));
                    const double q[4] = {r.w, r.v.x(), r.v.y(), r.v.z()};
                    turn_from_quaternion(q, given + 3, bar + 3);
                }
                seed(m, frame, given ? bar : nullptr,
                     velocities_bar ? velocities_bar + (e * n + i) * 6 : nullptr, s, sum.data());
            }
            observe_adj(b.world(), b.parameters(e), lane.workspace->x.data(), s, sum.data(),
                        lane.x_bar.data());
            if (x_bar)
                write_state_bar(b, (x ? x : b.x.data()) + e * b.nx(), lane.x_bar.data(),
                                x_bar + e * b.n_bar());
            if (parameters.wanted()) write(sum, parameters.row(e));
        });
        parameters.finish();
        return COSTATE_OK;
    });
}
}
