// The dot-product test of actuators and joint forces.
#include "core/dynamics/actuation.hpp"
#include "tests/support/pass_case.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Actuator and joint parameters, q, v, controls -> forces and implicit damping. Parameters that a type does
// not name are left out, as are springs of joints that have none, and velocities that only the implicit
// damping sees.
struct ActuationPass : PassCase {
    VecX<double> ctrl;
    std::vector<int> parameters, coordinates, velocities;
    std::vector<Saturation<double>> side;
    static inline bool dc_motors = false;  // all actuators are
    static inline bool sloped = false;     // all actuators are general, with slopes of the gain
    ActuationPass(Rng& g, Regime r)
        : PassCase(g, r),
          ctrl(random_vector(m.nu, g, r)),
          side(static_cast<size_t>(m.nu)) {
        for (int n = 0; dc_motors && n < m.nu; ++n) {
            m.actuators[n].type = ActuatorType::dc_motor;
            theta[m.actuator.stall_torque.at(n)] = g.uniform(1, 3);
            theta[m.actuator.no_load_speed.at(n)] = g.uniform(2, 5);
        }
        for (int n = 0; sloped && n < m.nu; ++n) {
            m.actuators[n].type = ActuatorType::general;
            m.actuators[n].gain_slopes = static_cast<int>(theta.size());
            theta.conservativeResize(theta.size() + 2);
            theta.tail<2>() << g.normal(), g.normal();
        }
        const auto add = [&](const ParameterSlice& s, int n) {
            for (int c = 0; c < s.width; ++c)
                parameters.push_back(s.at(n) + c);
        };
        for (int j = 0; j < m.nv; ++j)
            add(m.damping, j);
        for (const Body& b : m.bodies)
            for (int j = b.v0; b.joint != JointType::free && j < b.v0 + b.nv; ++j) {
                add(m.stiffness, j);
                add(m.rest, j);
                coordinates.push_back(j);
            }
        for (int n = 0; n < m.nu; ++n) {
            const Actuator& a = m.actuators[n];
            add(m.actuator.gear, n);
            for (const ActuatorQuantity& quantity : actuator_quantities())
                if (actuator_kind(a.type).has(quantity.name)) add(m.actuator.*quantity.slice, n);
            if (a.gain_slopes >= 0) parameters.insert(parameters.end(), {a.gain_slopes, a.gain_slopes + 1});
            if (a.type == ActuatorType::general && law(n).b2 > 0) velocities.push_back(a.v);
        }
    }
    ActuatorLaw<double> law(int n) const {
        return actuator_law_at(m.actuators[n], m.actuator, theta.data(), n, ctrl[n], 0.0, 0.0);
    }
    int inputs() const {
        return static_cast<int>(parameters.size() + coordinates.size() + velocities.size()) + m.nu;
    }
    int outputs() const { return 2 * m.nv; }
    template <class Run> Covector run_duals(const Covector& x_dot, const Run& run) const {
        const double* d = x_dot.data();
        VecX<D> th = theta.cast<D>(), tau = VecX<D>::Zero(m.nv), B = tau, vd = v.cast<D>(), cd(m.nu);
        for (const int p : parameters)
            th[p].d = *d++;
        std::vector<double> step(m.nv);
        for (const int j : coordinates)
            step[j] = *d++;
        for (const int j : velocities)
            vd[j].d = *d++;
        const VecX<D> qd = lift_configuration(m, q, step.data());
        for (int n = 0; n < m.nu; ++n)
            cd[n] = D(ctrl[n], *d++);
        run(th.data(), qd.data(), vd.data(), cd.data(), tau.data(), B.data());
        Covector y = sized(outputs());
        Cursor c{nullptr, y.data()};
        c.put_tangents(tau);
        c.put_tangents(B);
        return y;
    }
    template <class Run> Covector run_bars(const Covector& prior, const Run& run) const {
        VecX<double> theta_bar = VecX<double>::Zero(theta.size()), q_bar = VecX<double>::Zero(m.nv),
                     v_bar = q_bar, ctrl_bar(m.nu);
        const double* p = prior.data();
        for (const int i : parameters)
            theta_bar[i] = *p++;
        for (const int j : coordinates)
            q_bar[j] = *p++;
        for (const int j : velocities)
            v_bar[j] = *p++;
        for (int n = 0; n < m.nu; ++n)
            ctrl_bar[n] = *p++;
        run(theta_bar.data(), q_bar.data(), v_bar.data(), ctrl_bar.data());
        Covector x_bar;
        for (const int i : parameters)
            x_bar.push_back(theta_bar[i]);
        for (const int j : coordinates)
            x_bar.push_back(q_bar[j]);
        for (const int j : velocities)
            x_bar.push_back(v_bar[j]);
        for (int n = 0; n < m.nu; ++n)
            x_bar.push_back(ctrl_bar[n]);
        return x_bar;
    }
    Covector forward(const Covector& x_dot) {
        return run_duals(x_dot, [&](const D* th, const D* qd, const D* vd, const D* cd, D* tau, D* B) {
            std::vector<Saturation<D>> unused(side.size());
            actuation(m, th, qd, vd, cd, unused.data(), tau, B);
        });
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) {
        VecX<double> tau(m.nv), B(m.nv);
        actuation(m, theta.data(), q.data(), v.data(), ctrl.data(), side.data(), tau.data(), B.data());
        return run_bars(prior, [&](double* theta_bar, double* q_bar, double* v_bar, double* ctrl_bar) {
            actuation_adj(m, theta.data(), q.data(), v.data(), ctrl.data(), side.data(), y_bar.data(),
                          y_bar.data() + m.nv, theta_bar, q_bar, v_bar, ctrl_bar);
        });
    }
};

