// Inverse weights: how much bodies and dofs move by a unit force in the neutral configuration, averaged over
// directions. MuJoCo scales soft constraints by them (body_invweight0 and dof_invweight0 of mjModel).
#pragma once

#include <vector>

#include "core/model/model.hpp"

namespace costate {

struct InverseWeights {
    // (bodies) mean of the diagonal of J M^-1 J^T, J of the centre of mass, 1/kg, and of the rotation,
    // 1/(kg m^2)
    std::vector<double> translation, rotation;
    // (nv) diagonal of M^-1, averaged over the rotations and over the translations of a joint with several
    std::vector<double> dof;
    double of_translation(int body) const { return body < 0 ? 0 : translation[body]; }
    double of_rotation(int body) const { return body < 0 ? 0 : rotation[body]; }
};

// At the nominal parameters of the model.
InverseWeights inverse_weights(const Model& m);

}  // namespace costate
