// Solves square systems that may be singular: by LU with partial pivoting, or, if a pivot is of round-off
// size, by a complete orthogonal decomposition, which gives the least squares solution of least norm. Both
// are deterministic. Only the decomposition allocates.
#pragma once

#include <vector>

#include <Eigen/QR>

namespace costate {

class DenseSolver {
public:
    void factor(const double* G, int n);                       // (n x n, row-major)
    void take_factor(const DenseSolver& other);                // of full rank
    void solve_inplace(double* x) const;                       // x <- G^-1 x
    void solve_transposed_inplace(double* x) const;            // x <- G^-T x
    void solve_columns_inplace(double* X, int columns) const;  // X <- G^-1 X (n x columns, row-major)
    bool full_rank() const { return full_rank_; }

private:
    int n_ = 0;
    bool full_rank_ = true;
    std::vector<double> lu_;
    std::vector<int> pivots_;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> orthogonal_;
};

}  // namespace costate
