// Warm start: the next step's solver starts from the impulses of this step. They are part of the state, so a
// step stays a pure function of its arguments, and checkpoints and gradients are complete. With a warm start,
// a state has after (q, v) and the activations:
//
//   keys (contacts)                          of the pairs of features, in the order of detection; 0: none
//   impulses (contact_rows contacts)         of the rows of each contact, N s
//   impulses of joint limits, dry friction,
//   equalities and limits of tendons         each at a fixed position
//
// Its tangent has the same entries after the others. Keys have no derivative: their entries are 0 in
// output tangents and covectors, and not read from input tangents and covectors. Contacts beyond the capacity
// start from 0.
#pragma once

#include "solvers/step/impulses.hpp"

namespace costate {

// A positive integer up to 2^52, exact in a double.
inline double feature_key(const FeaturePair& f) {
    std::uint64_t hash = 0;
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(f.a), static_cast<std::uint64_t>(f.b),
          static_cast<std::uint64_t>(f.on_a.kind), static_cast<std::uint64_t>(f.on_a.index),
          static_cast<std::uint64_t>(f.on_b.kind), static_cast<std::uint64_t>(f.on_b.index)})
        hash = mixed(hash, part);
    return static_cast<double>((hash >> 12) + 1);
}

// Position of a block's impulses after the keys, -1: none. n: slot of the contact, if the block is a contact.
inline int warm_place(const World& w, const RowBlock& block, int n) {
    const Model& m = w.model;
    const int limits = w.contact_rows() * w.warm_contacts(),
              dry = limits + 2 * static_cast<int>(m.limits.size()),
              equalities = dry + static_cast<int>(m.dry_dofs.size()),
              tendons = equalities + max_equality_rows * static_cast<int>(m.equalities.size());
    switch (block.kind) {
        case RowKind::contact: return n < w.warm_contacts() ? w.contact_rows() * n : -1;
        case RowKind::limit:
        case RowKind::ball_limit: return limits + 2 * block.index + (block.side < 0 ? 1 : 0);
        case RowKind::dry_friction: return dry + block.index;
        case RowKind::tendon_limit: return tendons + 2 * block.index + (block.side < 0 ? 1 : 0);
        default: return equalities + max_equality_rows * block.index;
    }
}

// Computes s.lambda, the start of the solver, from warm, those entries of the state, null if none. s.warm
// (blocks): position of each block's impulses, -1: none.
template <class T>
void warm_start(const World& w, const T* warm, const ContactScratch<T>& contacts, const Rows<T>& rows,
                ImpulseScratch<T>& s) {
    s.lambda.assign(rows.beta.size(), T(0));
    s.warm.assign(rows.blocks.size(), -1);
    if (!w.settings.warm_start) return;
    const int capacity = w.warm_contacts();
    s.warm_slots.clear();
    for (int slot = 0; slot < capacity; ++slot)
        s.warm_slots.emplace_back(value_of(warm[slot]), slot);
    std::ranges::sort(s.warm_slots);
    for (size_t n = 0; n < rows.blocks.size(); ++n) {
        const RowBlock& block = rows.blocks[n];
        int slot = block.index;
        if (block.kind == RowKind::contact) {  // usually in the same slot as in the last step
            const double key = feature_key(contacts.points[block.index].features);
            if (slot >= capacity || value_of(warm[slot]) != key) {
                const auto found = std::ranges::lower_bound(s.warm_slots, std::pair<Value<T>, int>(key, 0));
                slot = found != s.warm_slots.end() && found->first == key ? found->second : capacity;
            }
        }
        s.warm[n] = warm_place(w, block, slot);
        if (s.warm[n] >= 0)
            std::copy_n(warm + capacity + s.warm[n], block.rows, s.lambda.begin() + block.row);
    }
}
// Input: s.lambda_bar, the covector of the start. Adds to warm_bar, the covector of the stored impulses.
template <class T>
void warm_start_adj(const World& w, const Rows<T>& rows, const ImpulseScratch<T>& s, T* warm_bar) {
    for (size_t n = 0; w.settings.warm_start && n < rows.blocks.size(); ++n)
        for (int r = 0; s.warm[n] >= 0 && r < rows.blocks[n].rows; ++r) {
            const T& start_bar = s.lambda_bar[rows.blocks[n].row + r];
            warm_bar[w.warm_contacts() + s.warm[n] + r] += start_bar;
        }
}

// Stores the solution for the start of the next step.
template <class T>
void keep_impulses(const World& w, const ContactScratch<T>& contacts, const Rows<T>& rows,
                   const ImpulseScratch<T>& s, T* warm_next) {
    if (!w.settings.warm_start) return;
    std::fill_n(warm_next, w.warm_numbers(), T(0));
    for (const RowBlock& block : rows.blocks) {
        const int place = warm_place(w, block, block.index);
        if (place < 0) continue;
        if (block.kind == RowKind::contact)
            warm_next[block.index] = T(feature_key(contacts.points[block.index].features));
        std::copy_n(s.lambda.begin() + block.row, block.rows, warm_next + w.warm_contacts() + place);
    }
}
template <class T>
void keep_impulses_adj(const World& w, const Rows<T>& rows, const T* warm_next_bar, ImpulseScratch<T>& s) {
    if (!w.settings.warm_start) return;
    for (const RowBlock& block : rows.blocks) {
        const int place = warm_place(w, block, block.index);
        for (int r = 0; place >= 0 && r < block.rows; ++r)
            s.lambda_bar[block.row + r] += warm_next_bar[w.warm_contacts() + place + r];
    }
}

}  // namespace costate
