// The ranges of the lengths of muscles whose file gives none, as MuJoCo's compiler finds them ("lengthrange" in its
// documentation): the lengths at which the model settles if the muscle alone pulls, and if it pushes.
#pragma once

#include <optional>

#include "scenes/format/json.hpp"

namespace costate {

// model: as a model file holds it. Nothing if the lengths do not settle, because no limit of a joint or a tendon stops the
// muscle. The model moves without gravity, contacts, springs, dampers and friction; its limits and equalities are soft, as by
// MuJoCo's law of contact.
std::optional<std::pair<double, double>> settled_lengths(const Json& model, size_t actuator);

}  // namespace costate
