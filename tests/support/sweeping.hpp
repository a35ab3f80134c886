// Settings of tests that are about sweeps: what is stepped is what 50 sweeps of projected Gauss-Seidel make
// of it.
#pragma once

#include "solvers/world.hpp"

namespace costate::test {

inline Settings sweeping() {
    Settings s;
    s.solver = SolverType::pgs;
    return s;
}

}  // namespace costate::test
