// A model: bodies, joints, shapes, actuators and equalities of one robot or object, with names local to it.
#pragma once

#include "collision/shapes/shape.hpp"
#include "core/model/model.hpp"
#include "scenes/format/json.hpp"
#include "scenes/format/visual.hpp"
#include "scenes/read/model/equality_reader.hpp"
#include "scenes/read/model/keyframe_reader.hpp"
#include "scenes/read/model/sensor_reader.hpp"

namespace costate {

// Two shapes with contacts of their own; the indices of the spec are not set.
struct PairInput {
    ContactPairSpec spec;
    std::string a, b;  // names of the shapes
};

struct ModelInput {
    // parents first; the placement of a free body is its start
    std::vector<BodySpec> bodies;
    std::vector<TendonSpec> tendons;      // their joints index bodies
    std::vector<ActuatorSpec> actuators;  // `body` indexes bodies, `tendon` tendons
    // of `bodies`; "world" is the model's own frame
    std::vector<EqualityInput> equalities;
    std::vector<ShapeSpec> shapes;                              // `body` indexes bodies
    std::vector<SiteSpec> sites;                                // `body` indexes bodies
    std::vector<SensorSpec> sensors;                            // of its own names
    std::vector<std::pair<std::string, std::string>> excluded;  // bodies, or "world"
    std::vector<std::pair<std::string, std::string>> carriers;  // see build_shapes
    std::vector<PairInput> pairs;                               // of its shapes, or of "world/<shape>"
    std::vector<Visual> visuals;                                // `body` indexes bodies
    std::vector<Keyframe> keyframes;                            // of its joints and actuators
    bool one_body = false;                                      // not counting the links of its own joints
    std::vector<std::string> warnings;
};

ModelInput read_model(const Node& node);

// A shape, without its body. `otherwise` is the default of its name. Appends to the warnings what it changes.
ShapeSpec read_shape(const Node& node, const std::string& otherwise, std::vector<std::string>& warnings);

// The size of a shape or visual, 0 where it has no number. Reads positive numbers, or any factors if
// `mirrors`.
Vec3<double> read_size(const Node& node, const ShapeKind& kind, bool mirrors);

// Reads the surface of a shape or of the ground: friction, and restitution or stiffness and damping.
void read_surface(const Node& node, ShapeSpec& shape);

// A pair of shapes. It is named after them by default.
PairInput read_pair(const Node& node);

// A visual, without its body.
Visual read_visual(const Node& node);

MediumSpec read_medium(const Node& node);

// Pairs of bodies that do not collide, from pairs of patterns; "world" counts as a body.
std::vector<std::pair<std::string, std::string>> read_exclude(const Node& node,
                                                              std::vector<std::string> bodies);

}  // namespace costate
