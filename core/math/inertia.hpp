// Rigid-body and articulated inertias as blocks of 3-vectors and 3x3 matrices: RBDA's 6x6 matrices without
// the zeros.
//
// Symmetric matrices are stored in full. Their inner product is trace(A^T B), and the code that produces a
// bar symmetrizes it. With this product the adjoint of an inertia has the type of an inertia.
#pragma once

#include <cstring>

#include "core/math/spatial.hpp"
#include "core/math/transform.hpp"

namespace costate {

// Inertia of a rigid body about the origin of a frame                     (RBDA 2.13)
template <class T> struct RigidInertia {
    T m;        // mass, kg
    Vec3<T> h;  // first moment m c, kg m
    Mat3<T> I;  // rotational inertia about the origin, kg m^2
    static RigidInertia zero() { return {T(0), Vec3<T>::Zero(), Mat3<T>::Zero()}; }
    // True if all bytes are those of zero(), of tangents and lanes too.
    bool is_untouched() const {
        const RigidInertia none = zero();
        return std::memcmp(this, &none, sizeof none) == 0;
    }
    RigidInertia& operator+=(const RigidInertia& b) {
        m += b.m;
        h += b.h;
        I += b.I;
        return *this;
    }
};

// Mass properties of a body in its own frame.
template <class T> struct MassProperties {
    T m;        // mass, kg
    Vec3<T> c;  // centre of mass, m
    Mat3<T> I;  // rotational inertia about the centre of mass, body axes, kg m^2
    static MassProperties zero() { return {T(0), Vec3<T>::Zero(), Mat3<T>::Zero()}; }
};

// f = I v                                                                 (RBDA 2.13)
template <class T> Force<T> apply(const RigidInertia<T>& I, const Motion<T>& v) {
    return {I.I * v.ang + I.h.cross(v.lin), I.m * v.lin - I.h.cross(v.ang)};
}
// With w = f_bar:   v_bar += I w,   m_bar += w.lin . v.lin,   h_bar += v.lin x w.ang - v.ang x w.lin,
// I_bar += sym(w.ang v.ang^T)
template <class T>
void apply_adj(const RigidInertia<T>& I, const Motion<T>& v, const Motion<T>& f_bar, RigidInertia<T>& I_bar,
               Force<T>& v_bar) {
    v_bar += apply(I, f_bar);
    I_bar.m += f_bar.lin.dot(v.lin);
    I_bar.h += v.lin.cross(f_bar.ang) - v.ang.cross(f_bar.lin);
    const Mat3<T> outer = T(0.5) * f_bar.ang * v.ang.transpose();
    I_bar.I += outer + outer.transpose();
}

// The inertia of a body B at the pose X = X_AB, about A's origin and in A's axes; c_A = R c + p:
// m = m,   h = m c_A,   I = R I_c R^T + m (|c_A|^2 1 - c_A c_A^T)
template <class T> RigidInertia<T> place_inertia(const Transform<T>& X, const MassProperties<T>& B) {
    const Vec3<T> c = transform_point(X, B.c);
    const Vec3<T> h = B.m * c;
    Mat3<T> I = X.R * B.I * X.R.transpose() - h * c.transpose();
    const T trace = h.dot(c);
    I.diagonal().array() += trace;
    return {B.m, h, I};
}
// With c_A_bar = m (h_bar + 2 (trace(I_bar) c_A - I_bar c_A)) and J = R I_c R^T:
// m_bar += m_bar' + h_bar . c_A + <I_bar, |c_A|^2 1 - c_A c_A^T>,   I_c_bar += R^T I_bar R,
// X_bar += (c_A x c_A_bar + axial(J I_bar - I_bar J), c_A_bar)
template <class T>
void place_inertia_adj(const Transform<T>& X, const MassProperties<T>& B, const RigidInertia<T>& out_bar,
                       Force<T>& X_bar, MassProperties<T>& B_bar) {
    const Vec3<T> c = transform_point(X, B.c);
    const Vec3<T> k = out_bar.I.trace() * c - out_bar.I * c;
    const Vec3<T> c_bar = B.m * (out_bar.h + T(2) * k);
    B_bar.m += out_bar.m + out_bar.h.dot(c) + k.dot(c);
    B_bar.c += X.R.transpose() * c_bar;
    const Mat3<T> I_R = out_bar.I * X.R;
    B_bar.I += X.R.transpose() * I_R;
    const Mat3<T> JI = X.R * (B.I * I_R.transpose());  // J I_bar; its transpose is I_bar J
    X_bar += Force<T>{c.cross(c_bar) + axial<T>(JI - JI.transpose()), c_bar};
}

// Articulated-body inertia, symmetric 6x6 in blocks [I H; H^T M]          (RBDA 7.1)
template <class T> struct ArticulatedInertia {
    Mat3<T> I, H, M;
    static ArticulatedInertia zero() { return {Mat3<T>::Zero(), Mat3<T>::Zero(), Mat3<T>::Zero()}; }
    ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
        I += b.I;
        H += b.H;
        M += b.M;
        return *this;
    }
};

