// Configurations, the two kinds of gradients by them, and where bodies are.
#include "apps/c_api/ambient.hpp"
#include "apps/c_api/model.hpp"
#include "core/dynamics/queries.hpp"

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_retract(const costate_model* model, const double* q, const double* d, double* q_next) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        VecX<double> from(m.nq), next(m.nq);
        read_configuration(m, "q", q, from.data());
        check_finite("d", d, m.nv);
        check_given("q_next", q_next, static_cast<size_t>(m.nq));
        retract(m, from.data(), d, next.data());
        check_result("q_next", next);
        write(next, q_next);
        return COSTATE_OK;
    });
}

int costate_difference(const costate_model* model, const double* a, const double* b, double* d) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        VecX<double> from(m.nq), to(m.nq), out(m.nv);
        read_configuration(m, "a", a, from.data());
        read_configuration(m, "b", b, to.data());
        check_given("d", d, static_cast<size_t>(m.nv));
        difference(m, from.data(), to.data(), out.data());
        check_result("d", out);
        write(out, d);
        return COSTATE_OK;
    });
}

int costate_gradient_to_tangent(const costate_model* model, const double* q, const double* ambient,
                                double* tangent) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        VecX<double> unit(m.nq), out(m.nv);
        read_configuration(m, "q", q, unit.data());
        check_finite("ambient", ambient, m.nq);
        check_given("tangent", tangent, static_cast<size_t>(m.nv));
        tangent_from_ambient(m, q, ambient, out.data());
        check_result("tangent", out);
        write(out, tangent);
        return COSTATE_OK;
    });
}

int costate_gradient_to_ambient(const costate_model* model, const double* q, const double* tangent,
                                double* ambient) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        VecX<double> unit(m.nq), out(m.nq);
        read_configuration(m, "q", q, unit.data());
        check_finite("tangent", tangent, m.nv);
        check_given("ambient", ambient, static_cast<size_t>(m.nq));
        ambient_from_tangent(m, q, tangent, out.data());
        check_result("ambient", out);
        write(out, ambient);
        return COSTATE_OK;
    });
}

int costate_body_pose(const costate_model* model, const double* q, int body, double* position,
                      double* quaternion) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const Model& m = use.model();
        check_index("body", body, m.bodies.size());
        check_given("position", position);
        check_given("quaternion", quaternion);
        use.place(q, nullptr);
        const Kinematics<double>& k = use.workspace().step.kinematics;
        const Quaternion<double> r = orientation(k.X[body]);
        const Vec3<double> p = k.world_position(m, body);
        check_result("position", p);
        check_result("quaternion", r.v);
        write(p, position);
        quaternion[0] = r.w;
        write(r.v, quaternion + 1);
        return COSTATE_OK;
    });
}
}
