// Names of one kind of thing, each once. MJCF leaves many things without a name.
#pragma once

#include <map>
#include <set>

#include "scenes/import/xml/xml.hpp"

namespace costate {

class MjcfNames {
public:
    explicit MjcfNames(const char* kind) : kind_(kind) {}

    // A name that the text gives (empty: none), which must be new.
    void add(const XmlElement& where, const std::string& name);
    // The wish if it is free, else that with a number behind it. To be asked once all names of the text are
    // known.
    std::string take(const std::string& wish);

private:
    const char* kind_;
    std::set<std::string> names_;
    std::map<std::string, int> next_;  // number to try for a wish
};

}  // namespace costate
