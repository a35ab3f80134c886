// What a model is made of: keyframes, parents, limits, the time step.
#include "apps/c_api/model.hpp"

namespace costate::c_api {
namespace {

double end_of_range(const VecX<double>& theta, int at, double none) { return at < 0 ? none : theta[at]; }

// The finite ends of a range as the parameters are now.
void write_range(const ParameterInterval& range, const VecX<double>& theta, double* out) {
    out[0] = end_of_range(theta, range.lower, -unlimited);
    out[1] = end_of_range(theta, range.upper, unlimited);
}

void write_joint_limits(const Model& m, int joint, const VecX<double>& theta, double* out) {
    const auto it = std::ranges::find(m.limits, joint, &JointLimit::body);
    write_range(it == m.limits.end() ? ParameterInterval{} : it->range, theta, out);
    if (m.bodies[joint].joint == JointType::spherical) out[0] = 0;  // of an angle
}

[[noreturn]] void refuse_kind(int kind, const char* allowed) {
    throw Failure(COSTATE_BAD_ARGUMENT, "kind is " + std::to_string(kind) + ", it may be " + allowed);
}

}  // namespace

void enter_named(const Scene& scene, const Keyframe& keyframe, VecX<double>& x) {
    x = scene.x0;
    enter_keyframe(keyframe, scene.world.model, x.data(), x.data() + scene.world.nq(),
                   x.data() + scene.world.nq() + scene.world.nv());
}

}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_model_keyframe(const costate_model* model, int keyframe, double* q, double* v, double* u) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Scene& scene = shared->scene;
        const World& w = scene.world;
        check_index("keyframe", keyframe, scene.keyframes.size());
        const Keyframe& k = scene.keyframes[keyframe];
        VecX<double> x(w.nx()), controls = VecX<double>::Zero(w.nu());
        enter_named(scene, k, x);
        for (const auto& [name, value] : k.controls)
            if (const int n = w.model.actuator_index(name); n >= 0) controls[n] = value;
        write(x.head(w.nq()), q);
        write(x.segment(w.nq(), w.nv()), v);
        write(controls, u);
        return COSTATE_OK;
    });
}

int costate_model_parent(const costate_model* model, int kind, int index, int* parent) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        check_given("parent", parent);
        switch (kind) {
            case COSTATE_BODY:
            case COSTATE_JOINT:
                check_index(kind == COSTATE_BODY ? "body" : "joint", index, m.bodies.size());
                *parent = m.bodies[index].parent;
                return COSTATE_OK;
            case COSTATE_SITE:
                check_index("site", index, m.sites.size());
                *parent = m.sites[index].body;
                return COSTATE_OK;
            default: refuse_kind(kind, "COSTATE_BODY, COSTATE_JOINT or COSTATE_SITE");
        }
    });
}

int costate_model_limits(const costate_model* model, int kind, int index, double* limits) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        const std::shared_ptr<const VecX<double>> theta = shared->parameters();
        check_given("limits", limits);
        switch (kind) {
            case COSTATE_ACTUATOR:
                check_index("actuator", index, m.actuators.size());
                write_range(m.actuators[index].control, *theta, limits);
                write_range(m.actuators[index].force, *theta, limits + 2);
                return COSTATE_OK;
            case COSTATE_JOINT:
                check_index("joint", index, m.bodies.size());
                write_joint_limits(m, index, *theta, limits);
                return COSTATE_OK;
            default: refuse_kind(kind, "COSTATE_ACTUATOR or COSTATE_JOINT");
        }
    });
}

int costate_model_time_step(const costate_model* model, double* h) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        check_given("h", h);
        *h = shared->scene.world.h(*shared->parameters());
        return COSTATE_OK;
    });
}
}
