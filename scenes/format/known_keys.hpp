// Every key of the format, by kind of object. The loader refuses all other keys, and a test compares the
// schema with this table.
#pragma once

#include <string>
#include <vector>

namespace costate {

struct KnownKeys {
    std::string kind;  // name of the definition in the schema
    std::vector<std::string> keys;
};

const std::vector<KnownKeys>& known_keys();

}  // namespace costate
