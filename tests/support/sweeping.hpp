// Settings for tests of sweeps: 50 sweeps of projected Gauss-Seidel, converged or not; rigid, or by MuJoCo's law.
#pragma once

#include "solvers/world.hpp"

namespace costate::test {

inline Settings sweeping() {
    Settings s;
    s.solver = SolverType::pgs;
    return s;
}
inline Settings soft_sweeping(FrictionCone cone) {
    Settings s = sweeping();
    s.law = ContactLaw::mujoco;
    s.cone = cone;
    s.impratio = 3;
    return s;
}

}  // namespace costate::test
