// The Delassus operator A = J M^-1 J^T + R of each island, from the factor M = L^T D L:
//
//   Z = L^-T J^T,   A = Z^T D^-1 Z + R
//
// Each column of Z is nonzero only on the chain of its row. R is the rows' compliance, added to the diagonal.
//
// For a large island A is not multiplied out but kept as W W^T + R with W = Z D^-1/2. Memory and time then
// grow with the number of rows and not with its square, for many bodies in a heap as for one body with many
// contacts.
//
// A row whose entry of J M^-1 J^T on the diagonal is at most 1e-12 of the largest of its island is dropped:
// its impulse is 0 and has no derivative. Examples are contacts between links whose joint cannot open them,
// and friction perpendicular to the plane of a planar robot. By MuJoCo's law R gives such a contact an impulse, and
// with it friction.
#pragma once

#include "core/dynamics/ltl.hpp"
#include "solvers/complementarity/factors/symmetric_matrix.hpp"
#include "solvers/rows/rows.hpp"

namespace costate {

template <class T> struct DelassusScratch {
    std::vector<T> Z;                // as rows.J
    std::vector<T> A;                // dense islands one after the other: square, row-major
    std::vector<T> by_dof;           // (dofs x rows) Z of an island, with zeros
    std::vector<Weighted<T>> parts;  // of a row of A
    std::vector<T> work;             // (nv) zero between uses
    // for factored islands
    std::vector<T> W, diagonal;                 // as rows.J; (rows) diagonal of A
    std::vector<int> column;                    // as rows.J: index of the dof in its island
    std::vector<size_t> start;                  // (rows + 1) offset of each row in W
    std::vector<int> tree;                      // per island: first dof of each tree, then the number of dofs
    std::vector<T> along, swept, velocity;      // (nv), (nv), (rows) work of products with A
    std::vector<FactoredOperator<T>> factored;  // (islands)
    // bars
    std::vector<T> A_bar;  // as A
    std::vector<T> W_bar;  // as W
    std::vector<T> L_bar;  // (mass_matrix_size) covector of the factor
    std::vector<T> Y;      // (rows x dofs of the island) M^-1 J^T, islands one after the other
    std::vector<T> G;      // (rows x dofs of the island) (A_bar + A_bar^T) Y
    explicit DelassusScratch(const World& w) : work(w.nv(), T(0)), along(w.nv()), swept(along) {
        factored.reserve(w.model.trees.size());
    }
};

// Index of a dof in its island.
template <class T> int dof_in_island(const Model& m, const Rows<T>& rows, int dof) {
    const size_t tree = m.bodies[m.dofs[dof].body].tree;
    return rows.tree_dof[tree] + dof - m.trees[tree].dof_begin;
}

// Z of one block: scatter J, solve along the chain, gather.
template <class T>
void half_solve_block(const World& w, const T* L, const Rows<T>& rows, const RowBlock& block,
                      DelassusScratch<T>& s) {
    const int* chain = rows.chain_dof.data() + block.chain;
    for (int r = 0; r < block.rows; ++r) {
        T* x = s.work.data();
        const size_t values = block.values + r * block.length;
        for (int i = 0; i < block.length; ++i)
            x[chain[i]] = rows.J[values + i];
        for (int i = 0; i < block.length; ++i) {
            const Dof& dof = w.model.dofs[chain[i]];
            const T x_k = x[chain[i]];
            const T* row = L + dof.row;
            for (int a = dof.parent, d = dof.depth - 1; d >= 0; a = w.model.dofs[a].parent, --d)
                x[a] -= row[d] * x_k;
        }
        for (int i = 0; i < block.length; ++i) {
            s.Z[values + i] = x[chain[i]];
            x[chain[i]] = T(0);
        }
    }
}

// visit(row, its block, offset of its values) for the rows of an island
template <class T, class Visit>
void for_each_row_of(const Rows<T>& rows, const Island& island, const Visit& visit) {
    for (int n = island.block; n < island.block + island.blocks; ++n) {
        const RowBlock& b = rows.blocks[n];
        for (int r = 0; r < b.rows; ++r)
            visit(b.row + r, b, b.values + r * b.length);
    }
}

// A = Z^T D^-1 Z, row by row: the sum over the dofs k of a row of its Z_k/D_k times Z_k of all rows.
template <class T>
void multiply_rows(const World& w, const T* L, const Rows<T>& rows, const Island& island,
                   DelassusScratch<T>& s) {
    const size_t n = island.rows;
    s.by_dof.assign(island.dofs * n, T(0));
    for_each_row_of(rows, island, [&](size_t row, const RowBlock& b, size_t values) {
        for (int i = 0; i < b.length; ++i) {
            const int k = dof_in_island(w.model, rows, rows.chain_dof[b.chain + i]);
            s.by_dof[k * n + row - island.row] = s.Z[values + i];
        }
    });
    T* A = s.A.data() + island.delassus;
    for_each_row_of(rows, island, [&](size_t row, const RowBlock& b, size_t values) {
        const size_t r = row - island.row;
        s.parts.clear();
        for (int i = 0; i < b.length; ++i) {
            const int j = rows.chain_dof[b.chain + i];
            const Dof& dof = w.model.dofs[j];
            const int k = dof_in_island(w.model, rows, j);
            s.parts.push_back({s.by_dof.data() + k * n + r, s.Z[values + i] / L[dof.row + dof.depth]});
        }
        T* a = A + r * n;
        weighted_sum(s.parts.data(), b.length, n - r, a + r);
        for (size_t q = r + 1; q < n; ++q)
            A[q * n + r] = a[q];
    });
}

// visit(tree, index of its first dof in the island)
template <class T, class Visit>
void for_each_tree(const World& w, const Rows<T>& rows, const Island& island, const Visit& visit) {
    for (int t = island.tree; t < island.tree + island.trees; ++t) {
        const size_t tree = rows.island_trees[t];
        visit(w.model.trees[tree], rows.tree_dof[tree]);
    }
}

// The island's rows of Y = M^-1 J^T = L^-1 D^-1 Z.
template <class T>
void unit_responses(const World& w, const T* L, const Rows<T>& rows, const Island& island,
                    DelassusScratch<T>& s) {
    T *x = s.work.data(), *y = s.Y.data() + island.responses;
    for (int n = island.block; n < island.block + island.blocks; ++n) {
        const RowBlock& b = rows.blocks[n];
        for (int r = 0; r < b.rows; ++r, y += island.dofs) {
            for (int i = 0; i < b.length; ++i)
                x[rows.chain_dof[b.chain + i]] = s.Z[b.values + r * b.length + i];
            for_each_tree(w, rows, island, [&](const Tree& tree, int first) {
                ltl_solve_diagonal_lower_inplace(w.model, L, tree.dof_begin, tree.dof_end, x);
                std::copy(x + tree.dof_begin, x + tree.dof_end, y + first);
                std::fill(x + tree.dof_begin, x + tree.dof_end, T(0));
            });
        }
    }
}

// On one tree of the island:
//   G = (A_bar + A_bar^T) Y,   M_bar -= Y^T G/2 on the pattern, symmetrised
template <class T>
void delassus_bars_of_tree(const World& w, const Island& island, const Tree& tree, int first,
                           DelassusScratch<T>& s, T* M_bar) {
    const T *A_bar = s.A_bar.data() + island.delassus, *Y = s.Y.data() + island.responses + first;
    T* G = s.G.data() + island.responses + first;
    const int dofs = tree.dof_end - tree.dof_begin;
    for (int r = 0; r < island.rows; ++r) {
        T* g = G + r * island.dofs;
        std::fill(g, g + dofs, T(0));
        for (int q = 0; q < island.rows; ++q) {
            const T a = A_bar[r * island.rows + q] + A_bar[q * island.rows + r];
            const T* y = Y + q * island.dofs;
            for (int j = 0; j < dofs; ++j)
                g[j] += a * y[j];
        }
        const T* y = Y + r * island.dofs;
        for (int j = 0; j < dofs; ++j) {
            const Dof& dof = w.model.dofs[tree.dof_begin + j];
            T* row_bar = M_bar + dof.row;
            row_bar[dof.depth] -= T(0.5) * y[j] * g[j];
            for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = w.model.dofs[i].parent, --d)
                row_bar[d] -= y[i - tree.dof_begin] * g[j];
        }
    }
}

