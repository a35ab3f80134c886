// The model of an instance of a scene, inline or from a file.
#pragma once

#include <filesystem>

#include "scenes/import/import_options.hpp"
#include "scenes/read/model/model_reader.hpp"

namespace costate {

// Files are relative to `folder`; `options` apply to imported models, whose warnings are added.
ModelInput read_instance_model(const Node& scene, const Node& instance, const std::filesystem::path& folder,
                               const ImportOptions& options, std::vector<std::string>& warnings);

}  // namespace costate
