// detect: computes the sorted list of feature pairs in contact from poses. The result depends only on the
// arguments: the contents of the scratch affect the speed, not the result. Bullet is used only behind this
// header.
#pragma once

#include <memory>
#include <vector>

#include "collision/contact/feature.hpp"

namespace costate {

// Result and scratch of detect, one per thread. A copy has fresh scratch. Memory is allocated only if a scene
// has more contacts than before.
class Detection {
public:
    std::vector<FeaturePair> features;  // sorted; the contacts found by the last call
    int pairs_tried = 0;                // pairs of shapes whose features the last call compared

    Detection();
    Detection(const Detection& other);
    Detection& operator=(const Detection& other);
    Detection(Detection&&) noexcept;
    Detection& operator=(Detection&&) noexcept;
    ~Detection();

    std::uint64_t hash() const { return hash_features(features); }

private:
    friend void detect(const ShapeSet&, const double*, const Transform<double>*, const Motion<double>*,
                       double, Detection&, double, const double*, double);
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
};

// Finds all contacts of candidate pairs with gap < max(min(min_margin, sum of their `nearing`), 2 h (approach
// speed at the contact point)). Bounding boxes never exclude such a contact: the tight box of a shape is grown
// by max(nearing, 2 h (bound of the speeds of its points)), so the boxes overlap. Gaps are measured between
// surfaces grown by the margins of the shapes, and the boxes include these margins.
//   theta  the parameters, for the sizes and margins
//   X_WS   per shape, its pose in the world
//   V_WS   per shape, its twist at its own origin, world axes; m/s, rad/s
//   h      time step, s;  min_margin  m
//   nearing  (shapes) the part of a gap that is left to what changes the velocity of the shape in the step, m;
//            null: min_margin/2 each
//   slop     the depth to which shapes overlap at rest, m; see collision/detect/passing.hpp
void detect(const ShapeSet& set, const double* theta, const Transform<double>* X_WS,
            const Motion<double>* V_WS, double h, Detection& detection, double min_margin = 0.01,
            const double* nearing = nullptr, double slop = 0);

// Signed distance of two shapes other than terrains, m, by Bullet's GJK, and by EPA if their cores overlap. A
// plane counts as a cube of half extent 10 m. Reference for tests, not used by detect.
double gjk_distance(const Shape& sa, const Shape& sb, const Transform<double>& X_a,
                    const Transform<double>& X_b, const Vec3<double>& size_a, const Vec3<double>& size_b);

}  // namespace costate
