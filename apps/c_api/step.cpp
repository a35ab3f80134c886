// A time step, its adjoint, its tangent and its Jacobian.
#include "apps/c_api/contact.hpp"
#include "apps/c_api/model.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/observation.hpp"

namespace costate::c_api {
namespace {

size_t length(int n) { return static_cast<size_t>(n); }

// Zeros where the caller gave none.
VecX<double> direction(const char* name, const double* given, int n) {
    if (!given) return VecX<double>::Zero(n);
    return Eigen::Map<const VecX<double>>(check_finite(name, given, n), n);
}

// The state that a step begins in, in the workspace: (q, v) with no impulses kept. Fails where a state has more.
void place_pair(Use& use, const double* q, const double* v) {
    if (use.world().na() > 0)
        throw Failure(COSTATE_BAD_ARGUMENT,
                      "the model has activations, so (q, v) is not its state; use the functions of whole "
                      "states or of batches");
    check_given("v", v, length(use.world().nv()));
    use.place(q, v);
}

// The step from the state in the workspace, left there. Fails where it leads to no state.
void take_step(Use& use, const double* u) {
    Workspace& s = use.workspace();
    step(use.world(), {use.theta(), s.x.data(), check_finite("u", u, use.world().nu())}, s.step,
         s.x_next.data());
    check_result("the next state", s.x_next);
}

struct Bars {
    VecX<double> x, u, theta;  // (ndx), (nu), (np)
};

// The covector of the next state (ndx) pulled back through the step from the state in the workspace.
Bars pull_back(Use& use, const double* u, const VecX<double>& next_bar) {
    const World& w = use.world();
    Workspace& s = use.workspace();
    Bars bar{VecX<double>::Zero(w.ndx()), VecX<double>::Zero(w.nu()), VecX<double>::Zero(w.np())};
    take_step(use, u);
    s.step.clear_bars();
    step_adj(w, {use.theta(), s.x.data(), u}, s.step, next_bar.data(),
             {bar.theta.data(), bar.x.data(), bar.u.data()});
    check_result("a gradient", bar.x);
    check_result("u_bar", bar.u);
    check_result("theta_bar", bar.theta);
    return bar;
}

// The change of the next state (ndx) along x_dot (ndx), from the state in the workspace.
VecX<double> push_forward(Use& use, const double* u, const VecX<double>& x_dot, const double* u_dot,
                          const double* theta_dot) {
    const World& w = use.world();
    Workspace& s = use.workspace();
    const VecX<double> ctrl_dot = direction("u_dot", u_dot, w.nu());
    const VecX<double> parameters_dot = direction("theta_dot", theta_dot, w.np());
    check_finite("u", u, w.nu());
    VecX<double> next_dot(w.ndx());
    step_jvp(w, use.theta(), s.x.data(), u, parameters_dot.data(), x_dot.data(), ctrl_dot.data(),
             s.tangent_step(w), next_dot.data());
    check_result("the change of the next state", next_dot);
    return next_dot;
}

// Of the step from the state in the workspace, by (q, v), u and theta; and of whole states.
void write_jacobian(Use& use, const double* u, double* by_x, double* by_u, double* by_theta) {
    const World& w = use.world();
    Workspace& s = use.workspace();
    take_step(use, u);
    StepJacobian J(w);
    StepJacobian::Matrix parameters(0, 0);
    if (by_theta != nullptr) step_jacobian_by_adjoints(w, use.theta(), s.x.data(), u, s.step, J, &parameters);
    step_jacobian(w, use.theta(), s.x.data(), u, s.step, J);
    check_result("by_x", J.by_x);
    check_result("by_u", J.by_u);
    check_result("by_theta", parameters);
    write(J.by_x, by_x);
    write(J.by_u, by_u);
    write(parameters, by_theta);
}
void write_state_jacobian(Use& use, const double* u, double* by_x, double* by_u, double* by_theta) {
    Workspace& s = use.workspace();
    take_step(use, u);
    StepJacobian::Matrix J_x, J_u, J_theta;
    state_jacobian(use.world(), use.theta(), s.x.data(), u, s.step, J_x, J_u, J_theta);
    check_result("by_x", J_x);
    check_result("by_u", J_u);
    check_result("by_theta", J_theta);
    write(J_x, by_x);
    write(J_u, by_u);
    write(J_theta, by_theta);
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_step(const costate_model* model, const double* q, const double* v, const double* u,
                 double* q_next, double* v_next) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        check_given("q_next", q_next, length(w.nq()));
        check_given("v_next", v_next, length(w.nv()));
        place_pair(use, q, v);
        take_step(use, u);
        write(use.workspace().x_next.head(w.nq()), q_next);
        write(use.workspace().x_next.segment(w.nq(), w.nv()), v_next);
        return COSTATE_OK;
    });
}

