#include "scenes/import/sdf/sdf_plugin.hpp"

#include "core/platform/posix.hpp"
#include "scenes/format/error.hpp"

namespace costate {
namespace {

// Null if there is no such library, or none that can be loaded: `why` then says so.
void* load_plugin(std::string& why) {
    const std::filesystem::path name = "costate/libcostate_sdformat.so";
    std::vector<std::filesystem::path> files;
    std::filesystem::path above = object_of(reinterpret_cast<const void*>(&load_plugin));
    for (int level = 0; level < 4 && above.has_relative_path(); ++level) {
        above = above.parent_path();
        files.push_back(above / COSTATE_LIBRARY_FOLDER / name);
    }
    files.push_back(COSTATE_INSTALL_LIBRARIES / name);
    std::error_code error;
    for (const std::filesystem::path& file : files) {
        if (!std::filesystem::is_regular_file(file, error)) continue;
        if (void* const library = ::dlopen(file.string().c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
        const char* fault = ::dlerror();
        why = fault != nullptr ? fault : "it cannot be loaded";
    }
    if (why.empty()) why = "there is no libcostate_sdformat.so";
    return nullptr;
}

}  // namespace

ImportedModel import_sdf_by_plugin(const std::string& text, const std::filesystem::path& file,
                                   const ImportOptions& options) {
    static std::string why;
    static void* const library = load_plugin(why);
    if (library == nullptr)
        throw SceneError(file.string() + ":1: <sdf> is SDFormat, which this build cannot read (" + why +
                         "); install libsdformat-dev and build again, or the package costate-sdformat");
    const auto import = reinterpret_cast<SdfPlugin>(::dlsym(library, sdf_plugin_symbol));
    ImportedModel out;
    std::string error = "libcostate_sdformat.so does not export " + std::string(sdf_plugin_symbol);
    if (import != nullptr) import(COSTATE_VERSION_TEXT, text, file, options, out, error);
    if (!error.empty()) throw SceneError(error);
    return out;
}

}  // namespace costate
