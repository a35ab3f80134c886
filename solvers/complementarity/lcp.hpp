// The boxed problem solved exactly, by guessing its active set (Werling et al. 2021, section IV and
// appendices A, B): the set that the guess points to is solved and verified, and while it fails all rows that
// contradict it change sides (block principal pivoting, Judice & Pires 1994). Where that does not end, a
// number of Gauss-Seidel sweeps give another guess, and at last Lemke's method, which finds a solution
// whenever the compliance is positive (the problem is copositive then; Stewart & Trinkle 1996). Where all
// that would take more than max_work, the best iterate is the result.
#pragma once

#include "solvers/complementarity/large_island.hpp"

namespace costate {

// Factorisations and pivots of a small island's problem, in multiplications, after which no further way is
// tried: of a hundred rows it is about a tenth of a second. Large islands have a bound of their own
// (solvers/complementarity/large_island.hpp).
inline constexpr double max_work = 2e8;

inline double factorisation_work(size_t rows) {
    const double n = static_cast<double>(rows);
    return n * n * n / 3;
}

struct LcpScratch {
    double work = 0;              // of the last call
    std::vector<double> x, best;  // iterates
    std::vector<RowState> state;  // that x points to
    std::vector<double> tableau;  // of Lemke's method
    LargeScratch large;
};

// x (rows): in, a guess of the impulses; out, the solution. set: its active set, ready for the adjoint. The
// order of rows, and so the result, is deterministic. Instantiated for double and Dual<double>.
template <class T> SolverStatus lcp(const MlcpView<T>& p, LcpScratch& work, ActiveSet<T>& set, T* x);

// Lemke's method on the problem as a linear complementarity problem; false if it ends in a ray or after too
// many pivots. Adds what it takes to `work`.
bool lemke(const MlcpView<double>& p, std::vector<double>& tableau, double* x, double& work);

}  // namespace costate
