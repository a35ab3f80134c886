// Sweeps of projected Gauss-Seidel on friction cones with a factored operator, and their reverse sweeps. A
// large island that no exact method solved gets the impulses of these sweeps and their gradient.
// solvers/complementarity/pgs.hpp has the same for the box.
//
// With y = W^T x updated along with x, a row's velocity is s = b + R x + W y. The updates are
//
//   normal row            x_n <- max(0, x_n - s_n/A_nn)
//   friction rows         x_T <- P(x_T - s_T/l), P the projection on the ball of radius mu x_n
//   relaxed cone          x   <- P(x - s/l), P the projection on the cone |x_T| <= mu x_n
//   other rows            x_r <- x_r - s_r/A_rr, clamped to the bounds of the row
//
// s_T is evaluated after the update of the normal row. For two friction rows l is 1.1 times the mean of their
// A_tt, so that sweeps also converge if the rows are dependent; for more of them, and for the relaxed cone, l
// is the sum of A_rr. In reverse, y_bar is the covector of y.
#pragma once

#include "solvers/complementarity/pgs.hpp"

namespace costate {

template <class T> struct ConeTape : PgsTape<T> {  // x: the iterates
    std::vector<T> y_bar;                          // (dofs)
    std::vector<T> diagonal_bar;                   // (rows) of A
    std::vector<T> now;                            // (rows) work
};

// x (rows): in, the start; out, the result. law: cone or relaxed_cone. Instantiated for double and
// Dual<double>.
template <class T>
void cone_sweeps(const MlcpView<T>& p, FrictionLaw law, int sweeps, ConeTape<T>& tape, T* x);
// Adds to W_bar, R_bar, b_bar and bound_bar. x_bar (rows): in, the covector of the result; out, of the start.
template <class T>
void cone_sweeps_adj(const MlcpView<T>& p, FrictionLaw law, ConeTape<T>& tape, T* x_bar,
                     const OperatorBar<T>& bar, T* b_bar, T* bound_bar);

// 1 if row r of an iterate x (rows) is at a bound, 0 if it is free.
int cone_code(const MlcpView<double>& p, int r, const double* x);

}  // namespace costate
