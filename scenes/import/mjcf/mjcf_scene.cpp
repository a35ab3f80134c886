// Bodies of MJCF with the keys of a scene.
#include <set>

#include "scenes/format/inertia.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

const char* type_name(MjcfJointType type) {
    switch (type) {
        case MjcfJointType::free: return "free";
        case MjcfJointType::ball: return "spherical";
        case MjcfJointType::slide: return "prismatic";
        case MjcfJointType::hinge: return "revolute";
    }
    return "";
}

Json joint_to_json(const MjcfJoint& joint, const MjcfPose& pose) {
    Json out{{"name", joint.name}, {"type", type_name(joint.type)}};
    if (joint.type == MjcfJointType::slide || joint.type == MjcfJointType::hinge)
        out["axis"] = to_json(joint.axis);
    put_pose(out, pose);
    out.update(joint.properties);
    return out;
}

// In MuJoCo, joints of a body rotate it about points of its own, one joint after the other. Here, joints are
// at the origins of a chain of frames, which all have the body's axes at the reference configuration. If the
// last of them is not at the body's origin, a fixed joint leads back to it.
//
// A body without joints has a fixed joint with the body's name, or another one if that name is taken.
Json joints_to_json(const MjcfBody& body, const std::set<std::string>& joint_names) {
    Json chain = Json::array();
    MjcfPose next = body.pose;
    Vec3<double> at = Vec3<double>::Zero();  // in the body
    for (const MjcfJoint& joint : body.joints) {
        const Vec3<double> step = joint.pos - at;
        const bool anywhere = joint.type == MjcfJointType::slide || joint.type == MjcfJointType::free ||
                              (joint.type == MjcfJointType::hinge && step.cross(joint.axis).isZero(0));
        if (!anywhere) {
            next = next * MjcfPose{step};
            at = joint.pos;
        }
        chain.push_back(joint_to_json(joint, next));
        next = {};
    }
    if (!at.isZero(0) || body.joints.empty()) {
        Json fixed{{"type", "fixed"}};
        std::string name = body.name;
        while (joint_names.contains(name))
            name += ".fixed";
        if (name != body.name) fixed["name"] = name;
        put_pose(fixed, next * MjcfPose{-at});
        chain.push_back(fixed);
    }
    return chain;
}

// Appends the shapes of a geom to a list, and their sources.
void put_shapes(const MjcfGeom& geom, const std::string& pointer, Json& list,
                std::map<std::string, std::string>& places) {
    Json shape{{"name", geom.name}};
    shape.update(geom.shape);
    put_pose(shape, geom.pose);
    const auto put = [&](const std::string& name) {
        places[pointer + "/" + std::to_string(list.size())] = geom.element.place();
        shape["name"] = name;
        list.push_back(shape);
    };
    put(geom.name);
    for (const auto& [name, vertices] : geom.hulls) {
        shape["vertices"] = vertices;
        put(name);
    }
}

// A body; also records the sources of its parts below `pointer`, "/bodies/<index>".
Json body_to_json(const MjcfBody& body, const std::set<std::string>& joint_names, const std::string& parent,
                  const std::string& pointer, std::map<std::string, std::string>& places) {
    Json out{{"name", body.name}};
    if (parent != "world") out["parent"] = parent;
    const Json chain = joints_to_json(body, joint_names);
    if (chain.size() > 1)
        out["joints"] = chain;
    else if (chain[0] != Json{{"type", "fixed"}})
        out["joint"] = chain[0];
    places[pointer] = body.element.place();
    for (size_t k = 0; k < body.joints.size(); ++k)
        places[pointer + (chain.size() > 1 ? "/joints/" + std::to_string(k) : "/joint")] =
            body.joints[k].element.place();
    if (body.mass.m > 0) {
        const Mat3<double>& I = body.mass.I;
        out["mass"] = body.mass.m;
        if (!body.mass.c.isZero(0)) out["com"] = to_json(body.mass.c);
        out["inertia"] = {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)};
        places[pointer + "/mass"] = places[pointer + "/inertia"] = body.mass_element.place();
    }
    if (body.gravcomp != 0) out["gravity_compensation"] = body.gravcomp;
    for (const MjcfGeom& geom : body.geoms) {
        if (geom.shape.is_null() || (geom.visual() && geom.shape["type"] == "plane")) continue;
        if (geom.visual()) {
            Json visual = geom.shape;
            put_pose(visual, geom.pose);
            if (!geom.rgba.is_null()) visual["rgba"] = geom.rgba;
            out["visuals"].push_back(std::move(visual));
            continue;
        }
        put_shapes(geom, pointer + "/shapes", out["shapes"], places);
    }
    for (const MjcfSite& site : body.sites) {
        Json frame{{"name", site.name}};
        put_pose(frame, site.pose);
        out["sites"].push_back(std::move(frame));
    }
    return out;
}

}  // namespace

void put_bodies(const std::vector<MjcfBody>& bodies, ImportedModel& out) {
    Json& list = out.model["bodies"] = Json::array();
    std::set<std::string> joint_names;
    for (const MjcfBody& body : bodies)
        for (const MjcfJoint& joint : body.joints)
            joint_names.insert(joint.name);
    for (size_t i = 1; i < bodies.size(); ++i)
        list.push_back(body_to_json(bodies[i], joint_names, bodies[bodies[i].parent].name,
                                    "/bodies/" + std::to_string(i - 1), out.places));
    for (const MjcfGeom& geom : bodies[0].geoms)
        if (!geom.visual() && !geom.shape.is_null())
            put_shapes(geom, "/shapes", out.scene["shapes"], out.scene_places);
}

void put_drag_boxes(const std::vector<MjcfBody>& bodies, ImportedModel& out) {
    for (size_t i = 1; i < bodies.size(); ++i) {
        const MassProperties<double>& mass = bodies[i].mass;
        if (!bodies[i].principal || mass.m <= 0) continue;
        const Mat3<double> R = rotation_matrix(*bodies[i].principal);
        Json& box = out.model["bodies"][i - 1]["drag_box"];
        box["half_extents"] =
            to_json(half_extents_of_inertia(mass.m, (R.transpose() * mass.I * R).diagonal()));
        box["quaternion"] = to_json(*bodies[i].principal);
    }
}

void put_item(ImportedModel& out, const char* list, const XmlElement& from, const Json& item) {
    Json& items = out.model[list];
    out.places[std::string("/") + list + "/" + std::to_string(items.size())] = from.place();
    items.push_back(item);
}

}  // namespace costate
