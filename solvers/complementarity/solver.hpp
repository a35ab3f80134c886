// The exact contact solvers by type. A solver has a row in solvers/settings.hpp, its work and its case here.
#pragma once

#include <cassert>

#include "solvers/complementarity/cone.hpp"

namespace costate {

struct ApgdScratch {
    std::vector<double> y, gradient, next, s;  // (rows)
};

struct SolverScratch {
    LcpScratch lcp;
    ConeScratch cone;
    ApgdScratch apgd;
};

// Accelerated projected gradient descent on the convex problem of the relaxed cone, in place, to a residual
// of `tolerance`, m/s, or for 200 iterations: solvers/complementarity/apgd.cpp
void apgd_inplace(const MlcpView<double>& p, double tolerance, ApgdScratch& work, double* x);
// The same, and Newton's method on the active set that it finds. x, set: as below.
template <class T> SolverStatus apgd(const MlcpView<T>& p, SolverScratch& work, ActiveSet<T>& set, T* x);

// x (rows): in, a guess of the impulses; out, the solution by the law of friction `law`. set: its active set,
// ready for the adjoint (solvers/complementarity/active_set.hpp). Deterministic. T: double or Dual<double>.
template <class T>
SolverStatus solve_exactly(const MlcpView<T>& p, const Settings& settings, FrictionLaw law, SolverScratch& w,
                           ActiveSet<T>& set, T* x) {
    switch (settings.solver) {
        case SolverType::pgs: break;  // runs sweeps: solvers/complementarity/pgs.hpp
        case SolverType::lcp: return lcp(p, w.lcp, set, x);
        case SolverType::ncp: return cone(p, law, settings.cone_method, w.cone, set, x);
        case SolverType::apgd: return apgd(p, w, set, x);
    }
    assert(!"sweeps do not solve exactly");
    return SolverStatus::unsolved;
}

}  // namespace costate
