// Candidate contact points of two solids, and the selection of at most four of them.
#pragma once

#include <algorithm>
#include <array>

#include "collision/contact/closest.hpp"
#include "collision/detect/narrow.hpp"
#include "collision/detect/solid.hpp"

namespace costate {

class ContactList {
public:
    // Ignores points with a gap of `reach` or more.
    ContactList(const Shape& a, const Shape& b, double reach) : shape_a_(a), shape_b_(b), reach_(reach) {}

    // Adds the contact of a feature of a and a feature of b with normal n from b to a.
    void offer(const Solid& a, const Solid& b, Feature on_a, Feature on_b, const Vec3<double>& n);

    // The same for features by their index in the shape, and their contact.
    void add(const Feature& on_a, const Feature& on_b, const Contact<double>& c);

    double reach() const { return reach_; }
    int count() const { return count_; }
    void cut(int count) { count_ = std::min(count_, count); }
    void make_room();  // makes room for the points of another pair of parts

    struct Point {
        Feature on_a, on_b;
        Vec3<double> normal, point;
        double gap;
    };
    // Removes the points from index `from` on for which f(point) is true.
    template <class F> void drop_if(int from, F f) {
        const auto first = points_.begin() + std::min(from, count_), last = points_.begin() + count_;
        count_ = static_cast<int>(std::remove_if(first, last, f) - points_.begin());
    }

    // If two points are closer than twice the depth of the deeper one, removes the deeper one if it is on an
    // edge or vertex of b: both belong to the same overlap, which the other normal resolves with a shorter
    // motion.
    void drop_deeper_beside();
    double least_gap(
        int from) const;  // least gap of the points from index `from` on; infinite if there are none
    FeatureList chosen();

private:
    void unify();
    void reduce();  // reduces the list to at most four distinct points

    static constexpr size_t capacity = 128;
    const Shape &shape_a_, &shape_b_;
    double reach_;
    int count_ = 0;
    std::array<Point, capacity> points_;
};

}  // namespace costate
