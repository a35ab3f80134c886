// Table of joint types. core/dynamics/joint.hpp has poses, axes and adjoints of joints.
#pragma once

#include <cstddef>

namespace costate {

enum class JointType { fixed, revolute, prismatic, helical, spherical, free };

// Coordinates of a joint: first plain numbers, one per dof, then rotations, each a unit quaternion (w, x, y,
// z) in q and an angular velocity in body axes in v. Helical: rotation by q about the axis and translation by
// pitch q along it. Free: position of the origin and velocity in world axes, then orientation (MuJoCo's
// convention).
struct JointKind {
    JointType type;
    const char* name;  // in files
    int numbers, rotations;
    bool has_axis = false;      // one dof with an axis of rotation or translation
    int carried_by_parent = 0;  // number of leading dofs whose axes are fixed in the parent
    bool has_pitch = false;
    constexpr int nq() const { return numbers + 4 * rotations; }
    constexpr int nv() const { return numbers + 3 * rotations; }
};

inline constexpr JointKind joint_kinds[] = {
    {JointType::fixed, "fixed", 0, 0},
    {JointType::revolute, "revolute", 1, 0, true},
    {JointType::prismatic, "prismatic", 1, 0, true},
    {JointType::helical, "helical", 1, 0, true, 0, true},
    {JointType::spherical, "spherical", 0, 1},
    {JointType::free, "free", 3, 1, false, 3},
};

constexpr const JointKind& joint_kind(JointType type) { return joint_kinds[static_cast<size_t>(type)]; }

constexpr bool joint_kinds_are_in_order() {
    for (const JointKind& kind : joint_kinds)
        if (&joint_kind(kind.type) != &kind) return false;
    return true;
}
static_assert(joint_kinds_are_in_order());

constexpr int joint_nq(JointType type) { return joint_kind(type).nq(); }
constexpr int joint_nv(JointType type) { return joint_kind(type).nv(); }
constexpr const char* joint_type_name(JointType type) { return joint_kind(type).name; }

}  // namespace costate
