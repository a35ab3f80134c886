// Blocks of constraint rows and the islands they form. A block holds the rows of one contact, limit, dry
// friction or equality. Its rows of the Jacobian J are stored on its chain: the dofs that move either of its
// two ends, from the last to the first. Blocks that share a tree belong to one island. Rows are numbered
// island by island.
#pragma once

#include <array>
#include <functional>

#include "core/dynamics/measured_tendons.hpp"
#include "solvers/complementarity/mlcp.hpp"
#include "solvers/rows/bias.hpp"
#include "solvers/rows/compliance.hpp"
#include "solvers/rows/contacts.hpp"
#include "solvers/rows/soft_law.hpp"

namespace costate {

enum class RowKind : unsigned char {
    contact,       // its directions, or the edges of its pyramid (solvers/rows/contact_rows.hpp)
    limit,         // one end of the range of a one-dof joint
    ball_limit,    // the maximal angle of a spherical joint
    tendon_limit,  // one end of the range of a tendon's length
    dry_friction,  // of one dof
    coupling,      // of two one-dof joints, or of two tendons
    connect,       // two points coincide: three rows
    weld,          // two frames coincide: three rows for the points, three for the axes
};

inline constexpr int max_equality_rows = 6;

struct RowBlock {
    RowKind kind = RowKind::contact;
    int index = 0;                 // in the contacts, or in the list of Model that the kind belongs to
    int side = 0;                  // for a limit: +1 lower end, -1 upper end
    int rows = 1, row = 0;         // number of rows, and the first
    int last_a = -1, last_b = -1;  // last dof that moves each end; -1: none
    int chain = 0, length = 0;     // its dofs are chain_dof[chain ... chain + length)
    int values = 0;                // J and Z of its rows: values[row * length + position in the chain]
    int island = 0;
    LaneBits lanes = 0xff;  // that have it; in others its rows are zero
    Springs springs;        // of a unilateral first row; none: rigid
    SoftElements soft;      // if the model is soft
    BiasCases bias;         // of a unilateral first row
    // for an equality: bit r is set if row r recovers at the maximal recovery speed
    unsigned char capped = 0;
    bool unilateral() const {
        return kind == RowKind::contact || kind == RowKind::limit || kind == RowKind::ball_limit ||
               kind == RowKind::tendon_limit;
    }
    bool joins() const { return kind == RowKind::connect || kind == RowKind::weld; }
};

struct Island {
    int row = 0, rows = 0;      // contiguous rows
    int block = 0, blocks = 0;  // contiguous blocks
    int tree = 0, trees = 0;    // island_trees[tree ... tree + trees)
    int dofs = 0;               // of its trees, counted tree by tree
    bool factored = false;      // the Delassus operator stays factored (solvers/step/delassus.hpp)
    size_t delassus = 0;        // if not factored: offset of its square matrix in the array of all islands
    size_t responses = 0;       // if not factored: offset of its M^-1 J^T (rows x dofs) in the array of all
};

template <class T> struct Rows {
    std::vector<RowBlock> blocks;
    std::vector<Island> islands;
    std::vector<RowBlock> found;  // all blocks of the step, in the order of detection
    std::vector<LaneBits> waits,
        wakes;                     // (found) without rows in these lanes: solvers/rows/waiting_blocks.hpp
    std::vector<int> contact_row;  // (contacts) the first of its rows, -1: waits
    std::vector<int> chain_dof;
    std::vector<signed char> chain_sign;  // +1: moves the first end, -1: the second, 0: both together
    std::vector<int> island_trees;
    std::vector<T> J;               // on the chains
    std::vector<T> beta, v_before;  // (rows) bias; J v at the start of the step (normal and limit rows)
    // (rows) velocity that removes an error in position: solvers/step/recovery.hpp
    std::vector<T> recovery;
    std::vector<T> R;           // (rows) compliance, 1/kg or 1/(kg m^2)
    std::vector<T> error;       // (rows) of equalities, m or rad
    std::vector<RowType> type;  // (rows)
    std::vector<int> normal;    // (rows) of a friction row: its normal row
    std::vector<T> bound;  // (rows) of a friction row: mu; of a boxed row: its largest impulse, N s or N m s
    std::vector<LaneBits> lanes;  // (rows) of their blocks
    // (rows) lanes in which no impulse can move the row; its impulse is 0 (solvers/step/delassus.hpp)
    std::vector<LaneBits> dropped;
    TendonMeasures<T> tendons, tendons_bar;  // at the step: the rows of their limits
    std::vector<int> tree_parent;            // (trees) union-find
    std::vector<int> tree_island;            // (trees) for a root: its island, -1: none
    std::vector<int> tree_dof;               // (trees) index of its first dof in its island
    std::vector<Island> filled;              // work: next free row, block and tree of each island
    std::vector<RowBlock> unsorted;  // blocks with rows, in the order of detection, before islands are known
    std::vector<Motion<Value<T>>> twists, twists_free;  // (bodies) work of waiting blocks
    int count = 0;
    // total size of all dense Delassus operators, and of their M^-1 J^T
    size_t delassus_size = 0, responses_size = 0;
    bool located = false;   // some contact has an impact inside the step
    bool recovers = false;  // some row is deeper than the slop, or of an equality
    // bars
    std::vector<T> J_bar, beta_bar, recovery_bar, R_bar, bound_bar;
    std::vector<T> time_bar;  // (rows) at the first row of a block: of the time of its located impact

    // Reserves space for a typical number of contacts. A step with more rows allocates once.
    explicit Rows(const World& w)
        : tendons(w.model),
          tendons_bar(w.model),
          tree_parent(w.model.trees.size()),
          tree_island(tree_parent),
          tree_dof(tree_parent) {
        const Model& m = w.model;
        const size_t contacts = 4 * w.shapes.shapes.size(),
                     joints = m.limits.size() + m.dry_dofs.size() + m.measured_tendons.size(),
                     max_blocks = contacts + joints + m.equalities.size();
        const size_t max_rows = w.contact_rows() * contacts + joints + 6 * m.equalities.size();
        blocks.reserve(max_blocks);
        found.reserve(max_blocks);
        waits.reserve(max_blocks);
        wakes.reserve(max_blocks);
        unsorted.reserve(max_blocks);
        twists.reserve(m.bodies.size());
        twists_free.reserve(m.bodies.size());
        contact_row.reserve(contacts);
        islands.reserve(m.trees.size());
        filled.reserve(m.trees.size());
        island_trees.reserve(m.trees.size());
        for (auto* per_row : {&beta, &v_before, &recovery, &R, &error, &bound, &beta_bar, &recovery_bar,
                              &R_bar, &bound_bar, &time_bar})
            per_row->reserve(max_rows);
        type.reserve(max_rows);
        normal.reserve(max_rows);
        dropped.reserve(max_rows);
        lanes.reserve(max_rows);
    }
};

// Root of a union-find tree, with path halving.
inline int find_root(std::vector<int>& parent, int i) {
    const auto up = [&](int n) -> int& { return parent[n]; };
    for (; up(i) != i; i = up(i))
        up(i) = up(up(i));
    return i;
}

// The entries of measured_tendons whose dofs move a block besides its ends, -1: none.
inline std::array<int, 2> tendons_of(const Model& m, const RowBlock& block) {
    if (block.kind == RowKind::tendon_limit) return {block.index, -1};
    if (block.kind != RowKind::coupling) return {-1, -1};
    return {m.equalities[block.index].length_a, m.equalities[block.index].length_b};
}

// Sorts the blocks that do not wait by island, numbers islands by their first tree, and numbers the rows.
// Islands of more than `max_dense_rows` rows are factored.
template <class T> void sort_into_islands(const Model& m, int max_dense_rows, Rows<T>& rows) {
    rows.unsorted.clear();
    for (size_t i = 0; i < rows.found.size(); ++i) {
        const LaneBits lanes = rows.found[i].lanes & ~rows.waits[i] & all_lanes<T>;
        if (lanes == 0) continue;
        rows.unsorted.push_back(rows.found[i]);
        rows.unsorted.back().lanes = lanes;
    }
    std::ranges::fill(rows.contact_row, -1);

    const auto tree_of = [&](int dof) { return dof < 0 ? -1 : m.bodies[m.dofs[dof].body].tree; };
    std::vector<int>& parent = rows.tree_parent;
    for (size_t t = 0; t < parent.size(); ++t)
        parent[t] = static_cast<int>(t);
    for (RowBlock& block : rows.unsorted) {
        const int a = tree_of(block.last_a), b = tree_of(block.last_b);
        block.island = a >= 0 ? a : b;
        const auto unite = [&](int one, int other) {
            const int ra = find_root(parent, one), rb = find_root(parent, other);
            parent[std::max(ra, rb)] = std::min(ra, rb);
        };
        for (const int tendon : tendons_of(m, block))
            for (size_t i = 0; tendon >= 0 && i < m.measured_tendons[tendon].dofs.size(); ++i)
                unite(a, tree_of(m.measured_tendons[tendon].dofs[i]));
        if (a >= 0 && b >= 0) unite(a, b);
    }

    // islands in the order of their roots, with their numbers of blocks and trees
    std::vector<int>& island_of = rows.tree_island;
    std::ranges::fill(island_of, -1);
    rows.islands.clear();
    for (RowBlock& block : rows.unsorted) {
        block.island = find_root(parent, block.island);
        island_of[block.island] = 0;
    }
    for (int& island : island_of) {
        if (island < 0) continue;
        island = static_cast<int>(rows.islands.size());
        rows.islands.emplace_back();
    }
    const auto island_at = [&](int root) -> Island& { return rows.islands[island_of[root]]; };
    for (RowBlock& block : rows.unsorted) {
        Island& island = island_at(block.island);
        island.blocks += 1;
        island.rows += block.rows;
    }
    for (size_t t = 0; t < parent.size(); ++t) {
        const int root = find_root(parent, static_cast<int>(t));
        if (island_of[root] < 0) continue;
        Island& island = island_at(root);
        rows.tree_dof[t] = island.dofs;
        island.trees += 1;
        island.dofs += m.trees[t].dof_end - m.trees[t].dof_begin;
    }

    // first row, block and tree of each island
    Island end;
    for (Island& island : rows.islands) {
        const Island of = island;
        island.row = end.row;
        island.block = end.block;
        island.tree = end.tree;
        island.delassus = end.delassus;
        island.responses = end.responses;
        island.factored = of.rows > max_dense_rows;
        end.row += of.rows;
        end.block += of.blocks;
        end.tree += of.trees;
        if (island.factored) continue;
        end.delassus += static_cast<size_t>(of.rows) * static_cast<size_t>(of.rows);
        end.responses += static_cast<size_t>(of.rows) * static_cast<size_t>(of.dofs);
    }
    rows.count = end.row;
    rows.delassus_size = end.delassus;
    rows.responses_size = end.responses;

    // sort blocks and trees
    rows.blocks.resize(rows.unsorted.size());
    rows.island_trees.resize(end.tree);
    rows.filled.assign(rows.islands.begin(), rows.islands.end());
    for (const RowBlock& unsorted : rows.unsorted) {
        const int number = island_of[unsorted.island];
        Island& next = rows.filled[number];
        RowBlock& block = rows.blocks[next.block++] = unsorted;
        block.island = number;
        block.row = next.row;
        next.row += block.rows;
        if (block.kind == RowKind::contact) rows.contact_row[block.index] = block.row;
    }
    for (size_t t = 0; t < parent.size(); ++t) {
        const int number = island_of[find_root(parent, static_cast<int>(t))];
        if (number < 0) continue;
        rows.island_trees[rows.filled[number].tree++] = static_cast<int>(t);
    }
}

// The dofs of a block's tendons and those on their paths to the world, from the last to the first.
template <class T> void append_tendon_chain(const Model& m, RowBlock& block, Rows<T>& rows) {
    const auto first = static_cast<std::ptrdiff_t>(rows.chain_dof.size());
    for (const int tendon : tendons_of(m, block))
        for (size_t i = 0; tendon >= 0 && i < m.measured_tendons[tendon].dofs.size(); ++i)
            for (int j = m.measured_tendons[tendon].dofs[i]; j >= 0; j = m.dofs[j].parent)
                rows.chain_dof.push_back(j);
    std::sort(rows.chain_dof.begin() + first, rows.chain_dof.end(), std::greater());
    rows.chain_dof.erase(std::unique(rows.chain_dof.begin() + first, rows.chain_dof.end()),
                         rows.chain_dof.end());
    rows.chain_sign.resize(rows.chain_dof.size(), 0);
    block.chain = static_cast<int>(first);
    block.length = static_cast<int>(rows.chain_dof.size()) - block.chain;
}

// The dofs on the path from the world to either end of the block, from the last to the first.
template <class T> void append_chain(const Model& m, RowBlock& block, Rows<T>& rows) {
    if (tendons_of(m, block)[0] >= 0) return append_tendon_chain(m, block, rows);
    int a = block.last_a, b = block.last_b;
    block.chain = static_cast<int>(rows.chain_dof.size());
    while (a >= 0 || b >= 0) {
        const int j = std::max(a, b);
        rows.chain_dof.push_back(j);
        rows.chain_sign.push_back(static_cast<signed char>(a == b ? 0 : (j == a ? 1 : -1)));
        const int parent = m.dofs[j].parent;
        if (b == j) b = parent;
        if (a == j) a = parent;
    }
    block.length = static_cast<int>(rows.chain_dof.size()) - block.chain;
}

// J of a row of the block (length).
template <class T> T* jacobian_row(Rows<T>& rows, const RowBlock& block, int row) {
    return rows.J.data() + block.values + row * block.length;
}

// J_bar of a row of the block (length).
template <class T> const T* jacobian_row_bar(const Rows<T>& rows, const RowBlock& block, int row) {
    return rows.J_bar.data() + block.values + row * block.length;
}

// One row of J for a force F_a on the first end of the block and -F_b on the second, each about the origin of
// its common frame:
//   J_rj =  S_j . F_a   for dofs of the first end
//   J_rj = -S_j . F_b   for dofs of the second end
//   J_rj =  0           for dofs that move both together
template <class T>
void force_row(const Kinematics<T>& k, const Rows<T>& rows, const RowBlock& block, const Force<T>& F_a,
               const Force<T>& F_b, T* J) {
    for (int i = block.chain; i < block.chain + block.length; ++i) {
        const Motion<T>& S = k.S[rows.chain_dof[i]];
        const int sign = rows.chain_sign[i];
        *J++ = sign > 0 ? dot(S, F_a) : (sign < 0 ? -dot(S, F_b) : T(0));
    }
}
template <class T>
void force_row_adj(const Kinematics<T>& k, const Rows<T>& rows, const RowBlock& block, const Force<T>& F_a,
                   const Force<T>& F_b, const T* J_bar, KinematicsBar<T>& bar, Motion<T>& F_a_bar,
                   Motion<T>& F_b_bar) {
    for (int i = 0; i < block.length; ++i) {
        const size_t j = rows.chain_dof[block.chain + i];
        const int sign = rows.chain_sign[block.chain + i];
        if (sign > 0)
            dot_adj(k.S[j], F_a, J_bar[i], bar.S[j], F_a_bar);
        else if (sign < 0)
            dot_adj<T>(k.S[j], F_b, -J_bar[i], bar.S[j], F_b_bar);
    }
}

}  // namespace costate
