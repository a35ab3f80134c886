// Random worlds for tests: several trees of random joints, with springs, damping, armature and actuators.
#pragma once

#include "core/dynamics/integrate.hpp"
#include "core/model/model.hpp"
#include "tests/support/probe.hpp"

namespace costate::test {

// G: Rng or Stream
template <class G> MassProperties<double> random_mass(G& g) {
    // the inertia of a cloud of points: positive definite, and satisfies the triangle inequality
    Mat3<double> cloud = Mat3<double>::Zero();
    for (int k = 0; k < 4; ++k) {
        const Vec3<double> r = 0.2 * g.vec3(Regime::random);
        cloud += r * r.transpose();
    }
    const double m = g.uniform(0.5, 2);
    return {m, 0.2 * g.vec3(Regime::random), m * (cloud.trace() * Mat3<double>::Identity() - cloud)};
}

inline BodySpec random_body(Rng& g, int index, int parent, JointType joint) {
    BodySpec s;
    s.name = "body" + std::to_string(index);
    s.parent = parent;
    s.joint = joint;
    s.axis = g.vec3(Regime::random).normalized();
    s.pitch = 0.3;
    s.placement = 0.4 * g.vec3(Regime::random);
    s.R_PB = rotation_matrix(Probe<Quaternion<double>>::random(g, Regime::random));
    s.mass = random_mass(g);
    for (int k = 0; k < joint_nv(joint); ++k) {
        s.damping.push_back(g.uniform(0.1, 1));
        s.armature.push_back(g.uniform(0.01, 0.1));
        s.stiffness.push_back(g.uniform(0.5, 5));
        s.rest.push_back(g.normal());
    }
    return s;
}

// Joint types by body; parents[i] < i, -1 is the world. Motors and servos alternate on the one-dof joints.
inline Model toy_model(Rng& g, const std::vector<JointType>& joints, const std::vector<int>& parents) {
    ModelBuilder builder;
    for (size_t i = 0; i < joints.size(); ++i)
        builder.add_body(random_body(g, static_cast<int>(i), parents[i], joints[i]));
    for (size_t i = 0; i < joints.size(); ++i) {
        if (joint_nv(joints[i]) != 1) continue;
        ActuatorSpec a;
        a.name = "actuator" + std::to_string(i);
        a.body = static_cast<int>(i);
        a.type = static_cast<ActuatorType>(i % 4);
        a.gear = g.uniform(0.5, 2);
        a.kp = g.uniform(1, 10);
        a.kd = g.uniform(0.1, 1);
        a.gain = g.uniform(1, 2);
        a.bias = {g.normal(), g.normal(), i % 8 < 4 ? -g.uniform(0.1, 1) : g.uniform(0.1, 1)};
        builder.add_actuator(a);
    }
    return builder.build();
}

// Every joint type, a branching floating tree and a fixed-base one.
inline Model toy_model(Rng& g) {
    using J = JointType;
    return toy_model(g,
                     {J::free, J::revolute, J::revolute, J::prismatic, J::spherical, J::fixed, J::revolute,
                      J::revolute, J::spherical, J::prismatic, J::helical},
                     {-1, 0, 1, 0, 3, 4, 5, -1, 7, 8, 8});
}

inline VecX<double> random_configuration(const Model& m, Rng& g, Regime r) {
    VecX<double> d(m.nv), q(m.nq);
    for (double& x : d)
        x = g.around_zero(r);
    retract(m, m.neutral_configuration().data(), d.data(), q.data());
    return q;
}

template <class G> VecX<double> random_vector(int n, G& g, Regime r) {
    VecX<double> x(n);
    for (double& xi : x)
        xi = g.around_zero(r);
    return x;
}

// A dual configuration: q moved along the tangent d (nv).
inline VecX<D> lift_configuration(const Model& m, const VecX<double>& q, const double* d) {
    VecX<D> step(m.nv), lifted(m.nq);
    for (int j = 0; j < m.nv; ++j)
        step[j] = D(0.0, d[j]);
    retract<D>(m, q.cast<D>().eval().data(), step.data(), lifted.data());
    return lifted;
}

inline VecX<D> lift_vector(const VecX<double>& x, const double* d) {
    VecX<D> lifted(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i)
        lifted[i] = D(x[i], d[i]);
    return lifted;
}

}  // namespace costate::test
