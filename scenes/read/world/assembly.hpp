// All instances of a scene, added up.
#pragma once

#include <map>

#include "scenes/format/keyframe.hpp"
#include "scenes/format/names.hpp"
#include "scenes/format/visual.hpp"
#include "scenes/read/model/model_reader.hpp"

namespace costate {

struct Assembly {
    ModelBuilder builder;
    std::vector<ShapeSpec> shapes;
    std::vector<std::string> shape_bodies;  // body of each shape; empty: the world
    std::vector<std::pair<std::string, std::string>> excluded, carriers;  // see build_shapes
    std::map<std::string, Transform<double>> free_bodies;                 // poses at the start
    // The keyframes in which the instances start, merged, with names of the world
    Keyframe start{"", {}, {}, {}, {}};
    std::vector<Keyframe> keyframes;        // of all instances, named <instance>/<keyframe>
    std::vector<EqualityInput> equalities;  // bodies are handles of the builder
    std::vector<PairInput> pairs;           // with names of the world
    std::vector<Visual> visuals;
    std::vector<std::string> visual_bodies;  // body of each visual
    std::vector<SensorSpec> sensors;
    std::vector<std::string> warnings;  // of imported models
    size_t mass_matrix = 0;             // nonzeros of its sparsity pattern
    NameTable bodies{"body"}, joints{"joint"}, actuators{"actuator"}, shape_names{"shape"},
        equality_names{"equality"}, tendons{"tendon"}, sites{"site"}, sensor_names{"sensor"};
};

void add_world_shape(Assembly& a, const Node& where, ShapeSpec shape);
void add_equality(Assembly& a, const Node& where, const EqualityInput& input);

// Adds one copy of a model at the pose X. A name becomes <prefix>/<name>. In a model with one body, however,
// `own`, the name of the instance, becomes <prefix>, and <own>.<rest> becomes <prefix>.<rest>.
void add_copy(const Node& where, const ModelInput& model, const std::string& own, const std::string& prefix,
              const Transform<double>& X, const Keyframe* keyframe, Assembly& a);

}  // namespace costate
