// The schema, and the included scenes and models: they satisfy the schema, load, and move as in their
// descriptions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "scenes/format/json.hpp"
#include "scenes/format/known_keys.hpp"
#include "scenes/format/names.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/shipped_scenes.hpp"

using namespace costate;

namespace {

// Validates a value against a schema, for the keywords used by our schema. Returns the fault, or an empty
// text.
std::string disobeys(const Json& schema, const Json& s, const Json& value, const std::string& at) {
    const auto any = [&](const Json& options) {
        return std::count_if(options.begin(), options.end(),
                             [&](const Json& option) { return disobeys(schema, option, value, at).empty(); });
    };
    for (const auto& [word, w] : s.items()) {
        if (word == "$ref") {
            const std::string error =
                disobeys(schema, schema.at(Json::json_pointer(w.get<std::string>().substr(1))), value, at);
            if (!error.empty()) return error;
        } else if (word == "type") {
            const std::string type = w;
            const bool right = type == "number"    ? value.is_number()
                               : type == "integer" ? value.is_number_integer()
                                                   : type == value.type_name();
            if (!right) return at + " is no " + type;
        } else if (word == "required" && value.is_object()) {
            for (const auto& key : w)
                if (!value.contains(key)) return at + " lacks " + key.get<std::string>();
        } else if (word == "properties" || (word == "additionalProperties" && value.is_object())) {
            for (const auto& [key, entry] : value.items()) {
                const bool known = s.contains("properties") && s["properties"].contains(key);
                if (known != (word == "properties")) continue;
                if (w.is_boolean()) return at + "/" + key + " is unknown";
                const std::string error = disobeys(schema, known ? w[key] : w, entry, at + "/" + key);
                if (!error.empty()) return error;
            }
        } else if (word == "items" && value.is_array()) {
            for (size_t i = 0; i < value.size(); ++i) {
                const std::string error = disobeys(schema, w, value[i], at + "/" + std::to_string(i));
                if (!error.empty()) return error;
            }
        }
        const bool wrong = (word == "anyOf" && any(w) == 0) || (word == "oneOf" && any(w) != 1) ||
                           (word == "const" && value != w) ||
                           (word == "enum" && std::find(w.begin(), w.end(), value) == w.end()) ||
                           (word == "minItems" && value.size() < w) ||
                           (word == "maxItems" && value.size() > w) || (word == "minimum" && value < w) ||
                           (word == "maximum" && value > w) || (word == "exclusiveMinimum" && value <= w) ||
                           (word == "exclusiveMaximum" && value >= w);
        if (wrong) return at + " breaks " + word;
    }
    return {};
}

std::set<std::string> keys_of_schema(const Json& definition) {
    std::set<std::string> keys;
    for (const auto& [key, value] : definition["properties"].items())
        keys.insert(key);
    return keys;
}

double total_mass(const Scene& s, const std::string& pattern) {
    double mass = 0;
    for (size_t i = 0; i < s.world.model.bodies.size(); ++i)
        if (matches(pattern, s.world.model.bodies[i].name))
            mass += s.theta[s.world.model.mass.at(static_cast<int>(i))];
    return mass;
}

}  // namespace

TEST_CASE("scenes: the schema names every joint, shape, actuator, term and contact solver of the tables") {
    const Json defs = read_json(test::shipped_folder() / "scene.schema.json")["$defs"];
    const auto named = [&](const char* kind, const char* key) {
        const auto names = defs[kind]["properties"][key]["enum"].get<std::vector<std::string>>();
        return std::set<std::string>(names.begin(), names.end());
    };
    const std::vector<std::string> actuators = actuator_type_names();
    CHECK(named("actuator", "type") == std::set<std::string>(actuators.begin(), actuators.end()));
    std::set<std::string> shapes, visuals;
    for (const ShapeKind& kind : shape_kinds) {
        if (kind.visual) visuals.insert(kind.name);
        for (const ShapeFormat& format : kind.formats)
            if (format.name != nullptr) shapes.insert(format.name);
    }
    CHECK(named("shape", "type") == shapes);
    CHECK(named("visual", "type") == visuals);
    std::set<std::string> terms;
    for (const TermTraits& traits : term_traits)
        terms.insert(traits.name);
    CHECK(named("term", "term") == terms);
    std::set<std::string> sensors;
    for (const SensorTraits& traits : sensor_traits)
        sensors.insert(traits.name);
    CHECK(named("sensor", "type") == sensors);
    std::set<std::string> solvers;
    for (const SolverKind& kind : solver_kinds)
        solvers.insert(kind.name);
    CHECK(named("solver", "type") == solvers);
    for (const JointKind& kind : joint_kinds)
        CHECK(named("joint", "type").count(kind.name) == 1);
}

