#include "core/model/muscle.hpp"

#include <array>

namespace costate {
namespace {

// In the order of MuscleAt
const std::array<MuscleQuantity, 8> all_muscle_quantities{{
    {"force", 1, ParameterRange::nonnegative, [](MuscleSpec& m) { return &m.force; }},
    {"length_range", 2, ParameterRange::interval, [](MuscleSpec& m) { return m.length_range; }},
    {"range", 2, ParameterRange::interval, [](MuscleSpec& m) { return m.range; }},
    {"lmin", 1, ParameterRange::any, [](MuscleSpec& m) { return &m.lmin; }},
    {"lmax", 1, ParameterRange::any, [](MuscleSpec& m) { return &m.lmax; }},
    {"vmax", 1, ParameterRange::positive, [](MuscleSpec& m) { return &m.vmax; }},
    {"fpmax", 1, ParameterRange::nonnegative, [](MuscleSpec& m) { return &m.fpmax; }},
    {"fvmax", 1, ParameterRange::any, [](MuscleSpec& m) { return &m.fvmax; }},
}};

}  // namespace

std::span<const MuscleQuantity> muscle_quantities() { return all_muscle_quantities; }

}  // namespace costate
