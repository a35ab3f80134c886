// The exact contact solvers by type. A solver has a row in solvers/settings.hpp, its work in SolverScratch, and
// a case in solver.cpp.
#pragma once

#include "solvers/complementarity/cone.hpp"

namespace costate {

struct SolverScratch {
    LcpScratch lcp;
    ConeScratch cone;
};

// x (rows): in, a guess of the impulses; out, the solution by the law of friction `law`. set: its active set,
// ready for the adjoint (solvers/complementarity/active_set.hpp). Deterministic. Instantiated for double and
// Dual<double>.
template <class T>
SolverStatus solve_exactly(const MlcpView<T>& p, const Settings& settings, FrictionLaw law,
                           SolverScratch& work, ActiveSet<T>& set, T* x);

}  // namespace costate
