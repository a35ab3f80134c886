// World: everything a step reads that is not differentiable: topology, shapes, settings. A built world is
// const and shared by threads. The differentiable numbers are in theta; the model and the shapes register its
// layout.
#pragma once

#include "collision/shapes/shape.hpp"
#include "core/dynamics/inverse_weights.hpp"
#include "solvers/push.hpp"
#include "solvers/sensor.hpp"
#include "solvers/settings.hpp"

namespace costate {

struct World {
    Model model;
    ShapeSet shapes;
    Settings settings;
    InverseWeights inverse_weights;                                   // if the model is soft
    ParameterSlice time_step, compliance, erp, slop, recovery_speed;  // units as in Settings
    std::vector<Sensor> sensors;
    std::vector<Push> pushes;

    // Registers the settings that are parameters.
    World(Model m, ShapeSet s, const Settings& options)
        : model(std::move(m)),
          shapes(std::move(s)),
          settings(options) {
        const auto add = [&](const char* group, const char* quantity, ParameterRange range, double value) {
            return model.layout.add(group, {""}, quantity, 1, range, {value});
        };
        time_step = add("world", "time_step", ParameterRange::positive, settings.time_step);
        compliance = add("contact", "compliance", ParameterRange::nonnegative, settings.compliance);
        erp = add("contact", "erp", ParameterRange::nonnegative, settings.erp);
        slop = add("contact", "slop", ParameterRange::nonnegative, settings.slop);
        recovery_speed =
            add("contact", "recovery_speed", ParameterRange::nonnegative, settings.recovery_speed);
        if (settings.forward_dynamics == ForwardDynamics::automatic)
            settings.forward_dynamics = ForwardDynamics::crba;
        if (model.soft) inverse_weights = costate::inverse_weights(model, model.neutral_configuration());
    }

    // Before the world is shared: adds a sensor, and a push with its parameters.
    void add_sensor(Sensor sensor);
    void add_push(const PushSpec& push);

    bool implicit_gradient() const {
        return !solver_kind(settings.solver).sweeps || settings.gradient == ImpulseGradient::implicit;
    }
    FrictionLaw friction_law() const {
        const FrictionLaw law = solver_kind(settings.solver).law;
        return law == FrictionLaw::cone && settings.relaxed ? FrictionLaw::relaxed_cone : law;
    }

    // The entry of theta, or of its covector theta_bar, for the time step, s.
    template <class T> T& h(T* theta) const { return theta[time_step.at(0)]; }
    template <class T> const T& h(const VecX<T>& theta) const { return theta[time_step.at(0)]; }

    int nq() const { return model.nq; }
    int nv() const { return model.nv; }
    int nu() const { return model.nu; }
    int na() const { return static_cast<int>(model.activations.size()); }
    // size of a state: q, v, activations, and the data of a warm start
    int nx() const { return own_nx() + warm_numbers(); }
    int ndx() const { return own_ndx() + warm_numbers(); }  // size of its tangent; entries of keys are 0
    // the same without the data of a warm start
    int own_nx() const { return nq() + nv() + na(); }
    int own_ndx() const { return 2 * nv() + na(); }
    // true if entry i of a state is the key of a contact with stored impulses
    bool is_key(int i) const { return i >= own_nx() && i < own_nx() + warm_contacts(); }
    int np() const { return model.layout.size(); }
    // numbers of the sensors
    int ny() const { return sensors.empty() ? 0 : sensors.back().offset + sensors.back().size; }
    bool sensors_read_step() const { return sensors_read(SensorReads::step); }
    bool sensors_read(SensorReads what) const {  // or more than this
        return std::ranges::any_of(sensors, [&](const Sensor& s) { return traits_of(s.kind).reads >= what; });
    }
    bool pyramids() const { return model.soft && settings.cone == FrictionCone::pyramidal; }
    // true if damping acts after the contacts
    bool damps_late() const { return model.soft && settings.integrator != Integrator::semi_implicit; }
    // the largest number of rows of a contact
    int contact_rows() const { return pyramids() ? 2 * (shapes.condim - 1) : shapes.condim; }
    int warm_contacts() const { return settings.warm_start ? settings.warm_contacts : 0; }
    int warm_numbers() const {
        if (!settings.warm_start) return 0;
        return (1 + contact_rows()) * settings.warm_contacts +
               static_cast<int>(2 * model.limits.size() + model.dry_dofs.size() +
                                6 * model.equalities.size() + 2 * model.measured_tendons.size());
    }
};

// The parts of a state by name.
template <class T> struct StateView {
    const T *q, *v, *activations;  // (nq), (nv), (na)
    const T* kept;                 // data of a warm start: solvers/step/warm_start.hpp
    StateView(const World& w, const T* x)
        : q(x),
          v(x + w.nq()),
          activations(v + w.nv()),
          kept(x + w.own_nx()) {}
};
// The parts of a state's covector by name.
template <class T> struct StateBars {
    T *q, *v, *activations;  // (nv), (nv), (na)
    T* kept;
    StateBars(const World& w, T* x_bar)
        : q(x_bar),
          v(x_bar + w.nv()),
          activations(v + w.nv()),
          kept(x_bar + w.own_ndx()) {}
};

}  // namespace costate
