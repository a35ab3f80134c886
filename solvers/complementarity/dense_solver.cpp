#include "solvers/complementarity/dense_solver.hpp"

#include <cassert>

#include "core/math/instruction_sets.hpp"

namespace costate {

namespace {
constexpr double round_off = 1e-13;  // relative to the largest entry: smaller pivots mean a deficient rank
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// LU with partial pivoting, in place. False if a pivot is of round-off size.
COSTATE_EVERY_INSTRUCTION_SET
bool factor_lu(double* lu, size_t n, int* pivots) {
    double largest = 0;
    for (size_t i = 0; i < n * n; ++i)
        largest = std::max(largest, std::abs(lu[i]));
    for (size_t k = 0; k < n; ++k) {
        size_t p = k;
        for (size_t i = k + 1; i < n; ++i)
            if (std::abs(lu[i * n + k]) > std::abs(lu[p * n + k])) p = i;
        pivots[k] = static_cast<int>(p);
        double* row_k = lu + k * n;
        if (p != k) std::swap_ranges(row_k, row_k + n, lu + p * n);
        if (!(std::abs(row_k[k]) > round_off * largest)) return false;
        for (size_t i = k + 1; i < n; ++i) {
            double* __restrict row_i = lu + i * n;
            const double* __restrict from = row_k;
            if (row_i[k] == 0) continue;
            const double l = row_i[k] /= from[k];
            for (size_t j = k + 1; j < n; ++j)
                row_i[j] -= l * from[j];
        }
    }
    return true;
}
}  // namespace

void DenseSolver::factor(const double* G, int n) {
    const size_t size = n;
    n_ = n;
    lu_.assign(G, G + size * size);
    pivots_.resize(size);
    full_rank_ = factor_lu(lu_.data(), size, pivots_.data());
    if (!full_rank_) orthogonal_.compute(Eigen::Map<const RowMajor>(G, n, n));
}

void DenseSolver::take_factor(const DenseSolver& other) {
    assert(other.full_rank_);
    n_ = other.n_;
    full_rank_ = true;
    lu_ = other.lu_;
    pivots_ = other.pivots_;
}

void DenseSolver::solve_inplace(double* x) const {
    const size_t size = n_;
    if (!full_rank_) {
        Eigen::Map<Eigen::VectorXd> b(x, n_);
        b = Eigen::VectorXd(orthogonal_.solve(b));
        return;
    }
    for (size_t k = 0; k < size; ++k)
        std::swap(x[k], x[pivots_[k]]);
    for (size_t i = 1; i < size; ++i)
        for (size_t j = 0; j < i; ++j)
            x[i] -= lu_[i * size + j] * x[j];
    for (size_t i = size; i-- > 0;) {
        for (size_t j = i + 1; j < size; ++j)
            x[i] -= lu_[i * size + j] * x[j];
        x[i] /= lu_[i * size + i];
    }
}

void DenseSolver::solve_columns_inplace(double* X, int columns) const {
    const size_t size = n_, width = columns;
    if (!full_rank_) {
        Eigen::Map<RowMajor> B(X, n_, columns);
        B = RowMajor(orthogonal_.solve(B));
        return;
    }
    const auto subtract = [&](size_t i, size_t j) {
        const double l = lu_[i * size + j];
        for (size_t c = 0; c < width; ++c)
            X[i * width + c] -= l * X[j * width + c];
    };
    for (size_t k = 0; k < size; ++k)
        if (const size_t p = pivots_[k]; p != k)
            std::swap_ranges(X + k * width, X + (k + 1) * width, X + p * width);
    for (size_t i = 1; i < size; ++i)
        for (size_t j = 0; j < i; ++j)
            subtract(i, j);
    for (size_t i = size; i-- > 0;) {
        for (size_t j = i + 1; j < size; ++j)
            subtract(i, j);
        for (size_t c = 0; c < width; ++c)
            X[i * width + c] /= lu_[i * size + i];
    }
}

void DenseSolver::solve_transposed_inplace(double* x) const {
    const size_t size = n_;
    if (!full_rank_) {
        Eigen::Map<Eigen::VectorXd> b(x, n_);
        b = Eigen::VectorXd(orthogonal_.transpose().solve(b));
        return;
    }
    for (size_t i = 0; i < size; ++i) {
        x[i] /= lu_[i * size + i];
        for (size_t j = i + 1; j < size; ++j)
            x[j] -= lu_[i * size + j] * x[i];
    }
    for (size_t i = size; i-- > 0;)
        for (size_t j = 0; j < i; ++j)
            x[j] -= lu_[i * size + j] * x[i];
    for (size_t k = size; k-- > 0;)
        std::swap(x[k], x[pivots_[k]]);
}

}  // namespace costate
