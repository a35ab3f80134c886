// The <compiler> of a model: units and conventions of its numbers. Also poses, which depend on them.
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
    bool exactmeshinertia = false;  // default of meshes without "inertia"; MuJoCo before 3.3
    // kg, kg m^2: lower bounds for moving bodies
    double boundmass = 0, boundinertia = 0;
    double settotalmass = -1;             // kg; negative: masses are not scaled
    int group_least = 0, group_most = 5;  // groups of the geoms that contribute to the inertia of their body
    bool global = false;                  // poses are given in the world, as in MuJoCo 2.3.3 and older
    bool fitaabb = false;                 // geoms are fitted to the bounds of meshes, not to their inertia
    bool alignfree = false;               // frames of bodies with free joints are those of their inertia
    std::filesystem::path meshdir;

    double angle(double x) const;  // from the file's unit to rad
};

MjcfCompiler read_compiler(const MjcfFiles& files, Warnings& warnings);

// Pose of a frame in another: origin, m, and unit quaternion.
struct MjcfPose {
    Vec3<double> p = Vec3<double>::Zero();
    Quaternion<double> q = Quaternion<double>::identity();
    Transform<double> transform() const { return {rotation_matrix(q), p}; }
};
MjcfPose operator*(const MjcfPose& a, const MjcfPose& b);
MjcfPose inverse(const MjcfPose& a);

// The shortest rotation that takes the z axis to a direction
Quaternion<double> turn_of_z(const Vec3<double>& direction);

// "pos" and one of "quat", "axisangle", "euler", "xyaxes", "zaxis"
Quaternion<double> read_mjcf_orientation(const MjcfAttributes& a, const MjcfCompiler& compiler);
Quaternion<double> mjcf_euler(const Vec3<double>& angles, const MjcfCompiler& compiler);
MjcfPose read_mjcf_pose(const MjcfAttributes& a, const MjcfCompiler& compiler);

// A quaternion as in a scene file.
Json to_json(const Quaternion<double>& q);
void put_pose(Json& object, const MjcfPose& pose);

}  // namespace costate
