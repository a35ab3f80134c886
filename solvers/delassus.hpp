// The Delassus operator A = J M^-1 J^T + R of each island, through the factor M = L^T D L: with Z = L^-T J^T, which stays on the
// chain of its row, A = Z^T D^-1 Z + R. R is the compliance, an absolute diagonal.
#pragma once

#include "core/ltl.hpp"
#include "solvers/rows.hpp"

namespace costate {

template <class T> struct DelassusScratch {
    std::vector<T> Z;          // as rows.J
    std::vector<T> A;          // islands after each other, square, row-major
    std::vector<T> work;       // (3 nv) zero between uses
    // bars
    std::vector<T> A_bar;      // as A
    std::vector<T> Y;          // (rows x nv) M^-1 J^T, filled on the trees of the row's island
    std::vector<T> G;          // (rows x nv) (A_bar + A_bar^T) Y
    explicit DelassusScratch(const World& w) : work(3 * static_cast<size_t>(w.nv()), T(0)) {}
};

// Z of one block: scatter J, solve along the chain, gather.
template <class T> void half_solve_block(const World& w, const T* L, const Rows<T>& rows, const RowBlock& block, DelassusScratch<T>& s) {
    const int* chain = rows.chain_dof.data() + block.chain;
    for (int r = 0; r < block.rows; ++r) {
        T* x = s.work.data();
        const size_t values = static_cast<size_t>(block.values + r * block.length);
        for (int i = 0; i < block.length; ++i) x[chain[i]] = rows.J[values + static_cast<size_t>(i)];
        for (int i = 0; i < block.length; ++i) {
            const Dof& dof = w.model.dofs[static_cast<size_t>(chain[i])];
            const T x_k = x[chain[i]];
            const T* row = L + dof.row;
            for (int a = dof.parent, d = dof.depth - 1; d >= 0; a = w.model.dofs[static_cast<size_t>(a)].parent, --d) x[a] -= row[d] * x_k;
        }
        for (int i = 0; i < block.length; ++i) s.Z[values + static_cast<size_t>(i)] = x[chain[i]], x[chain[i]] = T(0);
    }
}

template <class T>
void delassus(const World& w, const T* theta,
              const T* L,            // (mass_matrix_size) the factor
              const Rows<T>& rows, DelassusScratch<T>& s) {
    s.Z.resize(rows.J.size());
    // 1.1 Z = L^-T J^T
    for (const RowBlock& block : rows.blocks) half_solve_block(w, L, rows, block, s);
    // 1.2 A = Z^T D^-1 Z + R
    const Island* last = rows.islands.empty() ? nullptr : &rows.islands.back();
    s.A.resize(last ? static_cast<size_t>(last->delassus + last->rows * last->rows) : 0);
    const size_t nv = static_cast<size_t>(w.nv());
    const T& R = theta[w.compliance.at(0)];
    for (const Island& island : rows.islands) {
        T* A = s.A.data() + island.delassus;
        for (int n = island.block; n < island.block + island.blocks; ++n) {
            const RowBlock& b = rows.blocks[static_cast<size_t>(n)];
            const int* chain = rows.chain_dof.data() + b.chain;
            for (int r = 0; r < b.rows; ++r)
                for (int i = 0; i < b.length; ++i) {
                    const Dof& dof = w.model.dofs[static_cast<size_t>(chain[i])];
                    s.work[static_cast<size_t>(r) * nv + static_cast<size_t>(chain[i])] =
                        s.Z[static_cast<size_t>(b.values + r * b.length + i)] / L[dof.row + dof.depth];
                }
            for (int o = n; o < island.block + island.blocks; ++o) {
                const RowBlock& other = rows.blocks[static_cast<size_t>(o)];
                const int* other_chain = rows.chain_dof.data() + other.chain;
                for (int r = 0; r < b.rows; ++r)
                    for (int q = 0; q < other.rows; ++q) {
                        const T* Z = s.Z.data() + other.values + q * other.length;
                        const T* x = s.work.data() + static_cast<size_t>(r) * nv;
                        T sum(0);
                        for (int i = 0; i < other.length; ++i) sum += Z[i] * x[other_chain[i]];
                        const int row = b.row - island.row + r, col = other.row - island.row + q;
                        A[row * island.rows + col] = A[col * island.rows + row] = sum;
                    }
            }
            for (int r = 0; r < b.rows; ++r)
                for (int i = 0; i < b.length; ++i) s.work[static_cast<size_t>(r) * nv + static_cast<size_t>(chain[i])] = T(0);
        }
        for (int r = 0; r < island.rows; ++r) A[r * island.rows + r] += R;
    }
}

// With Y = M^-1 J^T and G = (A_bar + A_bar^T) Y:   J_bar += G^T,   M_bar -= Y^T A_bar Y on the pattern,   R_bar += trace(A_bar)
template <class T>
void delassus_adj(const World& w, const T* L, Rows<T>& rows, DelassusScratch<T>& s, T* M_bar, T* theta_bar) {
    const Model& m = w.model;
    const size_t nv = static_cast<size_t>(w.nv());
    s.Y.resize(static_cast<size_t>(rows.count) * nv), s.G.resize(static_cast<size_t>(rows.count) * nv);
    for (const Island& island : rows.islands) {
        const T* A_bar = s.A_bar.data() + island.delassus;
        for (int r = 0; r < island.rows; ++r) theta_bar[w.compliance.at(0)] += A_bar[r * island.rows + r];
        // 1.2 Y by rows, from Z
        for (int n = island.block; n < island.block + island.blocks; ++n) {
            const RowBlock& b = rows.blocks[static_cast<size_t>(n)];
            for (int r = 0; r < b.rows; ++r) {
                T* y = s.Y.data() + static_cast<size_t>(b.row + r) * nv;
                for (int t = island.tree; t < island.tree + island.trees; ++t) {
                    const Tree& tree = m.trees[static_cast<size_t>(rows.island_trees[static_cast<size_t>(t)])];
                    std::fill(y + tree.dof_begin, y + tree.dof_end, T(0));
                }
                for (int i = 0; i < b.length; ++i)
                    y[rows.chain_dof[static_cast<size_t>(b.chain + i)]] = s.Z[static_cast<size_t>(b.values + r * b.length + i)];
                for (int t = island.tree; t < island.tree + island.trees; ++t) {
                    const Tree& tree = m.trees[static_cast<size_t>(rows.island_trees[static_cast<size_t>(t)])];
                    ltl_solve_diagonal_lower_inplace(m, L, tree.dof_begin, tree.dof_end, y);
                }
            }
        }
        // 1.1 G, then the two bars
        for (int t = island.tree; t < island.tree + island.trees; ++t) {
            const Tree& tree = m.trees[static_cast<size_t>(rows.island_trees[static_cast<size_t>(t)])];
            const T* Y = s.Y.data() + static_cast<size_t>(island.row) * nv;
            T* G = s.G.data() + static_cast<size_t>(island.row) * nv;
            for (int r = 0; r < island.rows; ++r) {
                T* g = G + static_cast<size_t>(r) * nv;
                std::fill(g + tree.dof_begin, g + tree.dof_end, T(0));
                for (int q = 0; q < island.rows; ++q) {
                    const T a = A_bar[r * island.rows + q] + A_bar[q * island.rows + r];
                    const T* y = Y + static_cast<size_t>(q) * nv;
                    for (int j = tree.dof_begin; j < tree.dof_end; ++j) g[j] += a * y[j];
                }
                const T* y = Y + static_cast<size_t>(r) * nv;
                for (int j = tree.dof_begin; j < tree.dof_end; ++j) {
                    const Dof& dof = m.dofs[static_cast<size_t>(j)];
                    T* row_bar = M_bar + dof.row;
                    row_bar[dof.depth] -= T(0.5) * y[j] * g[j];
                    for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[static_cast<size_t>(i)].parent, --d) row_bar[d] -= y[i] * g[j];
                }
            }
        }
        for (int n = island.block; n < island.block + island.blocks; ++n) {
            const RowBlock& b = rows.blocks[static_cast<size_t>(n)];
            for (int r = 0; r < b.rows; ++r)
                for (int i = 0; i < b.length; ++i)
                    rows.J_bar[static_cast<size_t>(b.values + r * b.length + i)] +=
                        s.G[static_cast<size_t>(b.row + r) * nv + static_cast<size_t>(rows.chain_dof[static_cast<size_t>(b.chain + i)])];
        }
    }
}

}  // namespace costate
