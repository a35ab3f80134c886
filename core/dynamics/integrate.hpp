// Integration of configurations: q+ = retract(q, d) moves q (nq) by a tangent vector d (nv). The adjoint of a
// configuration is the covector (nv) of d.
#pragma once

#include "core/dynamics/kinematics.hpp"

namespace costate {

// A configuration consists of plain numbers and quaternions. Calls number(iq, iv) for each number and
// rotation(iq, iv) for each quaternion, with their first index in q and in v.
template <class Number, class Rotation>
void for_each_coordinate(const Model& m, const Number& number, const Rotation& rotation) {
    for (const Body& b : m.bodies) {
        const JointKind& kind = joint_kind(b.joint);
        for (int c = 0; c < kind.numbers; ++c)
            number(b.q0 + c, b.v0 + c);
        for (int r = 0; r < kind.rotations; ++r)
            rotation(b.q0 + kind.numbers + 4 * r, b.v0 + kind.numbers + 3 * r);
    }
}

template <class T>
void retract(const Model& m,
             const T* q,  // (nq)
             const T* d,  // (nv)
             T* q_next)   // out (nq)
{
    for_each_coordinate(
        m, [&](int iq, int iv) { q_next[iq] = q[iq] + d[iv]; },
        [&](int iq, int iv) {
            const Quaternion<T> r = retract_quaternion(load_quaternion(q + iq), load3(d + iv));
            q_next[iq] = r.w;
            q_next[iq + 1] = r.v.x();
            q_next[iq + 2] = r.v.y();
            q_next[iq + 3] = r.v.z();
        });
}
template <class T>
void retract_adj(const Model& m, const T* q, const T* d, const T* next_bar, T* q_bar, T* d_bar) {
    for_each_coordinate(
        m,
        [&](int, int iv) {
            q_bar[iv] += next_bar[iv];
            d_bar[iv] += next_bar[iv];
        },
        [&](int iq, int iv) {
            Vec3<T> r_bar = Vec3<T>::Zero(), e_bar = Vec3<T>::Zero();
            retract_quaternion_adj(load_quaternion(q + iq), load3(d + iv), load3(next_bar + iv), r_bar,
                                   e_bar);
            add3(q_bar + iv, r_bar);
            add3(d_bar + iv, e_bar);
        });
}

// The shortest d with retract(a, d) = b
template <class T> void difference(const Model& m, const T* a, const T* b, T* d) {
    for_each_coordinate(
        m, [&](int iq, int iv) { d[iv] = b[iq] - a[iq]; },
        [&](int iq, int iv) {
            const Vec3<T> w = quaternion_difference(load_quaternion(a + iq), load_quaternion(b + iq));
            for (int c = 0; c < 3; ++c)
                d[iv + c] = w[c];
        });
}
template <class T>
void difference_adj(const Model& m, const T* a, const T* b, const T* d_bar, T* a_bar, T* b_bar) {
    for_each_coordinate(
        m,
        [&](int, int iv) {
            b_bar[iv] += d_bar[iv];
            a_bar[iv] -= d_bar[iv];
        },
        [&](int iq, int iv) {
            Vec3<T> ra = Vec3<T>::Zero(), rb = Vec3<T>::Zero();
            quaternion_difference_adj(load_quaternion(a + iq), load_quaternion(b + iq), load3(d_bar + iv), ra,
                                      rb);
            add3(a_bar + iv, ra);
            add3(b_bar + iv, rb);
        });
}

}  // namespace costate