TEST_CASE("scenes: the loader knows the keys of the schema, and the shipped scenes and models obey it") {
    const Json schema = read_json(test::shipped_folder() / "scene.schema.json");
    std::set<std::string> kinds;
    for (const KnownKeys& known : known_keys()) {
        CAPTURE(known.kind);
        kinds.insert(known.kind);
        REQUIRE((known.kind == "scene" || schema["$defs"].contains(known.kind)));
        CHECK(keys_of_schema(known.kind == "scene" ? schema : schema["$defs"][known.kind]) ==
              std::set<std::string>(known.keys.begin(), known.keys.end()));
    }
    for (const auto& [kind, definition] : schema["$defs"].items())
        if (definition.contains("properties")) CHECK(kinds.count(kind) == 1);
    const auto has = [&](const char* kind, const char* key) {
        CAPTURE(key);
        if (key != nullptr) CHECK(schema["$defs"][kind]["properties"].contains(key));
    };
    for (const ShapeKind& kind : shape_kinds) {
        for (const SizeKey& size : kind.sizes) {
            has("shape", size.name);
            if (kind.visual) has("visual", size.name);
        }
        for (const ShapeFormat& format : kind.formats)
            for (const char* key : format.data)
                has("shape", key);
    }
    for (const ActuatorQuantity& quantity : actuator_quantities())
        has("actuator", quantity.name);
    for (const std::string& name : shipped_scenes())
        CHECK(disobeys(schema, schema, read_json(test::shipped_folder() / (name + ".json")), name) == "");
    for (const auto& entry : std::filesystem::directory_iterator(test::shipped_folder() / "models"))
        CHECK(disobeys(schema, schema["$defs"]["model"], read_json(entry.path()),
                       entry.path().stem().string()) == "");
    // the schema for files of models
    const Json of_model = read_json(test::shipped_folder() / "model.schema.json");
    const std::string reference = of_model["$ref"].get<std::string>(), file = "scene.schema.json#";
    REQUIRE(reference.starts_with(file));
    CHECK(schema[Json::json_pointer(reference.substr(file.size()))] == schema["$defs"]["model"]);
    Json wrong = read_json(test::shipped_folder() / "bounce.json");
    wrong["models"][0]["model"]["bodies"][0]["mas"] = 1;
    CHECK(disobeys(schema, schema, wrong, "") == "/models/0/model/bodies/0/mas is unknown");
}

TEST_CASE("scenes: every shipped scene loads, has an objective, and takes 50 steps") {
    const std::vector<std::string> names = shipped_scenes();
    for (const char* wanted :
         {"throw", "quadruped_stand", "quadruped_ten", "pendulum_1", "pendulum_7", "double_pendulum",
          "box_slide", "bounce", "four_bar", "slider_dry_friction", "double_pendulum_identification",
          "box_slide_identification", "box_stack", "golf", "racecar_friction"})
        CHECK(std::count(names.begin(), names.end(), wanted) == 1);
    for (const std::string& name : names) {
        CAPTURE(name);
        const Scene s = load_scene(name, 50);
        CHECK(s.name == name);
        CHECK(!s.objective.empty());
        CHECK((!s.source.empty() && !s.description.empty()));
        StepScratch<double> scratch(s.world);
        VecX<double> x = s.x0, next(x.size()), u(s.world.nu());
        for (int t = 0; t < s.steps; ++t, x.swap(next)) {
            s.plan.evaluate(s.z0.data(), t, u.data());
            step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
        }
        CHECK(x.allFinite());
    }
}

TEST_CASE("scenes: ten boxes on each other stay there") {
    const Scene s = load_scene("box_stack", 500);  // a second
    StepScratch<double> scratch(s.world);
    VecX<double> x = s.x0, next(x.size());
    const VecX<double> u;  // no actuators
    for (int t = 0; t < s.steps; ++t, x.swap(next))
        step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
    VecX<double> moved(s.world.nv());
    difference(s.world.model, s.x0.data(), x.data(), moved.data());
    CHECK(moved.cwiseAbs().maxCoeff() < 2e-3);  // m and rad
}

