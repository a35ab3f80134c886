// Forward derivatives of a contact's rows by the configuration: of its point, frame and gap by a motion of
// one of its two bodies, and from these the derivatives of J v and of the generalised force J^T lambda (Le
// Lidec et al. 2024, appendices C and D). Here the point also slides along its features, and the frame
// rotates with the normal.
//
// A dof that moves one end moves it along the axis S. A dof that moves both ends together carries the point,
// the normal and the relative velocity along rigidly, and changes neither the gap nor the normal row. The
// tangents, however, are constructed from world axes: if the dof rotates the normal by w x n, they follow
// contact_tangents(n) and not w. They differ from tangents fixed to the robot by a rotation about the normal
// (frame_twist).
#pragma once

#include "solvers/rows/contact_rows.hpp"

namespace costate {

// Derivatives of a contact's point, normal and gap by a twist of either end, each in the common frame of that
// end. Rows are (moment, force) pairs.
template <class T> struct ContactDerivatives {
    Force<T> point[2][3], normal[2][3], gap[2];  // [end a, end b]
    Mat3<T> t1, t2;                              // of the tangents by the normal
};

template <class T>
ContactDerivatives<T> contact_derivatives(const World& w, const T* theta, const ContactScratch<T>& s,
                                          const ContactPoint<T>& c) {
    const ShapeSet& set = w.shapes;
    const FeaturePair& f = c.features;
    const Vec3<T> size_a = load3(theta + set.size.at(f.a)), size_b = load3(theta + set.size.at(f.b));
    const Transform<T>& X_a = s.X_CS[f.a];
    const Transform<T> X_b = seen_from_a(s, f.b, c.to_b);
    ContactDerivatives<T> D;
    for (int i = 0; i < 7; ++i) {
        Contact<T> seed{Vec3<T>::Zero(), Vec3<T>::Zero(), T(0)};
        (i < 3 ? seed.point[i] : i < 6 ? seed.normal[i - 3] : seed.gap) = T(1);
        Force<T> a = Force<T>::zero(), b = a;
        Vec3<T> unused_a = Vec3<T>::Zero(), unused_b = unused_a;
        contact_adj(set.shapes[f.a], set.shapes[f.b], f, X_a, X_b, size_a, size_b, seed, a, b, unused_a,
                    unused_b);
        b.ang -= c.to_b.cross(b.lin);  // the wrench about the origin of b's frame
        (i < 3 ? D.point[0][i] : i < 6 ? D.normal[0][i - 3] : D.gap[0]) = a;
        (i < 3 ? D.point[1][i] : i < 6 ? D.normal[1][i - 3] : D.gap[1]) = b;
    }
    for (int i = 0; i < 3; ++i) {
        Vec3<T> n_bar = Vec3<T>::Zero();
        contact_tangents_adj(c.geometry.normal, {Vec3<T>::Unit(i), Vec3<T>::Zero()}, n_bar);
        D.t1.row(i) = n_bar.transpose();
        n_bar.setZero();
        contact_tangents_adj(c.geometry.normal, {Vec3<T>::Zero(), Vec3<T>::Unit(i)}, n_bar);
        D.t2.row(i) = n_bar.transpose();
    }
    return D;
}

// Derivatives of a contact by one dof.
template <class T> struct ContactMotion {
    Vec3<T> point, direction[3];  // direction: normal, t1, t2
    T gap;
};
template <class T>
ContactMotion<T> contact_motion(const ContactDerivatives<T>& D, bool end_b, const Motion<T>& S) {
    ContactMotion<T> d;
    for (int i = 0; i < 3; ++i) {
        d.point[i] = dot(S, D.point[end_b][i]);
        d.direction[0][i] = dot(S, D.normal[end_b][i]);
    }
    d.direction[1] = D.t1 * d.direction[0];
    d.direction[2] = D.t2 * d.direction[0];
    d.gap = dot(S, D.gap[end_b]);
    return d;
}

// Rotation of the tangents about the normal, relative to a robot that rotates as a whole with w. With
// n_dot = w x n and twist = frame_twist(c) . w:
//   t1_dot = w x t1 + twist t2,   t2_dot = w x t2 - twist t1
template <class T> Vec3<T> frame_twist(const ContactPoint<T>& c) {
    const Vec3<T>& n = c.geometry.normal;
    Vec3<T> n_bar = Vec3<T>::Zero();  // t2 . t1_dot = n_bar . n_dot
    contact_tangents_adj(n, {c.tangents.t2, Vec3<T>::Zero()}, n_bar);
    return n.cross(n_bar) - n;
}

// Velocity of a's contact point relative to b's, and relative angular velocity.
template <class T> struct RelativeMotion {
    Vec3<T> velocity, rotation;
    RelativeMotion(const ContactPoint<T>& c, const Motion<T>& a, const Motion<T>& b)
        : velocity(point_velocity(a, c.geometry.point) - point_velocity<T>(b, c.geometry.point - c.to_b)),
          rotation(a.ang - b.ang) {}
};

// Derivative of J_r v by the dof with axis S that moves one end. V: velocity of this end. V_behind: velocity
// of the frame that the dof does not move.
template <class T>
T row_velocity_derivative(const ContactPoint<T>& c, int row, const ContactMotion<T>& d, bool end_b,
                          const Motion<T>& S, const RelativeMotion<T>& v, const Motion<T>& V,
                          const Motion<T>& V_behind) {
    const Motion<T> turned = cross_motion(S, V - V_behind);
    const T carried = dot(turned, direction_force(c, row, end_b));
    const Vec3<T>& of_direction = d.direction[row % 3];
    const T of_geometry =
        row >= 3 ? T(couple_arm(c, row) * of_direction.dot(v.rotation))
                 : T(of_direction.dot(v.velocity) + c.direction(row).dot(v.rotation.cross(d.point)));
    return of_geometry + (end_b ? -carried : carried);
}

// The impulses lambda (c.directions) of a contact on end a, without their place: a linear impulse, N s, and a couple,
// N m s. End b has their opposites.
template <class T> struct ContactImpulse {
    Vec3<T> linear = Vec3<T>::Zero(), couple = linear;
    ContactImpulse(const ContactPoint<T>& c, const T* lambda) {
        for (int r = 0; r < c.directions; ++r)
            add(c, lambda, r, c.direction(r));
    }
    // Their derivative by the dof of d.
    ContactImpulse(const ContactPoint<T>& c, const T* lambda, const ContactMotion<T>& d) {
        for (int r = 0; r < c.directions; ++r)
            add(c, lambda, r, d.direction[r % 3]);
    }
    bool is_zero() const { return linear.isZero(0) && couple.isZero(0); }

private:
    void add(const ContactPoint<T>& c, const T* lambda, int r, const Vec3<T>& direction) {
        if (r < 3)
            linear += lambda[r] * direction;
        else
            couple += (lambda[r] * couple_arm(c, r)) * direction;
    }
};
// Its wrench about the origin of a's common frame, or of b's (on_b), and the derivative of this wrench.
template <class T> Vec3<T> contact_place(const ContactPoint<T>& c, bool on_b) {
    return on_b ? Vec3<T>(c.geometry.point - c.to_b) : c.geometry.point;
}
template <class T> Force<T> contact_wrench(const ContactPoint<T>& c, const ContactImpulse<T>& of, bool on_b) {
    return {contact_place(c, on_b).cross(of.linear) + of.couple, of.linear};
}
template <class T>
Force<T> wrench_derivative(const ContactPoint<T>& c, const T* lambda, const ContactMotion<T>& d, bool on_b) {
    const ContactImpulse<T> f(c, lambda), df(c, lambda, d);
    Force<T> F = contact_wrench(c, df, on_b);
    F.ang += d.point.cross(f.linear);
    return F;
}

}  // namespace costate
