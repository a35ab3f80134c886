#include "solvers/complementarity/factored_solver.hpp"

#include <limits>

#include <Eigen/SparseLU>

namespace costate {

namespace {

constexpr double least_compliance = 1e-10;  // of a row's diagonal
constexpr int most_refinements = 5, most_dense_dofs = 150;

// out = X Y of n x n matrices, row-major
void multiply(const double* X, const double* Y, int n, double* out) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            out[i * n + j] = 0;
            for (int k = 0; k < n; ++k)
                out[i * n + j] += X[i * n + k] * Y[k * n + j];
        }
}
// z <- X z or X^T z
template <bool transposed> void apply_inplace(const double* X, int n, double* z) {
    double out[RowGroup::most] = {};
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            out[i] += (transposed ? X[k * n + i] : X[i * n + k]) * z[k];
    std::copy(out, out + n, z);
}

// By elimination with pivots.
void invert(const double* X, int n, double* inverse) {
    double rest[RowGroup::most * RowGroup::most];
    std::copy(X, X + n * n, rest);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            inverse[i * n + j] = i == j;
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(rest[i * n + k]) > std::abs(rest[p * n + k])) p = i;
        if (p != k) {
            std::swap_ranges(rest + k * n, rest + (k + 1) * n, rest + p * n);
            std::swap_ranges(inverse + k * n, inverse + (k + 1) * n, inverse + p * n);
        }
        const double pivot = rest[k * n + k];
        for (int j = 0; j < n; ++j) {
            rest[k * n + j] /= pivot;
            inverse[k * n + j] /= pivot;
        }
        for (int i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = rest[i * n + k];
            for (int j = 0; j < n; ++j) {
                rest[i * n + j] -= factor * rest[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
}

}  // namespace

struct FactoredSolver::SparseMatrix {
    std::vector<int> outer, inner;  // the pattern that was analysed last
    Eigen::SparseMatrix<double> H;
    Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> factor;
};

FactoredSolver::FactoredSolver() = default;
FactoredSolver::FactoredSolver(FactoredSolver&&) noexcept = default;
FactoredSolver& FactoredSolver::operator=(FactoredSolver&&) noexcept = default;
FactoredSolver::~FactoredSolver() = default;

void FactoredSolver::factor(const FactoredOperator<double>& A, const std::vector<int>& rows) {
    A_ = &A;
    rows_ = rows;
    dofs_ = A.dofs;
    const size_t dofs = dofs_;
    y_.resize(dofs);
    sparse_ = dofs_ > most_dense_dofs;
    if (sparse_) find_pattern();
    for (double share = least_compliance; share < 1; share *= 1e3) {
        eliminate_rows(share);
        if (sparse_) {
            sparse_matrix_->factor.factorize(sparse_matrix_->H);
            factored_ = sparse_matrix_->factor.info() == Eigen::Success;
            if (factored_) return;
        } else {
            dense_factor_.factor(dense_.data(), dofs_);
            return;
        }
    }
}

// B^-1 and C of every group, and H.
void FactoredSolver::eliminate_rows(double share) {
    if (sparse_) {
        Eigen::SparseMatrix<double>& H = sparse_matrix_->H;
        std::fill_n(H.valuePtr(), H.nonZeros(), 0.0);
        for (int j = 0; j < dofs_; ++j)
            H.coeffRef(j, j) = 1;
    } else {
        const size_t dofs = dofs_;
        dense_.assign(dofs * dofs, 0);
        for (size_t j = 0; j < dofs; ++j)
            dense_[j * dofs + j] = 1;
    }
    for (RowGroup& g : groups) {
        const int n = g.count;
        double B[RowGroup::most * RowGroup::most];
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                const int r = rows_[g.first + j];
                B[i * n + j] = g.P[i * n + j] * std::max(A_->R[r], share * A_->diagonal[r]) + g.K[i * n + j];
            }
        invert(B, n, g.B_inverse);
        multiply(g.B_inverse, g.P, n, g.C);
        add_products(g);
    }
}