// A rigid inertia as an articulated one: H = [h]x, M = m 1
template <class T> ArticulatedInertia<T> articulated(const RigidInertia<T>& I) {
    return {I.I, skew(I.h), I.m * Mat3<T>::Identity()};
}
// The 6x6 inner product counts H twice:
// m_bar += trace(M_bar),   h_bar += 2 axial(H_bar^T),   I_bar += I_bar'
template <class T>
void articulated_adj(const RigidInertia<T>&, const ArticulatedInertia<T>& A_bar, RigidInertia<T>& I_bar) {
    I_bar.m += A_bar.M.trace();
    I_bar.h += T(2) * axial<T>(A_bar.H.transpose());
    I_bar.I += A_bar.I;
}

// f = A v
template <class T> Force<T> apply_articulated(const ArticulatedInertia<T>& A, const Motion<T>& v) {
    return {A.I * v.ang + A.H * v.lin, A.H.transpose() * v.ang + A.M * v.lin};
}
// v_bar += A f_bar,   A_bar += sym(f_bar v^T)
template <class T>
void apply_articulated_adj(const ArticulatedInertia<T>& A, const Motion<T>& v, const Motion<T>& f_bar,
                           ArticulatedInertia<T>& A_bar, Force<T>& v_bar) {
    v_bar += apply_articulated(A, f_bar);
    A_bar.I += symmetric_part<T>(f_bar.ang * v.ang.transpose());
    A_bar.H += T(0.5) * (f_bar.ang * v.lin.transpose() + v.ang * f_bar.lin.transpose());
    A_bar.M += symmetric_part<T>(f_bar.lin * v.lin.transpose());
}

// A' = A - U U^T / D: the apparent inertia across a joint that can yield along U/D    (RBDA 7.2)
template <class T>
ArticulatedInertia<T> deflate(const ArticulatedInertia<T>& A, const Force<T>& U, const T& D) {
    const Force<T> u = (T(1) / D) * U;
    return {A.I - u.ang * U.ang.transpose(), A.H - u.ang * U.lin.transpose(),
            A.M - u.lin * U.lin.transpose()};
}
// A_bar += A'_bar,   U_bar -= 2 A'_bar U / D,   D_bar += U^T A'_bar U / D^2
template <class T>
void deflate_adj(const ArticulatedInertia<T>&, const Force<T>& U, const T& D,
                 const ArticulatedInertia<T>& out_bar, ArticulatedInertia<T>& A_bar, Motion<T>& U_bar,
                 T& D_bar) {
    const Vec3<T> u_ang = U.ang / D, u_lin = U.lin / D;
    const Motion<T> k{out_bar.I * u_ang + out_bar.H * u_lin,
                      out_bar.H.transpose() * u_ang + out_bar.M * u_lin};
    A_bar += out_bar;
    U_bar -= T(2) * k;
    D_bar += k.ang.dot(u_ang) + k.lin.dot(u_lin);
}

extern template RigidInertia<double> place_inertia(const Transform<double>&, const MassProperties<double>&);

}  // namespace costate
