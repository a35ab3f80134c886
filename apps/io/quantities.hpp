// Columns of a trajectory besides the signals of adjoint/objective/signal.hpp:
//
//   sensor(<sensor>), sensor(<sensor>)[0] ...   of the sensors that a scene declares, in their own units
//   force(<actuator>)                           of an actuator before its gear, N m or N
//   effort(<joint>)                             sum of the actuators' forces on a joint with one dof
//   site(<site>).qw .qx .qy .qz                 orientation in the world
//   velocity(<body>).x .y .z .wx .wy .wz        of the body's frame, world axes, m/s and rad/s
//   site_velocity(<site>).x ... .wz             likewise
//   contact(<body>).fx .fy .fz .x .y .z         sum of the forces of its contacts, N, and the mean of their
//                                               points weighted by force, m, world axes; 0 without contact
//   energy.kinetic, energy.potential            of all bodies, J; potential in gravity, 0 at the origin
#pragma once

#include <string>
#include <vector>

#include "solvers/sensors/sensors.hpp"
#include "solvers/step/observation.hpp"

namespace costate {

// Numbers and their names.
class Quantities {
public:
    explicit Quantities(const World& w);  // all of them
    const std::vector<std::string>& names() const { return names_; }
    // Keeps those with these increasing indices.
    void choose(const std::vector<size_t>& indices);
    // Call after a step. out: one number for each name
    void evaluate(const double* theta, const double* x, const double* u, const StepScratch<double>& s,
                  double* out);

private:
    void add(Sensor sensor, const std::string& column, const std::vector<const char*>& parts);

    const World& w_;
    std::vector<Sensor> sensors_;  // with offsets in y_
    std::vector<int> contacts_;    // bodies whose contacts follow in y_, 6 numbers each
    std::vector<double> y_;        // (numbers of the sensors and contacts)
    std::vector<std::string> names_;
    std::vector<size_t> chosen_;  // index in y_ of each name
    SensorScratch<double> scratch_;
};

}  // namespace costate
