// Small models as SDFormat text, their motion, and the messages about wrong models.
#pragma once

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "core/dynamics/kinematics.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "tests/support/mesh_texts.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {

inline std::string sdf_inertial(const std::string& mass = "1") {
    return "<inertial><mass>" + mass +
           "</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial>";
}
inline std::string sdf_link(const std::string& name, const std::string& content = "") {
    return "<link name='" + name + "'>" + sdf_inertial() + content + "</link>\n";
}
inline std::string sdf_pose(const std::string& numbers, const std::string& relative_to = "") {
    return "<pose" + (relative_to.empty() ? "" : " relative_to='" + relative_to + "'") + ">" + numbers +
           "</pose>";
}
inline std::string sdf_axis(const std::string& xyz = "0 0 1", const std::string& content = "") {
    return "<axis><xyz>" + xyz + "</xyz>" + content + "</axis>";
}
inline std::string sdf_joint(const std::string& name, const std::string& type, const std::string& parent,
                             const std::string& child, const std::string& content = sdf_axis()) {
    return "<joint name='" + name + "' type='" + type + "'><parent>" + parent + "</parent><child>" + child +
           "</child>" + content + "</joint>\n";
}
inline std::string sdf_collision(const std::string& geometry, const std::string& more = "",
                                 const std::string& name = "c") {
    return "<collision name='" + name + "'><geometry>" + geometry + "</geometry>" + more + "</collision>";
}
inline const char* const sdf_ball = "<sphere><radius>0.1</radius></sphere>";
inline std::string sdf_file(const std::string& content) {
    return "<sdf version='1.9'>\n" + content + "</sdf>\n";
}
inline std::string sdf_model(const std::string& content, const std::string& name = "m") {
    return "<model name='" + name + "'>\n" + content + "</model>\n";
}

inline ImportedModel import_sdf_text(const std::string& text, const ImportOptions& options = {}) {
    return parse_model(text, "m.sdf", options, "sdf");
}
inline Scene sdf_scene(const std::string& text, const ImportOptions& options = {}) {
    return parse_scene(text, TextFormat::sdf, "m.sdf", options);
}

// The state after some steps.
inline VecX<double> state_after(const Scene& scene, int steps) {
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, steps);
    VecX<double> last;
    rollout.forward(scene.theta, scene.x0, scene.z0, [&](int, const double* x, const double*) {
        last = Eigen::Map<const VecX<double>>(x, scene.world.nx());
    });
    return last;
}

// The pose of a body in the world, in a state of a scene.
inline Transform<double> pose_of(const Scene& scene, const VecX<double>& x, const std::string& body) {
    const Model& m = scene.world.model;
    Kinematics<double> k(m);
    kinematics(m, scene.theta.data(), x.data(), x.data() + m.nq, k);
    const int index = m.body_index(body);
    REQUIRE(index >= 0);
    return {k.X[index].R, k.world_position(m, index)};
}

}  // namespace costate::test
