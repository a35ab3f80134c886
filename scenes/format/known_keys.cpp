#include "scenes/format/known_keys.hpp"

namespace costate {

const std::vector<KnownKeys>& known_keys() {
    static const std::vector<KnownKeys> table{
#include "known_keys.inc"
    };
    return table;
}

}  // namespace costate
