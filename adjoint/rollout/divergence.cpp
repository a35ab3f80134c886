#include "adjoint/rollout/divergence.hpp"

namespace costate {

namespace {

// Of entry `i` behind the velocities.
std::string name_behind_velocities(const Model& m, int i) {
    if (i >= static_cast<int>(m.activations.size())) return "an impulse kept for the next step";
    return "actuator '" + m.actuators[m.activations[i].actuator].name + "', activation";
}

}  // namespace

std::string state_entry_name(const Model& m, int entry) {
    for (const Body& b : m.bodies)
        if ((entry >= b.q0 && entry < b.q0 + b.nq) || (entry >= m.nq + b.v0 && entry < m.nq + b.v0 + b.nv))
            return "body '" + b.name + "', joint '" + b.joint_name + "', " +
                   (entry < m.nq ? "position" : "velocity");
    return name_behind_velocities(m, entry - m.nq - m.nv);
}

std::string tangent_entry_name(const Model& m, int entry) {
    const int dof = entry < m.nv ? entry : entry - m.nv;
    for (const Body& b : m.bodies)
        if (dof >= b.v0 && dof < b.v0 + b.nv)
            return "body '" + b.name + "', joint '" + b.joint_name + "', " +
                   (entry < m.nv ? "position" : "velocity");
    return name_behind_velocities(m, entry - 2 * m.nv);
}

std::string to_text(const AdjointDivergence& d, const Model& m) {
    std::string what = "the adjoint is not finite at the beginning of step " + std::to_string(d.step) + ": ";
    what += tangent_entry_name(m, d.entry);
    if (!d.row.empty()) what += "; the first row with such an adjoint is the " + d.row;
    return what;
}

DivergenceError::DivergenceError(const Model& m, const Divergence& d)
    : std::runtime_error("the state is not finite after step " + std::to_string(d.step) + ": " +
                         state_entry_name(m, d.entry)) {}

}  // namespace costate
