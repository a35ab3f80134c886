// Configurations, the two kinds of gradients by them, and where bodies are.
//
// A turn w in body axes moves a unit quaternion by r' = E(r) w, E(r) w = (0, w) times r from the right, halved; E^T E = I/4 and E^T r = 0.
// With f(q) = F(q/|q|), n = |q|, r = q/n and t the tangent gradient: t = n E(r)^T grad f,   grad f = 4 E(r) t/n.
#include "apps/c_api/model.hpp"
#include "core/queries.hpp"

namespace costate::c_api {
namespace {

Eigen::Matrix<double, 4, 3> turns(const double* r) {
    const double w = r[0], x = r[1], y = r[2], z = r[3];
    Eigen::Matrix<double, 4, 3> E;
    E << -x, -y, -z, w, -z, y, z, w, -x, -y, x, w;
    return 0.5 * E;
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_retract(const costate_model* model, const double* q, const double* d, double* q_next) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        VecX<double> from(m.nq), next(m.nq);
        read_configuration(m, "q", q, from.data());
        check_finite("d", d, m.nv), check_given("q_next", q_next, static_cast<size_t>(m.nq));
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
        read_configuration(m, "a", a, from.data()), read_configuration(m, "b", b, to.data());
        check_given("d", d, static_cast<size_t>(m.nv));
        difference(m, from.data(), to.data(), out.data());
        check_result("d", out);
        write(out, d);
        return COSTATE_OK;
    });
}

int costate_gradient_to_tangent(const costate_model* model, const double* q, const double* ambient, double* tangent) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        VecX<double> unit(m.nq), out(m.nv);
        read_configuration(m, "q", q, unit.data());
        check_finite("ambient", ambient, m.nq), check_given("tangent", tangent, static_cast<size_t>(m.nv));
        for_each_coordinate(m, [&](int iq, int iv) { out[iv] = ambient[iq]; },
            [&](int iq, int iv) {
                const double length = Eigen::Map<const Eigen::Vector4d>(q + iq).stableNorm();
                out.segment<3>(iv) = length * turns(unit.data() + iq).transpose() * Eigen::Map<const Eigen::Vector4d>(ambient + iq);
            });
        check_result("tangent", out);
        write(out, tangent);
        return COSTATE_OK;
    });
}

int costate_gradient_to_ambient(const costate_model* model, const double* q, const double* tangent, double* ambient) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        const Model& m = shared->scene.world.model;
        VecX<double> unit(m.nq), out(m.nq);
        read_configuration(m, "q", q, unit.data());
        check_finite("tangent", tangent, m.nv), check_given("ambient", ambient, static_cast<size_t>(m.nq));
        for_each_coordinate(m, [&](int iq, int iv) { out[iq] = tangent[iv]; },
            [&](int iq, int iv) {
                const double length = Eigen::Map<const Eigen::Vector4d>(q + iq).stableNorm();
                out.segment<4>(iq) = 4 / length * turns(unit.data() + iq) * Eigen::Map<const Eigen::Vector3d>(tangent + iv);
            });
        check_result("ambient", out);
        write(out, ambient);
        return COSTATE_OK;
    });
}

int costate_body_pose(const costate_model* model, const double* q, int body, double* position, double* quaternion) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const Model& m = use.model();
        check_index("body", body, m.bodies.size());
        check_given("position", position), check_given("quaternion", quaternion);
        use.place(q, nullptr);
        const Kinematics<double>& k = use.workspace().step.kinematics;
        const Quaternion<double> r = orientation(k.X[static_cast<size_t>(body)]);
        const Vec3<double> p = k.world_position(m, body);
        check_result("position", p), check_result("quaternion", r.v);
        write(p, position);
        quaternion[0] = r.w, write(r.v, quaternion + 1);
        return COSTATE_OK;
    });
}
}
