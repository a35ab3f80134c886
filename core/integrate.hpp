// Configurations: q+ = retract(q, d), a step d of the tangent space (nv) taken on the manifold of q (nq).
// The adjoint of a configuration is the covector (nv) of such a step.
#pragma once

#include "core/model.hpp"
#include "core/rotation.hpp"

namespace costate {

template <class T>
void retract(const Model& m,
             const T* q,   // (nq)
             const T* d,   // (nv)
             T* q_next)    // out (nq)
{
    for (const Body& b : m.bodies) {
        int iq = b.q0, iv = b.v0;
        switch (b.joint) {
            case JointType::fixed: break;
            case JointType::revolute:
            case JointType::helical:
            case JointType::prismatic: q_next[iq] = q[iq] + d[iv]; break;
            case JointType::free:
                for (int c = 0; c < 3; ++c) q_next[iq + c] = q[iq + c] + d[iv + c];
                iq += 3, iv += 3;
                [[fallthrough]];
            case JointType::spherical: {
                const Quaternion<T> r = retract_quaternion<T>({q[iq], {q[iq + 1], q[iq + 2], q[iq + 3]}}, {d[iv], d[iv + 1], d[iv + 2]});
                q_next[iq] = r.w, q_next[iq + 1] = r.v.x(), q_next[iq + 2] = r.v.y(), q_next[iq + 3] = r.v.z();
                break;
            }
        }
    }
}

template <class T> void retract_adj(const Model& m, const T* q, const T* d, const T* next_bar, T* q_bar, T* d_bar) {
    for (const Body& b : m.bodies) {
        int iq = b.q0, iv = b.v0;
        switch (b.joint) {
            case JointType::fixed: break;
            case JointType::revolute:
            case JointType::helical:
            case JointType::prismatic: q_bar[iv] += next_bar[iv], d_bar[iv] += next_bar[iv]; break;
            case JointType::free:
                for (int c = 0; c < 3; ++c) q_bar[iv + c] += next_bar[iv + c], d_bar[iv + c] += next_bar[iv + c];
                iq += 3, iv += 3;
                [[fallthrough]];
            case JointType::spherical: {
                Vec3<T> r_bar = Vec3<T>::Zero(), e_bar = Vec3<T>::Zero();
                retract_quaternion_adj<T>({q[iq], {q[iq + 1], q[iq + 2], q[iq + 3]}}, {d[iv], d[iv + 1], d[iv + 2]},
                                          {next_bar[iv], next_bar[iv + 1], next_bar[iv + 2]}, r_bar, e_bar);
                for (int c = 0; c < 3; ++c) q_bar[iv + c] += r_bar[c], d_bar[iv + c] += e_bar[c];
                break;
            }
        }
    }
}

// d with retract(a, d) = b, the shortest
template <class T> void difference(const Model& m, const T* a, const T* b, T* d) {
    for (const Body& body : m.bodies) {
        int iq = body.q0, iv = body.v0;
        switch (body.joint) {
            case JointType::fixed: break;
            case JointType::revolute:
            case JointType::helical:
            case JointType::prismatic: d[iv] = b[iq] - a[iq]; break;
            case JointType::free:
                for (int c = 0; c < 3; ++c) d[iv + c] = b[iq + c] - a[iq + c];
                iq += 3, iv += 3;
                [[fallthrough]];
            case JointType::spherical: {
                const Vec3<T> w = quaternion_difference<T>({a[iq], {a[iq + 1], a[iq + 2], a[iq + 3]}}, {b[iq], {b[iq + 1], b[iq + 2], b[iq + 3]}});
                for (int c = 0; c < 3; ++c) d[iv + c] = w[c];
                break;
            }
        }
    }
}

template <class T> void difference_adj(const Model& m, const T* a, const T* b, const T* d_bar, T* a_bar, T* b_bar) {
    for (const Body& body : m.bodies) {
        int iq = body.q0, iv = body.v0;
        switch (body.joint) {
            case JointType::fixed: break;
            case JointType::revolute:
            case JointType::helical:
            case JointType::prismatic: b_bar[iv] += d_bar[iv], a_bar[iv] -= d_bar[iv]; break;
            case JointType::free:
                for (int c = 0; c < 3; ++c) b_bar[iv + c] += d_bar[iv + c], a_bar[iv + c] -= d_bar[iv + c];
                iq += 3, iv += 3;
                [[fallthrough]];
            case JointType::spherical: {
                Vec3<T> ra = Vec3<T>::Zero(), rb = Vec3<T>::Zero();
                quaternion_difference_adj<T>({a[iq], {a[iq + 1], a[iq + 2], a[iq + 3]}}, {b[iq], {b[iq + 1], b[iq + 2], b[iq + 3]}},
                                             {d_bar[iv], d_bar[iv + 1], d_bar[iv + 2]}, ra, rb);
                for (int c = 0; c < 3; ++c) a_bar[iv + c] += ra[c], b_bar[iv + c] += rb[c];
                break;
            }
        }
    }
}

}  // namespace costate
