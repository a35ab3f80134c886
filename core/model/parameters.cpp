#include "core/model/parameters.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace costate {

ParameterSlice ParameterLayout::add(std::string_view group, const std::vector<std::string>& names,
                                    std::string_view quantity, int width, ParameterRange range,
                                    const std::vector<double>& values) {
    assert(values.size() == names.size() * width);
    const ParameterSlice slice{size(), width};
    for (size_t i = 0; i < names.size(); ++i) {
        std::string path(group);
        if (!names[i].empty()) path.append("/").append(names[i]);
        path.append("/").append(quantity);
        entries_.push_back({std::move(path), slice.at(static_cast<int>(i)), width, range, {}, {}});
    }
    nominal_.insert(nominal_.end(), values.begin(), values.end());
    return slice;
}

ParameterInterval ParameterLayout::add_interval(std::string_view group, const std::string& name,
                                                const std::string& quantity, double lower, double upper) {
    const auto one = [&](const char* end, double value) {
        return std::isfinite(value)
                   ? add(group, {name}, quantity + end, 1, ParameterRange::any, {value}).offset
                   : -1;
    };
    if (!std::isfinite(lower) || !std::isfinite(upper)) return {one("_lower", lower), one("_upper", upper)};
    const int at = add(group, {name}, quantity, 2, ParameterRange::interval, {lower, upper}).offset;
    return {at, at + 1};
}

void ParameterLayout::set_no_effect(const ParameterSlice& slice, int element, std::string_view because,
                                    std::string_view remedy) {
    const int offset = slice.at(element);
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), offset,
                                     [](const Entry& e, int at) { return e.offset < at; });
    assert(it != entries_.end() && it->offset == offset);
    it->no_effect = because;
    it->remedy = remedy;
}

const ParameterLayout::Entry* ParameterLayout::find(std::string_view path) const {
    const auto it =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.path == path; });
    return it == entries_.end() ? nullptr : &*it;
}

VecX<double> ParameterLayout::nominal() const {
    return Eigen::Map<const VecX<double>>(nominal_.data(), size());
}

std::string ParameterLayout::element_name(int index) const {
    for (const Entry& e : entries_)
        if (index >= e.offset && index < e.offset + e.width)
            return e.width == 1 ? e.path : e.path + "[" + std::to_string(index - e.offset) + "]";
    return "?";
}

}  // namespace costate