TEST_CASE("scenes: masses of the robots, and the ball stays in the hand until it is let go") {
    CHECK(total_mass(load_scene("quadruped_stand"), "robot/*") == doctest::Approx(25).epsilon(1e-12));
    const Scene s = load_scene("throw");
    CHECK(total_mass(s, "arm/*") == doctest::Approx(16.062132 + 0.73 + 0.03).epsilon(1e-12));
    const Model& m = s.world.model;
    const int hand = m.body_index("arm/hand"), ball = m.body_index("ball");
    StepScratch<double> scratch(s.world);
    VecX<double> x = s.x0, next(x.size()), u(m.nu);
    const auto ball_in_hand = [&] {
        observe(s.world, s.theta.data(), x.data(), scratch);
        const Kinematics<double>& k = scratch.kinematics;
        return Vec3<double>(k.X[hand].R.transpose() *
                            (k.world_position(m, ball) - k.world_position(m, hand)));
    };
    const Vec3<double> held = ball_in_hand();
    for (int t = 0; t < s.steps; ++t, x.swap(next)) {
        if (t == 500) CHECK((ball_in_hand() - held).norm() < 1e-4);
        s.plan.evaluate(s.z0.data(), t, u.data());
        step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
    }
    CHECK((ball_in_hand() - held).norm() > 0.1);
    const Vec3<double> end = x.segment<3>(m.bodies[ball].q0);
    CHECK((end - s.objective[0].target).norm() > 1);  // far from the target, and still in the air
    CHECK(end.z() > 0.1);
}

TEST_CASE(
    "scenes: the quadruped stands still, the box stops and the ball bounces where their descriptions say") {
    const auto end_of = [](const Scene& s, const VecX<double>& theta) {
        StepScratch<double> scratch(s.world);
        VecX<double> x = s.x0, next(x.size()), u(s.world.nu());
        for (int t = 0; t < s.steps; ++t, x.swap(next)) {
            s.plan.evaluate(s.z0.data(), t, u.data());
            step(s.world, {theta.data(), x.data(), u.data()}, scratch, next.data());
        }
        return x;
    };
    const Scene stand = load_scene("quadruped_stand");
    CHECK((end_of(stand, stand.theta) - stand.x0).cwiseAbs().maxCoeff() < 1e-4);

    const Scene slide = load_scene("box_slide");
    REQUIRE(slide.parameters.size() == 1);
    VecX<double> theta = slide.theta;
    theta[slide.parameters[0].index] = 0.3;
    const double v = 2, g = 9.81, h = 1e-3;
    CHECK(end_of(slide, theta)[0] == doctest::Approx(v * v / (2 * 0.3 * g) - v * h / 2).epsilon(1e-4));
    CHECK(end_of(slide, theta)[0] == doctest::Approx(slide.objective[0].target.x()).epsilon(1e-6));

    const Scene bounce = load_scene("bounce");
    REQUIRE(bounce.parameters.size() == 1);
    theta = bounce.theta;
    theta[bounce.parameters[0].index] = 0.8;
    const double w = std::sqrt(2 * g), s = 0.8 - w / g;
    CHECK(end_of(bounce, theta)[2] == doctest::Approx(0.1 + 0.8 * w * s - g * s * s / 2).epsilon(0.01));
    CHECK(end_of(bounce, theta)[2] == doctest::Approx(bounce.objective[0].target.z()).epsilon(1e-6));
}

TEST_CASE(
    "scenes: the four-bar linkage stays closed while its crank turns, and the slider swings as its formula "
    "says") {
    const Scene s = load_scene("four_bar");
    StepScratch<double> scratch(s.world);
    VecX<double> x = s.x0, next(x.size()), u(s.world.nu());
    double farthest = 0;
    for (int t = 0; t < s.steps; ++t, x.swap(next)) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        step(s.world, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
        REQUIRE(scratch.rows.error.size() >= 3);
        for (int r = 0; r < 3; ++r)
            farthest = std::max(farthest, std::abs(scratch.rows.error[r]));
    }
    CHECK(farthest < 1e-3);
    CHECK(std::abs(x[0] - s.x0[0]) > 0.5);

    const Scene slider = load_scene("slider_dry_friction");
    REQUIRE(slider.parameters.size() == 1);
    VecX<double> theta = slider.theta;
    theta[slider.parameters[0].index] = 2;
    StepScratch<double> of_slider(slider.world);
    VecX<double> y = slider.x0, after(y.size());
    for (int t = 0; t < slider.steps; ++t, y.swap(after))
        step(slider.world, {theta.data(), y.data(), u.data()}, of_slider, after.data());
    const double f = 2, k = 100, w = 10, late = 0.7 - 2 * std::acos(-1.0) / w;  // in the third half period
    CHECK(y[0] == doctest::Approx(f / k + (0.5 - 4 * f / k - f / k) * std::cos(w * late)).epsilon(1e-3));
    CHECK(y[0] == doctest::Approx(slider.objective[0].target.x()).epsilon(1e-3));
}