// Sets rows.dropped from the diagonal of A, of rigid rows without R. A contact that cannot open has no friction
// either.
template <class T, class Diagonal>
void drop_rows(ContactLaw law, const Island& island, const Diagonal& diagonal, Rows<T>& rows) {
    Value<T> largest(0);
    for (int r = 0; r < island.rows; ++r)
        largest = larger(largest, value_of(diagonal(r)));
    for (int r = 0; r < island.rows; ++r) {
        const size_t row = island.row + r;
        Value<T> size = value_of(diagonal(r));
        if (law == ContactLaw::mujoco) size += value_of(rows.R[row]);
        rows.dropped[row] = bits_of(size <= 1e-12 * largest);
        if (rows.type[row] == RowType::friction) rows.dropped[row] |= rows.dropped[rows.normal[row]];
    }
}

template <class T>
void island_delassus(const World& w, const T* L, Rows<T>& rows, const Island& island, DelassusScratch<T>& s) {
    const int end = island.block + island.blocks;
    // 1.1 Z = L^-T J^T
    for (int n = island.block; n < end; ++n)
        half_solve_block(w, L, rows, rows.blocks[n], s);
    // 1.2 A = Z^T D^-1 Z
    multiply_rows(w, L, rows, island, s);
    T* A = s.A.data() + island.delassus;
    drop_rows(
        w.settings.law, island, [&](int r) { return A[r * island.rows + r]; }, rows);
    // 1.3 + R
    for (int r = 0; r < island.rows; ++r)
        A[r * island.rows + r] += rows.R[island.row + r];
}
// With Y = M^-1 J^T and G = (A_bar + A_bar^T) Y:
//   J_bar += G^T,   M_bar -= Y^T A_bar Y on the pattern,   R_bar += diag(A_bar)
template <class T>
void island_delassus_adj(const World& w, const T* L, Rows<T>& rows, const Island& island,
                         DelassusScratch<T>& s, T* M_bar) {
    // 1.3 + R
    const T* A_bar = s.A_bar.data() + island.delassus;
    for (int r = 0; r < island.rows; ++r)
        rows.R_bar[island.row + r] += A_bar[r * island.rows + r];
    // 1.2 A = J Y, including the derivative through Y: G, and all of M_bar
    unit_responses(w, L, rows, island, s);
    for_each_tree(w, rows, island, [&](const Tree& tree, int first) {
        delassus_bars_of_tree(w, island, tree, first, s, M_bar);
    });
    // 1.1 J
    const T* g = s.G.data() + island.responses;
    for (int n = island.block; n < island.block + island.blocks; ++n) {
        const RowBlock& b = rows.blocks[n];
        const int* chain = rows.chain_dof.data() + b.chain;
        for (int r = 0; r < b.rows; ++r, g += island.dofs)
            for (int i = 0; i < b.length; ++i)
                rows.J_bar[b.values + r * b.length + i] += g[dof_in_island(w.model, rows, chain[i])];
    }
}

