#include "core/parameters.hpp"

#include <algorithm>
#include <cassert>

namespace costate {

ParameterSlice ParameterLayout::add(std::string_view group, const std::vector<std::string>& names, std::string_view quantity, int width,
                                    ParameterRange range, const std::vector<double>& values) {
    assert(values.size() == names.size() * static_cast<size_t>(width));
    const ParameterSlice slice{size(), width};
    for (size_t i = 0; i < names.size(); ++i) {
        std::string path(group);
        if (!names[i].empty()) path.append("/").append(names[i]);
        path.append("/").append(quantity);
        entries_.push_back({std::move(path), slice.at(static_cast<int>(i)), width, range});
    }
    nominal_.insert(nominal_.end(), values.begin(), values.end());
    return slice;
}

const ParameterLayout::Entry* ParameterLayout::find(std::string_view path) const {
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.path == path; });
    return it == entries_.end() ? nullptr : &*it;
}

VecX<double> ParameterLayout::nominal() const { return Eigen::Map<const VecX<double>>(nominal_.data(), size()); }

std::string ParameterLayout::element_name(int index) const {
    for (const Entry& e : entries_)
        if (index >= e.offset && index < e.offset + e.width)
            return e.width == 1 ? e.path : e.path + "[" + std::to_string(index - e.offset) + "]";
    return "?";
}

}  // namespace costate
