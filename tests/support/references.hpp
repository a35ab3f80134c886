// Results of other engines in files outside the repository, in the folder $COSTATE_REFERENCE_DIR.
#pragma once

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "scenes/format/json.hpp"

namespace costate::test {

// The folder; empty, with a message, without this variable.
inline std::filesystem::path reference_folder() {
    const char* folder = std::getenv("COSTATE_REFERENCE_DIR");
    if (folder == nullptr) MESSAGE("COSTATE_REFERENCE_DIR is not set: nothing to compare with");
    return folder == nullptr ? std::filesystem::path() : std::filesystem::path(folder);
}

inline VecX<double> vector_of(const Json& numbers) {
    VecX<double> x(static_cast<Eigen::Index>(numbers.size()));
    for (size_t i = 0; i < numbers.size(); ++i)
        x[static_cast<Eigen::Index>(i)] = numbers[i].get<double>();
    return x;
}

}  // namespace costate::test
