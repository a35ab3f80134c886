// The importer of SDFormat as a library that is loaded when the first file of this format is read: libsdformat
// spends 30 ms on itself whenever a program that links it starts.
#pragma once

#include <string>

#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"

namespace costate {

// Imports by libcostate_sdformat.so, which is looked up in lib/costate in the folder of the running library or
// program or in one of the three above it, and as installed. Throws SceneError, also if there is no such library.
ImportedModel import_sdf_by_plugin(const std::string& text, const std::filesystem::path& file,
                                   const ImportOptions& options);

// What the library exports under this name. `error`: the message of a SceneError, or nothing.
inline constexpr const char* sdf_plugin_symbol = "costate_import_sdf";
using SdfPlugin = void (*)(const char* version, const std::string& text, const std::filesystem::path& file,
                           const ImportOptions& options, ImportedModel& out, std::string& error);

}  // namespace costate
