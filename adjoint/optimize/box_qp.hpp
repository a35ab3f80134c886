// Small quadratic programs with bounds, solved by projected Newton steps (Tassa, Mansard, Todorov,
// Control-Limited Differential Dynamic Programming, ICRA 2014, section III.B):
//
//   min  g^T x + 1/2 x^T H x   subject to   lower <= x <= upper
#pragma once

#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

struct BoxQp {
    VecX<double> x;
    std::vector<int> free;  // entries of x that are not at active bounds; their gradient is zero
    Eigen::MatrixXd L;      // Cholesky factor of H for the free entries
    // false if H is not positive definite for the free entries, or no step descends
    bool solved = false;

    // H_ff^-1 times the free rows of B, zero in the others: the change of -x for a change B y of g.
    Eigen::MatrixXd response(const Eigen::MatrixXd& B) const;
};

// `start` is clamped to the bounds first.
BoxQp solve_box_qp(const Eigen::MatrixXd& H, const VecX<double>& g, const VecX<double>& lower,
                   const VecX<double>& upper, const VecX<double>& start);

}  // namespace costate
