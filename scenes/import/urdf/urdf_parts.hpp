// The parts of links and joints that stand alone: frames, inertials, geometry, materials.
#pragma once

#include <array>
#include <map>

#include "scenes/import/urdf/urdf.hpp"

namespace costate {

// <origin> of an element: rpy in rad about the fixed axes x, y, z, in this order. None: the identity.
Transform<double> read_origin(const XmlElement& element);

// "position" and "quaternion" of an object, where they are not those of the identity.
void put_pose(Json& object, const Transform<double>& X);

// "mass", "com" and "inertia" of a body. `places`: of what, relative to the body.
void put_inertial(const XmlElement& link, Json& body, std::map<std::string, std::string>& places,
                  Warnings& warnings);

using Materials = std::map<std::string, std::array<double, 4>>;  // red, green, blue, opacity

// The colours that the file gives names, anywhere.
Materials read_materials(const XmlElement& robot);

struct LinkReader {
    const std::filesystem::path folder;  // of the file
    const ImportOptions& options;
    const Materials& materials;
    Warnings& warnings;

    // "shapes" of a body, what it touches others with
    void put_shapes(const XmlElement& link, Json& body, std::map<std::string, std::string>& places) const;
    // "visuals" of a body, what is seen of it
    void put_visuals(const XmlElement& link, Json& body) const;

private:
    std::optional<Json> shape(const XmlElement& collision) const;
    std::optional<std::filesystem::path> mesh(const XmlElement& element, const char* role) const;
    void put_colour(const XmlElement& visual, Json& out) const;
    bool put_hull(const XmlElement& element, Json& shape) const;
};

}  // namespace costate
