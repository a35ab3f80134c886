// Shapes: what bodies touch each other with. Their numbers (sizes, positions, friction, restitution) are parameters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model.hpp"

namespace costate {

// Three numbers of size each, m; numbers not named are 0 and have no effect.
//   plane    none; the half space below its xy plane is solid, z is the outward normal
//   sphere   radius
//   capsule  radius, half length of its segment, which lies along z
//   box      half extents
enum class ShapeType { plane, sphere, capsule, box };

const char* shape_type_name(ShapeType type);

// Whether contacts between the two types are found; the order does not matter.
bool pair_supported(ShapeType a, ShapeType b);

// The largest distance of a point of the shape from its origin, m; infinite for a plane.
double bounding_radius(ShapeType type, const Vec3<double>& size);

struct Shape {
    std::string name;
    ShapeType type = ShapeType::sphere;
    int body = -1;                               // -1: the world
    Mat3<double> R_BS = Mat3<double>::Identity();  // axes of the shape in the body
};

struct ShapeSet {
    std::vector<Shape> shapes;
    std::vector<std::pair<int, int>> pairs;        // candidates (a, b), sorted; a moves, and a < b if both do
    std::vector<std::pair<int, int>> plane_pairs;  // those of them with a plane
    std::vector<std::pair<int, int>> unsupported;  // pairs that would be candidates if their types were supported
    std::vector<std::uint64_t> pair_bits;          // bit a * shapes + b is set for every pair
    // per shape: m; m, the origin of the shape in its body; dimensionless; dimensionless
    ParameterSlice size, position, friction, restitution;

    bool is_pair(int a, int b) const {
        const size_t bit = static_cast<size_t>(a) * shapes.size() + static_cast<size_t>(b);
        return (pair_bits[bit / 64] >> (bit % 64) & 1) != 0;
    }
    int index(std::string_view name) const;  // -1 if there is none
};

// One shape as build_shapes takes it.
struct ShapeSpec {
    std::string name;
    ShapeType type = ShapeType::sphere;
    int body = -1;  // index of the body in the model, -1: the world
    Mat3<double> R_BS = Mat3<double>::Identity();
    Vec3<double> position = Vec3<double>::Zero();
    Vec3<double> size = Vec3<double>::Zero();
    double friction = 1, restitution = 0;
};

// Registers the shapes' parameters in model.layout as "shapes/<name>/size", ".../position", ".../friction" and
// ".../restitution", and lists the pairs that may touch. Bodies joined by fixed joints count as one, and as the world if
// they end there. No pairs: within a body, within the world, of a body and its parent (unless that is the world), and of
// the bodies in `excluded` (by name; "world" is the world).
ShapeSet build_shapes(Model& model, const std::vector<ShapeSpec>& specs,
                      const std::vector<std::pair<std::string, std::string>>& excluded = {});

}  // namespace costate
