// Sparse factorization M = L^T D L of a matrix on the branch-induced pattern (RBDA table 6.3; Featherstone
// 2005): L is unit lower triangular with the pattern of M, so there is no fill-in. Rows are stored by depth
// along the chain, which makes the inner loop of the factorization contiguous.
#pragma once

#include "core/model/model.hpp"

namespace costate {

// M -> (L, D) in place: D on the diagonal, L below. Returns false if a pivot is not positive.
template <class T> bool ltl_factor_inplace(const Model& m, T* M) {
    bool positive = true;
    for (size_t k = m.dofs.size(); k-- > 0;) {
        const Dof& dof = m.dofs[k];
        T* row_k = M + dof.row;
        const T pivot = row_k[dof.depth];
        positive = positive && pivot > T(0);
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d) {
            const T a = row_k[d] / pivot;
            T* row_i = M + m.dofs[i].row;
            for (int e = 0; e <= d; ++e)
                row_i[e] -= a * row_k[e];
            row_k[d] = a;
        }
    }
    return positive;
}

// Adds to M_bar from the covectors of L (below the diagonal) and of D (on the diagonal); L_bar is
// overwritten. With u_i = L_ki D_k, the unscaled row k, the factorization computes
//   M_i -= L_ki u  for the ancestors i of k,   L_ki = u_i/D_k
// The adjoint starts at the roots, so that the covectors of an ancestor's row are complete.
template <class T> void ltl_factor_inplace_adj(const Model& m, const T* L, T* L_bar, T* M_bar) {
    for (const Dof& dof : m.dofs) {
        const T *row = L + dof.row, &D = row[dof.depth];
        T *u_bar = L_bar + dof.row, &D_bar = u_bar[dof.depth];
        const auto for_each_ancestor = [&](const auto& visit) {
            for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d)
                visit(d, L_bar + m.dofs[i].row);
        };
        for_each_ancestor([&](int d, const T* M_i_bar) {
            for (int e = 0; e <= d; ++e)
                u_bar[d] -= M_i_bar[e] * row[e] * D;
            D_bar -= u_bar[d] * row[d] / D;
            u_bar[d] /= D;
        });
        for_each_ancestor([&](int d, const T* M_i_bar) {
            for (int e = 0; e <= d; ++e)
                u_bar[e] -= row[d] * M_i_bar[e];
        });
    }
    for (int i = 0; i < m.mass_matrix_size; ++i)
        M_bar[i] += L_bar[i];
}

// x <- L^-T x over the dofs [begin, end) of one or more whole trees
template <class T> void ltl_solve_transposed_inplace(const Model& m, const T* L, int begin, int end, T* x) {
    for (int k = end; k-- > begin;) {
        const Dof& dof = m.dofs[k];
        const T* row = L + dof.row;
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d)
            x[i] -= row[d] * x[k];
    }
}

// x <- L^-1 D^-1 x
template <class T>
void ltl_solve_diagonal_lower_inplace(const Model& m, const T* L, int begin, int end, T* x) {
    for (int k = begin; k < end; ++k) {
        const Dof& dof = m.dofs[k];
        const T* row = L + dof.row;
        T sum = x[k] / row[dof.depth];
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d)
            sum -= row[d] * x[i];
        x[k] = sum;
    }
}

// x <- M^-1 x
template <class T> void ltl_solve_inplace(const Model& m, const T* L, int begin, int end, T* x) {
    ltl_solve_transposed_inplace(m, L, begin, end, x);
    ltl_solve_diagonal_lower_inplace(m, L, begin, end, x);
}

// X <- M^-1 X for all columns of X (nv x columns, row-major) together
void ltl_solve_columns_inplace(const Model& m, const double* L, int columns, double* X);

// M_bar -= y x^T on the pattern, symmetrized: the adjoint of x = M^-1 b, where y = M^-1 x_bar = b_bar
template <class T>
void ltl_solve_inplace_adj(const Model& m, int begin, int end, const T* x, const T* y, T* M_bar) {
    for (int k = begin; k < end; ++k) {
        const Dof& dof = m.dofs[k];
        T* row_bar = M_bar + dof.row;
        row_bar[dof.depth] -= y[k] * x[k];
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d)
            row_bar[d] -= y[k] * x[i] + y[i] * x[k];
    }
}

extern template void ltl_solve_inplace(const Model&, const double*, int, int, double*);

}  // namespace costate
