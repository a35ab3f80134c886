// Inverse weights: how much bodies, dofs and tendons move by a unit force in a reference configuration, averaged
// over directions. MuJoCo scales soft constraints by them (body_invweight0 etc. of mjModel).
#pragma once

#include <vector>

#include "core/model/model.hpp"

namespace costate {

struct InverseWeights {
    // (bodies) mean of the diagonal of J M^-1 J^T, J of the centre of mass, 1/kg, and of the rotation,
    // 1/(kg m^2); 1/m of a body that carries none and only slides along axes of its inertia
    std::vector<double> translation, rotation;
    // (nv) diagonal of M^-1, averaged over the rotations and over the translations of a joint with several
    std::vector<double> dof;
    std::vector<double> tendon;  // (tendon limits) r^T M^-1 r of its moment arms r
    double of_translation(int body) const { return body < 0 ? 0 : translation[body]; }
    double of_rotation(int body) const { return body < 0 ? 0 : rotation[body]; }
};

// At the nominal parameters of the model and a configuration q (nq).
InverseWeights inverse_weights(const Model& m, const VecX<double>& q);

}  // namespace costate
