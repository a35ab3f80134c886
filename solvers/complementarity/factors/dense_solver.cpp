#include "solvers/complementarity/factors/dense_solver.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include "solvers/complementarity/factors/lu.hpp"

namespace costate {

namespace {
constexpr double round_off = 1e-13;  // smaller pivots mean a deficient rank
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
}  // namespace

struct DenseSolver::Decomposition {
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> of_G;
    explicit Decomposition(const Eigen::MatrixXd& G) : of_G(G) {}
};

void DenseSolver::start(const MatrixStructure& structure) {
    structure_ = structure;
    rest_.resize(matrix_size(structure.kept));
    across_.resize(structure.kept * structure.fixed.size());
}

void DenseSolver::factor(const double* G, int n) {
    factor({n, {}, false}, [&](size_t i, size_t, double* g, double*) { std::copy_n(G + i * n, n, g); });
}

// False if a pivot is of round-off size, relative to the largest entry.
bool DenseSolver::factor_rest() {
    const size_t kept = structure_.kept, fixed = structure_.fixed.size(), length = row_length(kept);
    double *S = rest_.data(), largest = 0;
    if (structure_.symmetric) {
        for (size_t k = 0; k < kept; ++k)
            largest = std::max(largest, S[k * length + k]);
        bool positive = factor_symmetric_inplace(S, kept);
        for (size_t k = 0; k < kept && positive; ++k)
            positive = S[k * length + k] > round_off * largest;
        return positive;
    }
    for (size_t b = 0; b < fixed; ++b)
        if (const auto& f = structure_.fixed[b]; f.column >= 0)
            for (size_t i = 0; i < kept; ++i)
                S[i * length + f.column] -= across_[i * fixed + b] * f.entry;
    for (size_t i = 0; i < kept; ++i)
        for (size_t j = 0; j < kept; ++j)
            largest = std::max(largest, std::abs(S[i * length + j]));
    pivots_.resize(kept);
    return factor_lu_inplace(S, kept, round_off * largest, pivots_.data());
}

void DenseSolver::decompose() {
    const int kept = structure_.kept, n = static_cast<int>(size());
    Eigen::MatrixXd G = Eigen::MatrixXd::Identity(n, n);
    const Eigen::OuterStride<> length(static_cast<int>(row_length(kept)));
    G.topLeftCorner(kept, kept) =
        Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(rest_.data(), kept, kept, length);
    G.topRightCorner(kept, n - kept) = Eigen::Map<const RowMajor>(across_.data(), kept, n - kept);
    for (int b = kept; b < n; ++b)
        if (const auto& f = structure_.fixed[b - kept]; f.column >= 0) G(b, f.column) = f.entry;
    decomposition_ = std::make_shared<Decomposition>(G);
}

// part_ (kept x columns) <- S^-1 part_
void DenseSolver::solve_rest_inplace(size_t columns) {
    const size_t kept = structure_.kept;
    double *S = rest_.data(), *X = part_.data();
    const bool symmetric = structure_.symmetric;
    if (columns == 1)
        symmetric ? solve_symmetric_inplace(S, kept, X) : solve_lu_inplace(S, kept, pivots_.data(), X);
    else
        symmetric ? solve_symmetric_columns_inplace(S, kept, X, columns)
                  : solve_lu_columns_inplace(S, kept, pivots_.data(), X, columns);
}

void DenseSolver::solve_inplace(double* x) { solve_columns_inplace(x, 1); }

void DenseSolver::solve_columns_inplace(double* X, int columns) {
    const size_t kept = structure_.kept, fixed = structure_.fixed.size(), width = columns;
    if (!full_rank_) {
        Eigen::Map<RowMajor> right(X, static_cast<int>(size()), columns);
        right = RowMajor(decomposition_->of_G.solve(right));
        return;
    }
    part_.resize(std::max(kept * width, row_length(kept)));
    std::copy_n(X, kept * width, part_.data());
    double* X_fixed = X + kept * width;
    for (size_t i = 0; i < kept; ++i)
        for (size_t b = 0; b < fixed; ++b)
            for (size_t c = 0; c < width; ++c)
                part_[i * width + c] -= across_[i * fixed + b] * X_fixed[b * width + c];
    solve_rest_inplace(width);
    std::copy_n(part_.data(), kept * width, X);
    for (size_t b = 0; b < fixed; ++b)
        if (const auto& f = structure_.fixed[b]; f.column >= 0)
            for (size_t c = 0; c < width; ++c)
                X_fixed[b * width + c] -= f.entry * part_[f.column * width + c];
}

// With z for x:   S^T z_k = f_k - N^T f_b,   z_b = f_b - B^T z_k
void DenseSolver::solve_transposed_inplace(double* x) {
    const size_t kept = structure_.kept, fixed = structure_.fixed.size();
    if (!full_rank_) {
        Eigen::Map<Eigen::VectorXd> right(x, static_cast<int>(size()));
        right = Eigen::VectorXd(decomposition_->of_G.transpose().solve(right));
        return;
    }
    part_.resize(row_length(kept));
    std::copy_n(x, kept, part_.data());
    double* x_fixed = x + kept;
    for (size_t b = 0; b < fixed; ++b)
        if (const auto& f = structure_.fixed[b]; f.column >= 0) part_[f.column] -= f.entry * x_fixed[b];
    if (structure_.symmetric)
        solve_symmetric_inplace(rest_.data(), kept, part_.data());
    else
        solve_lu_transposed_inplace(rest_.data(), kept, pivots_.data(), part_.data());
    std::copy_n(part_.data(), kept, x);
    for (size_t i = 0; i < kept; ++i)
        for (size_t b = 0; b < fixed; ++b)
            x_fixed[b] -= across_[i * fixed + b] * part_[i];
}

}  // namespace costate
