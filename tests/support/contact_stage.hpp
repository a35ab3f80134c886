// ContactStage: a world in contact after a step on numbers and on dual numbers, the base of the tests of the
// step's stages. A stage lifts its own inputs and runs separately, so that an error is found in the stage
// that causes it.
#pragma once

#include <map>
#include <vector>

#include "solvers/step/observation.hpp"
#include "tests/support/probe_contact.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/sweeping.hpp"
#include "tests/support/toy_worlds.hpp"

namespace costate::test {

// True if the state has all cases of a step.
inline bool is_busy(const World& w, const StepScratch<double>& s) {
    bool between_trees = false, within_tree = false, lower = false, upper = false, bounce = false,
         recover = false, stop = false;
    bool pressed = false, series = false, soft_stop = false;
    const auto tree = [&](int body) { return w.model.bodies[body].tree; };
    for (const RowBlock& b : s.rows.blocks) {
        if (b.kind == RowKind::limit) {
            (b.side > 0 ? lower : upper) = true;
            stop = stop || b.bias == BiasCase::open || b.bias == BiasCase::recover;
            soft_stop = soft_stop || b.bias == BiasCase::pressed;
            continue;
        }
        const ContactPoint<double>& c = s.contacts.points[b.index];
        if (c.body_a >= 0 && c.body_b >= 0)
            (tree(c.body_a) == tree(c.body_b) ? within_tree : between_trees) = true;
        if (s.impulses.lambda[b.row] == 0) continue;
        bounce = bounce || b.bias == BiasCase::bounce;
        recover = recover || b.bias == BiasCase::recover;
        pressed = pressed || b.bias == BiasCase::pressed;
        series = series || b.springs.count == 2;
    }
    return between_trees && within_tree && s.rows.islands.size() > 1 && lower && upper && stop && bounce &&
           recover && pressed && series && soft_stop;
}

// Joints at both ends of their ranges, one against a pressed spring.
inline void press_limits(ToyState& t, Rng& g) {
    const Model& m = t.world.model;
    t.x[m.limits[0].q] = t.theta[m.limits[0].range.lower] + 0.01 * g.normal();
    t.x[m.limits[1].q] = t.theta[m.limits[1].range.upper] + std::abs(0.01 * g.normal());
}
inline bool is_busy(const ToyState& t) {
    StepScratch<double> s(t.world);
    VecX<double> next(t.world.nx());
    step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
    return is_busy(t.world, s);
}

// The first seeds whose toy state can be busy. Few can, and every test looks for some.
inline const std::vector<unsigned>& busy_seeds(const Settings& settings) {
    constexpr size_t count = 60;
    static std::map<int, std::vector<unsigned>> by_sweeps;
    std::vector<unsigned>& seeds = by_sweeps[settings.sweeps];
    for (unsigned seed = 1; seeds.size() < count; ++seed) {
        ToyState t = toy_contact_state(seed, settings);
        Rng g(seed);
        press_limits(t, g);
        if (is_busy(t)) seeds.push_back(seed);
    }
    return seeds;
}

// A toy state with contacts between moving trees and within one tree, joints at both ends of their ranges,
// several islands, and a servo and a motor on either side of saturation. Regimes: at rest, almost at rest,
// moving.
inline ToyState busy_contact_state(Rng& g, Regime r) {
    Settings settings = sweeping();
    settings.sweeps = g.uniform(0, 1) < 0.5 ? 4 : 50;
    settings.slop = 5e-3;
    settings.recovery_speed = 5;
    const std::vector<unsigned>& seeds = busy_seeds(settings);
    for (;;) {
        ToyState t = toy_contact_state(seeds[g.engine() % seeds.size()], settings);
        press_limits(t, g);
        if (!is_busy(t)) continue;
        const Model& m = t.world.model;
        double *q = t.x.data(), *v = q + m.nq;
        const double speed = r == Regime::neutral ? 0 : (r == Regime::near_neutral ? 1e-8 : 1);
        t.x.tail(m.nv) *= speed;
        const Actuator &saturated = m.actuators[0], &free = m.actuators[2];
        const auto length = [&](const Actuator& a, int n) { return t.theta[m.actuator.gear.at(n)] * q[a.q]; };
        t.u[0] = length(saturated, 0) + (g.normal() < 0 ? -2 : 2);
        t.u[1] = g.normal() < 0 ? 3 : speed;
        t.u[2] =
            length(free, 2) + (t.theta[m.actuator.kd.at(2)] * t.theta[m.actuator.gear.at(2)] * v[free.v] +
                               speed * g.uniform(-1, 1)) /
                                  t.theta[m.actuator.kp.at(2)];
        return t;
    }
}

// A toy state by MuJoCo's law in which pyramids push, one of three directions, one with couples, and that of a capsule on a
// plane.
inline ToyState pyramid_state(Rng& g) {
    for (;;) {
        ToyState t =
            toy_contact_state(static_cast<unsigned>(g.engine()), soft_sweeping(FrictionCone::pyramidal));
        StepScratch<double> s(t.world);
        VecX<double> next(t.world.nx());
        step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
        bool plain = false, couples = false, capsule = false;
        for (const RowBlock& b : s.rows.blocks) {
            if (b.kind != RowKind::contact || contact_normal_impulse(s, b.index) == 0) continue;
            const ContactPoint<double>& c = s.contacts.points[b.index];
            plain = plain || c.directions == 3;
            couples = couples || c.directions == 6;
            capsule = capsule || c.tangent_axis == TangentAxis<double>::capsule_axis;
        }
        if (plain && couples && capsule) return t;
    }
}

// M = L^T D L from its factor.
template <class T> std::vector<T> unfactored(const Model& m, const std::vector<T>& L) {
    std::vector<T> M(L.size(), T(0));
    for (const Dof& k : m.dofs) {
        const auto at = [&](int depth) { return depth == k.depth ? T(1) : L[k.row + depth]; };
        const Dof* i = &k;
        for (int depth = k.depth; depth >= 0; i = depth > 0 ? &m.dofs[i->parent] : i, --depth)
            for (int e = 0; e <= depth; ++e)
                M[i->row + e] += at(depth) * L[k.row + k.depth] * at(e);
    }
    return M;
}

struct ContactStage : StagePass {
    ToyState t;
    const World& w = t.world;
    const Model& m = t.world.model;
    StepScratch<double> s;
    StepScratch<D> d;
    VecX<D> theta, x, u, x_next;
    VecX<double> next, theta_bar, x_bar, u_bar, x_next_bar;
    std::vector<double> M;  // with h B, not factored
    std::vector<D> M_dual;

