// The gradient of a scene with a "batch", as a whole or one shard of it.
#pragma once

#include "apps/cli/batch_loss.hpp"

namespace costate {

// The options of `costate gradient` that apply to one rollout only have been refused.
int batch_gradient(const Arguments& a, const Scene& s);
// Prints the result, and writes it to `out` as JSON, if given.
void report_batch_gradient(const Report& names, const EnvironmentSum& sum,
                           const std::optional<std::string>& out, bool json,
                           const std::function<void(Report&)>& add, const std::string& text);

}  // namespace costate
