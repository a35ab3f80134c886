// The file that the name of a mesh, or of an included file, in a robot description refers to.
#pragma once

#include <filesystem>
#include <string>

#include "scenes/import/import_options.hpp"

namespace costate {

struct MeshPath {
    std::filesystem::path file;  // empty: not found
    bool allowed = true;         // false: outside the folders of the robot
    bool known_scheme = true;    // false: for example http://
};

// Names are paths relative to the robot's folder or to a folder of the search path,
// package://<package>/<path> (or model://), or file://<path>. A package is a folder with its name. It is
// looked up among the ancestors of the robot's folder and their siblings, then in the search path and in
// $ROS_PACKAGE_PATH; at last it is taken for the robot's own package, whose folder may have another name.
// In a description that is a file itself, a relative path may lead anywhere with "..", to a file with the suffix of
// models, of their parts or of their assets. Any other file must be in the robot's folder, in its package or
// repository (the nearest ancestor with a package.xml or .git, otherwise the parent of a folder "urdf"), in a package
// found by name, or in the search path. A backslash separates folders, as a slash does.
MeshPath find_mesh(const std::string& name, const std::filesystem::path& robot_folder,
                   const ImportOptions& options);

}  // namespace costate
