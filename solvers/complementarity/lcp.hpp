// Exact solver of the boxed problem by a guess of its active set (Werling et al. 2021, section IV and
// appendices A, B). The active set of the guess is solved and verified. While the verification fails, all
// contradicting rows change their state (block principal pivoting, Judice & Pires 1994). If this does not
// terminate, Gauss-Seidel sweeps give another guess, and finally Lemke's method finds a solution if the
// compliance is positive (the problem is then copositive; Stewart & Trinkle 1996). If all this takes more
// than max_work, the result is the best iterate.
#pragma once

#include "solvers/complementarity/large_island.hpp"

namespace costate {

// Limit of the work on a small island, in multiplications of factorisations and pivots: about a tenth of a
// second for a hundred rows. After that no further method is tried, but many more sweeps by `cone`. Large islands
// have their own limit (solvers/complementarity/large_island.hpp).
inline constexpr double max_work = 2e8;

inline double factorisation_work(size_t rows) {
    const double n = static_cast<double>(rows);
    return n * n * n / 3;
}

struct LcpScratch {
    double work = 0;              // multiplications of the last call
    std::vector<double> x, best;  // iterates
    std::vector<RowState> state;  // suggested by x
    std::vector<double> tableau;  // for Lemke's method
    ActiveSet<double> found;      // of which x solves the equations
    LargeScratch large;
};

// x (rows): in, a guess of the impulses; out, the solution. set: its active set, ready for the adjoint. The
// order of rows and the result are deterministic. Instantiated for double and Dual<double>.
template <class T> SolverStatus lcp(const MlcpView<T>& p, LcpScratch& work, ActiveSet<T>& set, T* x);

// The first part of `lcp`: pivots from the states that x suggests. True if x is then a solution; otherwise x is
// the best iterate.
bool lcp_by_pivots(const MlcpView<double>& p, LcpScratch& work, ActiveSet<double>& set, double* x);

// Lemke's method on the problem as a linear complementarity problem. False if it ends in a ray or after too
// many pivots. Adds its multiplications to `work`.
bool lemke(const MlcpView<double>& p, std::vector<double>& tableau, double* x, double& work);

}  // namespace costate
