// Loading, copies, sizes, names and parameters.
#include "adjoint/rollout/divergence.hpp"
#include "apps/c_api/model.hpp"
#include "apps/c_api/options.hpp"

namespace costate::c_api {
namespace {

using Shared = std::shared_ptr<SharedModel>;

constexpr int steps_if_none = 1000;  // nothing here follows the scene's own controls

costate_model* add(Scene scene) {
    auto theta = std::make_shared<const VecX<double>>(scene.theta);
    return models().add(
        std::make_shared<SharedModel>(std::make_shared<const Scene>(std::move(scene)), theta));
}

bool read_flag(const char* name, int flag) {
    if (flag != 0 && flag != 1)
        throw Failure(COSTATE_BAD_ARGUMENT,
                      std::string(name) + " is " + std::to_string(flag) + ", it may be 0 or 1");
    return flag != 0;
}

ImportOptions read_options(const costate_load_options* options) {
    ImportOptions out;
    if (!options) return out;
    const costate_load_options given = known_options("costate_load_options", *options);
    if (const std::string base = given.base ? given.base : ""; !base.empty()) {
        if (base != "fixed" && base != "floating")
            throw Failure(COSTATE_BAD_ARGUMENT, "base is \"" + base + "\", it may be fixed or floating");
        out.base = base == "fixed" ? Base::fixed : Base::floating;
    }
    check_given("search", given.search, given.n_search);
    for (size_t i = 0; i < given.n_search; ++i) {
        check_given("a folder of search", given.search[i]);
        if (std::error_code error; !std::filesystem::is_directory(given.search[i], error))
            throw Failure(COSTATE_BAD_ARGUMENT, "search: there is no folder " + std::string(given.search[i]));
        out.search.emplace_back(given.search[i]);
    }
    out.strict = read_flag("strict", given.strict);
    out.self_collision = read_flag("self_collision", given.self_collision);
    if (given.hull_vertices != 0) {
        if (given.hull_vertices < 4)
            throw Failure(COSTATE_BAD_ARGUMENT, "hull_vertices is " + std::to_string(given.hull_vertices) +
                                                    ", the least is 4, and 0 means no limit");
        out.hull_vertices = given.hull_vertices;
    }
    if (given.decompose < 0)
        throw Failure(COSTATE_BAD_ARGUMENT,
                      "decompose is " + std::to_string(given.decompose) + ", it may be 0 or more");
    out.decompose = std::max(1, given.decompose);
    if (const std::string law = given.law ? given.law : ""; !law.empty()) {
        out.law = contact_law(law);
        if (!out.law)
            throw Failure(COSTATE_BAD_ARGUMENT, "law is \"" + law + "\", it may be rigid or mujoco");
    }
    return out;
}

TextFormat read_format(const char* format) {
    const std::string name = format ? format : "";
    if (name.empty()) return TextFormat::automatic;
    if (name == "json") return TextFormat::json;
    if (name == "urdf") return TextFormat::urdf;
    if (name == "mjcf") return TextFormat::mjcf;
    if (name == "sdf") return TextFormat::sdf;
    throw Failure(COSTATE_BAD_ARGUMENT, "format is \"" + name + "\", it may be json, urdf, mjcf or sdf");
}

// The number of optimized controls: knots, or steps.
int control_variables(const Scene& scene) {
    int n = 0;
    for (const ControlChannel& c : scene.plan.channels())
        n += c.optimize ? c.size : 0;
    return n;
}

// Of variable i of a scene, in the order of Variables.
std::string variable_name(const Scene& scene, int i) {
    const Model& m = scene.world.model;
    for (size_t n = 0; n < scene.plan.channels().size(); ++n) {
        const ControlChannel& c = scene.plan.channels()[n];
        if (!c.optimize) continue;
        if (i < c.size) return "controls/" + m.actuators[n].name + "[" + std::to_string(i) + "]";
        i -= c.size;
    }
    const int parameters = size_of(scene.parameters);
    if (i < parameters) return costate::variable_name(m, scene.parameters, i);
    return "initial/" + tangent_entry_name(m, scene.initial_state[i - parameters]);
}

int count(const SharedModel& model, int kind) {
    const Model& m = model.scene.world.model;
    switch (kind) {
        case COSTATE_BODY:
        case COSTATE_JOINT: return static_cast<int>(m.bodies.size());
        case COSTATE_ACTUATOR: return m.nu;
        case COSTATE_PARAMETER: return m.layout.size();
        case COSTATE_WARNING: return static_cast<int>(model.scene.warnings.size());
        case COSTATE_SITE: return static_cast<int>(m.sites.size());
        case COSTATE_KEYFRAME: return static_cast<int>(model.scene.keyframes.size());
        case COSTATE_VARIABLE:
            return control_variables(model.scene) + size_of(model.scene.parameters) +
                   static_cast<int>(model.scene.initial_state.size());
        case COSTATE_SENSOR: return static_cast<int>(model.scene.world.sensors.size());
        case COSTATE_ACTIVATION: return model.scene.world.na();
        default:
            throw Failure(COSTATE_BAD_ARGUMENT,
                          "there is no kind " + std::to_string(kind) + "; see enum costate_kind");
    }
}

std::string name(const SharedModel& model, int kind, int index) {
    const Model& m = model.scene.world.model;
    const size_t i = index;
    switch (kind) {
        case COSTATE_BODY: return m.bodies[i].name;
        case COSTATE_JOINT: return m.bodies[i].joint_name;
        case COSTATE_ACTUATOR: return m.actuators[i].name;
        case COSTATE_PARAMETER: return m.layout.element_name(index);
        case COSTATE_SITE: return m.sites[i].name;
        case COSTATE_KEYFRAME: return model.scene.keyframes[i].name;
        case COSTATE_VARIABLE: return variable_name(model.scene, index);
        case COSTATE_SENSOR: return model.scene.world.sensors[i].name;
        case COSTATE_ACTIVATION: return m.actuators[m.activations[i].actuator].name;
        default: return model.scene.warnings[i];
    }
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_model_load(const char* path, costate_model** model) {
    return guarded(__func__, [&]() -> int {
        check_given("path", path);
        check_given("model", model);
        *model = add(load_scene(path, {}, {}, steps_if_none));
        return COSTATE_OK;
    });
}

int costate_model_load_with(const char* path, const costate_load_options* options, costate_model** model) {
    return guarded(__func__, [&]() -> int {
        check_given("path", path);
        check_given("model", model);
        *model = add(load_scene(path, {}, read_options(options), steps_if_none));
        return COSTATE_OK;
    });
}

int costate_model_parse(const char* text, size_t n, const char* format, const char* name,
                        const costate_load_options* options, costate_model** model) {
    return guarded(__func__, [&]() -> int {
        check_given("text", text, n);
        check_given("model", model);
        *model = add(parse_scene(std::string(text, n), read_format(format), name ? name : "text",
                                 read_options(options), steps_if_none));
        return COSTATE_OK;
    });
}

int costate_model_copy(const costate_model* model, costate_model** copy) {
    return guarded(__func__, [&]() -> int {
        const Shared shared = models().get(model);
        check_given("copy", copy);
        *copy = models().add(std::make_shared<SharedModel>(shared->file, shared->parameters()));
        return COSTATE_OK;
    });
}

int costate_model_free(costate_model* model) {
    return guarded(__func__, [&]() -> int {
        if (model) models().remove(model);
        return COSTATE_OK;
    });
}

int costate_model_nq(const costate_model* model) {
    return guarded(__func__, [&] { return models().get(model)->scene.world.nq(); });
}

int costate_model_nv(const costate_model* model) {
    return guarded(__func__, [&] { return models().get(model)->scene.world.nv(); });
}

int costate_model_nu(const costate_model* model) {
    return guarded(__func__, [&] { return models().get(model)->scene.world.nu(); });
}

int costate_model_nx(const costate_model* model) {
    return guarded(__func__, [&] { return models().get(model)->scene.world.nx(); });
}

int costate_model_ny(const costate_model* model) {
    return guarded(__func__, [&] { return models().get(model)->scene.world.ny(); });
}

int costate_model_nparam(const costate_model* model) {
    return guarded(__func__, [&] { return models().get(model)->scene.world.np(); });
}

int costate_model_count(const costate_model* model, int kind) {
    return guarded(__func__, [&] { return count(*models().get(model), kind); });
}

int costate_model_name(const costate_model* model, int kind, int index, char* buffer, size_t size) {
    return guarded(__func__, [&] {
        const Shared shared = models().get(model);
        check_given("buffer", buffer, size);
        check_index("such thing", index, static_cast<size_t>(count(*shared, kind)));
        const std::string text = name(*shared, kind, index);
        if (size > 0 && size <= text.size())
            throw Failure(COSTATE_BAD_ARGUMENT, "the buffer has " + std::to_string(size) +
                                                    " bytes, the name with its end needs " +
                                                    std::to_string(text.size() + 1));
        if (size > 0) std::copy(text.c_str(), text.c_str() + text.size() + 1, buffer);
        return static_cast<int>(text.size());
    });
}

int costate_model_sensor(const costate_model* model, int sensor, int* layout, char* type, size_t size) {
    return guarded(__func__, [&]() -> int {
        const Shared shared = models().get(model);
        const std::vector<Sensor>& sensors = shared->scene.world.sensors;
        check_given("layout", layout);
        check_given("type", type, size);
        check_index("sensor", sensor, sensors.size());
        const std::string name = traits_of(sensors[sensor].kind).name;
        if (type && size < name.size() + 1)
            throw Failure(COSTATE_BAD_ARGUMENT, "the buffer is smaller than the " +
                                                    std::to_string(name.size() + 1) + " bytes of the type");
        layout[0] = sensors[sensor].offset;
        layout[1] = sensors[sensor].size;
        if (type) std::copy_n(name.c_str(), name.size() + 1, type);
        return static_cast<int>(name.size());
    });
}

int costate_model_joint(const costate_model* model, int joint, int* layout) {
    return guarded(__func__, [&]() -> int {
        const Shared shared = models().get(model);
        const std::vector<Body>& bodies = shared->scene.world.model.bodies;
        check_given("layout", layout);
        check_index("joint", joint, bodies.size());
        const Body& b = bodies[joint];
        layout[0] = b.q0;
        layout[1] = b.nq;
        layout[2] = b.v0;
        layout[3] = b.nv;
        return COSTATE_OK;
    });
}

int costate_model_get_parameters(const costate_model* model, double* theta, size_t n) {
    return guarded(__func__, [&]() -> int {
        const Shared shared = models().get(model);
        check_given("theta", theta);
        check_size("theta", n, shared->scene.world.np());
        const std::lock_guard lock(shared->mutex);
        write(*shared->theta, theta);
        return COSTATE_OK;
    });
}

int costate_model_set_parameters(costate_model* model, const double* theta, size_t n) {
    return guarded(__func__, [&]() -> int {
        const Shared shared = models().get(model);
        const World& w = shared->scene.world;
        check_given("theta", theta);
        check_size("theta", n, w.np());
        check_parameters(*shared, theta);
        std::shared_ptr<const VecX<double>> next =
            std::make_shared<VecX<double>>(Eigen::Map<const VecX<double>>(theta, w.np()));
        const std::lock_guard lock(shared->mutex);
        shared->theta.swap(next);
        return COSTATE_OK;
    });
}

int costate_model_initial_state(const costate_model* model, double* q, double* v) {
    return guarded(__func__, [&]() -> int {
        const Shared shared = models().get(model);
        const World& w = shared->scene.world;
        check_given("q", q, static_cast<size_t>(w.nq()));
        check_given("v", v, static_cast<size_t>(w.nv()));
        write(shared->scene.x0.head(w.nq()), q);
        write(shared->scene.x0.segment(w.nq(), w.nv()), v);
        return COSTATE_OK;
    });
}
}
