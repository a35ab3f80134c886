// Solves square systems that may be singular: by LU with partial pivoting, or, if a pivot is of round-off
// size, by a complete orthogonal decomposition, which gives the least squares solution of least norm. Both
// are deterministic. Only the decomposition allocates.
#pragma once

#include <vector>

#include <Eigen/QR>

#include "core/math/dual.hpp"

namespace costate {

class DenseSolver {
public:
    void factor(const double* G, int n);                       // (n x n, row-major)
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

// x <- G^-1 x in the scalar T, from the factors of the values of G. The derivative part of a dual number is
// d = G^-1 (x_dot - G_dot x).
inline void solve_inplace(const DenseSolver& f, const double*, int, double* x) { f.solve_inplace(x); }
inline void solve_transposed_inplace(const DenseSolver& f, const double*, int, double* x) {
    f.solve_transposed_inplace(x);
}

template <bool transposed>
void solve_dual_inplace(const DenseSolver& f, const Dual<double>* G, int n, Dual<double>* x) {
    std::vector<double> part(n);
    const auto solve = [&] {
        transposed ? f.solve_transposed_inplace(part.data()) : f.solve_inplace(part.data());
    };
    for (int i = 0; i < n; ++i)
        part[i] = x[i].v;
    solve();
    for (int i = 0; i < n; ++i)
        x[i].v = part[i];
    for (int i = 0; i < n; ++i) {
        double rest = x[i].d;
        for (int j = 0; j < n; ++j)
            rest -= (transposed ? G[j * n + i].d : G[i * n + j].d) * x[j].v;
        part[i] = rest;
    }
    solve();
    for (int i = 0; i < n; ++i)
        x[i].d = part[i];
}
inline void solve_inplace(const DenseSolver& f, const Dual<double>* G, int n, Dual<double>* x) {
    solve_dual_inplace<false>(f, G, n, x);
}
inline void solve_transposed_inplace(const DenseSolver& f, const Dual<double>* G, int n, Dual<double>* x) {
    solve_dual_inplace<true>(f, G, n, x);
}

}  // namespace costate