// The factored operator: W = Z D^-1/2, and the diagonal of W W^T + R.
template <class T>
void factored_delassus(const World& w, const T* L, Rows<T>& rows, const Island& island,
                       DelassusScratch<T>& s) {
    using std::sqrt;
    // 1.1 Z = L^-T J^T
    for (int n = island.block; n < island.block + island.blocks; ++n)
        half_solve_block(w, L, rows, rows.blocks[n], s);
    // 1.2 W = Z D^-1/2
    for_each_row_of(rows, island, [&](size_t row, const RowBlock& b, size_t values) {
        s.start[row] = values;
        s.start[row + 1] = values + b.length;
        s.diagonal[row] = T(0);
        for (int i = 0; i < b.length; ++i) {
            const int j = rows.chain_dof[b.chain + i];
            const Dof& dof = w.model.dofs[j];
            const T root = sqrt(L[dof.row + dof.depth]);
            s.column[values + i] = dof_in_island(w.model, rows, j);
            s.W[values + i] = s.Z[values + i] / root;
            s.diagonal[row] += s.W[values + i] * s.W[values + i];
        }
    });
    drop_rows(
        w.settings.law, island, [&](int r) { return s.diagonal[island.row + r]; }, rows);
    // 1.3 diagonal + R
    for (int r = island.row; r < island.row + island.rows; ++r)
        s.diagonal[r] += rows.R[r];
}
// Input: s.W_bar.
//   Z_bar = W_bar D^-1/2,   D_bar -= W_bar W/(2 D),   J_bar += L^-1 Z_bar,   L_bar -= Z J_bar^T
// with L below its diagonal. Covectors of the factor are summed in s.L_bar, those of D on its diagonal.
template <class T>
void factored_delassus_adj(const World& w, const T* L, Rows<T>& rows, const Island& island,
                           DelassusScratch<T>& s) {
    using std::sqrt;
    // 1.3 diagonal: its readers differentiate it as a function of W and R
    // 1.2 W = Z D^-1/2
    for_each_row_of(rows, island, [&](size_t, const RowBlock& b, size_t values) {
        const int* chain = rows.chain_dof.data() + b.chain;
        T* x = s.work.data();  // Z_bar, then J_bar
        for (int i = 0; i < b.length; ++i) {
            const Dof& dof = w.model.dofs[chain[i]];
            const T D = L[dof.row + dof.depth], W_bar = s.W_bar[values + i];
            x[chain[i]] = W_bar / sqrt(D);
            s.L_bar[dof.row + dof.depth] -= T(0.5) * W_bar * s.W[values + i] / D;
        }
        // 1.1 Z = L^-T J^T, starting at the root
        for (int i = b.length; i-- > 0;) {
            const Dof& dof = w.model.dofs[chain[i]];
            const T* row = L + dof.row;
            T sum = x[chain[i]];
            for (int a = dof.parent, d = dof.depth - 1; d >= 0; a = w.model.dofs[a].parent, --d)
                sum -= row[d] * x[a];
            x[chain[i]] = sum;
            rows.J_bar[values + i] += sum;
            const T& Z = s.Z[values + i];
            T* row_bar = s.L_bar.data() + dof.row;
            for (int a = dof.parent, d = dof.depth - 1; d >= 0; a = w.model.dofs[a].parent, --d)
                row_bar[d] -= Z * x[a];
        }
        for (int i = 0; i < b.length; ++i)
            x[chain[i]] = T(0);
    });
}

