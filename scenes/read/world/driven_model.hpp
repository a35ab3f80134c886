// A model at a configuration, and what its actuators drive there.
#pragma once

#include <map>

#include "core/dynamics/crba.hpp"
#include "core/dynamics/ltl.hpp"
#include "core/dynamics/spatial_tendon.hpp"

namespace costate {

inline constexpr double least_inertia = 1e-15;  // MuJoCo's mjMINVAL

struct DrivenModel {
    DrivenModel(const Model& model, const VecX<double>& parameters, const VecX<double>& configuration)
        : m(model),
          theta(parameters),
          q(configuration),
          inertia(VecX<double>::Zero(m.mass_matrix_size)),
          paths(m) {
        const VecX<double> v = VecX<double>::Zero(m.nv);
        Kinematics<double> k(m);
        CrbaScratch<double> scratch(m);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        crba(m, theta.data(), k, scratch, inertia.data());
        place_tendons(m, theta.data(), k, paths);
    }

    double diagonal(int dof) const { return inertia[m.dofs[dof].row + m.dofs[dof].depth]; }
    double gear(int n) const { return theta[m.actuator.gear.at(n)]; }

    // Of the dofs that an actuator drives, before the gear
    std::map<int, double> moment_arms(const Actuator& a) const {
        std::map<int, double> arms;
        if (a.tendon < 0) {
            arms[a.v] = 1;
        } else if (const Tendon& tendon = m.tendons[a.tendon]; tendon.spatial()) {
            for (size_t i = 0; i < tendon.dofs.size(); ++i)
                arms[tendon.dofs[i]] = paths.arm[tendon.first_arm + static_cast<int>(i)];
        } else {
            for (size_t i = 0; i < tendon.joints.size(); ++i)
                arms[tendon.joints[i].v] += theta[tendon.coefficients + static_cast<int>(i)];
        }
        return arms;
    }

    // Sum of the inertias of the dofs that an actuator drives, each divided by the square of its moment arm
    double driven_inertia(int n) const {
        double sum = 0;
        for (const auto& [dof, arm] : moment_arms(m.actuators[n]))
            if (const double square = arm * arm * gear(n) * gear(n); square > least_inertia)
                sum += diagonal(dof) / square;
        return sum;
    }

    // The length of the accelerations of all dofs by a unit force of an actuator
    double acceleration(int n) const {
        VecX<double> a = VecX<double>::Zero(m.nv), L = inertia;
        for (const auto& [dof, arm] : moment_arms(m.actuators[n]))
            a[dof] = arm * gear(n);
        ltl_factor_inplace(m, L.data());
        ltl_solve_inplace(m, L.data(), 0, m.nv, a.data());
        return a.norm();
    }

    // The length of what an actuator drives, after the gear
    double length(int n) const {
        const Actuator& a = m.actuators[n];
        const bool spatial = a.tendon >= 0 && m.tendons[a.tendon].spatial();
        return gear(n) * (spatial ? paths.length[a.tendon] : driven_coordinate(m, theta.data(), a, q.data()));
    }

    const Model& m;
    const VecX<double> theta, q;
    VecX<double> inertia;  // mass matrix
    TendonPaths<double> paths;
};

}  // namespace costate
