// Parts of links and joints of SDFormat as keys of a scene.
#pragma once

#include "scenes/import/sdf/sdf_load.hpp"
#include "scenes/import/sdf/sdf_model.hpp"

namespace costate {

// One file and what its parts need.
struct SdfContext {
    const SdfFile& file;
    const ImportOptions& options;
    Warnings& warnings;

    // Of an element of the file
    [[noreturn]] void fail(sdf::ElementPtr at, const std::string& what, const std::string& remedy) const;
    void warn(sdf::ElementPtr at, const std::string& what, const std::string& remedy,
              const std::string& example = "") const;
    void note(sdf::ElementPtr at, const std::string& what, const std::string& remedy,
              const std::string& example = "") const;
    double finite(double x, sdf::ElementPtr at) const;
    double positive(double x, sdf::ElementPtr at) const;
    Vec3<double> finite(const ignition::math::Vector3d& v, sdf::ElementPtr at) const;
    // What an element says at the end of a path of children; nothing if one of them is absent
    std::optional<double> number(sdf::ElementPtr at, std::initializer_list<const char*> path) const;
    bool is_true(sdf::ElementPtr at, std::initializer_list<const char*> path) const;
    // Null if one of them is absent
    static sdf::ElementPtr find(sdf::ElementPtr at, std::initializer_list<const char*> path);

    void read_mass(const sdf::Link& link, SdfLink& out) const;
    // `fixed`: the link is fixed in the world
    void read_shapes(const sdf::Link& link, bool self_collision, bool fixed, SdfLink& out) const;
    void read_visuals(const sdf::Link& link, SdfLink& out) const;
    SdfAxis read_axis(const sdf::JointAxis& axis, const Transform<double>& model) const;

private:
    bool put_primitive(const sdf::Geometry& geometry, Json& out) const;
    std::vector<Json> shapes_of(const sdf::Collision& collision) const;
    std::vector<Json> hulls(const sdf::Mesh& mesh) const;
    Json height_field(const sdf::Heightmap& heightmap) const;
    std::filesystem::path find_asset(const std::string& uri, sdf::ElementPtr at, const char* what,
                                     bool moves) const;
    Json read_contact(const sdf::Collision& collision, bool fixed) const;
};

}  // namespace costate
