// A world with every type of joint, shape, actuator and equality, in which every parameter has an effect.
#pragma once

#include "core/dynamics/kinematics.hpp"
#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"

namespace costate::test {

// A body with one shape that slides and rotates on the ground. Its initial height has contact.
inline Json slider(const char* name, const char* shape, double x, double height) {
    Json body = parse_json(
        R"({"mass": 0.8, "com": [0.01, -0.02, 0.01], "inertia": [0.006, 0.007, 0.008, 0.001, -0.0005, 0.0007],
                               "joint": {"type": "free", "damping": 0.1, "armature": 0.01}})",
        "body");
    body["name"] = name;
    body["shapes"].push_back(parse_json(shape, "shape"));
    return Json{{"name", name},
                {"position", {x, 0, height}},
                {"rpy_deg", {3, -2, 20}},
                {"model", {{"bodies", {body}}}}};
}

// An arm of links on joints of all types, a lever with a load and a follower with a lamp, with actuators and
// equalities.
inline Json every_joint() {
    return parse_json(R"({"name": "arm", "position": [0, 5, 2], "rpy_deg": [20, 30, 40], "model": {
        "bodies": [
            {"name": "swing", "joint": {"type": "revolute", "axis": [0, 1, 0.2], "limits": [-0.2, 0.3],
              "damping": 0.1, "armature": 0.02, "stiffness": 2, "rest": 0.1, "dry_friction": 0.05},
             "mass": 1, "com": [0.2, 0.02, 0.01], "inertia": [0.01, 0.02, 0.02, 0.001, 0.002, 0.001]},
            {"name": "slide", "parent": "swing", "joint": {"type": "prismatic", "axis": [1, 0.1, 0], "position": [0.3, 0, 0.1],
              "rpy_deg": [10, 0, 5], "limits": [-0.02, 0.02], "damping": 0.3, "armature": 0.01, "stiffness": 20, "rest": 0.03,
              "dry_friction": 0.4},
             "mass": 0.7, "com": [0.1, 0.03, 0.02], "inertia": [0.01, 0.01, 0.015, 0.001, 0.002, 0.001]},
            {"name": "plate", "parent": "slide", "joint": {"type": "fixed", "position": [0.1, 0.05, 0], "rpy_deg": [0, 20, 0]},
             "mass": 0.2, "com": [0.02, 0.01, 0.03], "inertia": [0.003, 0.004, 0.005, 0.0001, 0.0002, 0.0003]},
            {"name": "screw", "parent": "plate", "sites": [{"name": "tip", "position": [0.1, 0.2, 0.3], "rpy_deg": [10, 20, 30]}], "joint": {"type": "helical", "axis": [0, 0.3, 1], "pitch": 0.05,
              "position": [0.1, 0, 0.1], "rpy_deg": [0, 30, 10], "limits": [-0.2, 0.2], "damping": 0.05, "armature": 0.02,
              "stiffness": 1, "rest": 0.2, "dry_friction": 0.02},
             "mass": 0.5, "com": [0.1, 0.05, 0.02], "inertia": [0.004, 0.005, 0.006, 0.0003, 0.0002, 0.0001]},
            {"name": "socket", "parent": "screw", "joint": {"type": "spherical", "position": [0.2, 0.1, 0], "rpy_deg": [5, 6, 7],
              "greatest_angle": 0.098, "stiffness": 0.4, "rest": [0.1, 0.2, -0.1], "damping": 0.01, "armature": 0.005, "dry_friction": 0.01},
             "mass": 0.4, "com": [0.15, 0.02, 0.03], "inertia": [0.003, 0.004, 0.005, 0.0003, 0.0002, 0.0001]},
            {"name": "lever", "joint": {"type": "revolute", "axis": [0.1, 1, 0], "position": [0.4, -0.5, 0], "damping": 0.1,
              "limits": [0.13, 0.6], "limit_stiffness": 200, "limit_damping": 2},
             "mass": 0.6, "gravity_compensation": 0.1, "com": [0.1, 0.01, 0.02], "inertia": [0.004, 0.006, 0.006, 0.0003, 0.0002, 0.0001]},
            {"name": "follower", "joint": {"type": "revolute", "axis": [0, 1, 0.1], "position": [0.4, 0.7, 0], "damping": 0.1},
             "mass": 0.6, "com": [0.1, 0.01, 0.02], "inertia": [0.004, 0.006, 0.006, 0.0003, 0.0002, 0.0001]},
            {"name": "load", "joint": {"type": "free"}, "mass": 0.3, "com": [0.01, 0.02, 0.03],
             "inertia": [0.002, 0.003, 0.004, 0.0003, 0.0002, 0.0001]},
            {"name": "lamp", "joint": {"type": "free", "position": [0, 0, 1]}, "mass": 0.3, "com": [0.01, 0.02, 0.03],
             "inertia": [0.002, 0.003, 0.004, 0.0003, 0.0002, 0.0001]}],
        "tendons": [{"name": "cord", "stiffness": 0.5, "rest": 0.02, "slack": 0.03, "damping": 0.05, "limits": [0.0803, 3], "joints": [
            {"joint": "screw", "coefficient": 1}, {"joint": "swing", "coefficient": -0.4}]},
            {"name": "rope", "stiffness": 0.7, "rest": 0.3, "slack": 0.05, "damping": 0.04, "limits": [-2, 0.91], "path": [
            {"world": [0.5, 0.3, 1]}, {"site": "tip"}]}],
        "actuators": [
            {"name": "motor", "joint": "swing", "type": "motor", "gear": 1.2, "control_limits": [-0.5, 0.6]},
            {"name": "servo", "joint": "slide", "type": "servo", "kp": 50, "kd": 2, "gear": 1.1, "force_limits": [-6, 5]},
            {"name": "speed", "joint": "screw", "type": "velocity", "kd": 0.3, "gear": 0.9,
             "dynamics": {"type": "filter", "time_constant": 0.01, "limits": [-1, 1.5]}},
            {"name": "general", "joint": "lever", "type": "general", "gain": 1.5, "bias": [0.1, -0.5, 0.02], "gear": 1.3,
             "gain_slopes": [0.3, -0.2], "dynamics": {"type": "exact_filter", "time_constant": 0.02, "early": true}},
            {"name": "hold", "joint": "follower", "type": "servo", "kp": 5, "kd": 0.2, "gear": 1.1,
             "dynamics": {"type": "filter", "time_constant": 0.02, "limits": [0.12, 2]}},
            {"name": "flexor", "joint": "swing", "type": "muscle", "gear": 0.8,
             "muscle": {"force": 6, "length_range": [-0.6, -0.1], "range": [0.7, 1.1], "lmax": 1.9, "vmax": 2},
             "dynamics": {"type": "muscle", "rise_time": 0.03, "fall_time": 0.06, "switch_width": 2.5}},
            {"name": "extensor", "joint": "swing", "type": "muscle", "gear": -0.7, "muscle": {"force": 4, "length_range": [-0.1, 0.5]},
             "dynamics": {"type": "muscle", "rise_time": 0.01, "fall_time": 0.04, "limits": [-1, 0.4]}}],
        "equalities": [
            {"name": "grip", "type": "weld", "body_a": "load", "body_b": "lever", "point_a": [0.05, 0.02, 0.01]},
            {"name": "hook", "type": "connect", "body_a": "lamp", "body_b": "follower", "point_a": [0.05, 0.02, 0.2]},
            {"name": "gears", "type": "coupling", "joint_a": "follower", "joint_b": "lever", "polynomial": [0.02, 0.7, 0.1, -0.2, 0.15]}]}})",
                      "arm");
}