// H += W^T C W of a group.
void FactoredSolver::add_products(const RowGroup& g) {
    const auto row_of = [&](int i) { return rows_[g.first + i]; };
    const int length = A_->length(row_of(0));
    const int* column = A_->column + A_->start[row_of(0)];
    const double* W[RowGroup::most];
    for (int i = 0; i < g.count; ++i)
        W[i] = A_->W + A_->start[row_of(i)];
    for (int b = 0; b < length; ++b) {
        double CW[RowGroup::most] = {};
        for (int i = 0; i < g.count; ++i)
            for (int j = 0; j < g.count; ++j)
                CW[i] += g.C[i * g.count + j] * W[j][b];
        const auto entry = [&](int a) {
            double sum = 0;
            for (int i = 0; i < g.count; ++i)
                sum += W[i][a] * CW[i];
            return sum;
        };
        if (!sparse_) {
            for (int a = 0; a < length; ++a)
                dense_[static_cast<size_t>(column[a]) * static_cast<size_t>(dofs_) + column[b]] += entry(a);
            continue;
        }
        Eigen::SparseMatrix<double>& H = sparse_matrix_->H;
        // both lists, the chain's and that of a column of H, are in order
        int at = H.outerIndexPtr()[column[b] + 1] - 1;
        for (int a = 0; a < length; ++a) {
            while (H.innerIndexPtr()[at] != column[a])
                --at;
            H.valuePtr()[at] += entry(a);
        }
    }
}

// The pattern of H, from all rows of A, active or not, so that the active sets of one step share it. Its
// columns are ordered anew only where it is not that of before.
void FactoredSolver::find_pattern() {
    // rows by dof, one of each contact
    std::vector<int> first_row(static_cast<size_t>(dofs_) + 1, 0), touching;
    const auto repeats = [&](int r) {
        return r > 0 && A_->length(r) == A_->length(r - 1) &&
               std::equal(A_->column + A_->start[r], A_->column + A_->start[r + 1],
                          A_->column + A_->start[r - 1]);
    };
    for (int r = 0; r < A_->rows; ++r)
        for (size_t k = A_->start[r]; !repeats(r) && k < A_->start[r + 1]; ++k)
            ++first_row[A_->column[k] + 1];
    for (int j = 0; j < dofs_; ++j)
        first_row[j + 1] += first_row[j];
    touching.resize(first_row.back());
    std::vector<int> next(first_row.begin(), first_row.end() - 1), outer(1, 0), inner;
    for (int r = 0; r < A_->rows; ++r)
        for (size_t k = A_->start[r]; !repeats(r) && k < A_->start[r + 1]; ++k)
            touching[next[A_->column[k]]++] = r;
    std::vector<int> seen(dofs_, -1);
    for (int j = 0; j < dofs_; ++j) {
        const auto add = [&](int i) {
            if (seen[i] == j) return;
            seen[i] = j;
            inner.push_back(i);
        };
        add(j);
        for (int t = first_row[j]; t < first_row[j + 1]; ++t) {
            const int r = touching[t];
            for (size_t k = A_->start[r]; k < A_->start[r + 1]; ++k)
                add(A_->column[k]);
        }
        std::sort(inner.begin() + outer.back(), inner.end());
        outer.push_back(static_cast<int>(inner.size()));
    }
    if (sparse_matrix_ == nullptr) sparse_matrix_ = std::make_unique<SparseMatrix>();
    SparseMatrix& it = *sparse_matrix_;
    if (outer == it.outer && inner == it.inner) return;
    it.outer = outer;
    it.inner = inner;
    it.H.resize(dofs_, dofs_);
    it.H.resizeNonZeros(static_cast<Eigen::Index>(inner.size()));
    std::ranges::copy(outer, it.H.outerIndexPtr());
    std::ranges::copy(inner, it.H.innerIndexPtr());
    it.factor.analyzePattern(it.H);
}

