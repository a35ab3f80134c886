#include "adjoint/objective/signal.hpp"

namespace costate {

namespace {

const char* const axis_names[] = {".x", ".y", ".z"};

Signal rotation_signal(SignalKind kind, int index, int component, const std::string& name) {
    return {kind, index, component, {name + ".qw", name + ".qx", name + ".qy", name + ".qz"}};
}

void add_positions(const Body& b, std::vector<Signal>& out) {
    const bool free = b.joint == JointType::free;
    if (b.nv == 1) out.push_back({SignalKind::position, b.q0, b.v0, {b.joint_name}});
    for (int k = 0; free && k < 3; ++k)
        out.push_back({SignalKind::position, b.q0 + k, b.v0 + k, {b.joint_name + axis_names[k]}});
    const int before = free ? 3 : 0;
    if (free || b.joint == JointType::spherical)
        out.push_back(rotation_signal(SignalKind::rotation, b.q0 + before, b.v0 + before, b.joint_name));
}

void add_velocities(const Body& b, std::vector<Signal>& out) {
    const std::string name = "d(" + b.joint_name + ")";
    std::vector<std::string> suffixes;
    if (b.nv == 1) suffixes = {""};
    if (b.joint == JointType::free) suffixes = {".x", ".y", ".z"};
    if (b.nv >= 3) suffixes.insert(suffixes.end(), {".wx", ".wy", ".wz"});
    for (int k = 0; k < b.nv; ++k)
        out.push_back({SignalKind::velocity, b.v0 + k, 0, {name + suffixes[k]}});
}

}  // namespace

std::vector<Signal> state_signals(const Model& m) {
    std::vector<Signal> out;
    for (const Body& b : m.bodies)
        add_positions(b, out);
    for (const Body& b : m.bodies)
        add_velocities(b, out);
    for (int n = 0; n < m.nu; ++n)
        out.push_back({SignalKind::control, n, 0, {"u(" + m.actuators[n].name + ")"}});
    return out;
}

std::vector<Signal> all_signals(const World& w) {
    std::vector<Signal> out = state_signals(w.model);
    for (int i = 0; i < static_cast<int>(w.model.bodies.size()); ++i) {
        const std::string name = "pose(" + w.model.bodies[i].name + ")";
        for (int k = 0; k < 3; ++k)
            out.push_back({SignalKind::body_position, i, k, {name + axis_names[k]}});
        out.push_back(rotation_signal(SignalKind::body_rotation, i, 0, name));
    }
    for (int i = 0; i < static_cast<int>(w.model.sites.size()); ++i)
        for (int k = 0; k < 3; ++k)
            out.push_back(
                {SignalKind::site_position, i, k, {"site(" + w.model.sites[i].name + ")" + axis_names[k]}});
    for (int i = 0; i < static_cast<int>(w.shapes.shapes.size()); ++i)
        out.push_back({SignalKind::impulse, i, 0, {"impulse(" + w.shapes.shapes[i].name + ")"}});
    return out;
}

std::vector<std::string> column_names(const std::vector<Signal>& signals) {
    std::vector<std::string> names;
    for (const Signal& c : signals)
        names.insert(names.end(), c.names.begin(), c.names.end());
    return names;
}

}  // namespace costate
