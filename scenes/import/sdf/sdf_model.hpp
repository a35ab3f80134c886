// The intermediate form of an SDFormat file, between libsdformat and the JSON of a model: all poses are in the
// world, at coordinates 0 of all joints.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/math/transform.hpp"
#include "core/model/actuator.hpp"
#include "scenes/format/json.hpp"

namespace costate {

inline constexpr int sdf_world = -1;  // instead of the index of a link

struct SdfLink {
    std::string name, place;
    Transform<double> X;  // of its frame in the world
    double mass = 0;
    Vec3<double> com = Vec3<double>::Zero();      // in the link
    Mat3<double> inertia = Mat3<double>::Zero();  // about the centre of mass, axes of the link
    bool weightless = false;
    // with the keys of a scene; planes only of links that are fixed in the world, whose shapes they become
    Json shapes = Json::array(), planes = Json::array(), visuals = Json::array();
    std::vector<std::string> shape_places = {}, plane_places = {};
};

enum class SdfJointType { fixed, revolute, prismatic, screw, ball, two_axes };

struct SdfAxis {
    Vec3<double> direction;  // in the world, of length 1
    // unlimited: none
    double lower, upper;
    double damping = 0, friction = 0, stiffness = 0, rest = 0;
    double effort = 0;  // 0: no motor
    // of its limits; 0: rigid
    double limit_stiffness = 0, limit_damping = 0;
};

// q = multiplier (leader - reference) + offset
struct SdfMimic {
    std::string leader;
    double multiplier = 1, offset = 0, reference = 0;
};

struct SdfJoint {
    std::string name, place;
    SdfJointType type;
    int parent, child;    // links, or sdf_world
    Vec3<double> anchor;  // in the world
    std::vector<SdfAxis> axes = {};
    double pitch = 0;  // of a screw, m/rad
    std::optional<SdfMimic> mimic = {};
};

struct SdfModel {
    std::string name, place;
    bool fixed = false;  // static
    std::vector<SdfLink> links = {};
    std::vector<SdfJoint> joints = {};
};

struct SdfScene {
    std::vector<SdfModel> models;
    bool world = false;  // false: a model by itself
    std::optional<Vec3<double>> gravity = {};
    std::optional<double> time_step = {};
    std::string physics_place = {};
};

}  // namespace costate
