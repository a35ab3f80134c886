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

inline Vec3<double> vec3_of(const Json& three) {
    return {three[0].get<double>(), three[1].get<double>(), three[2].get<double>()};
}

// The pose that put_pose has written.
inline Transform<double> pose_of(const Json& object) {
    Transform<double> X = Transform<double>::identity();
    if (object.contains("position")) X.p = vec3_of(object["position"]);
    if (object.contains("quaternion")) {
        const Json& q = object["quaternion"];
        X.R =
            Eigen::Quaterniond(q[0].get<double>(), q[1].get<double>(), q[2].get<double>(), q[3].get<double>())
                .toRotationMatrix();
    }
    return X;
}

}  // namespace costate
