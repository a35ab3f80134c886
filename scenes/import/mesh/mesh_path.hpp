// Which file a robot description means by the name of a mesh.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace costate {

struct MeshPath {
    std::filesystem::path file;  // empty if there is none
    bool allowed = true;         // false: it leads out of the folders of the robot
    bool known_scheme = true;    // false: something like http://
};

// Names are paths from the robot's folder or from a folder of the search path, package://<package>/<path> (or
// model://), or file://<path>. A package is a folder of its name, sought among the robot's own folders
// upwards and beside each, then in the search path and in $ROS_PACKAGE_PATH. Whatever the name, the file must
// lie in the robot's folder, its package (the folder upwards that holds package.xml, or the one over a folder
// "urdf"), a package that was found by its name, or the search path.
MeshPath find_mesh(const std::string& name, const std::filesystem::path& robot_folder,
                   const std::vector<std::filesystem::path>& search);

}  // namespace costate