// The actuators without springs and damping.
struct ActuatorForcePass : ActuationPass {
    ActuatorForcePass(Rng& g, Regime r) : ActuationPass(g, r) {
        std::erase_if(parameters, [&](int p) { return p < m.actuator.gear.offset; });
        coordinates.clear();
        for (int n = 0; n < m.nu; ++n) {
            const Actuator& a = m.actuators[n];
            if (a.type == ActuatorType::servo || a.type == ActuatorType::general) coordinates.push_back(a.v);
        }
    }
    template <class T> Saturation<T> unsaturated(int n) const { return {{}, {}, law(n).b2 <= 0}; }
    Covector forward(const Covector& x_dot) const {
        return run_duals(x_dot, [&](const D* th, const D* qd, const D* vd, const D* cd, D* tau, D* B) {
            for (int n = 0; n < m.nu; ++n)
                actuator_force(m, th, qd, vd, cd, unsaturated<D>(n), n, tau, B);
        });
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        return run_bars(prior, [&](double* theta_bar, double* q_bar, double* v_bar, double* ctrl_bar) {
            for (int n = 0; n < m.nu; ++n)
                actuator_force_adj(m, theta.data(), q.data(), v.data(), ctrl.data(), unsaturated<double>(n),
                                   n, y_bar.data(), y_bar.data() + m.nv, theta_bar, q_bar, v_bar, ctrl_bar);
        });
    }
};

// Parameters, and controls if they matter -> the four coefficients of every actuator's law.
struct ActuatorLawPass : ActuatorForcePass {
    ActuatorLawPass(Rng& g, Regime r) : ActuatorForcePass(g, r) {
        std::erase_if(parameters,
                      [&](int p) { return p < m.actuator.kp.offset; });  // the gear is no part of the law
        coordinates.clear();
        velocities.clear();
    }
    int inputs() const { return static_cast<int>(parameters.size()) + (sloped ? m.nu : 0); }
    int outputs() const { return 4 * m.nu; }
    Covector forward(const Covector& x_dot) const {
        VecX<D> th = theta.cast<D>();
        for (size_t i = 0; i < parameters.size(); ++i)
            th[parameters[i]].d = x_dot[i];
        Covector y;
        for (int n = 0; n < m.nu; ++n) {
            const D control(ctrl[n], sloped ? x_dot[parameters.size() + static_cast<size_t>(n)] : 0);
            const ActuatorLaw<D> law =
                actuator_law_at(m.actuators[n], m.actuator, th.data(), n, control, D(0), D(0));
            y.insert(y.end(), {law.gain.d, law.b0.d, law.b1.d, law.b2.d});
        }
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        VecX<double> theta_bar = VecX<double>::Zero(theta.size());
        for (size_t i = 0; i < parameters.size(); ++i)
            theta_bar[parameters[i]] = prior[i];
        Covector controls(static_cast<size_t>(m.nu));
        if (sloped) std::copy(prior.end() - m.nu, prior.end(), controls.begin());
        for (int n = 0; n < m.nu; ++n) {
            const double* b = y_bar.data() + 4 * n;
            double none = 0;
            actuator_law_at_adj(m.actuators[n], m.actuator, theta.data(), n, ctrl[n], 0.0, 0.0,
                                {b[0], b[1], b[2], b[3]}, theta_bar.data(), controls[static_cast<size_t>(n)],
                                none, none);
        }
        Covector x_bar;
        for (const int p : parameters)
            x_bar.push_back(theta_bar[p]);
        if (sloped) x_bar.insert(x_bar.end(), controls.begin(), controls.end());
        return x_bar;
    }
};

}  // namespace

TEST_CASE("adjoint: actuation") { check_pass<ActuationPass>(1e-12); }
TEST_CASE("adjoint: actuator_force") { check_pass<ActuatorForcePass>(1e-12); }
TEST_CASE("adjoint: actuator_law, actuator_law_at") { check_pass<ActuatorLawPass>(1e-12); }
TEST_CASE("adjoint: actuation by dc motors") {
    ActuationPass::dc_motors = true;
    check_pass<ActuationPass>(1e-12);
    check_pass<ActuatorForcePass>(1e-12);
    check_pass<ActuatorLawPass>(1e-12);
    ActuationPass::dc_motors = false;
}
TEST_CASE("adjoint: actuation with gains that vary") {
    ActuationPass::sloped = true;
    check_pass<ActuationPass>(1e-12);
    check_pass<ActuatorForcePass>(1e-12);
    check_pass<ActuatorLawPass>(1e-12);
    ActuationPass::sloped = false;
}
