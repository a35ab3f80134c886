// The points at which two solids may touch, and the choice of at most four of them.
#pragma once

#include <algorithm>
#include <array>

#include "collision/contact/closest.hpp"
#include "collision/detect/narrow.hpp"
#include "collision/detect/solid.hpp"

namespace costate {

class ContactList {
public:
    // Points with a gap of `reach` or more are left out.
    ContactList(const Shape& a, const Shape& b, double reach) : shape_a_(a), shape_b_(b), reach_(reach) {}

    // Adds the contact of a feature of a and one of b, normal n from b to a.
    void offer(const Solid& a, const Solid& b, Feature on_a, Feature on_b, const Vec3<double>& n);

    double reach() const { return reach_; }
    int count() const { return count_; }
    void cut(int count) { count_ = std::min(count_, count); }
    void make_room();  // for the points of one more pair of parts

    struct Point {
        Feature on_a, on_b;
        Vec3<double> normal, point;
        double gap;
    };
    // Of the points from that number on, drops those of which f(point) is true.
    template <class F> void drop_if(int from, F f) {
        const auto first = points_.begin() + std::min(from, count_), last = points_.begin() + count_;
        count_ = static_cast<int>(std::remove_if(first, last, f) - points_.begin());
    }

    // Of two points closer than twice the depth of the deeper, the deeper one goes if it is on an edge or
    // vertex of b: both tell of one overlap, which the other normal ends sooner.
    void drop_deeper_beside();
    double least_gap(int from) const;  // of the points from that number on; infinite without any
    FeatureList chosen();

private:
    void unify();
    void reduce();  // to at most four different ones

    static constexpr size_t capacity = 128;
    const Shape &shape_a_, &shape_b_;
    double reach_;
    int count_ = 0;
    std::array<Point, capacity> points_;
};

}  // namespace costate
