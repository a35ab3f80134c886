#include "adjoint/objective/signal.hpp"

namespace costate {

namespace {

const char* const axis_names[] = {".x", ".y", ".z"};

Signal rotation_signal(SignalKind kind, int index, int component, const std::string& name) {
    return {kind, index, component, {name + ".qw", name + ".qx", name + ".qy", name + ".qz"}};
}

// Suffix of a plain coordinate of a joint: empty for a joint with an axis, otherwise x, y, z.
std::string suffix(const JointKind& kind, int c) { return kind.has_axis ? "" : axis_names[c]; }

void add_positions(const Body& b, std::vector<Signal>& out) {
    const JointKind& kind = joint_kind(b.joint);
    for (int c = 0; c < kind.numbers; ++c)
        out.push_back({SignalKind::position, b.q0 + c, b.v0 + c, {b.joint_name + suffix(kind, c)}});
    if (kind.rotations > 0)
        out.push_back(
            rotation_signal(SignalKind::rotation, b.q0 + kind.numbers, b.v0 + kind.numbers, b.joint_name));
}

void add_velocities(const Body& b, std::vector<Signal>& out) {
    const std::string name = "d(" + b.joint_name + ")";
    const JointKind& kind = joint_kind(b.joint);
    std::vector<std::string> suffixes;
    for (int c = 0; c < kind.numbers; ++c)
        suffixes.push_back(suffix(kind, c));
    if (kind.rotations > 0) suffixes.insert(suffixes.end(), {".wx", ".wy", ".wz"});
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
    for (const Activation& a : m.activations)
        out.push_back({SignalKind::activation,
                       m.actuators[a.actuator].activation,
                       0,
                       {"act(" + m.actuators[a.actuator].name + ")"}});
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
