// Solves the square systems of active sets, which may be singular. The last rows fix an impulse, x_b = c or
// x_b = m x_k (bounds of joint friction, sliding in a box), and are eliminated. The others,
//
//   S x_k = f_k - B f_b,   S = G_kk - B N   with   G = [G_kk B; N 1],
//
// are factored as L D L^T if S is symmetric and positive definite, otherwise by LU with partial pivoting. If a
// pivot is of round-off size, G is solved by a complete orthogonal decomposition instead, which gives the least
// squares solution of least norm. All are deterministic. Only the decomposition allocates.
#pragma once

#include <memory>
#include <vector>

#include "solvers/complementarity/factors/symmetric_matrix.hpp"

namespace costate {

// What is known of G.
struct MatrixStructure {
    // x_row + entry x_column, where the row `column` is kept; x_row alone if column is -1
    struct FixedRow {
        int column;
        double entry;
    };
    int kept = 0;                 // the number of rows before the fixed ones
    std::vector<FixedRow> fixed;  // the last rows
    bool symmetric = false;       // S, and A positive definite but for round-off
};

class DenseSolver {
public:
    // fill(i, from, g, b) writes the kept row i of G: its columns from ... kept - 1 to g[from ... kept - 1] and those of the
    // fixed rows to b (fixed). It must be repeatable.
    template <class Fill> void factor(const MatrixStructure& structure, const Fill& fill) {
        start(structure);
        const size_t kept = structure.kept, fixed = structure.fixed.size();
        const auto fill_all = [&](bool upper) {
            for (size_t i = 0; i < kept; ++i)
                fill(i, upper ? i : 0, rest_.data() + i * row_length(kept), across_.data() + i * fixed);
        };
        fill_all(structure.symmetric);
        full_rank_ = factor_rest();
        if (full_rank_) return;
        fill_all(false);
        decompose();
    }
    void factor(const double* G, int n);                 // (n x n, row-major), nothing else being known of G
    void solve_inplace(double* x);                       // x <- G^-1 x
    void solve_transposed_inplace(double* x);            // x <- G^-T x
    void solve_columns_inplace(double* X, int columns);  // X <- G^-1 X (n x columns, row-major)
    bool full_rank() const { return full_rank_; }
    size_t size() const { return structure_.kept + structure_.fixed.size(); }

private:
    void start(const MatrixStructure& structure);
    bool factor_rest();
    void decompose();
    void solve_rest_inplace(size_t columns);

    MatrixStructure structure_;
    bool full_rank_ = true;
    std::vector<double> rest_;    // G_kk, then the factor of S (matrix_size(kept))
    std::vector<double> across_;  // B (kept x fixed)
    std::vector<int> pivots_;     // of LU
    std::vector<double> part_;    // right-hand sides of S
    struct Decomposition;
    std::shared_ptr<const Decomposition> decomposition_;  // of G, if its rank is deficient
};

}  // namespace costate
