// Separate checks of the laws that a solution of an island's complementarity problem satisfies: which law is
// broken, at which row and by how much. `mlcp_residual` is one number for all laws and relies on the solvers'
// own projection.
#pragma once

#include "solvers/complementarity/mlcp.hpp"

namespace costate {

struct BrokenLaw {
    const char* law;  // in words; null: no law is broken
    int row;          // of the island
    double by;        // amount, N s or m/s according to the law
    explicit operator bool() const { return law != nullptr; }
};

// Checks the laws of every iterate of every solver, converged or not: impulses are finite, contacts and
// limits push and do not pull, friction and bounded impulses stay within their bounds. `x` (rows), N s.
BrokenLaw broken_bound(const MlcpView<double>& p, FrictionLaw law, const double* x);

// Checks the other laws of a solution: rows do not close, rows with an impulse do not open, free rows do not
// move, friction below its bound holds, and friction at its bound acts against the slip. `tolerance`: for
// velocities, m/s.
BrokenLaw broken_law(const MlcpView<double>& p, FrictionLaw law, const double* x, double tolerance);

// In debug builds: aborts with the broken law on stderr if `x` violates a bound or, if `solved`, a law. Does
// nothing if A or b is not finite, as in a diverged state, or if a compliance is negative, as in differences about 0. Does
// nothing in release builds.
void assert_lawful(const MlcpView<double>& p, FrictionLaw law, const double* x, bool solved);

}  // namespace costate
