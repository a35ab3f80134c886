#include "scenes/read/world/robot_file.hpp"

#include <algorithm>

#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/read/model/model_reader.hpp"
#include "scenes/read/world/reference_damping.hpp"
#ifdef COSTATE_HAVE_TINYXML2
#include "scenes/import/mjcf/mjcf.hpp"
#include "scenes/import/sdf/sdf_plugin.hpp"
#include "scenes/import/urdf/urdf.hpp"
#include "scenes/import/xml/xml.hpp"
#endif

namespace costate {

bool is_robot_file(const std::filesystem::path& file) {
    const std::string extension = file.extension().string();
    return std::ranges::find(robot_extensions, extension) != robot_extensions.end();
}

#ifdef COSTATE_HAVE_TINYXML2
namespace {

ImportedModel import_root(const XmlDocument& document, const std::string& text, const ImportOptions& options,
                          Warnings& warnings) {
    const XmlElement root = document.root();
    if (root.name() == "sdf") return import_sdf_by_plugin(text, document.file(), options);
    ImportedModel out;
    if (root.name() == "robot")
        out = import_urdf(document, options, warnings);
    else if (root.name() == "mujoco" || root.name() == "mujocoinclude")
        out = import_mjcf(document, options, warnings);
    else
        root.fail("is not a robot description", "name a file that begins with <robot>, <mujoco> or <sdf>");
    out.warnings = warnings.lines();
    return out;
}

ImportedModel import_document(const XmlDocument& document, const std::string& text,
                              const ImportOptions& options, Warnings& warnings) {
    const HullsReadOnce once;
    ImportedModel out = import_root(document, text, options, warnings);
    const DampingRatios ratios = take_damping_ratios(out.model);
    // the loader reports the remaining faults
    const ModelInput input = read_model(Node(out.model, document.file(), &out.places));
    if (ratios.empty()) return out;
    for (const int n : put_damping(ratios, input, out.model)) {
        warnings.add(out.places.at("/actuators/" + std::to_string(n)),
                     "the length of a muscle without \"lengthrange\" does not settle, so it does not pull",
                     "limit a joint or a tendon that it moves, or give \"lengthrange\"");
        out.warnings = warnings.lines();
    }
    read_model(Node(out.model, document.file(), &out.places));
    return out;
}

}  // namespace

ImportedModel import_model(const std::filesystem::path& file, const ImportOptions& options) {
    ImportOptions of_file = options;
    of_file.from_file = true;
    return parse_model(read_xml_text(file), file, of_file, nullptr);
}

ImportedModel parse_model(const std::string& text, const std::filesystem::path& file,
                          const ImportOptions& options, const char* root) {
    Warnings warnings(options.strict);
    const XmlDocument document(text, file.string(), &warnings);
    if (root && document.root().name() != root)
        document.root().fail("is not the root element <" + std::string(root) + "> of this format",
                             "name the text's own format");
    return import_document(document, text, options, warnings);
}
#else
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file) {
    throw SceneError(
        file.string() +
        ": this build cannot read URDF, MJCF or SDFormat, because TinyXML-2 was missing; install "
        "libtinyxml2-dev and build again");
}

}  // namespace

ImportedModel import_model(const std::filesystem::path& file, const ImportOptions&) { refuse(file); }

ImportedModel parse_model(const std::string&, const std::filesystem::path& file, const ImportOptions&,
                          const char*) {
    refuse(file);
}
#endif

}  // namespace costate