    static inline int max_dense_rows = Settings().max_dense_rows;  // 0: every island is factored
    static inline bool pyramids = false;                           // instead of rigid contacts

    ContactStage(Rng& g, Regime r, ForwardDynamics dynamics = ForwardDynamics::crba)
        : ContactStage(pyramids ? pyramid_state(g) : busy_contact_state(g, r), dynamics) {}
    ContactStage(ToyState state, ForwardDynamics dynamics)
        : t(std::move(state)),
          s(w),
          d(w),
          theta(t.theta.cast<D>()),
          x(t.x.cast<D>()),
          u(t.u.cast<D>()),
          x_next(w.nx()),
          next(w.nx()) {
        t.world.settings.forward_dynamics = dynamics;
        t.world.settings.max_dense_rows = max_dense_rows;
        step(w, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
        step(w, {theta.data(), x.data(), u.data()}, d, x_next.data());
        M = unfactored(m, s.free_motion.M);
        M_dual = unfactored(m, d.free_motion.M);
        ContactStage::clear_bars();
    }
    void clear_bars() override {
        s.clear_bars();
        theta_bar.setZero(w.np());
        x_bar.setZero(w.ndx());
        u_bar.setZero(w.nu());
        x_next_bar.setZero(w.ndx());
    }

    const double* q() const { return t.x.data(); }
    const double* v() const { return t.x.data() + w.nq(); }
    const double* L() const { return s.free_motion.M.data(); }
    double* q_bar() { return x_bar.data(); }
    double* v_bar() { return x_bar.data() + w.nv(); }
    void factor_duals() {
        d.free_motion.M = M_dual;
        ltl_factor_inplace(m, d.free_motion.M.data());
    }

    // Inputs of several stages
    void add_parameters(const ParameterSlice& slice, int count) {
        in.add(t.theta.data() + slice.offset, theta.data() + slice.offset, theta_bar.data() + slice.offset,
               slice.width * count);
    }
    void add_parameters_along_direction(Rng& g, const ParameterSlice& slice, int count) {
        in.add_along_direction(g, [&](Inputs& all) {
            const int at = slice.offset;
            all.add(t.theta.data() + at, theta.data() + at, theta_bar.data() + at, slice.width * count);
        });
    }
    void add_interval(Inputs& to, const ParameterInterval& range) {
        for (const int i : {range.lower, range.upper})
            if (i >= 0) to.add(t.theta[i], theta[i], theta_bar[i]);
    }
    void add_limits(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) {
            for (const JointLimit& l : m.limits)
                add_interval(all, l.range);
        });
    }
    void add_limits_and_actuator_limits(Rng& g) {
        in.add_along_direction(g, [&](Inputs& all) {
            for (const JointLimit& l : m.limits)
                add_interval(all, l.range);
            for (const Actuator& a : m.actuators) {
                add_interval(all, a.control);
                add_interval(all, a.force);
            }
        });
    }
    // Stiffness, then damping, of compliant shapes and of the compliant limit. A spring without contact has
    // no effect.
    void add_springs(Rng& g) {
        const auto shapes =
            std::ranges::count_if(w.shapes.shapes, [](const Shape& shape) { return shape.spring >= 0; });
        const auto add = [&](const ParameterSlice& of_shapes, const ParameterSlice& of_limits) {
            in.add_along_direction(g, [&](Inputs& all) {
                const auto put = [&](int at, int n) {
                    all.add(t.theta.data() + at, theta.data() + at, theta_bar.data() + at, n);
                };
                put(of_shapes.offset, static_cast<int>(shapes));
                put(of_limits.offset, 1);
            });
        };
        add(w.shapes.stiffness, m.limit_stiffness);
        add(w.shapes.damping, m.limit_damping);
    }
    void add_configuration(Inputs& to) {
        to.add_place(
            {w.nv(), [this](const double* c) { x.head(w.nq()) = lift_configuration(m, t.x.head(w.nq()), c); },
             [this](const double* c) { std::copy(c, c + w.nv(), q_bar()); },
             [this](double* c) { std::copy(q_bar(), v_bar(), c); }});
    }
    void add_velocity(Inputs& to) { to.add(v(), x.data() + w.nq(), v_bar(), w.nv()); }
    void add_controls(Inputs& to) { to.add(t.u.data(), u.data(), u_bar.data(), w.nu()); }

