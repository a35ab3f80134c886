// Table of shape types. The features of a type are in collision/contact, its pairs with other types in
// collision/detect/narrow.cpp.
#pragma once

#include <array>

#include "collision/shapes/hull.hpp"
#include "collision/shapes/terrain.hpp"

namespace costate {

// Shape types with their three sizes, m; unused sizes are 0 and have no effect.
//   plane      none; the half space below its xy plane is solid, z is the outward normal
//   sphere     radius
//   capsule    radius, half length of its segment; its axis is z
//   box        half extents
//   cylinder   radius, half length; its axis is z
//   ellipsoid  semi-axes along x, y, z
//   mesh       scale factors along x, y, z of a convex hull
//   terrain    scale factors along x, y, z of a surface of triangles; belongs to the world
enum class ShapeType { plane, sphere, capsule, box, cylinder, ellipsoid, mesh, terrain };

struct Shape;

// One or three numbers of the size in files, each above 0: those from `first` on.
struct SizeKey {
    const char* name = nullptr;  // null: none
    int first = 0, count = 0;
    bool factors = false;  // 1 if left out; those of a visual may be negative
};

// A type in files: its name, and the keys of its data.
struct ShapeFormat {
    const char* name = nullptr;  // null: none
    std::array<const char*, 3> data{};
};

// The functions take a shape of the type, its size (3), and a vector (3) in its axes.
struct ShapeKind {
    ShapeType type;
    const char* name;
    std::array<ShapeFormat, 2> formats;
    std::array<SizeKey, 2> sizes{};
    bool unbounded = false;        // a half space or a surface, which meets only bounded shapes
    bool round = false;            // a point or a segment swept by size[0]
    bool curved = false;           // has curves as features; without a hull, curve 0 is its whole surface
    bool turns_with_size = false;  // directions of its edges and faces depend on the size
    bool visual = false;           // may be the type of a visual

