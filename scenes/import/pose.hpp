// Poses as keys of a model.
#pragma once

#include <Eigen/Geometry>

#include "core/math/transform.hpp"
#include "scenes/format/json.hpp"

namespace costate {

// Writes "position" and "quaternion" of an object, unless they are those of the identity.
inline void put_pose(Json& object, const Transform<double>& X) {
    if (!X.p.isZero(0)) object["position"] = to_json(X.p);
    if (X.R.isIdentity(0)) return;
    const Eigen::Quaterniond q(X.R);
    object["quaternion"] = Json::array({q.w(), q.x(), q.y(), q.z()});
}

}  // namespace costate
