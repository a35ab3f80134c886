#include "core/model/activation.hpp"

#include <array>
#include <cassert>

namespace costate {
namespace {

struct ActivationRow {
    ActivationType type;
    ActivationKind kind;
};

const std::array<ActivationRow, 4> activation_kinds{{
    {ActivationType::integrator, {"integrator"}},
    {ActivationType::filter, {"filter", {"time_constant"}}},
    {ActivationType::exact_filter, {"exact_filter", {"time_constant"}}},
    {ActivationType::muscle, {"muscle", {"rise_time", "fall_time"}}},
}};

}  // namespace

const ActivationKind& activation_kind(ActivationType type) {
    const ActivationRow& row = activation_kinds[static_cast<size_t>(type)];
    assert(row.type == type);
    return row.kind;
}

std::vector<std::string> activation_type_names() {
    std::vector<std::string> names;
    for (const ActivationRow& row : activation_kinds)
        names.push_back(row.kind.name);
    return names;
}

}  // namespace costate