    const Hull& (*unit_hull)() = nullptr;  // whose features it has, unless each shape has its own or none
    // the largest distance of a point of the shape from its origin, m
    double (*bounding_radius)(const Shape& shape, const Vec3<double>& size);
    // support function: the greatest extent from the origin along the unit vector d, m; null if unbounded
    double (*reach)(const Shape& shape, const Vec3<double>& size, const Vec3<double>& d) = nullptr;
    // the farthest point along d of the shape without its sweep, m; null: the farthest vertex of its hull
    Vec3<double> (*support)(const Vec3<double>& size, const Vec3<double>& d) = nullptr;
};

// The functions of the table.
namespace shape_functions {

double infinite_radius(const Shape&, const Vec3<double>& size);
double sphere_radius(const Shape&, const Vec3<double>& size);
double capsule_radius(const Shape&, const Vec3<double>& size);
double box_radius(const Shape&, const Vec3<double>& size);
double cylinder_radius(const Shape&, const Vec3<double>& size);
double ellipsoid_radius(const Shape&, const Vec3<double>& size);
double mesh_radius(const Shape& mesh, const Vec3<double>& size);
double terrain_radius(const Shape& terrain, const Vec3<double>& size);

double sphere_reach(const Shape&, const Vec3<double>& size, const Vec3<double>& d);
double capsule_reach(const Shape&, const Vec3<double>& size, const Vec3<double>& d);
double box_reach(const Shape&, const Vec3<double>& size, const Vec3<double>& d);
double cylinder_reach(const Shape&, const Vec3<double>& size, const Vec3<double>& d);
double ellipsoid_reach(const Shape&, const Vec3<double>& size, const Vec3<double>& d);
double mesh_reach(const Shape& mesh, const Vec3<double>& size, const Vec3<double>& d);

Vec3<double> sphere_support(const Vec3<double>& size, const Vec3<double>& d);
Vec3<double> capsule_support(const Vec3<double>& size, const Vec3<double>& d);
Vec3<double> box_support(const Vec3<double>& size, const Vec3<double>& d);
Vec3<double> cylinder_support(const Vec3<double>& size, const Vec3<double>& d);
Vec3<double> ellipsoid_support(const Vec3<double>& size, const Vec3<double>& d);

}  // namespace shape_functions

inline constexpr ShapeKind shape_kinds[] = {
    {.type = ShapeType::plane,
     .name = "plane",
     .formats = {{{"plane"}}},
     .unbounded = true,
     .bounding_radius = shape_functions::infinite_radius},
    {.type = ShapeType::sphere,
     .name = "sphere",
     .formats = {{{"sphere"}}},
     .sizes = {{{"radius", 0, 1}}},
     .round = true,
     .visual = true,
     .unit_hull = point_hull,
     .bounding_radius = shape_functions::sphere_radius,
     .reach = shape_functions::sphere_reach,
     .support = shape_functions::sphere_support},
    {.type = ShapeType::capsule,
     .name = "capsule",
     .formats = {{{"capsule"}}},
     .sizes = {{{"radius", 0, 1}, {"half_length", 1, 1}}},
     .round = true,
     .visual = true,
     .unit_hull = segment_hull,
     .bounding_radius = shape_functions::capsule_radius,
     .reach = shape_functions::capsule_reach,
     .support = shape_functions::capsule_support},
    {.type = ShapeType::box,
     .name = "box",
     .formats = {{{"box"}}},
     .sizes = {{{"half_extents", 0, 3}}},
     .visual = true,
     .unit_hull = cube_hull,
     .bounding_radius = shape_functions::box_radius,
     .reach = shape_functions::box_reach,
     .support = shape_functions::box_support},
    {.type = ShapeType::cylinder,
     .name = "cylinder",
     .formats = {{{"cylinder"}}},
     .sizes = {{{"radius", 0, 1}, {"half_length", 1, 1}}},
     .curved = true,
     .visual = true,
     .unit_hull = prism_hull,
     .bounding_radius = shape_functions::cylinder_radius,
     .reach = shape_functions::cylinder_reach,
     .support = shape_functions::cylinder_support},
    {.type = ShapeType::ellipsoid,
     .name = "ellipsoid",
     .formats = {{{"ellipsoid"}}},
     .sizes = {{{"semi_axes", 0, 3}}},
     .curved = true,
     .visual = true,
     .bounding_radius = shape_functions::ellipsoid_radius,
     .reach = shape_functions::ellipsoid_reach,
     .support = shape_functions::ellipsoid_support},
    {.type = ShapeType::mesh,
     .name = "mesh",
     .formats = {{{"mesh", {"file", "vertices"}}}},
     .sizes = {{{"scale", 0, 3, true}}},
     .turns_with_size = true,
     .visual = true,
     .bounding_radius = shape_functions::mesh_radius,
     .reach = shape_functions::mesh_reach},
    {.type = ShapeType::terrain,
     .name = "terrain",
     .formats = {{{"height_field", {"heights", "cell"}},
                  {"triangle_mesh", {"file", "vertices", "triangles"}}}},
     .sizes = {{{"scale", 0, 3, true}}},
     .unbounded = true,
     .turns_with_size = true,
     .bounding_radius = shape_functions::terrain_radius},
};

constexpr const ShapeKind& shape_kind(ShapeType type) { return shape_kinds[static_cast<size_t>(type)]; }

constexpr bool shape_kinds_are_in_order() {
    for (size_t i = 0; i < std::size(shape_kinds); ++i)
        if (shape_kinds[i].type != static_cast<ShapeType>(i)) return false;
    return true;
}
static_assert(shape_kinds_are_in_order());

inline constexpr auto all_shape_types = [] {
    std::array<ShapeType, std::size(shape_kinds)> types{};
    for (size_t i = 0; i < types.size(); ++i)
        types[i] = shape_kinds[i].type;
    return types;
}();

constexpr const char* shape_type_name(ShapeType type) { return shape_kind(type).name; }

}  // namespace costate
