// The continuous parameters of a world: a flat vector theta of named slices, which the folders register.
//
// Because theta is flat, each environment of a batch may have its own, and gradients have the same shape. The
// layout is slice by slice: kernels index theta[slice.offset + i * slice.width + k]. Each element has a path
// for scenes and reports, such as "bodies/torso/mass" or "shapes/toe/friction".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

template <class T> using Parameters = VecX<T>;

// One kind of parameter of one kind of element: `count` elements of `width` numbers each.
struct ParameterSlice {
    int offset = 0;
    int width = 1;
    int at(int element) const { return offset + element * width; }
};

// Admissible values of a parameter. interval: two numbers, the first less than the second; angle: between 0
// and pi.
enum class ParameterRange { any, nonnegative, positive, interval, angle };

// The ends of a range as indices into theta; -1: no end.
struct ParameterInterval {
    int lower = -1, upper = -1;
};

class ParameterLayout {
public:
    struct Entry {
        std::string path;  // "<group>/<element>/<quantity>"
        int offset;
        int width;
        ParameterRange range;
        // why the entry has no effect in this model, and the remedy; empty if it has an effect
        std::string no_effect, remedy;
    };

    // Appends `values` (element-major, width numbers for each name) under the paths
    // "<group>/<name>/<quantity>".
    ParameterSlice add(std::string_view group, const std::vector<std::string>& names,
                       std::string_view quantity, int width, ParameterRange range,
                       const std::vector<double>& values);
    // Appends the finite ends of a range: "<group>/<name>/<quantity>" for two ends, "<quantity>_lower" or
    // "<quantity>_upper" for one.
    ParameterInterval add_interval(std::string_view group, const std::string& name,
                                   const std::string& quantity, double lower, double upper);
    // Marks the entry of an element as having no effect.
    void set_no_effect(const ParameterSlice& slice, int element, std::string_view because,
                       std::string_view remedy);

    int size() const { return static_cast<int>(nominal_.size()); }
    const std::vector<Entry>& entries() const { return entries_; }
    const Entry* find(std::string_view path) const;
    VecX<double> nominal() const;
    // the path of the number at an index of theta, for example "bodies/torso/com[1]"
    std::string element_name(int index) const;

private:
    std::vector<Entry> entries_;
    std::vector<double> nominal_;
};

}  // namespace costate