// The operator of island i. Call after factored_delassus.
template <class T>
FactoredOperator<T> factored_operator(const World& w, const Rows<T>& rows, size_t i, DelassusScratch<T>& s) {
    const Island& island = rows.islands[i];
    const size_t row = island.row;
    int* tree = s.tree.data() + island.tree + i;
    int* next = tree;
    for_each_tree(w, rows, island, [&](const Tree&, int first) { *next++ = first; });
    *next = island.dofs;
    return {island.rows,
            island.dofs,
            s.start.data() + row,
            s.column.data(),
            s.W.data(),
            rows.R.data() + row,
            s.diagonal.data() + row,
            s.along.data(),
            s.swept.data(),
            s.velocity.data() + row,
            tree,
            island.trees};
}

template <class T>
void delassus(const World& w,
              const T* L,     // (mass_matrix_size) the factor
              Rows<T>& rows,  // sets rows.dropped
              DelassusScratch<T>& s) {
    s.Z.resize(rows.J.size());
    s.A.resize(rows.delassus_size);
    s.factored.resize(rows.islands.size());
    if (std::ranges::any_of(rows.islands, &Island::factored)) {
        const size_t n = rows.count;
        s.W.resize(rows.J.size());
        s.column.resize(rows.J.size());
        s.start.resize(n + 1);
        s.diagonal.resize(n);
        s.velocity.resize(n);
        s.tree.resize(rows.island_trees.size() + rows.islands.size());
    }
    for (size_t i = 0; i < rows.islands.size(); ++i) {
        const Island& island = rows.islands[i];
        if (!island.factored) {
            island_delassus(w, L, rows, island, s);
            continue;
        }
        factored_delassus(w, L, rows, island, s);
        s.factored[i] = factored_operator(w, rows, i, s);
    }
}
template <class T>
void delassus_adj(const World& w, const T* L, Rows<T>& rows, DelassusScratch<T>& s, T* M_bar) {
    s.Y.resize(rows.responses_size);
    s.G.resize(rows.responses_size);
    const bool any_factored = std::ranges::any_of(rows.islands, &Island::factored);
    if (any_factored) s.L_bar.assign(w.model.mass_matrix_size, T(0));
    for (const Island& island : rows.islands) {
        if (island.factored)
            factored_delassus_adj(w, L, rows, island, s);
        else
            island_delassus_adj(w, L, rows, island, s, M_bar);
    }
    if (any_factored) ltl_factor_inplace_adj(w.model, L, s.L_bar.data(), M_bar);
}

}  // namespace costate
