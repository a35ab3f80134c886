// The function of libcostate_sdformat.so
#include "scenes/format/error.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/import/sdf/sdf.hpp"
#include "scenes/import/sdf/sdf_plugin.hpp"

extern "C" {

// No exception leaves it: the library has its own copy of costate's types.
__attribute__((visibility("default"))) void costate_import_sdf(const char* version, const std::string& text,
                                                               const std::filesystem::path& file,
                                                               const costate::ImportOptions& options,
                                                               costate::ImportedModel& out,
                                                               std::string& error) {
    error.clear();
    if (std::string(version) != COSTATE_VERSION_TEXT) {
        error = file.string() +
                ":1: libcostate_sdformat.so is of version " COSTATE_VERSION_TEXT " and costate of " +
                version + "; install both from one build";
        return;
    }
    try {
        const costate::HullsReadOnce once;
        costate::Warnings warnings(options.strict);
        const costate::XmlDocument document(text, file.string(), &warnings);
        out = costate::import_sdf(document, text, options, warnings);
        out.warnings = warnings.lines();
    } catch (const costate::SceneError& e) {
        error = e.what();
    } catch (...) {  // of libsdformat
        error = file.string() + ":1: cannot be read by libsdformat; correct the file";
    }
}

}  // extern "C"

static_assert(std::is_same_v<decltype(&costate_import_sdf), costate::SdfPlugin>);
