// A number held within a range of parameters. Beyond an end, the derivative by the number is zero and that by the
// end is not; at an end, they are those of the inside.
#pragma once

#include "core/math/lanes.hpp"
#include "core/model/parameters.hpp"

namespace costate {

// On which side of a range a number is, in each lane: the controls of a policy saturate here and there.
template <class T> struct RangeSides {
    Condition<T> below{}, above{};
    Condition<T> within() const { return !(below | above); }
};

template <class T>
RangeSides<T> range_sides(const Value<T>& x, const ParameterInterval& range, const T* theta) {
    RangeSides<T> s;
    if (range.lower >= 0) s.below = x < value_of(theta[range.lower]);
    if (range.upper >= 0) s.above = (!s.below) & (x > value_of(theta[range.upper]));
    return s;
}

template <class T>
T hold_in_range(const ParameterInterval& range, const RangeSides<T>& s, const T* theta, const T& x) {
    T held = x;
    if (any(s.below)) held = where(s.below, theta[range.lower], held);
    if (any(s.above)) held = where(s.above, theta[range.upper], held);
    return held;
}
// Adds held_bar to the covector of x, or of the end at which x is held.
template <class T>
void hold_in_range_adj(const ParameterInterval& range, const RangeSides<T>& s, const T& held_bar,
                       T* theta_bar, T& x_bar) {
    const auto add_where = [&](const Condition<T>& c, T& bar) {
        if (any(c)) bar = where(c, T(bar + held_bar), bar);
    };
    add_where(s.within(), x_bar);
    if (range.lower >= 0) add_where(s.below, theta_bar[range.lower]);
    if (range.upper >= 0) add_where(s.above, theta_bar[range.upper]);
}

}  // namespace costate
