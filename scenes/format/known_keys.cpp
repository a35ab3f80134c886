#include "scenes/format/known_keys.hpp"

#include <algorithm>

#include "collision/shapes/shape_kind.hpp"
#include "core/model/actuator.hpp"

namespace costate {
namespace {

std::vector<std::string> with_quantities(std::vector<std::string> keys) {
    for (const ActuatorQuantity& quantity : actuator_quantities())
        keys.push_back(quantity.name);
    return keys;
}

// Adds the keys of sizes and, for shapes, of data; "file" and the sizes of all types that visuals may have.
std::vector<std::string> with_sizes(std::vector<std::string> keys, bool visuals) {
    const auto add = [&](const char* key) {
        if (key != nullptr && std::ranges::find(keys, key) == keys.end()) keys.emplace_back(key);
    };
    for (const ShapeKind& kind : shape_kinds) {
        if (visuals && !kind.visual) continue;
        std::ranges::for_each(kind.sizes, add, &SizeKey::name);
        for (const ShapeFormat& format : kind.formats)
            if (!visuals) std::ranges::for_each(format.data, add);
    }
    return keys;
}

}  // namespace

const std::vector<KnownKeys>& known_keys() {
    static const std::vector<KnownKeys> table{
        {"scene", {"$schema", "name",     "description", "source",    "time_step",   "steps",      "gravity",
                   "solver",  "contact",  "ground",      "shapes",    "models",      "equalities", "exclude",
                   "initial", "controls", "parameters",  "objective", "constraints", "memory",     "optimize",
                   "sensors", "pushes",   "medium",      "batch",     "pairs"}},
        {"sensor",
         {"name", "type", "body", "site", "joint", "actuator", "bodies", "radius", "zone", "cutoff", "size",
          "spacing"}},
        {"zone", {"type", "radius", "half_length", "half_extents", "semi_axes"}},
        {"medium", {"density", "viscosity", "wind"}},
        {"push", {"name", "body", "times", "force", "torque"}},
        {"solver",
         {"type", "gradient", "method", "relaxed", "complementarity_aware", "distant_contacts", "sweeps",
          "tolerance", "warm_start", "warm_contacts", "impact", "forward_dynamics", "gyroscopic",
          "integrator"}},
        {"distant_contacts", {"distance", "stiffness"}},
        {"contact",
         {"compliance", "erp", "slop", "recovery_speed", "rest_speed", "margin", "law", "cone", "impratio"}},
        {"ground",
         {"friction", "torsional_friction", "rolling_friction", "condim", "restitution", "stiffness",
          "damping", "solref", "solimp", "solmix", "priority", "height", "normal"}},
        {"instance",
         {"name", "file", "model", "base", "self_collision", "keyframe", "position", "quaternion", "rpy_deg",
          "copies"}},
        {"copies", {"count", "offset"}},
        {"model",
         {"$schema", "name", "description", "source", "bodies", "tendons", "actuators", "equalities",
          "exclude", "pairs", "keyframes", "sensors", "world"}},
        {"pair",
         {"name", "shapes", "condim", "friction", "torsional_friction", "rolling_friction", "margin",
          "solref", "solimp"}},
        {"model_world", {"time_step", "gravity", "shapes", "contact", "medium"}},
        {"keyframe", {"name", "joints", "velocities", "activations", "controls"}},
        {"body",
         {"name", "parent", "joint", "joints", "mass", "com", "inertia", "drag_box", "gravity_compensation",
          "shapes", "visuals", "sites"}},
        {"drag_box", {"half_extents", "quaternion", "rpy_deg"}},
        {"site", {"name", "position", "quaternion", "rpy_deg"}},
        {"joint",
         {"name",
          "type",
          "axis",
          "axis2",
          "axes",
          "pitch",
          "position",
          "quaternion",
          "rpy_deg",
          "limits",
          "greatest_angle",
          "limit_stiffness",
          "limit_damping",
          "limit_solref",
          "limit_solimp",
          "friction_solref",
          "friction_solimp",
          "damping",
          "armature",
          "stiffness",
          "rest",
          "dry_friction",
          "locked"}},
        {"shape", with_sizes({"name",
                              "type",
                              "position",
                              "quaternion",
                              "rpy_deg",
                              "friction",
                              "torsional_friction",
                              "rolling_friction",
                              "condim",
                              "restitution",
                              "stiffness",
                              "damping",
                              "solref",
                              "solimp",
                              "solmix",
                              "priority",
                              "margin",
                              "group",
                              "mask",
                              "self_collision"},
                             false)},
        {"visual", with_sizes({"type", "file", "position", "quaternion", "rpy_deg", "rgba"}, true)},
        {"actuator",
         with_quantities({"name", "joint", "type", "gear", "control_limits", "force_limits", "body", "axis",
                          "position", "drag", "moment", "tendon", "gain_slopes", "dynamics", "muscle"})},
        {"dynamics", {"type", "time_constant", "rise_time", "fall_time", "switch_width", "early", "limits"}},
        {"muscle", {"force", "length_range", "range", "lmin", "lmax", "vmax", "fpmax", "fvmax"}},
        {"tendon",
         {"name", "joints", "path", "stiffness", "rest", "slack", "damping", "limits", "limit_solref",
          "limit_solimp"}},
        {"tendon_path", {"site", "world", "pulley", "wrap", "radius", "side", "quaternion", "rpy_deg"}},
        {"tendon_joint", {"joint", "coefficient"}},
        {"equality",
         {"name", "type", "body_a", "body_b", "point_a", "point_b", "quaternion", "rpy_deg", "joint_a",
          "joint_b", "tendon_a", "tendon_b", "offset", "ratio", "polynomial", "solref", "solimp"}},
        {"initial", {"joints", "velocities", "activations", "optimize"}},
        {"initial_variables", {"joints", "velocities", "activations"}},
        {"pose", {"position", "quaternion", "rpy_deg"}},
        {"twist", {"linear", "angular"}},
        {"control", {"actuators", "optimize", "initial", "schedule"}},
        {"control_values", {"file", "column", "interpolation"}},
        {"knots", {"knots"}},
        {"parameter", {"path", "value", "optimize", "lower", "upper", "scale"}},
        {"term",
         {"term",       "name",    "body",      "site",      "tree",   "shape",     "joints", "actuators",
          "sensor",     "file",    "columns",   "point",     "target", "reference", "axes",   "length",
          "lower",      "upper",   "norm",      "threshold", "weight", "at",        "from",   "until",
          "quaternion", "rpy_deg", "clearance", "partners",  "mirror"}},
        {"constraint",
         {"term",       "name",    "body",      "site",      "tree",    "shape",     "joints", "actuators",
          "sensor",     "file",    "columns",   "point",     "target",  "reference", "axes",   "length",
          "min",        "max",     "equals",    "tolerance", "penalty", "at",        "from",   "until",
          "quaternion", "rpy_deg", "clearance", "partners",  "mirror"}},
        {"reference", {"file", "columns"}},
        {"batch", {"environments", "seed", "randomize"}},
        {"randomize", {"joints", "velocities", "activations", "parameters", "controls"}},
        {"spread", {"linear", "angular"}},
        {"random_parameter", {"path", "factor", "offset"}},
        {"random_control", {"actuators", "noise"}},
        {"optimize",
         {"method", "iterations", "max_loss_evaluations", "max_gradient_evaluations", "learning_rate",
          "momentum", "segment", "horizon", "population", "sigma", "seed", "square", "gradient_tolerance",
          "target_loss", "rounds", "penalty_growth", "stages"}},
        {"stage", {"method", "iterations", "parameters"}},
        {"stage_parameter", {"path", "value"}},
    };
    return table;
}

}  // namespace costate
