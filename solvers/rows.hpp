// Constraint rows of a step, in blocks: three rows a contact (normal, two tangents), one a joint limit. A row of the
// Jacobian J is stored on its chain, the dofs that move either body, from the last to the first:
//   J_rj = +-S_j . F_r,   F_r = (p x d, d) the unit force of the row at the contact point p
// with + for dofs of body a, - for those of b, and 0 for those of both, which move the two together.
// Blocks that share a tree belong to one island; rows are numbered island by island.
#pragma once

#include "solvers/bias.hpp"
#include "solvers/contacts.hpp"

namespace costate {

struct RowBlock {
    int contact = -1;                // index of the contact, or
    int limit = -1, side = 0;        // index of the joint limit: side +1 at the lower end, -1 at the upper
    int row = 0, rows = 1;           // its rows
    int chain = 0, length = 0;       // its dofs: chain_dof[chain ... chain + length)
    int values = 0;                  // J and Z of its rows: values[row * length + position in the chain]
    int island = 0;
    BiasRule bias;
};

struct Island {
    int row = 0, rows = 0;        // contiguous rows
    int block = 0, blocks = 0;    // contiguous blocks
    int delassus = 0;             // its square matrix starts here in the array of all of them
    int tree = 0, trees = 0;      // island_trees[tree ... tree + trees)
};

template <class T> struct Rows {
    std::vector<RowBlock> blocks;
    std::vector<Island> islands;
    std::vector<int> chain_dof;
    std::vector<signed char> chain_sign;
    std::vector<int> island_trees;
    std::vector<T> J;                  // on the chains
    std::vector<T> beta, v_before;     // (rows) bias; J v at the start of the step (normal and limit rows)
    std::vector<T> mu;                 // (rows) friction coefficient of tangent rows
    std::vector<int> normal;           // (rows) row of the normal of a tangent row, -1 for unilateral rows
    std::vector<int> tree_parent;      // (trees) union-find
    std::vector<RowBlock> unsorted;    // as found, before islands are known
    int count = 0;
    // bars
    std::vector<T> J_bar, beta_bar, mu_bar;

    // Room for what the world can hold at first; more than this allocates once and stays.
    explicit Rows(const World& w) : tree_parent(w.model.trees.size()) {
        const size_t contacts = 4 * w.shapes.shapes.size(), limits = w.model.limits.size();
        blocks.reserve(contacts + limits), unsorted.reserve(contacts + limits), islands.reserve(w.model.trees.size());
        island_trees.reserve(w.model.trees.size());
        for (auto* per_row : {&beta, &v_before, &mu, &beta_bar, &mu_bar}) per_row->reserve(3 * contacts + limits);
        normal.reserve(3 * contacts + limits);
    }
};

template <class T> T limit_gap(const Model& m, const RowBlock& block, const T* q) {
    const JointLimit& l = m.limits[static_cast<size_t>(block.limit)];
    return block.side > 0 ? q[l.q] - T(l.lower) : T(l.upper) - q[l.q];
}

// The blocks of the step: every contact found, and the ends of joint ranges within reach.
template <class T> void find_blocks(const World& w, const T* q, const T* v, double h, const ContactScratch<T>& contacts, Rows<T>& rows) {
    rows.unsorted.clear();
    for (size_t c = 0; c < contacts.points.size(); ++c) {
        RowBlock block;
        block.contact = static_cast<int>(c), block.rows = 3;
        rows.unsorted.push_back(block);
    }
    for (size_t n = 0; n < w.model.limits.size(); ++n) {
        const JointLimit& l = w.model.limits[n];
        for (const int side : {1, -1}) {
            RowBlock block;
            block.limit = static_cast<int>(n), block.side = side;
            const double approach = -side * value_of(v[l.v]);
            if (value_of(limit_gap(w.model, block, q)) < std::max(w.settings.margin, 2 * h * approach)) rows.unsorted.push_back(block);
        }
    }
}

inline int find_root(std::vector<int>& parent, int i) {
    while (parent[static_cast<size_t>(i)] != i) i = parent[static_cast<size_t>(i)];
    return i;
}

// The trees a block moves, -1 for none.
template <class T> std::pair<int, int> trees_of(const Model& m, const RowBlock& block, const ContactScratch<T>& contacts) {
    const auto tree = [&](int body) { return body < 0 || m.bodies[static_cast<size_t>(body)].last_dof < 0 ? -1 : m.bodies[static_cast<size_t>(body)].tree; };
    if (block.limit >= 0) return {tree(m.limits[static_cast<size_t>(block.limit)].body), -1};
    const ContactPoint<T>& c = contacts.points[static_cast<size_t>(block.contact)];
    return {tree(c.body_a), tree(c.body_b)};
}

// Sorts the blocks by island, an island named by its first tree, and numbers the rows.
template <class T> void sort_into_islands(const World& w, const ContactScratch<T>& contacts, Rows<T>& rows) {
    std::vector<int>& parent = rows.tree_parent;
    for (size_t t = 0; t < parent.size(); ++t) parent[t] = static_cast<int>(t);
    for (RowBlock& block : rows.unsorted) {
        const auto [a, b] = trees_of(w.model, block, contacts);
        block.island = a >= 0 ? a : b;
        if (a < 0 || b < 0) continue;
        const int ra = find_root(parent, a), rb = find_root(parent, b);
        parent[static_cast<size_t>(std::max(ra, rb))] = std::min(ra, rb);
    }
    for (RowBlock& block : rows.unsorted) block.island = find_root(parent, block.island);

    rows.blocks.clear(), rows.islands.clear(), rows.island_trees.clear();
    rows.count = 0;
    int delassus = 0;
    for (size_t root = 0; root < parent.size(); ++root) {
        if (parent[root] != static_cast<int>(root)) continue;
        Island island{rows.count, 0, static_cast<int>(rows.blocks.size()), 0, delassus, static_cast<int>(rows.island_trees.size()), 0};
        for (RowBlock block : rows.unsorted) {
            if (block.island != static_cast<int>(root)) continue;
            block.island = static_cast<int>(rows.islands.size());
            block.row = rows.count;
            rows.count += block.rows;
            rows.blocks.push_back(block);
        }
        island.rows = rows.count - island.row;
        if (island.rows == 0) continue;
        island.blocks = static_cast<int>(rows.blocks.size()) - island.block;
        for (size_t t = root; t < parent.size(); ++t)
            if (find_root(parent, static_cast<int>(t)) == static_cast<int>(root)) rows.island_trees.push_back(static_cast<int>(t));
        island.trees = static_cast<int>(rows.island_trees.size()) - island.tree;
        delassus += island.rows * island.rows;
        rows.islands.push_back(island);
    }
}

// The dofs that move body a or body b (or the one dof of a limit and those before it), from the last to the first.
template <class T> void append_chain(const Model& m, const ContactScratch<T>& contacts, RowBlock& block, Rows<T>& rows) {
    const auto last = [&](int body) { return body < 0 ? -1 : m.bodies[static_cast<size_t>(body)].last_dof; };
    int a = -1, b = -1;
    if (block.contact >= 0) {
        const ContactPoint<T>& c = contacts.points[static_cast<size_t>(block.contact)];
        a = last(c.body_a), b = last(c.body_b);
    } else {
        a = m.limits[static_cast<size_t>(block.limit)].v;
    }
    block.chain = static_cast<int>(rows.chain_dof.size());
    while (a >= 0 || b >= 0) {
        const int j = std::max(a, b);
        rows.chain_dof.push_back(j);
        rows.chain_sign.push_back(static_cast<signed char>(a == b ? 0 : (j == a ? 1 : -1)));
        const int parent = m.dofs[static_cast<size_t>(j)].parent;
        if (b == j) b = parent;
        if (a == j) a = parent;
    }
    block.length = static_cast<int>(rows.chain_dof.size()) - block.chain;
}

// The unit force of a row of a contact, about the origin of a's or b's common frame.
template <class T> Force<T> row_force(const ContactPoint<T>& c, int row, bool on_b) {
    return point_force<T>(on_b ? Vec3<T>(c.geometry.point - c.to_b) : c.geometry.point, c.direction(row));
}

// The three rows of a contact: J on the chain, friction of the tangent rows, and the normal row they lean on.
template <class T> void contact_rows(const Kinematics<T>& k, const ContactPoint<T>& c, const RowBlock& block, Rows<T>& rows) {
    T* J = rows.J.data() + block.values;
    for (int r = 0; r < 3; ++r) {
        const Force<T> F_a = row_force(c, r, false), F_b = row_force(c, r, true);
        for (int i = block.chain; i < block.chain + block.length; ++i) {
            const Motion<T>& S = k.S[static_cast<size_t>(rows.chain_dof[static_cast<size_t>(i)])];
            const int sign = rows.chain_sign[static_cast<size_t>(i)];
            *J++ = sign > 0 ? dot(S, F_a) : (sign < 0 ? -dot(S, F_b) : T(0));
        }
    }
    const size_t row = static_cast<size_t>(block.row);
    rows.mu[row + 1] = rows.mu[row + 2] = c.friction;
    rows.normal[row + 1] = rows.normal[row + 2] = block.row;
}
// From rows.J_bar and mu_bar.
template <class T>
void contact_rows_adj(const Kinematics<T>& k, const ContactPoint<T>& c, const RowBlock& block, const Rows<T>& rows,
                      ContactPointBar<T>& c_bar, KinematicsBar<T>& bar) {
    const size_t row = static_cast<size_t>(block.row);
    c_bar.friction += rows.mu_bar[row + 1] + rows.mu_bar[row + 2];
    for (int r = 0; r < 3; ++r) {
        const Force<T> F_a = row_force(c, r, false), F_b = row_force(c, r, true);
        Motion<T> F_a_bar = Motion<T>::zero(), F_b_bar = Motion<T>::zero();
        const T* J_bar = rows.J_bar.data() + block.values + r * block.length;
        for (int i = 0; i < block.length; ++i) {
            const size_t j = static_cast<size_t>(rows.chain_dof[static_cast<size_t>(block.chain + i)]);
            const int sign = rows.chain_sign[static_cast<size_t>(block.chain + i)];
            if (sign > 0) dot_adj(k.S[j], F_a, J_bar[i], bar.S[j], F_a_bar);
            else if (sign < 0) dot_adj<T>(k.S[j], F_b, -J_bar[i], bar.S[j], F_b_bar);
        }
        point_force_adj(c.geometry.point, c.direction(r), F_a_bar, c_bar.geometry.point, c_bar.direction(r));
        point_force_adj<T>(c.geometry.point - c.to_b, c.direction(r), F_b_bar, c_bar.geometry.point, c_bar.direction(r));
    }
}

// Of a block's first row: the distance that it keeps from closing, m or rad, and its restitution.
template <class T> T block_gap(const World& w, const RowBlock& block, const T* q, const ContactScratch<T>& contacts) {
    return block.contact >= 0 ? contacts.points[static_cast<size_t>(block.contact)].geometry.gap : limit_gap(w.model, block, q);
}
template <class T> T block_restitution(const RowBlock& block, const ContactScratch<T>& contacts) {
    return block.contact >= 0 ? contacts.points[static_cast<size_t>(block.contact)].restitution : T(0);
}

// Bias of a block's first row, after its Jacobian.
template <class T>
void block_bias(const World& w, const T* theta, const T* q, const T* v, const ContactScratch<T>& contacts, RowBlock& block,
                Rows<T>& rows) {
    const T &h = theta[w.time_step.at(0)], &erp = theta[w.erp.at(0)];
    const size_t row = static_cast<size_t>(block.row);
    // 1 velocity along the row
    T& v_before = rows.v_before[row] = T(0);
    for (int i = 0; i < block.length; ++i)
        v_before += rows.J[static_cast<size_t>(block.values + i)] * v[rows.chain_dof[static_cast<size_t>(block.chain + i)]];
    // 2 bias
    const T gap = block_gap(w, block, q, contacts), e = block_restitution(block, contacts);
    block.bias = bias_rule(w.settings, gap, v_before, erp, h);
    rows.beta[row] = row_bias(block.bias, gap, v_before, e, erp, h);
}
// From rows.beta_bar; adds to rows.J_bar.
template <class T>
void block_bias_adj(const World& w, const T* theta, const T* q, const T* v, const RowBlock& block, ContactScratch<T>& contacts,
                    Rows<T>& rows, T* theta_bar, T* q_bar, T* v_bar) {
    const T &h = theta[w.time_step.at(0)], &erp = theta[w.erp.at(0)];
    const size_t row = static_cast<size_t>(block.row);
    // 2 bias
    T gap_bar(0), v_before_bar(0), e_bar(0);
    NoBar none;
    row_bias_adj<T>(block.bias, block_gap(w, block, q, contacts), rows.v_before[row], block_restitution(block, contacts), erp, h,
                    rows.beta_bar[row], none, gap_bar, v_before_bar, e_bar, theta_bar[w.erp.at(0)], theta_bar[w.time_step.at(0)]);
    if (block.contact >= 0) {
        ContactPointBar<T>& c_bar = contacts.points_bar[static_cast<size_t>(block.contact)];
        c_bar.geometry.gap += gap_bar;
        c_bar.restitution += e_bar;
    } else {
        q_bar[w.model.limits[static_cast<size_t>(block.limit)].v] += T(block.side) * gap_bar;
    }
    // 1 velocity along the row
    for (int i = 0; i < block.length; ++i) {
        const int j = rows.chain_dof[static_cast<size_t>(block.chain + i)];
        v_bar[j] += v_before_bar * rows.J[static_cast<size_t>(block.values + i)];
        rows.J_bar[static_cast<size_t>(block.values + i)] += v_before_bar * v[j];
    }
}

template <class T>
void make_rows(const World& w, const T* theta, const T* q, const T* v, const Kinematics<T>& k, const ContactScratch<T>& contacts,
               Rows<T>& rows) {
    // 1.1 blocks, islands
    find_blocks(w, q, v, value_of(theta[w.time_step.at(0)]), contacts, rows);
    sort_into_islands(w, contacts, rows);
    const size_t n = static_cast<size_t>(rows.count);
    rows.beta.assign(n, T(0)), rows.v_before.assign(n, T(0)), rows.mu.assign(n, T(0)), rows.normal.assign(n, -1);
    rows.chain_dof.clear(), rows.chain_sign.clear(), rows.J.clear();
    for (RowBlock& block : rows.blocks) {
        append_chain(w.model, contacts, block, rows);
        block.values = static_cast<int>(rows.J.size());
        rows.J.resize(rows.J.size() + static_cast<size_t>(block.rows * block.length), T(0));
        // 1.2 Jacobian: of a limit that of its joint alone
        if (block.contact >= 0) contact_rows(k, contacts.points[static_cast<size_t>(block.contact)], block, rows);
        else rows.J[static_cast<size_t>(block.values)] = T(block.side);
        // 1.3 bias of the block's first row
        block_bias(w, theta, q, v, contacts, block, rows);
    }
}
// From rows.J_bar, beta_bar and mu_bar to the contacts' bars, the axes, q, v and theta.
template <class T>
void make_rows_adj(const World& w, const T* theta, const T* q, const T* v, const Kinematics<T>& k, ContactScratch<T>& contacts,
                   Rows<T>& rows, KinematicsBar<T>& bar, T* theta_bar, T* q_bar, T* v_bar) {
    for (const RowBlock& block : rows.blocks) {
        // 1.3 bias of the block's first row
        block_bias_adj(w, theta, q, v, block, contacts, rows, theta_bar, q_bar, v_bar);
        // 1.2 Jacobian: of a limit constant
        if (block.contact < 0) continue;
        const size_t c = static_cast<size_t>(block.contact);
        contact_rows_adj(k, contacts.points[c], block, rows, contacts.points_bar[c], bar);
        // 1.1 blocks, islands: decided, nothing flows
    }
}

}  // namespace costate
