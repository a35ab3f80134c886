// Files of SDFormat, read by libsdformat without its messages: faults are SceneErrors of one line. The library
// sees texts only. Included files are found and read here, and given to it as interface models, so that it opens
// no file.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <sdf/sdf.hh>

#include "core/math/transform.hpp"
#include "scenes/import/import_options.hpp"
#include "scenes/import/sdf/sdf_fault.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

struct SdfFile;

// An <include> of a model.
struct SdfInclude {
    std::unique_ptr<const SdfFile> file;
    std::string place;
    bool merged = false;                 // its parts become those of the including model
    std::optional<bool> is_static = {};  // as the <include> says
    // of the model's frame, in the frame in which the including file has its model or world; set by libsdformat
    Transform<double> X = Transform<double>::identity();
};

struct SdfFile {
    std::string name;              // in messages
    bool scoped_names = false;     // "::" in a name is an error: since version 1.8
    std::filesystem::path folder;  // where its relative paths start
    // Lines of the first element with each name, and of the first one that refers to it
    std::map<std::string, int> lines = {}, references = {};
    std::string missing = {};  // what an error says of the first included file that there is not
    std::deque<SdfInclude> includes = {};
    sdf::Root root;

    std::string place(int line) const { return name + ":" + std::to_string(line); }
    // The place of an element, or of the nearest one around it whose line is known
    std::string place(sdf::ElementPtr element) const;
    // The include that libsdformat made an interface model of
    const SdfInclude& include(const sdf::NestedInclude& nested) const;
};

// `text` is that of the document.
std::unique_ptr<SdfFile> load_sdf(const XmlDocument& document, const std::string& text,
                                  const ImportOptions& options, Warnings& warnings);

inline Transform<double> inverse(const Transform<double>& X) {
    return {X.R.transpose(), -(X.R.transpose() * X.p)};
}
Transform<double> to_transform(const ignition::math::Pose3d& pose);

// The pose of an object of a file in the frame that is named, or in its own default one.
template <class Object>
Transform<double> sdf_pose(const Object& object, const SdfFile& file, Warnings& warnings,
                           const std::string& in = "") {
    ignition::math::Pose3d pose;
    check_sdf(object.SemanticPose().Resolve(pose, in), file, warnings);
    return to_transform(pose);
}

}  // namespace costate
