// Ambient gradients, by the four numbers of a quaternion, and tangent ones, by the turn that moves it.
//
// A turn w in body axes moves a unit quaternion by r' = E(r) w, E(r) w = (0, w) times r from the right,
// halved; E^T E = I/4 and E^T r = 0. With f(q) = F(q/|q|), n = |q|, r = q/n and t the tangent gradient: t = n
// E(r)^T grad f,   grad f = 4 E(r) t/n.
#pragma once

#include "adjoint/batch/covector_coordinates.hpp"
#include "core/dynamics/integrate.hpp"
#include "solvers/world.hpp"

namespace costate::c_api {

inline Eigen::Matrix<double, 4, 3> turns(const double* r) {
    const double w = r[0], x = r[1], y = r[2], z = r[3];
    Eigen::Matrix<double, 4, 3> E;
    E << -x, -y, -z, w, -z, y, z, w, -x, -y, x, w;
    return 0.5 * E;
}

// t (3) from grad f (4) at q (4), and back
inline void turn_from_quaternion(const double* q, const double* ambient, double* tangent) {
    const Eigen::Map<const Eigen::Vector4d> given(q), gradient(ambient);
    const double n = given.stableNorm();
    const Eigen::Vector4d r = given / n;
    Eigen::Map<Eigen::Vector3d> out(tangent);
    out = n * turns(r.data()).transpose() * gradient;
}
inline void quaternion_from_turn(const double* q, const double* tangent, double* ambient) {
    const Eigen::Map<const Eigen::Vector4d> given(q);
    const double n = given.stableNorm();
    const Eigen::Vector4d r = given / n;
    Eigen::Map<Eigen::Vector4d> out(ambient);
    out = 4 / n * turns(r.data()) * Eigen::Map<const Eigen::Vector3d>(tangent);
}

// The same of configurations q (nq): tangent (nv), ambient (nq)
inline void tangent_from_ambient(const Model& m, const double* q, const double* ambient, double* tangent) {
    for_each_coordinate(
        m, [&](int iq, int iv) { tangent[iv] = ambient[iq]; },
        [&](int iq, int iv) { turn_from_quaternion(q + iq, ambient + iq, tangent + iv); });
}
inline void ambient_from_tangent(const Model& m, const double* q, const double* tangent, double* ambient) {
    for_each_coordinate(
        m, [&](int iq, int iv) { ambient[iq] = tangent[iv]; },
        [&](int iq, int iv) { quaternion_from_turn(q + iq, tangent + iv, ambient + iq); });
}

// Covectors of states (nx) and poses (7) as a batch created with `ambient` gives and takes them
class AmbientCoordinates final : public CovectorCoordinates {
public:
    size_t state_width(const World& w) const override { return static_cast<size_t>(w.nx()); }
    size_t pose_width() const override { return 7; }
    void read_state_bar(const World& w, const double* x, const double* given,
                        double* tangent) const override {
        tangent_from_ambient(w.model, x, given, tangent);
        std::copy(given + w.nq(), given + w.nx(), tangent + w.nv());
    }
    void write_state_bar(const World& w, const double* x, const double* tangent, double* out) const override {
        ambient_from_tangent(w.model, x, tangent, out);
        std::copy(tangent + w.nv(), tangent + w.ndx(), out + w.nq());
    }
    void read_pose_bar(const Quaternion<double>& r, const double* given, double* tangent) const override {
        const double q[4] = {r.w, r.v.x(), r.v.y(), r.v.z()};
        std::copy_n(given, 3, tangent);
        turn_from_quaternion(q, given + 3, tangent + 3);
    }
};

}  // namespace costate::c_api
