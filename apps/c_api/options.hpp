// Structures of options, which callers may have compiled with fewer fields, or with more.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "apps/c_api/status.hpp"

namespace costate::c_api {

// The options as this library knows them: `size` bytes are the caller's, the rest is 0. No compiler makes a structure that
// ends within a pointer.
template <class Options> Options known_options(const char* name, const Options& given) {
    if (given.size < sizeof given.size || given.size % alignof(Options) != 0)
        throw Failure(COSTATE_BAD_ARGUMENT, std::string("options.size must be sizeof(") + name + ")");
    Options known{};
    std::memcpy(&known, &given, std::min(given.size, sizeof known));
    const char* bytes = reinterpret_cast<const char*>(&given);
    for (size_t i = sizeof known; i < given.size; ++i)
        if (bytes[i] != 0)
            throw Failure(COSTATE_BAD_VERSION,
                          "options has a field that this version of the library does not know");
    return known;
}

}  // namespace costate::c_api