int costate_step_vjp(const costate_model* model, const double* q, const double* v, const double* u,
                     const double* q_next_bar, const double* v_next_bar, double* q_bar, double* v_bar,
                     double* u_bar, double* theta_bar) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const int nv = use.world().nv();
        VecX<double> next_bar = VecX<double>::Zero(use.world().ndx());
        next_bar.head(nv) = Eigen::Map<const VecX<double>>(check_finite("q_next_bar", q_next_bar, nv), nv);
        next_bar.segment(nv, nv) =
            Eigen::Map<const VecX<double>>(check_finite("v_next_bar", v_next_bar, nv), nv);
        place_pair(use, q, v);
        const Bars bar = pull_back(use, u, next_bar);
        write(bar.x.head(nv), q_bar);
        write(bar.x.segment(nv, nv), v_bar);
        write(bar.u, u_bar);
        write(bar.theta, theta_bar);
        return COSTATE_OK;
    });
}

int costate_step_jvp(const costate_model* model, const double* q, const double* v, const double* u,
                     const double* q_dot, const double* v_dot, const double* u_dot, const double* theta_dot,
                     double* q_next_dot, double* v_next_dot) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const int nv = use.world().nv();
        check_given("q_next_dot", q_next_dot, length(nv));
        check_given("v_next_dot", v_next_dot, length(nv));
        VecX<double> x_dot = VecX<double>::Zero(use.world().ndx());
        x_dot.head(nv) = direction("q_dot", q_dot, nv);
        x_dot.segment(nv, nv) = direction("v_dot", v_dot, nv);
        place_pair(use, q, v);
        const VecX<double> next_dot = push_forward(use, u, x_dot, u_dot, theta_dot);
        write(next_dot.head(nv), q_next_dot);
        write(next_dot.segment(nv, nv), v_next_dot);
        return COSTATE_OK;
    });
}

int costate_step_jacobian(const costate_model* model, const double* q, const double* v, const double* u,
                          double* by_x, double* by_u, double* by_theta) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        place_pair(use, q, v);
        write_jacobian(use, u, by_x, by_u, by_theta);
        return COSTATE_OK;
    });
}

int costate_state_step(const costate_model* model, const double* x, const double* u, double* x_next) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        check_given("x_next", x_next);
        use.place(x);
        take_step(use, u);
        write(use.workspace().x_next, x_next);
        return COSTATE_OK;
    });
}

int costate_state_step_vjp(const costate_model* model, const double* x, const double* u,
                           const double* x_next_bar, double* x_bar, double* u_bar, double* theta_bar) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const int ndx = use.world().ndx();
        check_finite("x_next_bar", x_next_bar, ndx);
        const VecX<double> next_bar = Eigen::Map<const VecX<double>>(x_next_bar, ndx);
        use.place(x);
        const Bars bar = pull_back(use, u, next_bar);
        write(bar.x, x_bar);
        write(bar.u, u_bar);
        write(bar.theta, theta_bar);
        return COSTATE_OK;
    });
}

int costate_state_step_jvp(const costate_model* model, const double* x, const double* u, const double* x_dot,
                           const double* u_dot, const double* theta_dot, double* x_next_dot) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        check_given("x_next_dot", x_next_dot);
        use.place(x);
        write(push_forward(use, u, direction("x_dot", x_dot, use.world().ndx()), u_dot, theta_dot),
              x_next_dot);
        return COSTATE_OK;
    });
}

int costate_state_step_jacobian(const costate_model* model, const double* x, const double* u, double* by_x,
                                double* by_u, double* by_theta) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        use.place(x);
        if (use.world().settings.warm_start)
            write_state_jacobian(use, u, by_x, by_u, by_theta);
        else
            write_jacobian(use, u, by_x, by_u, by_theta);
        return COSTATE_OK;
    });
}

int costate_state_residual(const costate_model* model, const double* x, const double* u, double* residual) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        use.place(x);
        take_step(use, u);
        const SolverOutcome outcome = solver_outcome(use.world(), use.workspace().step);
        if (residual) *residual = outcome.residual;
        return outcome.converged ? 0 : 1;
    });
}

int costate_contacts(const costate_model* model, const double* q, const double* v, const double* u,
                     costate_contact* contacts, size_t capacity) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        check_given("contacts", contacts, capacity);
        place_pair(use, q, v);
        take_step(use, u);
        const Observation<double> y(use.world(), use.workspace().step);
        const int found = y.contacts();
        for (int n = 0; n < found && static_cast<size_t>(n) < capacity; ++n)
            write_contact(y.contact(n), contacts[n]);
        return found;
    });
}
}
