// Shapes that pass each other along a face, such as a box over the tiles of a floor.
#pragma once

#include "collision/detect/solid.hpp"

namespace costate {

// A shape and its displacement by the step, about its own origin: a rotation vector, rad, and m.
struct MovingSolid {
    Solid solid;
    Vec3<double> turn, shift;
    Vec3<double> travel(const Vec3<double>& x) const { return shift + turn.cross(x - solid.X.p); }
};

// Finds the ghost collisions of two shapes, such as those at internal edges: contacts that the step would reach
// but that are none, because the shapes pass each other along another normal. The plane of a face of one is
// beside the other shape now and after the step, to twice the slop or a ten-thousandth of their smaller extent
// along the normal of the face. Where a box slides from one tile to the next, the side of the next tile is such a
// contact, still at a distance. It would stop the box, but they will not overlap, or along the normal of the
// face. The faces of large hulls do not count.
class Passing {
public:
    // margins: of both, m; slop: depth of overlaps at rest, m
    Passing(const MovingSolid& a, const MovingSolid& b, double margins, double slop);

    // n: the unit normal of a contact; gap_after: between the shapes with their margins after the step, m
    bool leaves_out(const Vec3<double>& n, double gap_after);

private:
    // Gaps along d from minus this to this count as none, m.
    double tolerance(const Vec3<double>& d) const;
    enum class Side { overlaps, beside, passes };  // of the shapes along the normals other than n
    Side side(const MovingSolid& of, const MovingSolid& other, const Vec3<double>& n) const;
    MovingSolid a_, b_;
    double margins_, slop_;
    Vec3<double> overlapping_ = Vec3<double>::Zero();  // the last normal besides which the shapes overlap
};

}  // namespace costate
