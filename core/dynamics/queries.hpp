// Poses of sites, and centre of mass, momentum and energy of some bodies or of the whole world. The latter
// are sums over bodies in their common frames; o is the origin of a tree's frame in the world.
#pragma once

#include "core/dynamics/kinematics.hpp"

namespace costate {

// Pose X_CS of a site in the common frame of its tree.
template <class T> Transform<T> site_frame(const Model& m, const T* theta, const Kinematics<T>& k, int site) {
    const Site& s = m.sites[site];
    return compose(k.X[s.body],
                   Transform<T>{retract_rotation(cast<T>(s.R_BS), load3(theta + m.site_rotation.at(site))),
                                load3(theta + m.site_position.at(site))});
}
// X_CS: the result of the forward. A rotation in the site's axes is about its origin.
template <class T>
void site_frame_adj(const Model& m, const T* theta, const Kinematics<T>& k, int site,
                    const Transform<T>& X_CS, const Force<T>& X_bar, KinematicsBar<T>& bar, T* theta_bar) {
    const int body = m.sites[site].body, rotation = m.site_rotation.at(site);
    Vec3<T> rotation_bar = Vec3<T>::Zero();
    quaternion_exp_adj<T>(load3(theta + rotation), X_CS.R.transpose() * (X_bar.ang - X_CS.p.cross(X_bar.lin)),
                          rotation_bar);
    add3(theta_bar + rotation, rotation_bar);
    add3<T>(theta_bar + m.site_position.at(site), k.X[body].R.transpose() * X_bar.lin);
    bar.X[body] += X_bar;
}

// Pose of a site in the world: axes, and origin in m.
template <class T> Transform<T> site_pose(const Model& m, const T* theta, const Kinematics<T>& k, int site) {
    const Transform<T> X = site_frame(m, theta, k, site);
    return {X.R, k.origin[m.bodies[m.sites[site].body].tree] + X.p};
}

// The orientation of a frame as a quaternion with w >= 0      (Shepperd 1978: from its largest component)
template <class T> Quaternion<T> orientation(const Transform<T>& X) {
    using std::sqrt;
    const Mat3<T>& R = X.R;
    const auto at = [&](int i, int j) { return value_of(R(i, j)); };
    Quaternion<T> q;
    if (at(0, 0) + at(1, 1) + at(2, 2) > 0) {
        q.w = T(0.5) * sqrt(T(1) + R.trace());
        q.v = (T(0.25) / q.w) * Vec3<T>(R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1));
        return q;
    }
    int i = 0;
    if (at(1, 1) > at(i, i)) i = 1;
    if (at(2, 2) > at(i, i)) i = 2;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    q.v[i] = T(0.5) * sqrt(T(1) + R(i, i) - R(j, j) - R(k, k));
    const T scale = T(0.25) / q.v[i];
    q.w = scale * (R(k, j) - R(j, k));
    q.v[j] = scale * (R(j, i) + R(i, j));
    q.v[k] = scale * (R(k, i) + R(i, k));
    return q.w < T(0) ? Quaternion<T>{-q.w, -q.v} : q;
}
// A rotation d of the frame in A is the rotation R^T d in its own axes:  X_bar.ang += R q_bar
template <class T> void orientation_adj(const Transform<T>& X, const Vec3<T>& q_bar, Force<T>& X_bar) {
    X_bar.ang += X.R * q_bar;
}

// The covector of d in q <- q exp(d), from that of the four numbers of q:
//   dw = -v . d/2,   dv = (w d + v x d)/2
template <class T> Vec3<T> quaternion_numbers_bar(const Quaternion<T>& q, const T* numbers_bar) {
    const Vec3<T> v_bar = load3(numbers_bar + 1);
    return T(0.5) * (q.w * v_bar - q.v.cross(v_bar) - numbers_bar[0] * q.v);
}

// The bodies [begin, end).
struct BodyRange {
    int begin = 0, end = 0;
};

template <class T> T total_mass(const Kinematics<T>& k, BodyRange range) {
    T mass(0);
    for (int i = range.begin; i < range.end; ++i)
        mass += k.I[i].m;
    return mass;
}

