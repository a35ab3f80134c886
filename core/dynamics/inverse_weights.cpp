#include "core/dynamics/inverse_weights.hpp"

#include "core/dynamics/crba.hpp"
#include "core/dynamics/ltl.hpp"
#include "core/dynamics/measured_tendons.hpp"

namespace costate {

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
