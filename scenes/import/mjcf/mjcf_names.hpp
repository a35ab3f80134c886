// Unique names of one kind of thing, many of which MJCF leaves unnamed.
#pragma once

#include <map>
#include <set>

#include "scenes/import/xml/xml.hpp"

namespace costate {

class MjcfNames {
public:
    explicit MjcfNames(const char* kind) : kind_(kind) {}

    // Adds a name of the file (empty: none), which must be new.
    void add(const XmlElement& where, const std::string& name);
    // `wish` if it is not in use, otherwise `wish` with a number. Call after all names of the file are added.
    std::string take(const std::string& wish);

private:
    const char* kind_;
    std::set<std::string> names_;
    std::map<std::string, int> next_;  // next number to try for a wish
};

}  // namespace costate