    // Poses and velocities as outputs, in a common frame that does not move with the root.
    Vec3<D> moved(int body) const {
        return common_origin(m, d.kinematics, body) - common_origin(m, s.kinematics, body).cast<D>();
    }
    void add_poses_and_velocities() {
        for (size_t i = 0; i < m.bodies.size(); ++i) {
            const auto pose = [this, i](double* c) {
                const Transform<D>& X = d.kinematics.X[i];
                Probe<Transform<double>>::tangent({X.R, X.p + moved(static_cast<int>(i))}, c);
            };
            const auto velocity = [this, i](double* c) {
                const Motion<D>& V = d.kinematics.V[i];
                Probe<Motion<double>>::tangent({V.ang, V.lin + moved(static_cast<int>(i)).cross(V.ang)}, c);
            };
            out.add_place(
                {6, pose, [this, i](const double* c) { s.bar.X[i] = Probe<Transform<double>>::bar(c); }});
            out.add_place(
                {6, velocity, [this, i](const double* c) { s.bar.V[i] = Probe<Motion<double>>::bar(c); }});
        }
    }
    void add_next_state() {
        out.add_place({w.ndx(),
                       [this](double* c) { Eigen::Map<VecX<double>>(c, w.ndx()) = state_tangent(m, x_next); },
                       [this](const double* c) { std::copy(c, c + w.ndx(), x_next_bar.data()); }});
    }
};

template <class Pass> void check_pass_on_pyramids(double tolerance) {
    ContactStage::pyramids = true;
    check_pass<Pass>(tolerance);
    ContactStage::pyramids = false;
}

}  // namespace costate::test