// y <- H^-1 y or H^-T y. As it is where H has no factors: whoever asked for a step of Newton's method finds
// that it does not help.
template <bool transposed> void FactoredSolver::solve_dofs_inplace() {
    if (!sparse_) {
        if (transposed)
            dense_factor_.solve_transposed_inplace(y_.data());
        else
            dense_factor_.solve_inplace(y_.data());
        return;
    }
    if (!factored_) return;
    Eigen::Map<Eigen::VectorXd> y(y_.data(), dofs_);
    const Eigen::VectorXd right = y;
    if (transposed)
        y = sparse_matrix_->factor.transpose().solve(right);
    else
        y = sparse_matrix_->factor.solve(right);
}

// z of the equations at the head of this file, or of those of G^T, which are B^T z + W W^T P^T z = f.
template <bool transposed> void FactoredSolver::once_inplace(double* z) {
    std::ranges::fill(y_, 0.0);
    for (const RowGroup& g : groups) {
        double part[RowGroup::most];
        std::copy_n(z + g.first, g.count, part);
        if (transposed)
            apply_inplace<true>(g.C, g.count, part);
        else
            apply_inplace<false>(g.B_inverse, g.count, part);
        for (int i = 0; i < g.count; ++i)
            A_->add(rows_[g.first + i], part[i], y_.data());
    }
    solve_dofs_inplace<transposed>();
    for (const RowGroup& g : groups) {
        double part[RowGroup::most];
        for (int i = 0; i < g.count; ++i)
            part[i] = A_->dot(rows_[g.first + i], y_.data());
        double* out = z + g.first;
        if (transposed) {
            for (int i = 0; i < g.count; ++i)
                out[i] -= part[i];
            apply_inplace<true>(g.B_inverse, g.count, out);
        } else {
            apply_inplace<false>(g.B_inverse, g.count, out);
            apply_inplace<false>(g.C, g.count, part);
            for (int i = 0; i < g.count; ++i)
                out[i] -= part[i];
        }
    }
}

template <bool transposed> void FactoredSolver::product(const double* z, double* f) {
    std::ranges::fill(y_, 0.0);
    for (const RowGroup& g : groups) {
        double part[RowGroup::most];
        std::copy_n(z + g.first, g.count, part);
        if (transposed) apply_inplace<true>(g.P, g.count, part);
        for (int i = 0; i < g.count; ++i)
            A_->add(rows_[g.first + i], part[i], y_.data());
    }
    for (const RowGroup& g : groups) {
        double part[RowGroup::most], rest[RowGroup::most], moved[RowGroup::most];
        std::copy_n(z + g.first, g.count, rest);
        std::copy_n(z + g.first, g.count, moved);
        apply_inplace<transposed>(g.K, g.count, rest);
        if (transposed) apply_inplace<true>(g.P, g.count, moved);
        for (int i = 0; i < g.count; ++i) {
            const int r = rows_[g.first + i];
            part[i] = A_->dot(r, y_.data()) + A_->R[r] * moved[i];
        }
        if (!transposed) apply_inplace<false>(g.P, g.count, part);
        for (int i = 0; i < g.count; ++i)
            f[g.first + i] = part[i] + rest[i];
    }
}

template <bool transposed> void FactoredSolver::refine_inplace(double* z) {
    const size_t n = rows_.size();
    f_.assign(z, z + n);
    once_inplace<transposed>(z);
    double before = std::numeric_limits<double>::infinity();
    rest_.resize(n);
    for (int k = 0;; ++k) {
        product<transposed>(z, rest_.data());
        double size = 0;
        for (size_t i = 0; i < n; ++i) {
            rest_[i] = f_[i] - rest_[i];
            size = std::max(size, std::abs(rest_[i]));
        }
        if (k > 0 && !(size < before)) {
            std::ranges::copy(last_, z);
            return;
        }
        if (k == most_refinements || size == 0 || !(size < before / 2)) return;
        before = size;
        last_.assign(z, z + n);
        once_inplace<transposed>(rest_.data());
        for (size_t i = 0; i < n; ++i)
            z[i] += rest_[i];
    }
}

template void FactoredSolver::refine_inplace<false>(double*);
template void FactoredSolver::refine_inplace<true>(double*);

}  // namespace costate
