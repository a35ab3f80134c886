// Numbers of Gazebo, for the formats that it reads.
#pragma once

namespace costate {

inline constexpr double gazebo_rigid = 1e12;  // N/m: kp of a contact without one
inline constexpr double gazebo_ground =
    100;  // friction of its ground; the smaller coefficient of a pair counts

}  // namespace costate
