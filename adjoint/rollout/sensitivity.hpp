// Sensitivity to pushes: the gradient of the loss with respect to a force on a body during one step, from the
// intermediates of step_adj.
#pragma once

#include "solvers/step/step.hpp"

namespace costate {

// The gradient of the loss with respect to the impulse of a force at each body's centre of mass, constant
// during the step just pulled back; world axes, per N s. A force f at the centre of mass is the generalized
// force J^T f, so its gradient is J tau_bar: the velocity of the centre of mass for joint velocities tau_bar.
//   W_i = W_parent + sum_j tau_bar_j S_j,   out_i = velocity of W_i at the mass centre / h
inline void impulse_gradients(const World& w, const double* theta, const StepScratch<double>& s,
                              std::vector<Motion<double>>& W,    // (bodies) scratch
                              std::vector<Vec3<double>>& out) {  // (bodies)
    const Model& m = w.model;
    W.resize(m.bodies.size());
    out.resize(m.bodies.size());
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        W[i] = b.parent < 0 ? Motion<double>::zero() : W[b.parent];
        for (int j = b.v0; j < b.v0 + b.nv; ++j)
            W[i] += s.tau_bar[j] * s.kinematics.S[j];
        const Vec3<double> centre =
            transform_point<double>(s.kinematics.X[i], load3(theta + m.com.at(static_cast<int>(i))));
        out[i] = point_velocity(W[i], centre) / w.h(theta);
    }
}

}  // namespace costate
