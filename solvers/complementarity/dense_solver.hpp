// Solves the square systems of active sets, which may be singular. Rows that fix an impulse, x_b = c or
// x_b = m x_k (bounds of joint friction, sliding in a box), are eliminated first. The rest,
//
//   S x_k = f_k - B f_b,   S = G_kk - B N   with   G = [G_kk B; N 1],
//
// is factored as L D L^T if it is symmetric and positive definite, otherwise by LU with partial pivoting. If a
// pivot is of round-off size, G is solved by a complete orthogonal decomposition instead, which gives the least
// squares solution of least norm. All are deterministic. Only the decomposition allocates.
#pragma once

#include <vector>

#include <Eigen/QR>

namespace costate {

// What is known of G.
struct MatrixStructure {
    // Row x_row + entry x_column of G, where `column` is no fixed row; x_row alone if column is -1
    struct FixedRow {
        int row, column;
        double entry;
    };
    std::vector<FixedRow> fixed;
    bool symmetric = false;  // S, and A positive definite but for round-off
};

class DenseSolver {
public:
    void factor(const double* G, int n, const MatrixStructure& structure = {});  // (n x n, row-major)
    void take_factor(const DenseSolver& other);                                  // of full rank
    void solve_inplace(double* x);                                               // x <- G^-1 x
    void solve_transposed_inplace(double* x);                                    // x <- G^-T x
    void solve_columns_inplace(double* X, int columns);  // X <- G^-1 X (n x columns, row-major)
    bool full_rank() const { return full_rank_; }

private:
    void assemble_rest(const double* G);
    bool factor_rest();
    void solve_rest_inplace(size_t columns);

    int n_ = 0;
    bool full_rank_ = true, symmetric_ = false;
    std::vector<MatrixStructure::FixedRow> fixed_;  // with columns of S
    std::vector<int> kept_;                         // the other rows
    std::vector<double> across_;                    // B^T (fixed x kept)
    std::vector<double> rest_;                      // the factor of S (kept x row_length(kept))
    std::vector<int> pivots_;                       // of LU
    std::vector<int> position_;                     // (n) of a row in kept_, or -1
    std::vector<double> part_;                      // right-hand sides of S
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> orthogonal_;
};

}  // namespace costate
