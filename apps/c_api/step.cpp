// A time step, its adjoint, its tangent and its Jacobian.
#include "apps/c_api/model.hpp"
#include "solvers/jacobian.hpp"

namespace costate::c_api {
namespace {

size_t length(int n) { return static_cast<size_t>(n); }

// Zeros where the caller gave none.
VecX<double> direction(const char* name, const double* given, int n) {
    if (!given) return VecX<double>::Zero(n);
    return Eigen::Map<const VecX<double>>(check_finite(name, given, n), n);
}

// The step from (q, v, u), left in the workspace. Fails where it leads to no state.
void take_step(Use& use, const double* q, const double* v, const double* u) {
    const World& w = use.world();
    check_given("v", v, length(w.nv())), check_finite("u", u, w.nu());
    use.place(q, v);
    Workspace& s = use.workspace();
    step(w, use.theta(), s.x.data(), u, s.step, s.x_next.data());
    check_result("the next state", s.x_next);
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_step(const costate_model* model, const double* q, const double* v, const double* u, double* q_next, double* v_next) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        check_given("q_next", q_next, length(w.nq())), check_given("v_next", v_next, length(w.nv()));
        take_step(use, q, v, u);
        write(use.workspace().x_next.head(w.nq()), q_next), write(use.workspace().x_next.segment(w.nq(), w.nv()), v_next);
        return COSTATE_OK;
    });
}

int costate_step_vjp(const costate_model* model, const double* q, const double* v, const double* u, const double* q_next_bar,
                     const double* v_next_bar, double* q_bar, double* v_bar, double* u_bar, double* theta_bar) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        const int nv = w.nv();
        VecX<double> next_bar = VecX<double>::Zero(w.ndx()), x_bar = next_bar, ctrl_bar = VecX<double>::Zero(w.nu()),
                                       parameters_bar = VecX<double>::Zero(w.np());
        next_bar.head(nv) = Eigen::Map<const VecX<double>>(check_finite("q_next_bar", q_next_bar, nv), nv);
        next_bar.segment(nv, nv) = Eigen::Map<const VecX<double>>(check_finite("v_next_bar", v_next_bar, nv), nv);
        take_step(use, q, v, u);
        Workspace& s = use.workspace();
        s.step.clear_bars();
        step_adj(w, use.theta(), s.x.data(), u, s.step, next_bar.data(), parameters_bar.data(), x_bar.data(), ctrl_bar.data());
        check_result("a gradient", x_bar), check_result("u_bar", ctrl_bar), check_result("theta_bar", parameters_bar);
        write(x_bar.head(nv), q_bar), write(x_bar.segment(nv, nv), v_bar), write(ctrl_bar, u_bar), write(parameters_bar, theta_bar);
        return COSTATE_OK;
    });
}

int costate_step_jvp(const costate_model* model, const double* q, const double* v, const double* u, const double* q_dot,
                     const double* v_dot, const double* u_dot, const double* theta_dot, double* q_next_dot, double* v_next_dot) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        const int nv = w.nv();
        check_given("v", v, length(nv)), check_finite("u", u, w.nu());
        check_given("q_next_dot", q_next_dot, length(nv)), check_given("v_next_dot", v_next_dot, length(nv));
        VecX<double> x_dot(2 * nv), next_dot(2 * nv);
        x_dot << direction("q_dot", q_dot, nv), direction("v_dot", v_dot, nv);
        const VecX<double> ctrl_dot = direction("u_dot", u_dot, w.nu()), parameters_dot = direction("theta_dot", theta_dot, w.np());
        use.place(q, v);
        Workspace& s = use.workspace();
        if (!s.dual) s.dual.emplace(w);
        step_jvp(w, use.theta(), s.x.data(), u, parameters_dot.data(), x_dot.data(), ctrl_dot.data(), *s.dual, next_dot.data());
        check_result("the change of the next state", next_dot);
        write(next_dot.head(nv), q_next_dot), write(next_dot.tail(nv), v_next_dot);
        return COSTATE_OK;
    });
}

int costate_step_jacobian(const costate_model* model, const double* q, const double* v, const double* u, double* by_x, double* by_u,
                          double* by_theta) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        take_step(use, q, v, u);
        Workspace& s = use.workspace();
        StepJacobian J(w);
        StepJacobian::Matrix parameters(0, 0);
        if (by_theta != nullptr) step_jacobian_by_adjoints(w, use.theta(), s.x.data(), u, s.step, J, &parameters);
        step_jacobian(w, use.theta(), s.x.data(), u, s.step, J);
        check_result("by_x", J.by_x), check_result("by_u", J.by_u), check_result("by_theta", parameters);
        write(J.by_x, by_x), write(J.by_u, by_u), write(parameters, by_theta);
        return COSTATE_OK;
    });
}

int costate_contacts(const costate_model* model, const double* q, const double* v, const double* u, costate_contact* contacts,
                     size_t capacity) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        check_given("contacts", contacts, capacity);
        take_step(use, q, v, u);
        const StepScratch<double>& s = use.workspace().step;
        const std::vector<ContactPoint<double>>& points = s.contacts.points;
        for (size_t n = 0; n < std::min(capacity, points.size()); ++n) {
            const ContactPoint<double>& c = points[n];
            Vec3<double> impulse = Vec3<double>::Zero();
            if (const int row = contact_row(s, static_cast<int>(n)); row >= 0)
                for (int k = 0; k < 3; ++k) impulse += s.impulses.lambda[static_cast<size_t>(row + k)] * c.direction(k);
            const Vec3<double> point = common_origin(use.model(), s.kinematics, c.body_a) + c.geometry.point;
            contacts[n].body_a = c.body_a, contacts[n].body_b = c.body_b, contacts[n].gap = c.geometry.gap;
            write(point, contacts[n].point), write(c.geometry.normal, contacts[n].normal), write(impulse, contacts[n].impulse);
        }
        return static_cast<int>(points.size());
    });
}
}
