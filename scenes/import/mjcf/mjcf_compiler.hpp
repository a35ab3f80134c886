// The <compiler> of a model: how its numbers are meant. And poses, which depend on that.
#pragma once

#include "core/math/rotation.hpp"
#include "core/math/transform.hpp"
#include "scenes/format/json.hpp"
#include "scenes/import/mjcf/mjcf_defaults.hpp"

namespace costate {

enum class InertiaFromGeom { never, always, automatic };

struct MjcfCompiler {
    bool degrees = true;
    bool autolimits = true;
    std::string eulerseq = "xyz";
    InertiaFromGeom inertiafromgeom = InertiaFromGeom::automatic;
    bool balanceinertia = false;
    bool exactmeshinertia = false;  // of meshes that do not say; MuJoCo before 3.3
    // kg, kg m^2: less than that is raised to it, in bodies that move
    double boundmass = 0, boundinertia = 0;
    double settotalmass = -1;             // kg, negative: as it is
    int group_least = 0, group_most = 5;  // of geoms that count for the inertia of their body
    std::filesystem::path meshdir;

    double angle(double x) const;  // of the file, in rad
};

MjcfCompiler read_compiler(const MjcfFiles& files, Warnings& warnings);

// A frame in another: origin, m, and unit quaternion.
struct MjcfPose {
    Vec3<double> p = Vec3<double>::Zero();
    Quaternion<double> q = Quaternion<double>::identity();
    Transform<double> transform() const { return {rotation_matrix(q), p}; }
};
MjcfPose operator*(const MjcfPose& a, const MjcfPose& b);
MjcfPose inverse(const MjcfPose& a);

// The shortest turn of the z axis to a direction
Quaternion<double> turn_of_z(const Vec3<double>& direction);

// "pos" and one of "quat", "axisangle", "euler", "xyaxes", "zaxis"
Quaternion<double> read_mjcf_orientation(const MjcfAttributes& a, const MjcfCompiler& compiler);
MjcfPose read_mjcf_pose(const MjcfAttributes& a, const MjcfCompiler& compiler);

// As scenes say it; what is zero is left out.
Json to_json(const Quaternion<double>& q);
void put_pose(Json& object, const MjcfPose& pose);

}  // namespace costate