// The arm at the ends of its ranges, and a body of every shape that slides on the ground or on hills. The
// objective depends on all of them.
inline Scene rich_scene() {
    Json scene = parse_json(R"({
        "steps": 60, "time_step": 0.002, "gravity": [0.2, -0.3, -9.81],
        "medium": {"density": 2, "viscosity": 0.1, "wind": [0.4, -0.3, 0.2]},
        "ground": {"friction": 0.7, "restitution": 0.1},
        "contact": {"slop": 0.0005, "recovery_speed": 0.3, "compliance": 0.01},
        "solver": {"sweeps": 40},
        "pushes": [{"name": "shove", "body": "arm/lamp", "times": [0.01, 0.03], "force": [[0.3, 0.2, 0.1], [-0.2, 0.1, 0.3]],
                    "torque": [0.02, -0.03, 0.01]}],
        "shapes": [{"name": "hills", "type": "height_field", "cell": [0.5, 0.4], "friction": 0.6, "restitution": 0.05,
                    "margin": 0.001, "position": [-3, 0, 0.2], "rpy_deg": [2, 3, 4],
                    "heights": [[0, 0.1, 0], [0.1, 0, 0.1], [0, 0.1, 0.05]]}],
        "controls": [{"actuators": ["arm/motor"], "schedule": [[0, 2], [0.03, 2], [0.04, -2]]},
                     {"actuators": ["arm/servo"], "schedule": [[0, 1], [0.03, 1], [0.04, -1]]},
                     {"actuators": ["arm/speed"], "initial": 3},
                     {"actuators": ["arm/extensor"], "initial": 0.9},
                     {"actuators": ["arm/flexor"], "schedule": [[0, 0.8], [0.06, 0.8], [0.07, 0]]}, {"actuators": ["arm/general"], "initial": 0.5}],
        "initial": {"joints": {"arm/swing": 0.2957, "arm/slide": -0.0195, "arm/screw": 0.1991,
                               "arm/socket": {"rpy_deg": [3, 4, -2.7]},
                               "arm/lever": 0.1, "arm/follower": 0.09},
                    "velocities": {"arm/lever": -0.04, "arm/follower": -0.028, "arm/swing": 1, "arm/slide": -0.3, "arm/screw": 1,
                                   "arm/socket": {"angular": [0.01, 0.02, -0.01]},
                                   "ball": {"linear": [0.5, -0.4, -1], "angular": [1, 2, 3]},
                                   "pill": {"linear": [-0.5, 0.4, -0.6], "angular": [1, -2, 1]},
                                   "can": {"linear": [0.3, 0.4, -0.01], "angular": [0.1, -0.2, 2]},
                                   "crate": {"linear": [0.3, -0.4, -0.02], "angular": [0.2, 0.1, 2]},
                                   "egg": {"linear": [0.3, -0.4, -0.02], "angular": [1, 0.5, 2]},
                                   "rock": {"linear": [0.2, -0.3, -0.02], "angular": [0.1, 0.5, 2]},
                                   "hiker": {"linear": [0.2, -0.3, -0.7], "angular": [0.1, 0.5, 2]}}}})",
                            "rich");
    Json& models = scene["models"] = Json::array();
    models.push_back(every_joint());
    models.push_back(slider(
        "ball",
        R"({"type": "sphere", "radius": 0.1, "restitution": 0.6, "margin": 0.002, "position": [0.02, 0.01, 0.01]})",
        0, 0.13));
    models.push_back(slider(
        "pill",
        R"({"type": "capsule", "radius": 0.05, "half_length": 0.1, "restitution": 0.02, "rpy_deg": [80, 5, 0]})",
        1, 0.08));
    models.push_back(slider("can", R"({"type": "cylinder", "radius": 0.08, "half_length": 0.1})", 2, 0.095));
    models.push_back(slider("crate",
                            R"({"type": "box", "half_extents": [0.1, 0.12, 0.08], "torsional_friction": 0.02,
        "rolling_friction": 0.01, "surface_velocity": [0.2, -0.1, 0.3], "surface_angular_velocity": [1, 2, -3]})",
                            3, 0.08));
    models.push_back(slider(
        "egg", R"({"type": "ellipsoid", "semi_axes": [0.1, 0.12, 0.08], "stiffness": 3000, "damping": 10})",
        4, 0.07));
    models.push_back(slider(
        "rock", R"({"type": "mesh", "scale": [1.1, 0.9, 1], "vertices": [[0.1, 0.1, -0.1], [-0.1, 0.12, -0.1],
        [0.02, -0.13, -0.1], [0, 0, 0.1]]})",
        5, 0.1));
    models.push_back(slider("hiker", R"({"type": "sphere", "radius": 0.1, "restitution": 0.4})", -3, 0.36));
    const Scene built = scene_from_json(scene, "rich.json");
    const Model& m = built.world.model;
    Kinematics<double> k(m);
    kinematics(m, built.theta.data(), built.x0.data(), built.x0.data() + m.nq, k);
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Vec3<double> near = k.world_position(m, static_cast<int>(i)) + Vec3<double>(0.2, -0.1, 0.3);
        const auto add = [&](const char* term, const Vec3<double>& target) {
            scene["objective"].push_back({{"term", term},
                                          {"body", m.bodies[i].name},
                                          {"point", {0.1, 0.2, -0.1}},
                                          {"target", {target.x(), target.y(), target.z()}}});
        };
        add("position", near);
        add("velocity", {0.5, -0.6, 0.7});
    }
    scene["objective"].push_back({{"term", "position"}, {"site", "arm/tip"}, {"target", {7, -8, 9}}});
    scene["objective"].push_back({{"term", "orientation"}, {"site", "arm/tip"}, {"rpy_deg", {20, 30, 50}}});
    scene["objective"].push_back({{"term", "configuration"}, {"target", 0.4}});
    return scene_from_json(scene, "rich.json");
}

}  // namespace costate::test
