// The boxed problem solved exactly, by guessing its active set (Werling et al. 2021, section IV and appendices A, B): the set that
// the guess points to is solved and verified, and while it fails all rows that contradict it change sides (block principal pivoting,
// Judice & Pires 1994). Where that does not end, a number of Gauss-Seidel sweeps give another guess, and at last Lemke's method,
// which finds a solution whenever the compliance is positive (the problem is copositive then; Stewart & Trinkle 1996).
#pragma once

#include "solvers/large_island.hpp"

namespace costate {

struct LcpScratch {
    std::vector<double> x, best;               // iterates
    std::vector<RowState> state;               // that x points to
    std::vector<double> tableau;               // of Lemke's method
    LargeScratch large;
};

// x (rows): in, a guess of the impulses; out, the solution. set: its active set, ready for the adjoint. The order of rows, and so
// the result, is deterministic. Instantiated for double and Dual<double>.
template <class T> SolverStatus lcp(const MlcpView<T>& p, LcpScratch& work, ActiveSet<T>& set, T* x);

// Lemke's method on the problem as a linear complementarity problem; false if it ends in a ray or after too many pivots.
bool lemke(const MlcpView<double>& p, std::vector<double>& tableau, double* x);

}  // namespace costate
