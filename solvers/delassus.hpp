// The Delassus operator A = J M^-1 J^T + R of each island, through the factor M = L^T D L: with Z = L^-T J^T, which stays on the
// chain of its row, A = Z^T D^-1 Z + R. R is the rows' compliance, an absolute diagonal.
//
// A row whose J M^-1 J^T is at most 1e-12 of its island's largest is dropped: its impulse is 0 and nothing is differentiated by it.
// Such are contacts between links whose joint cannot open them, and friction across the plane of a planar robot.
#pragma once

#include "core/ltl.hpp"
#include "solvers/rows.hpp"

namespace costate {

template <class T> struct DelassusScratch {
    std::vector<T> Z;          // as rows.J
    std::vector<T> A;          // islands after each other, square, row-major
    std::vector<T> work;       // (most rows of a block x nv) zero between uses
    // bars
    std::vector<T> A_bar;      // as A
    std::vector<T> Y;          // (rows x nv) M^-1 J^T, filled on the trees of the row's island
    std::vector<T> G;          // (rows x nv) (A_bar + A_bar^T) Y
    explicit DelassusScratch(const World& w) : work(most_rows_of_a_block * static_cast<size_t>(w.nv()), T(0)) {}
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

// The rows of A of an island's block n, and their mirror images: scatter D^-1 Z, meet every block from n on, clear.
template <class T>
void delassus_of_block(const World& w, const T* L, const Rows<T>& rows, const Island& island, int n, DelassusScratch<T>& s) {
    const size_t nv = static_cast<size_t>(w.nv());
    const RowBlock& b = rows.blocks[static_cast<size_t>(n)];
    const int* chain = rows.chain_dof.data() + b.chain;
    T* A = s.A.data() + island.delassus;
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

template <class T, class Visit>
void for_each_tree(const World& w, const Rows<T>& rows, const Island& island, const Visit& visit) {
    for (int t = island.tree; t < island.tree + island.trees; ++t)
        visit(w.model.trees[static_cast<size_t>(rows.island_trees[static_cast<size_t>(t)])]);
}

// The island's rows of Y = M^-1 J^T = L^-1 D^-1 Z.
template <class T>
void unit_responses(const World& w, const T* L, const Rows<T>& rows, const Island& island, DelassusScratch<T>& s) {
    for (int n = island.block; n < island.block + island.blocks; ++n) {
        const RowBlock& b = rows.blocks[static_cast<size_t>(n)];
        for (int r = 0; r < b.rows; ++r) {
            T* y = s.Y.data() + static_cast<size_t>(b.row + r) * static_cast<size_t>(w.nv());
            for_each_tree(w, rows, island, [&](const Tree& tree) { std::fill(y + tree.dof_begin, y + tree.dof_end, T(0)); });
            for (int i = 0; i < b.length; ++i)
                y[rows.chain_dof[static_cast<size_t>(b.chain + i)]] = s.Z[static_cast<size_t>(b.values + r * b.length + i)];
            for_each_tree(w, rows, island, [&](const Tree& tree) {
                ltl_solve_diagonal_lower_inplace(w.model, L, tree.dof_begin, tree.dof_end, y);
            });
        }
    }
}

// On one tree of the island: G = (A_bar + A_bar^T) Y,   M_bar -= Y^T G/2 on the pattern, symmetrised
template <class T>
void delassus_bars_of_tree(const World& w, const Island& island, const Tree& tree, DelassusScratch<T>& s, T* M_bar) {
    const size_t nv = static_cast<size_t>(w.nv());
    const T* A_bar = s.A_bar.data() + island.delassus;
    const T* Y = s.Y.data() + static_cast<size_t>(island.row) * nv;
    for (int r = 0; r < island.rows; ++r) {
        T* g = s.G.data() + static_cast<size_t>(island.row + r) * nv;
        std::fill(g + tree.dof_begin, g + tree.dof_end, T(0));
        for (int q = 0; q < island.rows; ++q) {
            const T a = A_bar[r * island.rows + q] + A_bar[q * island.rows + r];
            const T* y = Y + static_cast<size_t>(q) * nv;
            for (int j = tree.dof_begin; j < tree.dof_end; ++j) g[j] += a * y[j];
        }
        const T* y = Y + static_cast<size_t>(r) * nv;
        for (int j = tree.dof_begin; j < tree.dof_end; ++j) {
            const Dof& dof = w.model.dofs[static_cast<size_t>(j)];
            T* row_bar = M_bar + dof.row;
            row_bar[dof.depth] -= T(0.5) * y[j] * g[j];
            for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = w.model.dofs[static_cast<size_t>(i)].parent, --d)
                row_bar[d] -= y[i] * g[j];
        }
    }
}

// rows.dropped from the diagonal of A, which has no R yet. A contact that cannot be opened has no friction either.
template <class T> void drop_rows(const Island& island, const T* A, Rows<T>& rows) {
    double largest = 0;
    for (int r = 0; r < island.rows; ++r) largest = std::max(largest, value_of(A[r * island.rows + r]));
    for (int r = 0; r < island.rows; ++r) {
        const size_t row = static_cast<size_t>(island.row + r);
        rows.dropped[row] = value_of(A[r * island.rows + r]) <= 1e-12 * largest;
        if (rows.normal[row] >= 0 && rows.dropped[static_cast<size_t>(rows.normal[row])]) rows.dropped[row] = 1;
    }
}

template <class T>
void island_delassus(const World& w, const T* L, Rows<T>& rows, const Island& island, DelassusScratch<T>& s) {
    const int end = island.block + island.blocks;
    // 1.1 Z = L^-T J^T
    for (int n = island.block; n < end; ++n) half_solve_block(w, L, rows, rows.blocks[static_cast<size_t>(n)], s);
    // 1.2 A = Z^T D^-1 Z
    for (int n = island.block; n < end; ++n) delassus_of_block(w, L, rows, island, n, s);
    T* A = s.A.data() + island.delassus;
    drop_rows(island, A, rows);
    // 1.3 + R
    for (int r = 0; r < island.rows; ++r) A[r * island.rows + r] += rows.R[static_cast<size_t>(island.row + r)];
}
// With Y = M^-1 J^T and G = (A_bar + A_bar^T) Y:   J_bar += G^T,   M_bar -= Y^T A_bar Y on the pattern,   R_bar += diag(A_bar)
template <class T>
void island_delassus_adj(const World& w, const T* L, Rows<T>& rows, const Island& island, DelassusScratch<T>& s, T* M_bar) {
    const size_t nv = static_cast<size_t>(w.nv());
    // 1.3 + R
    const T* A_bar = s.A_bar.data() + island.delassus;
    for (int r = 0; r < island.rows; ++r) rows.R_bar[static_cast<size_t>(island.row + r)] += A_bar[r * island.rows + r];
    // 1.2 A = J Y, with what flows through the Y inside: G, and all of M_bar
    unit_responses(w, L, rows, island, s);
    for_each_tree(w, rows, island, [&](const Tree& tree) { delassus_bars_of_tree(w, island, tree, s, M_bar); });
    // 1.1 J
    for (int n = island.block; n < island.block + island.blocks; ++n) {
        const RowBlock& b = rows.blocks[static_cast<size_t>(n)];
        const int* chain = rows.chain_dof.data() + b.chain;
        for (int r = 0; r < b.rows; ++r)
            for (int i = 0; i < b.length; ++i)
                rows.J_bar[static_cast<size_t>(b.values + r * b.length + i)] +=
                    s.G[static_cast<size_t>(b.row + r) * nv + static_cast<size_t>(chain[i])];
    }
}

template <class T>
void delassus(const World& w,
              const T* L,            // (mass_matrix_size) the factor
              Rows<T>& rows,         // sets rows.dropped
              DelassusScratch<T>& s) {
    const Island* last = rows.islands.empty() ? nullptr : &rows.islands.back();
    s.Z.resize(rows.J.size());
    s.A.resize(last ? static_cast<size_t>(last->delassus + last->rows * last->rows) : 0);
    for (const Island& island : rows.islands) island_delassus(w, L, rows, island, s);
}
template <class T>
void delassus_adj(const World& w, const T* L, Rows<T>& rows, DelassusScratch<T>& s, T* M_bar) {
    s.Y.resize(static_cast<size_t>(rows.count) * static_cast<size_t>(w.nv())), s.G.resize(s.Y.size());
    for (const Island& island : rows.islands) island_delassus_adj(w, L, rows, island, s, M_bar);
}

}  // namespace costate
