// A model: bodies, joints, shapes, actuators and equalities of one robot or thing, under its own names.
#pragma once

#include "collision/shapes/shape.hpp"
#include "core/model/model.hpp"
#include "scenes/format/json.hpp"
#include "scenes/format/visual.hpp"
#include "scenes/read/equality_reader.hpp"
#include "scenes/read/keyframe_reader.hpp"

namespace costate {

struct ModelInput {
    // parents first; a free body's placement is where it starts
    std::vector<BodySpec> bodies;
    std::vector<ActuatorSpec> actuators;  // `body` indexes bodies
    // of indices of bodies; the world is the model's own frame
    std::vector<EqualityInput> equalities;
    std::vector<ShapeSpec> shapes;                              // `body` indexes bodies
    std::vector<SiteSpec> sites;                                // `body` indexes bodies
    std::vector<std::pair<std::string, std::string>> excluded;  // bodies, or "world"
    std::vector<Visual> visuals;                                // `body` indexes bodies
    std::vector<Keyframe> keyframes;                            // of its joints and actuators
    bool one_body = false;                                      // besides those of its own joints
};

ModelInput read_model(const Node& node);

// A shape without its body; `otherwise` is its name if it has none of its own.
ShapeSpec read_shape(const Node& node, const std::string& otherwise);

// Three positive numbers.
Vec3<double> positive3(const Node& node);

// What shapes and the ground have alike: friction; restitution, or stiffness and damping.
void read_surface(const Node& node, ShapeSpec& shape);

// What is seen of a body, without that body.
Visual read_visual(const Node& node);

// Pairs of bodies that do not touch each other, out of pairs of patterns; "world" is a body too.
std::vector<std::pair<std::string, std::string>> read_exclude(const Node& node,
                                                              std::vector<std::string> bodies);

}  // namespace costate
