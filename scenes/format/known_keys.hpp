// Every key of the format, by the kind of object it belongs to. The loader refuses all others, and a test
// holds the schema to this table.
#pragma once

#include <string>
#include <vector>

namespace costate {

struct KnownKeys {
    std::string kind;  // the definition of the schema
    std::vector<std::string> keys;
};

const std::vector<KnownKeys>& known_keys();

}  // namespace costate
