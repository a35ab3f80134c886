#include "core/dynamics/inverse_weights.hpp"

#include "core/dynamics/crba.hpp"
#include "core/dynamics/ltl.hpp"
#include "core/dynamics/measured_tendons.hpp"

namespace costate {
namespace {

// A body that carries none and only slides, along axes of its frame, which is that of its inertia. MuJoCo does not
// average over its directions (body_simple of mjModel).
bool slides_alone(const Model& m, const VecX<double>& theta, const Kinematics<double>& k, int body) {
    const MassProperties<double> own = mass_properties(m, theta.data(), body);
    if (own.m <= 0 || !own.c.isZero(1e-12) || !own.I.isDiagonal(1e-12)) return false;
    for (const Body& other : m.bodies)
        if (other.parent == body) return false;
    for (int i = body; i >= 0; i = m.bodies[i].parent) {
        const Body& b = m.bodies[i];
        if (b.nv > 1 || (b.nv == 1 && b.joint != JointType::prismatic)) return false;
        if (b.nv == 1 && i != body && mass_properties(m, theta.data(), i).m > 0) return false;
        if (b.nv == 1 && ((k.X[body].R.transpose() * k.S[b.v0].lin).array().abs() > 1e-14).count() != 1)
            return false;
    }
    return m.bodies[body].last_dof >= 0;
}

}  // namespace

InverseWeights inverse_weights(const Model& m, const VecX<double>& q) {
    const VecX<double> theta = m.layout.nominal(), at_rest = VecX<double>::Zero(m.nv);
    Kinematics<double> k(m);
    CrbaScratch<double> s(m);
    kinematics(m, theta.data(), q.data(), at_rest.data(), k);
    VecX<double> L = VecX<double>::Zero(m.mass_matrix_size), x = at_rest;
    crba(m, theta.data(), k, s, L.data());
    ltl_factor_inplace(m, L.data());
    // F M^-1 F^T for the generalized force of F on the path of dofs that ends at `last`
    const auto mobility = [&](int last, const Force<double>& F) {
        if (last < 0) return 0.0;
        const Tree& tree = m.trees[m.bodies[m.dofs[last].body].tree];
        x.segment(tree.dof_begin, tree.dof_end - tree.dof_begin).setZero();
        for (int j = last; j >= 0; j = m.dofs[j].parent)
            x[j] = dot(k.S[j], F);
        ltl_solve_inplace(m, L.data(), tree.dof_begin, tree.dof_end, x.data());
        double sum = 0;
        for (int j = last; j >= 0; j = m.dofs[j].parent)
            sum += x[j] * dot(k.S[j], F);
        return sum;
    };
    InverseWeights out;
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Vec3<double> com =
            k.X[i].R * mass_properties(m, theta.data(), static_cast<int>(i)).c + k.X[i].p;
        if (slides_alone(m, theta, k, static_cast<int>(i))) {
            out.translation.push_back(1 / mass_properties(m, theta.data(), static_cast<int>(i)).m);
            out.rotation.push_back(0);
            continue;
        }
        double translation = 0, rotation = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const Vec3<double> d = Vec3<double>::Unit(axis);
            translation += mobility(m.bodies[i].last_dof, point_force(com, d)) / 3;
            rotation += mobility(m.bodies[i].last_dof, {d, Vec3<double>::Zero()}) / 3;
        }
        out.translation.push_back(translation);
        out.rotation.push_back(rotation);
    }
    for (int j = 0; j < m.nv; ++j) {
        x.setZero();
        x[j] = 1;
        const Tree& tree = m.trees[m.bodies[m.dofs[j].body].tree];
        ltl_solve_inplace(m, L.data(), tree.dof_begin, tree.dof_end, x.data());
        out.dof.push_back(x[j]);
    }
    for (const Body& b : m.bodies) {
        if (b.nv != 3 && b.nv != 6) continue;
        for (int first = b.v0; first < b.v0 + b.nv; first += 3) {
            const double mean = (out.dof[first] + out.dof[first + 1] + out.dof[first + 2]) / 3;
            std::fill_n(out.dof.begin() + first, 3, mean);
        }
    }
    TendonPaths<double> paths(m);
    TendonMeasures<double> tendons(m);
    place_tendons(m, theta.data(), k, paths);
    measure_tendons(m, theta.data(), q.data(), paths, tendons);
    for (const MeasuredTendon& limit : m.measured_tendons) {
        const double* arm = tendons.arm.data() + limit.first_arm;
        x.setZero();
        for (size_t i = 0; i < limit.dofs.size(); ++i)
            x[limit.dofs[i]] = arm[i];
        ltl_solve_inplace(m, L.data(), 0, m.nv, x.data());
        out.tendon.push_back(0);
        for (size_t i = 0; i < limit.dofs.size(); ++i)
            out.tendon.back() += x[limit.dofs[i]] * arm[i];
    }
    return out;
}

}  // namespace costate