// c = sum (h_i + m_i o) / sum m_i, m, world; without mass, as in MuJoCo, the origin of the first body
template <class T> Vec3<T> centre_of_mass(const Model& m, const Kinematics<T>& k, BodyRange range) {
    if (range.begin == range.end) return Vec3<T>::Zero();
    const T mass = total_mass(k, range);
    if (value_of(mass) == 0) return k.world_position(m, range.begin);
    Vec3<T> moment = Vec3<T>::Zero();
    for (int i = range.begin; i < range.end; ++i) {
        const RigidInertia<T>& I = k.I[i];
        moment += I.h + I.m * k.origin[m.bodies[i].tree];
    }
    return moment / mass;
}
// h_bar += c_bar/M,   m_bar += c_bar . (o - c)/M
template <class T>
void centre_of_mass_adj(const Model& m, const Kinematics<T>& k, BodyRange range, const Vec3<T>& c_bar,
                        KinematicsBar<T>& bar) {
    if (range.begin == range.end) return;
    const T mass = total_mass(k, range);
    if (value_of(mass) == 0) {
        Vec3<T> none = Vec3<T>::Zero();
        return transform_point_adj<T>(k.X[range.begin], none, c_bar, bar.X[range.begin], none);
    }
    const Vec3<T> c = centre_of_mass(m, k, range), b = c_bar / mass;
    for (int i = range.begin; i < range.end; ++i) {
        bar.I[i].h += b;
        bar.I[i].m += b.dot(k.origin[m.bodies[i].tree] - c);
    }
}

// (angular momentum about the origin of the world, linear momentum), kg m^2/s and kg m/s
template <class T> Force<T> momentum(const Model& m, const Kinematics<T>& k, BodyRange range) {
    Force<T> sum = Force<T>::zero();
    for (int i = range.begin; i < range.end; ++i) {
        const size_t n = i;
        const Force<T> f = apply(k.I[n], k.V[n]);
        sum += Force<T>{f.ang + k.origin[m.bodies[n].tree].cross(f.lin), f.lin};
    }
    return sum;
}
// In each body's frame the covector is (ang, lin - o x ang).
template <class T>
void momentum_adj(const Model& m, const Kinematics<T>& k, BodyRange range, const Motion<T>& out_bar,
                  KinematicsBar<T>& bar) {
    for (int i = range.begin; i < range.end; ++i) {
        const size_t n = i;
        const Vec3<T>& o = k.origin[m.bodies[n].tree];
        apply_adj(k.I[n], k.V[n], Motion<T>{out_bar.ang, out_bar.lin - o.cross(out_bar.ang)}, bar.I[n],
                  bar.V[n]);
    }
}

// sum V . I V/2, J
template <class T> T kinetic_energy(const Kinematics<T>& k, BodyRange range) {
    T sum(0);
    for (int n = range.begin; n < range.end; ++n)
        sum += T(0.5) * dot(k.V[n], apply(k.I[n], k.V[n]));
    return sum;
}
// V_bar += e_bar I V,   I_bar += e_bar V V^T/2
template <class T>
void kinetic_energy_adj(const Kinematics<T>& k, BodyRange range, const T& e_bar, KinematicsBar<T>& bar) {
    for (int n = range.begin; n < range.end; ++n) {
        apply_adj<T>(k.I[n], k.V[n], (T(0.5) * e_bar) * k.V[n], bar.I[n], bar.V[n]);
        bar.V[n] += (T(0.5) * e_bar) * apply(k.I[n], k.V[n]);
    }
}

// -sum g . (h_i + m_i o), J, zero at the origin of the world; without springs
template <class T>
T potential_energy(const Model& m, const T* theta, const Kinematics<T>& k, BodyRange range) {
    const Vec3<T> g = load3(theta + m.gravity.at(0));
    T sum(0);
    for (int i = range.begin; i < range.end; ++i) {
        const size_t n = i;
        sum -= g.dot(k.I[n].h + k.I[n].m * k.origin[m.bodies[n].tree]);
    }
    return sum;
}
template <class T>
void potential_energy_adj(const Model& m, const T* theta, const Kinematics<T>& k, BodyRange range,
                          const T& e_bar, KinematicsBar<T>& bar, T* theta_bar) {
    const Vec3<T> g = load3(theta + m.gravity.at(0));
    for (int i = range.begin; i < range.end; ++i) {
        const size_t n = i;
        const Vec3<T>& o = k.origin[m.bodies[n].tree];
        bar.I[n].h -= e_bar * g;
        bar.I[n].m -= e_bar * g.dot(o);
        add3<T>(theta_bar + m.gravity.at(0), -e_bar * (k.I[n].h + k.I[n].m * o));
    }
}

}  // namespace costate
