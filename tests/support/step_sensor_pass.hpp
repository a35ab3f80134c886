// StepSensorPass: the adaptor for check_pass of a step with its sensors. State, controls and parameters -> the state
// after the step, and the sensors.
#pragma once

#include "solvers/sensors/sensors.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/step_derivatives.hpp"

namespace costate::test {

// A model without shapes in a random state
inline ToyState state_without_shapes(Model m, Rng& g, Regime r, const Settings& settings = {}) {
    ShapeSet none = build_shapes(m, {});
    ToyState t{World(std::move(m), std::move(none), settings), {}, {}, {}};
    const Model& model = t.world.model;
    t.theta = model.layout.nominal();
    t.x.resize(t.world.nx());
    t.x << random_configuration(model, g, r), random_vector(model.nv, g, r);
    return t;
}

inline void add_sensor(World& w, SensorKind kind, int body, int actuator = -1) {
    Sensor sensor;
    sensor.name = "y" + std::to_string(w.sensors.size());
    sensor.kind = kind;
    sensor.body = body;
    sensor.actuator = actuator;
    w.add_sensor(sensor);
}
// Forces and torques of the first bodies
inline void add_wrench_sensors(World& w, int bodies) {
    for (int body = 0; body < bodies; ++body)
        for (const SensorKind kind : {SensorKind::force, SensorKind::torque})
            add_sensor(w, kind, body);
}

struct StepSensorPass {
    ToyState t;
    StepScratch<double> s;
    SensorScratch<double> sensors;
    VecX<double> direction;  // of theta
    int inputs_without_effect;

    StepSensorPass(ToyState state, Rng& g, int without_effect = 0)
        : t(std::move(state)),
          s(t.world),
          sensors(t.world),
          direction(random_vector(t.world.np(), g, Regime::random).normalized()),
          inputs_without_effect(without_effect) {}

    int inputs() const { return t.world.own_ndx() + t.world.nu() + 1; }
    int outputs() const { return t.world.own_ndx() + t.world.ny(); }
    Covector forward(const Covector& dot) const {
        const World& w = t.world;
        const VecX<double> theta_dot = dot.back() * direction;
        const VecX<D> theta = lift_vector(t.theta, theta_dot.data()),
                      x = lift_state(w.model, t.x, dot.data()),
                      u = lift_vector(t.u, dot.data() + w.own_ndx());
        StepScratch<D> scratch(w);
        SensorScratch<D> sensor_scratch(w);
        VecX<D> next(w.nx());
        std::vector<D> y(w.ny());
        step(w, {theta.data(), x.data(), u.data()}, scratch, next.data());
        sensor_values(w, {theta.data(), x.data(), u.data()}, scratch, sensor_scratch, y.data());
        const VecX<double> next_dot = state_tangent(w.model, next);
        Covector out(next_dot.begin(), next_dot.end());
        for (const D& each : y)
            out.push_back(each.d);
        return out;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) {
        const World& w = t.world;
        const int nx = w.own_ndx();
        VecX<double> theta_bar = prior.back() * direction,
                     x_bar = Eigen::Map<const VecX<double>>(prior.data(), nx),
                     u_bar = Eigen::Map<const VecX<double>>(prior.data() + nx, w.nu()),
                     next_bar = Eigen::Map<const VecX<double>>(y_bar.data(), nx);
        std::vector<double> y(w.ny());
        run_step(t, s);
        sensor_values(w, {t.theta.data(), t.x.data(), t.u.data()}, s, sensors, y.data());
        s.clear_bars();
        sensor_values_adj(w, {t.theta.data(), t.x.data(), t.u.data()}, s, sensors, y_bar.data() + nx,
                          {theta_bar.data(), x_bar.data(), u_bar.data()});
        step_adj(w, {t.theta.data(), t.x.data(), t.u.data()}, s, next_bar.data(),
                 {theta_bar.data(), x_bar.data(), u_bar.data()});
        Covector out(x_bar.begin(), x_bar.end());
        out.insert(out.end(), u_bar.begin(), u_bar.end());
        out.push_back(theta_bar.dot(direction));
        return out;
    }
};

}  // namespace costate::test
