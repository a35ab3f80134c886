// Settings for tests of sweeps: 50 sweeps of projected Gauss-Seidel, converged or not.
#pragma once

#include "solvers/world.hpp"

namespace costate::test {

inline Settings sweeping() {
    Settings s;
    s.solver = SolverType::pgs;
    return s;
}

}  // namespace costate::test
