// How far around the shapes a step looks for contacts: as far as one could push in the step. Detection allows for
// the velocity at the start of the step; what the step changes about it is bounded here, first from the free
// velocity with some reserve. If the solution changes the velocity of a shape by more, the step is solved
// again with the contacts that this may reach. So the solution is that of all contacts within the margin.
#pragma once

#include "solvers/rows/contacts.hpp"

namespace costate {

// m/s or rad/s; a gap that stays open by a lower velocity may be closed by other impulses of the step.
inline constexpr double reserve = 0.02;

// The twists of the bodies in the common frames of their trees, at the joint velocities v(dof).
template <class T, class Velocity>
void twists_of(const Model& m, const Kinematics<T>& k, const Velocity& v,
               std::vector<Motion<Value<T>>>& twists) {
    twists.resize(m.bodies.size());
    for (size_t i = 0; i < twists.size(); ++i) {
        const Body& b = m.bodies[i];
        twists[i] = b.parent < 0 ? Motion<Value<T>>::zero() : twists[b.parent];
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            twists[i].ang += v(j) * values(k.S[j].ang);
            twists[i].lin += v(j) * values(k.S[j].lin);
        }
    }
}
template <class T>
void body_twists(const Model& m, const Kinematics<T>& k, const T* v, std::vector<Motion<Value<T>>>& twists) {
    twists_of(
        m, k, [v](int j) { return value_of(v[j]); }, twists);
}

// The relaxed cone dilates with slip, which the bound of velocities does not cover; a soft law pushes in overlap
// alone, and looks no farther.
inline bool bounds_reach(const World& w) {
    return w.friction_law() != FrictionLaw::relaxed_cone && !w.model.soft;
}

// Calls visit(shape, bound) with an upper bound for the change of the velocity of a shape's points, m/s, if the
// joint velocities change from `from` to `to` (nv).
template <class T, class Visit>
void each_change(const World& w, const T* theta, const T* from, const T* to, const Kinematics<T>& k,
                 ContactScratch<T>& s, const Visit& visit) {
    twists_of(
        w.model, k, [&](int j) { return value_of(to[j]) - value_of(from[j]); }, s.twists);
    for (size_t n = 0; n < w.shapes.shapes.size(); ++n) {
        const Shape& it = w.shapes.shapes[n];
        if (it.body < 0) continue;
        const Motion<Value<T>>& change = s.twists[it.body];
        const Vec3<Value<T>> size = values(load3(theta + w.shapes.size.at(static_cast<int>(n))));
        const Value<T> radius = from_lanes<Value<T>>([&](int i) {
            return bounding_radius(it, {lane(size[0], i), lane(size[1], i), lane(size[2], i)});
        });
        visit(n, point_velocity(change, values(s.X_CS[n].p)).norm() + change.ang.norm() * radius);
    }
}

// Sets the reach from the change from v to v_free (nv). Call after place_shapes.
template <class T>
void expect_change(const World& w, const T* theta, const T* v, const T* v_free, const Kinematics<T>& k,
                   ContactScratch<T>& s) {
    s.nearing.clear();
    if (!bounds_reach(w)) return;
    s.nearing.assign(w.shapes.shapes.size(), 0);
    const Value<T> h = value_of(w.h(theta));
    each_change(w, theta, v, v_free, k, s,
                [&](size_t n, const Value<T>& change) { s.nearing[n] = 2 * h * (change + reserve); });
}

// True if the change from v to v_next (nv) is more than expected for a shape whose contacts are not sought in the
// whole margin. The reach is then twice that change.
template <class T>
bool exceeds_reach(const World& w, const T* theta, const T* v, const T* v_next, const Kinematics<T>& k,
                   ContactScratch<T>& s) {
    if (s.nearing.empty()) return false;
    const Value<T> h = value_of(w.h(theta));
    bool exceeds = false;
    each_change(w, theta, v, v_next, k, s, [&](size_t n, const Value<T>& change) {
        const Condition<Value<T>> farther =
            (2 * h * change > s.nearing[n]) & (s.nearing[n] < w.settings.margin);
        if (!any(farther)) return;
        s.nearing[n] = where(farther, Value<T>(2 * h * (2 * change + reserve)), s.nearing[n]);
        exceeds = true;
    });
    return exceeds;
}

}  // namespace costate
