#include "scenes/lone_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/dynamics/kinematics.hpp"

namespace costate {
namespace {

// Height of the lowest point of all moving bodies; none if they have no shapes.
std::optional<double> lowest_point(const World& world, const VecX<double>& theta, const VecX<double>& q) {
    const Model& m = world.model;
    Kinematics<double> k(m);
    const VecX<double> v = VecX<double>::Zero(m.nv);
    kinematics(m, theta.data(), q.data(), v.data(), k);
    std::optional<double> lowest;
    for (size_t n = 0; n < world.shapes.shapes.size(); ++n) {
        const Shape& shape = world.shapes.shapes[n];
        const auto reach = shape_kind(shape.type).reach;
        if (shape.body < 0 || m.bodies[shape.body].last_dof < 0 || reach == nullptr) continue;
        const int i = static_cast<int>(n);
        const Mat3<double> R = k.X[shape.body].R;
        const Vec3<double> origin =
            k.world_position(m, shape.body) + R * load3(theta.data() + world.shapes.position.at(i));
        const Vec3<double> down = -(R * shape.R_BS).transpose().col(2);
        const double z = origin.z() - reach(shape, load3(theta.data() + world.shapes.size.at(i)), down);
        if (std::isfinite(z)) lowest = std::min(z, lowest.value_or(z));
    }
    return lowest;
}

double allowed(const JointLimit& limit, const VecX<double>& theta, double q) {
    const double lower = limit.range.lower < 0 ? -unlimited : theta[limit.range.lower],
                 upper = limit.range.upper < 0 ? unlimited : theta[limit.range.upper];
    if (q >= lower && q <= upper) return q;
    return std::isfinite(lower) && std::isfinite(upper) ? 0.5 * lower + 0.5 * upper
                                                        : std::clamp(q, lower, upper);
}

}  // namespace

Json scene_of_model(const ImportedModel& model, const std::string& name) {
    Json scene{{"name", name}, {"steps", 2000}};
    if (model.model.contains("description")) scene["description"] = model.model["description"];
    for (const auto& [key, value] : model.scene.items())
        scene[key] = value;
    scene["models"] = Json::array({Json{{"name", name}, {"model", model.model}}});
    return scene;
}

void complete_start(Json& scene, const Scene& read, bool placed) {
    const Model& m = read.world.model;
    VecX<double> q = read.x0.head(m.nq);
    if (!scene.contains("initial")) {
        for (const JointLimit& limit : m.limits)
            if (!limit.ball) q[limit.q] = allowed(limit, read.theta, q[limit.q]);
        for (size_t n = 0; n < m.equalities.size(); ++n) {
            const Equality& e = m.equalities[n];
            const double* c = read.theta.data() + m.coupling.at(static_cast<int>(n));
            if (e.type != EqualityType::coupling || e.of_tendons()) continue;
            const double led = CouplingCurve<double>(c, e.q_b < 0 ? 0 : q[e.q_b]).value;
            if (std::isfinite(led)) q[e.q_a] = led;
        }
        Json joints = Json::object();
        for (const Body& b : m.bodies)
            if (b.nv == 1 && q[b.q0] != read.x0[b.q0]) joints[b.joint_name] = q[b.q0];
        if (!joints.empty()) scene["initial"] = Json{{"joints", std::move(joints)}};
    }
    if (placed || scene.contains("ground") || scene.contains("shapes")) return;
    const std::optional<double> lowest = lowest_point(read.world, read.theta, q);
    const bool drops =
        lowest && std::ranges::any_of(m.bodies, [](const Body& b) { return b.joint == JointType::free; });
    if (drops) scene["models"][0]["position"] = Json::array({0, 0, drop_height - *lowest});
    if (drops || !lowest || *lowest >= 0)
        scene["ground"] = true;
    else
        scene["ground"] = Json{{"height", *lowest}};
}

}  // namespace costate
