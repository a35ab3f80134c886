#include "solvers/complementarity/factored_solver.hpp"

#include <limits>

namespace costate {

namespace {

constexpr double least_compliance = 1e-10;  // relative to a row's diagonal
constexpr int max_refinements = 5, max_dense_dofs = 200;

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
    double out[RowGroup::max_rows] = {};
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            out[i] += (transposed ? X[k * n + i] : X[i * n + k]) * z[k];
    std::copy(out, out + n, z);
}

// The inverse, by elimination with pivots.
void invert(const double* X, int n, double* inverse) {
    double rest[RowGroup::max_rows * RowGroup::max_rows];
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

double FactoredSolver::expected_work(const FactoredOperator<double>& A) {
    A_ = &A;
    dofs_ = A.dofs;
    by_trees_ = dofs_ > max_dense_dofs;
    const double n = dofs_;
    if (!by_trees_) return n * n * n / 3;
    find_pattern();
    return blocks_.work();
}

void FactoredSolver::factor(const FactoredOperator<double>& A, const std::vector<int>& rows) {
    const double work = expected_work(A);
    rows_ = rows;
    y_.resize(dofs_);
    work_ = 0;
    for (double share = least_compliance; share < 1; share *= 1e3) {
        eliminate_rows(share);
        work_ += work;
        if (by_trees_) {
            factored_ = blocks_.factor();
            if (factored_) break;
        } else {
            dense_factor_.factor(dense_.data(), dofs_);
            break;
        }
    }
}

// B^-1 and C of every group, and H.
void FactoredSolver::eliminate_rows(double share) {
    if (by_trees_) {
        blocks_.set_identity();
    } else {
        const size_t dofs = dofs_;
        dense_.assign(dofs * dofs, 0);
        for (size_t j = 0; j < dofs; ++j)
            dense_[j * dofs + j] = 1;
    }
    for (RowGroup& g : groups) {
        const int n = g.count;
        double B[RowGroup::max_rows * RowGroup::max_rows];
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

// H += W^T C W for a group. Its dofs belong to one tree, or first to one tree and then to another.
void FactoredSolver::add_products(const RowGroup& g) {
    const int first_row = rows_[g.first], length = A_->length(first_row);
    const int* column = A_->column + A_->start[first_row];
    const double* W[RowGroup::max_rows];
    for (int i = 0; i < g.count; ++i)
        W[i] = A_->W + A_->start[rows_[g.first + i]];
    int split = by_trees_ && length > 0 ? 1 : length;
    while (split < length && tree_of_[column[split]] == tree_of_[column[0]])
        ++split;
    const int begin[] = {0, split, length};
    for (int part_b = 0; part_b < 2; ++part_b)
        for (int part_a = 0; part_a < 2; ++part_a) {
            if (begin[part_a] == begin[part_a + 1] || begin[part_b] == begin[part_b + 1]) continue;
            BlockFactor::Block H{dense_.data(), dofs_, 1};
            int row = 0, col = 0;  // first row and column of H
            if (by_trees_) {
                const int tree_a = tree_of_[column[begin[part_a]]], tree_b = tree_of_[column[begin[part_b]]];
                H = blocks_.block(tree_a, tree_b);
                row = A_->tree[tree_a];
                col = A_->tree[tree_b];
            }
            for (int b = begin[part_b]; b < begin[part_b + 1]; ++b) {
                double CW[RowGroup::max_rows] = {};
                for (int i = 0; i < g.count; ++i)
                    for (int j = 0; j < g.count; ++j)
                        CW[i] += g.C[i * g.count + j] * W[j][b];
                for (int a = begin[part_a]; a < begin[part_a + 1]; ++a) {
                    double sum = 0;
                    for (int i = 0; i < g.count; ++i)
                        sum += W[i][a] * CW[i];
                    H(column[a] - row, column[b] - col) += sum;
                }
            }
        }
}

// The pattern of H from all rows of A, active or not, so that all active sets of a step have the same
// pattern.
void FactoredSolver::find_pattern() {
    tree_of_.resize(dofs_);
    for (int t = 0; t < A_->trees; ++t)
        std::fill(tree_of_.begin() + A_->tree[t], tree_of_.begin() + A_->tree[t + 1], t);
    touching_.clear();
    for (int r = 0; r < A_->rows; ++r) {
        if (A_->length(r) == 0) continue;
        const int a = tree_of_[A_->column[A_->start[r]]];
        const int b = tree_of_[A_->column[A_->start[r + 1] - 1]];
        if (a != b && (touching_.empty() || touching_.back() != std::pair(a, b)))
            touching_.emplace_back(a, b);
    }
    blocks_.analyse(A_->tree, A_->trees, touching_);
}

// y <- H^-1 y or H^-T y. Leaves y unchanged if H has no factors; Newton's method then finds that its step
// does not decrease the residual.
template <bool transposed> void FactoredSolver::solve_dofs_inplace() {
    if (!by_trees_) {
        if (transposed)
            dense_factor_.solve_transposed_inplace(y_.data());
        else
            dense_factor_.solve_inplace(y_.data());
        return;
    }
    if (!factored_) return;
    if (transposed)
        blocks_.solve_transposed_inplace(y_.data());
    else
        blocks_.solve_inplace(y_.data());
}

// Solves the equations of solvers/complementarity/factored_solver.hpp for z, or those of G^T,
// B^T z + W W^T P^T z = f.
template <bool transposed> void FactoredSolver::once_inplace(double* z) {
    std::ranges::fill(y_, 0.0);
    for (const RowGroup& g : groups) {
        double part[RowGroup::max_rows];
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
        double part[RowGroup::max_rows];
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
        double part[RowGroup::max_rows];
        std::copy_n(z + g.first, g.count, part);
        if (transposed) apply_inplace<true>(g.P, g.count, part);
        for (int i = 0; i < g.count; ++i)
            A_->add(rows_[g.first + i], part[i], y_.data());
    }
    for (const RowGroup& g : groups) {
        double part[RowGroup::max_rows], rest[RowGroup::max_rows], moved[RowGroup::max_rows];
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
        if (k == max_refinements || size == 0 || !(size < before / 2)) return;
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
