// The laws that a solution of an island's complementarity problem obeys, each checked by itself.
// `mlcp_residual` is one number for all of them and takes the solvers' own projection for granted; this says
// which law is broken, at which row and by how much.
#pragma once

#include "solvers/complementarity/mlcp.hpp"

namespace costate {

struct BrokenLaw {
    const char* law;  // in words; null: none is broken
    int row;          // of the island
    double by;        // N s or m/s, as the law says
    explicit operator bool() const { return law != nullptr; }
};

// What every iterate of every solver obeys, converged or not: impulses are finite, contacts and limits push
// and do not pull, friction and bounded impulses stay within their bounds. `x` (rows), N s.
BrokenLaw broken_bound(const MlcpView<double>& p, FrictionLaw law, const double* x);

// What a solution obeys besides: rows do not close, what pushes does not open, free rows do not move,
// friction below its bound holds, and friction at its bound acts against the slip. `tolerance`: of
// velocities, m/s.
BrokenLaw broken_law(const MlcpView<double>& p, FrictionLaw law, const double* x, double tolerance);

// In debug builds ends the program, with the broken law on stderr, if `x` breaks a bound or, where it is said
// to be solved, a law. Does nothing where A or b is not finite, as in a state that has diverged, and nothing
// in release builds.
void assert_lawful(const MlcpView<double>& p, FrictionLaw law, const double* x, bool solved);

}  // namespace costate
