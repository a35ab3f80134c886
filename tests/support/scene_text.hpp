// A small scene that tests modify, and the messages about wrong scenes.
#pragma once

#include <doctest/doctest.h>

#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"

namespace costate {

// A two-joint arm, a ball and the ground.
inline const char* const base_text = R"({
    "name": "test", "time_step": 0.01, "steps": 100, "ground": {"friction": 0.5},
    "models": [
        {"name": "arm", "position": [0, 0, 1], "model": {
            "bodies": [
                {"name": "upper", "joint": {"name": "shoulder", "type": "revolute", "axis": [0, 2, 0], "limits": [-2, 2],
                                            "damping": 0.1},
                 "mass": 1, "com": [0, 0, -0.2], "inertia": [0.02, 0.02, 0.001, 0, 0, 0]},
                {"name": "lower", "parent": "upper", "joint": {"name": "elbow", "type": "prismatic", "position": [0, 0, -0.4]},
                 "mass": 2, "inertia": [0.02, 0.02, 0.01, 0, 0, 0],
                 "shapes": [{"name": "tip", "type": "sphere", "radius": 0.1}]}],
            "actuators": [{"name": "torque", "joint": "shoulder", "type": "motor", "gear": 3, "control_limits": [-1, 1]},
                          {"joint": "elbow", "type": "servo", "kp": 10, "kd": 1}]}},
        {"name": "ball", "position": [1, 0, 0.5], "model": {"bodies": [
            {"name": "ball", "joint": {"type": "free"}, "mass": 0.5, "inertia": [0.1, 0.1, 0.1, 0, 0, 0],
             "shapes": [{"type": "box", "half_extents": [0.1, 0.2, 0.3], "restitution": 0.5}]}]}}],
    "initial": {"joints": {"arm/elbow": 0.25}, "velocities": {"ball": {"linear": [1, 2, 3]}}},
    "controls": [{"actuators": ["arm/torque"], "optimize": "per_step", "initial": 0.5}],
    "parameters": [{"path": "shapes/ball/friction", "value": 0.7}],
    "objective": [{"term": "position", "body": "ball", "target": [1, 2, 3]}],
    "optimize": {"method": "adam"}})";

inline Json base() { return parse_json(base_text, "base"); }
inline Scene scene_of(const Json& json) { return scene_from_json(json, "test.json"); }
inline Scene scene_of_text(const std::string& text) { return scene_of(parse_json(text, "test")); }

// The base with some values changed. "null" removes a value, a pointer that ends in /- appends one.
inline Scene changed(std::initializer_list<std::pair<const char*, const char*>> changes) {
    Json json = base();
    for (const auto& [pointer, value] : changes) {
        const Json::json_pointer at(pointer);
        if (std::string(value) == "null")
            json.at(at.parent_pointer()).erase(at.back());
        else
            json[at] = parse_json(value, "value");
    }
    return scene_of(json);
}

template <class Call> std::string complaint(Call&& call) {
    try {
        call();
    } catch (const SceneError& e) {
        return e.what();
    }
    return "no complaint";
}

// Checks that the message is one line that begins with `begin`, contains `what` and, after a semicolon, the
// remedy.
inline void check_complaint(const std::string& message, const std::string& begin, const std::string& what,
                            const std::string& remedy) {
    CAPTURE(message);
    CHECK(message.compare(0, begin.size(), begin) == 0);
    CHECK(message.find(what) != std::string::npos);
    CHECK(message.find("; " + remedy) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
}

}  // namespace costate
