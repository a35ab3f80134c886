#include "scenes/read/robot_file.hpp"

#include <algorithm>

#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/read/model_reader.hpp"
#ifdef COSTATE_HAVE_TINYXML2
#include "scenes/import/mjcf/mjcf.hpp"
#include "scenes/import/urdf/urdf.hpp"
#include "scenes/import/xml/xml.hpp"
#endif

namespace costate {

bool is_robot_file(const std::filesystem::path& file) {
    const std::string extension = file.extension().string();
    return extension == ".urdf" || extension == ".mjcf" || extension == ".xml";
}

#ifdef COSTATE_HAVE_TINYXML2
ImportedModel import_model(const std::filesystem::path& file, const ImportOptions& options) {
    const HullsReadOnce once;
    const XmlDocument document = read_xml(file);
    const XmlElement root = document.root();
    Warnings warnings(options.strict);
    ImportedModel out;
    if (root.name() == "robot")
        out = import_urdf(document, options, warnings);
    else if (root.name() == "mujoco")
        out = import_mjcf(document, options, warnings);
    else
        root.fail("is not a robot description", "name a file that begins with <robot> or <mujoco>");
    out.warnings = warnings.lines();
    const std::string name = file.string();
    read_model(Node(out.model, name, &out.places));  // the loader reports the remaining faults
    return out;
}
#else
ImportedModel import_model(const std::filesystem::path& file, const ImportOptions&) {
    throw SceneError(file.string() +
                     ": this build cannot read URDF or MJCF, because TinyXML-2 was missing; install "
                     "libtinyxml2-dev and build again");
}
#endif

}  // namespace costate
