#include "solvers/complementarity/dense_solver.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/math/instruction_sets.hpp"
#include "solvers/complementarity/row_kernels.hpp"
#include "solvers/complementarity/symmetric_matrix.hpp"

namespace costate {

namespace {
constexpr double round_off = 1e-13;  // smaller pivots mean a deficient rank
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// LU with partial pivoting, in place. False if a pivot is at most `smallest`.
COSTATE_EVERY_INSTRUCTION_SET
bool factor_lu(double* lu, size_t n, double smallest, int* pivots) {
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; ++k) {
        size_t p = k;
        for (size_t i = k + 1; i < n; ++i)
            if (std::abs(lu[i * length + k]) > std::abs(lu[p * length + k])) p = i;
        pivots[k] = static_cast<int>(p);
        double* row_k = lu + k * length;
        if (p != k) std::swap_ranges(row_k, row_k + n, lu + p * length);
        if (!(std::abs(row_k[k]) > smallest)) return false;
        for (size_t i = k + 1; i < n; ++i) {
            double* row_i = lu + i * length;
            if (row_i[k] != 0) subtract_row(row_i, row_k, row_i[k] /= row_k[k], k + 1, n);
        }
    }
    return true;
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_lu_inplace(const double* lu, size_t n, const int* pivots, double* x) {
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; ++k)
        std::swap(x[k], x[pivots[k]]);
    for (size_t i = 1; i < n; ++i)
        x[i] -= dot(lu + i * length, x, i);
    for (size_t i = n; i-- > 0;)
        x[i] = (x[i] - dot(lu + i * length + i + 1, x + i + 1, n - i - 1)) / lu[i * length + i];
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_lu_columns_inplace(const double* lu, size_t n, const int* pivots, double* X, size_t columns) {
    const size_t length = row_length(n);
    const auto subtract = [&](size_t i, size_t j) {
        const double l = lu[i * length + j];
        double* __restrict to = X + i * columns;
        const double* __restrict from = X + j * columns;
        for (size_t c = 0; c < columns; ++c)
            to[c] -= l * from[c];
    };
    for (size_t k = 0; k < n; ++k)
        if (const size_t p = pivots[k]; p != k)
            std::swap_ranges(X + k * columns, X + (k + 1) * columns, X + p * columns);
    for (size_t i = 1; i < n; ++i)
        for (size_t j = 0; j < i; ++j)
            subtract(i, j);
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; ++j)
            subtract(i, j);
        for (size_t c = 0; c < columns; ++c)
            X[i * columns + c] /= lu[i * length + i];
    }
}

void solve_lu_transposed_inplace(const double* lu, size_t n, const int* pivots, double* x) {
    const size_t length = row_length(n);
    for (size_t i = 0; i < n; ++i) {
        x[i] /= lu[i * length + i];
        for (size_t j = i + 1; j < n; ++j)
            x[j] -= lu[i * length + j] * x[i];
    }
    for (size_t i = n; i-- > 0;)
        for (size_t j = 0; j < i; ++j)
            x[j] -= lu[i * length + j] * x[i];
    for (size_t k = n; k-- > 0;)
        std::swap(x[k], x[pivots[k]]);
}
}  // namespace

// S and B^T
void DenseSolver::assemble_rest(const double* G) {
    const size_t n = n_, kept = kept_.size();
    const size_t length = row_length(kept);
    rest_.resize(kept * length);
    across_.resize(fixed_.size() * kept);
    for (size_t i = 0; i < kept; ++i) {
        const double* from = G + kept_[i] * n;
        double* to = rest_.data() + i * length;
        if (kept == n) {
            std::copy_n(from, n, to);
            continue;
        }
        for (size_t j = 0; j < kept; ++j)
            to[j] = from[kept_[j]];
        for (size_t b = 0; b < fixed_.size(); ++b) {
            const double entry = across_[b * kept + i] = from[fixed_[b].row];
            if (fixed_[b].column >= 0) to[fixed_[b].column] -= entry * fixed_[b].entry;
        }
    }
}

// False if a pivot is of round-off size, relative to the largest entry.
bool DenseSolver::factor_rest() {
    const size_t kept = kept_.size();
    const size_t length = row_length(kept);
    double *S = rest_.data(), largest = 0;
    if (symmetric_) {
        for (size_t k = 0; k < kept; ++k)
            largest = std::max(largest, S[k * length + k]);
        bool positive = factor_symmetric_inplace(S, kept);
        for (size_t k = 0; k < kept && positive; ++k)
            positive = S[k * length + k] > round_off * largest;
        return positive;
    }
    for (size_t i = 0; i < kept; ++i)
        for (size_t j = 0; j < kept; ++j)
            largest = std::max(largest, std::abs(S[i * length + j]));
    pivots_.resize(kept);
    return factor_lu(S, kept, round_off * largest, pivots_.data());
}

