// The numbers in which a caller of a batch has covectors of states and poses. Inside they are tangent: of the
// displacements that `retract_state` applies, three numbers for a rotation. A caller with other numbers, such
// as gradients by the four of a quaternion, derives from this class.
#pragma once

#include <algorithm>

#include "core/math/rotation.hpp"
#include "solvers/world.hpp"

namespace costate {

class CovectorCoordinates {  // never deleted through a pointer to it
public:
    // How many numbers a covector of a state has, and one of a pose (7: position, quaternion).
    virtual size_t state_width(const World& w) const { return w.ndx(); }
    virtual size_t pose_width() const { return 6; }

    // At the state x (nx): given (state_width) to tangent (ndx), and back.
    virtual void read_state_bar(const World& w, const double* /*x*/, const double* given,
                                double* tangent) const {
        std::copy_n(given, w.ndx(), tangent);
    }
    virtual void write_state_bar(const World& w, const double* /*x*/, const double* tangent,
                                 double* out) const {
        std::copy_n(tangent, w.ndx(), out);
    }
    // At a frame of that orientation: given (pose_width) to tangent (6: position, turn in the frame's axes).
    virtual void read_pose_bar(const Quaternion<double>& /*orientation*/, const double* given,
                               double* tangent) const {
        std::copy_n(given, 6, tangent);
    }
};

}  // namespace costate
