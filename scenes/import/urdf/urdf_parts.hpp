// Parts of links and joints: frames, inertials, geometry, materials.
#pragma once

#include <array>
#include <map>
#include <set>

#include "scenes/import/pose.hpp"
#include "scenes/import/urdf/urdf.hpp"
#include "scenes/import/urdf/urdf_tree.hpp"

namespace costate {

// <origin> of an element: rpy in rad about the fixed axes x, y, z, in this order. Identity if it is absent.
Transform<double> read_origin(const XmlElement& element);

// The mass of a link, kg, 0 without <inertial>; of a link with Isaac Gym's <density> instead of <mass> that density.
double mass_or_density(const XmlElement& link);

// Writes "mass", "com" and "inertia" of a body, from its "shapes" if the link has a <density>. `places`: sources, with
// pointers relative to the body.
void put_inertial(const XmlElement& link, Json& body, std::map<std::string, std::string>& places,
                  Warnings& warnings);

using Materials = std::map<std::string, std::array<double, 4>>;  // red, green, blue, opacity

// The named colours of the whole file.
Materials read_materials(const XmlElement& robot);

// What <gazebo> says of a link.
struct GazeboLink {
    Json contact = Json::object();  // friction, stiffness and damping, as keys of its shapes
    bool weightless = false;
};
using GazeboSettings = std::map<std::string, GazeboLink>;  // by name of the link

// The settings of all <gazebo> elements. Warns of those that change the motion and are not supported; sensors, plugins,
// colours and numbers of Gazebo's solvers do not.
GazeboSettings read_gazebo(const XmlElement& robot, const ImportOptions& options, Warnings& warnings);

// Where MuJoCo looks for meshes: <mujoco><compiler meshdir="..." strippath="..."/></mujoco>.
struct MeshFolder {
    std::string name;         // relative to the file; empty: none is given
    bool strips_path = true;  // of the names of meshes
};

// Warns of other settings of <mujoco> that may change the motion.
MeshFolder read_mesh_folder(const XmlElement& robot, Warnings& warnings);

// Pairs of links, the lesser first, that do not collide where links of a robot do: those of Drake's groups, and links
// with parents that stand still. `held`: (joints) fixed or locked.
std::set<std::pair<int, int>> pairs_apart(const XmlElement& robot, const UrdfTree& tree, bool floating,
                                          const std::vector<bool>& held, Warnings& warnings);

struct LinkReader {
    const std::filesystem::path folder;  // of the file
    const MeshFolder& meshes;
    const ImportOptions& options;
    const Materials& materials;
    const GazeboSettings& gazebo;
    Warnings& warnings;

    // Writes "shapes" of a body.
    void put_shapes(const XmlElement& link, Json& body, std::map<std::string, std::string>& places) const;
    // Writes "visuals" of a body.
    void put_visuals(const XmlElement& link, Json& body) const;

private:
    Json read_contact(const XmlElement& link) const;
    std::vector<Json> shapes_of(const XmlElement& collision) const;
    void put_properties(const XmlElement& collision, Json& shape) const;
    std::optional<std::filesystem::path> mesh(const XmlElement& element, const char* role) const;
    void put_colour(const XmlElement& visual, Json& out) const;
    std::vector<Json> hulls(const XmlElement& element) const;
};

}  // namespace costate
