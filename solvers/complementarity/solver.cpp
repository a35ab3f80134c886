#include "solvers/complementarity/solver.hpp"

#include <cassert>

namespace costate {

template <class T>
SolverStatus solve_exactly(const MlcpView<T>& p, const Settings& settings, FrictionLaw law, SolverScratch& w,
                           ActiveSet<T>& set, T* x) {
    switch (settings.solver) {
        case SolverType::pgs: break;  // solvers/complementarity/pgs.hpp
        case SolverType::lcp: return lcp(p, w.lcp, set, x);
        case SolverType::ncp: return cone(p, law, settings.cone_method, w.cone, set, x);
        case SolverType::apgd: return apgd(p, w, set, x);
    }
    assert(!"sweeps do not solve exactly");
    return SolverStatus::unsolved;
}

template SolverStatus solve_exactly(const MlcpView<double>&, const Settings&, FrictionLaw, SolverScratch&,
                                    ActiveSet<double>&, double*);
template SolverStatus solve_exactly(const MlcpView<Dual<double>>&, const Settings&, FrictionLaw,
                                    SolverScratch&, ActiveSet<Dual<double>>&, Dual<double>*);

}  // namespace costate
