// detect: from poses, the sorted list of feature pairs in contact. A function of its arguments alone: what
// the scratch holds from before makes it faster, never different. Bullet stays behind this header.
#pragma once

#include <memory>
#include <vector>

#include "collision/contact/feature.hpp"

namespace costate {

// The axis-aligned box of a shape, grown by how far the shape may matter.
struct Bounds {
    Vec3<double> lo, hi;  // m
    bool overlaps(const Bounds& b) const {
        return (lo.array() <= b.hi.array()).all() && (b.lo.array() <= hi.array()).all();
    }
};

// The result and the scratch of detect, one a thread. A copy starts with fresh scratch. Nothing is allocated
// once the scene has been seen with as many contacts.
class Detection {
public:
    std::vector<FeaturePair> features;  // sorted; the contacts found by the last call

    Detection();
    Detection(const Detection& other);
    Detection& operator=(const Detection& other);
    Detection(Detection&&) noexcept;
    Detection& operator=(Detection&&) noexcept;
    ~Detection();

    std::uint64_t hash() const { return hash_features(features); }

private:
    friend void detect(const ShapeSet&, const double*, const Transform<double>*, const Motion<double>*,
                       double, Detection&, double);
    struct Tree;
    std::vector<Bounds> bounds_;  // per shape
    std::unique_ptr<Tree> tree_;
};

// Finds all contacts of candidate pairs with gap < max(min_margin, 2 h (approach speed at the contact
// point)). No bounds decide: each shape's tight box is grown by max(min_margin/2, 2 h (bound of its points'
// speeds)), so boxes of such pairs overlap. The gap is that of surfaces grown by the margins of the shapes,
// and the boxes grow with them.
//   theta  the parameters, for the sizes and margins
//   X_WS   per shape, its pose in the world
//   V_WS   per shape, its twist at its own origin, world axes; m/s, rad/s
//   h      time step, s;  min_margin  m
void detect(const ShapeSet& set, const double* theta, const Transform<double>* X_WS,
            const Motion<double>* V_WS, double h, Detection& detection, double min_margin = 0.01);

// The signed distance of two shapes, no terrain, by Bullet's GJK, and EPA where their cores overlap; m. A
// plane counts as a cube of half extent 10 m. An oracle for tests, not used by detect.
double gjk_distance(const Shape& sa, const Shape& sb, const Transform<double>& X_a,
                    const Transform<double>& X_b, const Vec3<double>& size_a, const Vec3<double>& size_b);

}  // namespace costate