void DenseSolver::factor(const double* G, int n, const MatrixStructure& structure) {
    n_ = n;
    symmetric_ = structure.symmetric;
    fixed_ = structure.fixed;
    position_.assign(n, 0);
    for (const auto& f : fixed_)
        position_[f.row] = -1;
    kept_.clear();
    for (int i = 0; i < n; ++i) {
        if (position_[i] < 0) continue;
        position_[i] = static_cast<int>(kept_.size());
        kept_.push_back(i);
    }
    for (auto& f : fixed_)
        if (f.column >= 0) f.column = position_[f.column];
    assemble_rest(G);
    full_rank_ = factor_rest();
    if (!full_rank_) orthogonal_.compute(Eigen::Map<const RowMajor>(G, n, n));
}

void DenseSolver::take_factor(const DenseSolver& other) {
    assert(other.full_rank_);
    n_ = other.n_;
    full_rank_ = true;
    symmetric_ = other.symmetric_;
    fixed_ = other.fixed_;
    kept_ = other.kept_;
    across_ = other.across_;
    rest_ = other.rest_;
    pivots_ = other.pivots_;
}

// part_ (kept x columns) <- S^-1 part_
void DenseSolver::solve_rest_inplace(size_t columns) {
    const size_t kept = kept_.size();
    double *S = rest_.data(), *X = part_.data();
    if (columns == 1)
        symmetric_ ? solve_symmetric_inplace(S, kept, X) : solve_lu_inplace(S, kept, pivots_.data(), X);
    else
        symmetric_ ? solve_symmetric_columns_inplace(S, kept, X, columns)
                   : solve_lu_columns_inplace(S, kept, pivots_.data(), X, columns);
}

void DenseSolver::solve_inplace(double* x) { solve_columns_inplace(x, 1); }

void DenseSolver::solve_columns_inplace(double* X, int columns) {
    const size_t kept = kept_.size(), width = columns;
    if (!full_rank_) {
        Eigen::Map<RowMajor> right(X, n_, columns);
        right = RowMajor(orthogonal_.solve(right));
        return;
    }
    part_.resize(std::max(kept * width, row_length(kept)));
    for (size_t i = 0; i < kept; ++i)
        std::copy_n(X + kept_[i] * width, width, part_.data() + i * width);
    for (size_t b = 0; b < fixed_.size(); ++b)
        for (size_t i = 0; i < kept; ++i) {
            const double entry = across_[b * kept + i];
            for (size_t c = 0; c < width; ++c)
                part_[i * width + c] -= entry * X[fixed_[b].row * width + c];
        }
    solve_rest_inplace(width);
    for (size_t i = 0; i < kept; ++i)
        std::copy_n(part_.data() + i * width, width, X + kept_[i] * width);
    for (const auto& f : fixed_)
        for (size_t c = 0; c < width && f.column >= 0; ++c)
            X[f.row * width + c] -= f.entry * part_[f.column * width + c];
}

// With z for x:   S^T z_k = f_k - N^T f_b,   z_b = f_b - B^T z_k
void DenseSolver::solve_transposed_inplace(double* x) {
    const size_t kept = kept_.size();
    if (!full_rank_) {
        Eigen::Map<Eigen::VectorXd> right(x, n_);
        right = Eigen::VectorXd(orthogonal_.transpose().solve(right));
        return;
    }
    part_.resize(row_length(kept));
    for (size_t i = 0; i < kept; ++i)
        part_[i] = x[kept_[i]];
    for (const auto& f : fixed_)
        if (f.column >= 0) part_[f.column] -= f.entry * x[f.row];
    if (symmetric_)
        solve_symmetric_inplace(rest_.data(), kept, part_.data());
    else
        solve_lu_transposed_inplace(rest_.data(), kept, pivots_.data(), part_.data());
    for (size_t i = 0; i < kept; ++i)
        x[kept_[i]] = part_[i];
    for (size_t b = 0; b < fixed_.size(); ++b)
        for (size_t i = 0; i < kept; ++i)
            x[fixed_[b].row] -= across_[b * kept + i] * part_[i];
}

}  // namespace costate
