// Every key of the format, by kind of object: those of scenes/library/scene.schema.json. The loader refuses all
// other keys.
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
