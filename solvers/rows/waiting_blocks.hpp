// Blocks that wait outside the problem. Detection finds contacts and ends of joint ranges within a margin
// around the motion, most of which no impulse of this step touches. A unilateral block waits if its gap stays
// open by the free velocity, with some reserve. After the solve, its gap must stay open by the solution as
// well; otherwise the block takes part, and the problem is solved again. So the solution is that of all rows:
// the impulse of a waiting row is 0, and its velocity s = J v+ + gap/h is positive.
#pragma once

#include "solvers/rows/contact_reach.hpp"
#include "solvers/rows/rows.hpp"

namespace costate {

// How fast a gap opens: along the row, and the slip by which the relaxed cone dilates it.
template <class V> struct Opening {
    V along, dilation;  // m/s or rad/s
};

template <class T>
Opening<Value<T>> block_opening(const World& w, const T* theta, const RowBlock& block, const T* q, const T* v,
                                const std::vector<Motion<Value<T>>>& twists,
                                const ContactScratch<T>& contacts, const Rows<T>& rows) {
    using V = Value<T>;
    if (block.kind == RowKind::contact) {
        const ContactPoint<T>& c = contacts.points[block.index];
        const Vec3<V> point = values(c.geometry.point), normal = values(c.geometry.normal);
        Vec3<V> velocity = Vec3<V>::Zero();
        if (c.body_a >= 0) velocity += point_velocity(twists[c.body_a], point);
        if (c.body_b >= 0) velocity -= point_velocity<V>(twists[c.body_b], point - values(c.to_b));
        const V along = normal.dot(velocity);
        if (w.friction_law() != FrictionLaw::relaxed_cone) return {along, V(0)};
        Vec3<V> rotation = Vec3<V>::Zero();
        if (c.body_a >= 0) rotation += twists[c.body_a].ang;
        if (c.body_b >= 0) rotation -= twists[c.body_b].ang;
        velocity -= along * normal;
        if (surfaces_move(w, c)) {
            const Motion<T> surfaces = surface_slip(w, theta, contacts, c);
            const Vec3<V> lin = values(surfaces.lin);
            velocity += lin - normal.dot(lin) * normal;
            rotation += normal.dot(values(surfaces.ang)) * normal;
        }
        const V spin = normal.dot(rotation);
        const V slip[] = {velocity.norm(), value_of(c.torsional_arm) * spin,
                          value_of(c.rolling_arm) * (rotation - spin * normal).norm()};
        return {along, value_of(c.friction) * length_of(slip, 3)};
    }
    if (block.kind == RowKind::tendon_limit)
        return {block.side * limit_rate(w.model.measured_tendons[block.index], rows.tendons, v), V(0)};
    const JointLimit& l = w.model.limits[block.index];
    if (block.kind == RowKind::limit) return {block.side * value_of(v[l.v]), V(0)};
    const Vec3<V> axis = normalise<V>(values(ball_rotation(l, q)));
    return {-axis.dot(values(load3(v + l.v))), V(0)};
}

// The velocity that keeps a gap from closing in the step: gap/h, m/s or rad/s.
template <class T>
Value<T> gap_velocity(const World& w, const T* theta, const RowBlock& block, const T* q,
                      const ContactScratch<T>& contacts, const Rows<T>& rows) {
    return value_of(block_gap(w, theta, block, q, contacts, rows)) / value_of(w.h(theta));
}

template <class V> Condition<V> stays_open(const V& gap_velocity, const Opening<V>& o) {
    return gap_velocity + 2 * smaller(o.along, V(0)) - o.dilation > reserve;
}

// Chooses the blocks that wait, by the velocity at the start of the step and the free velocity v_free (nv).
// Call after find_blocks.
template <class T>
void hold_back_blocks(const World& w, const T* theta, const StateView<T>& x, const T* v_free,
                      const Kinematics<T>& k, const ContactScratch<T>& contacts, Rows<T>& rows) {
    rows.waits.assign(rows.found.size(), 0);
    bool twists = false;
    for (size_t i = 0; i < rows.found.size(); ++i) {
        const RowBlock& block = rows.found[i];
        if (!block.unilateral()) continue;
        const Value<T> gap = gap_velocity(w, theta, block, x.q, contacts, rows);
        Condition<Value<T>> waits = gap > reserve;
        if (!any(waits)) continue;
        if (!twists) {
            body_twists(w.model, k, x.v, rows.twists);
            body_twists(w.model, k, v_free, rows.twists_free);
            twists = true;
        }
        waits =
            waits & stays_open(gap, block_opening(w, theta, block, x.q, x.v, rows.twists, contacts, rows));
        if (any(waits))
            waits = waits & stays_open(gap, block_opening(w, theta, block, x.q, v_free, rows.twists_free,
                                                          contacts, rows));
        rows.waits[i] = bits_of(waits);
    }
}

// False if all waiting gaps stay open by the solution: by v_next (nv), and by the motion with recovery, moved
// (nv). Otherwise blocks whose gaps close, or nearly close, no longer wait.
template <class T>
bool wake_blocks(const World& w, const T* theta, const StateView<T>& x, const T* v_next, const T* moved,
                 const Kinematics<T>& k, const ContactScratch<T>& contacts, Rows<T>& rows) {
    if (std::ranges::none_of(rows.waits, [](LaneBits it) { return it != 0; })) return false;
    LaneBits closing = 0;
    rows.wakes.assign(rows.waits.size(), 0);
    for (const T* v : {v_next, moved}) {
        if (v == moved && !rows.recovers) continue;
        body_twists(w.model, k, v, rows.twists);
        for (size_t i = 0; i < rows.found.size(); ++i) {
            if (rows.waits[i] == 0) continue;
            const Value<T> gap = gap_velocity(w, theta, rows.found[i], x.q, contacts, rows);
            const Opening<Value<T>> o =
                block_opening(w, theta, rows.found[i], x.q, v, rows.twists, contacts, rows);
            const Condition<Value<T>> here = lanes_in<Value<T>>(rows.waits[i]);
            rows.wakes[i] |= bits_of(here & !stays_open(gap, o));
            closing |= bits_of(here & (gap + o.along - o.dilation < 0));
        }
    }
    for (size_t i = 0; i < rows.waits.size(); ++i)
        rows.waits[i] &= static_cast<LaneBits>(~(rows.wakes[i] & closing));
    return closing != 0;
}

}  // namespace costate
