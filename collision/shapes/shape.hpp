// Collision shapes. Their sizes, positions, friction and restitution are parameters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collision/shapes/shape_kind.hpp"
#include "core/model/model.hpp"

namespace costate {

// True if contacts between the two types, in any order, are supported, i.e. if the table of pairs in
// collision/detect/narrow.cpp has them: all pairs except planes and terrains among each other.
bool pair_supported(ShapeType a, ShapeType b);

struct Shape {
    std::string name;
    ShapeType type = ShapeType::sphere;
    int body = -1;  // -1: the world
    // R_BS exp(rotation) are the axes of the shape in the body
    Mat3<double> R_BS = Mat3<double>::Identity();
    std::shared_ptr<const Hull> hull = nullptr;        // of a mesh
    std::shared_ptr<const Terrain> terrain = nullptr;  // of a terrain
    int spring = -1;                                   // index among the compliant shapes, -1: rigid
    int moving_surface = -1;                           // index among those whose surface moves, -1: at rest
    int condim = 3;                                    // see ShapeSpec
    int priority = 0;          // of a soft contact's parameters: those of the shape with the higher one
    double mixing_weight = 1;  // of its parameters in a soft contact
};

// The largest distance of a point of the shape from its origin, m; infinite for a plane.
inline double bounding_radius(const Shape& shape, const Vec3<double>& size) {
    return shape_kind(shape.type).bounding_radius(shape, size);
}

// Up to this number, testing all pairs of groups is not slower than a tree.
inline constexpr size_t max_group_pairs = 2000;

// Data that determines which shapes may collide; see build_shapes.
struct CollisionFilter {
    int body = -1;    // the moving body to which the shape is fixed; -1: the world
    int parent = -1;  // the moving body that carries `body`; -1: the world
    int tree = -1;    // of the shape's body
    std::uint32_t group = 1, mask = ~0u;
    bool self_collision = true;
};

// Two shapes whose contacts have a friction and a margin of their own, whatever the two shapes have.
struct ContactPair {
    int a = 0, b = 0;  // a < b
    int condim = 3;    // see ShapeSpec
};

struct ShapeSet {
    std::vector<Shape> shapes;
    std::vector<CollisionFilter> filters;          // per shape
    std::vector<std::pair<int, int>> excluded;     // pairs of bodies, (lesser, greater); sorted
    std::vector<std::pair<int, int>> plane_pairs;  // pairs with a plane, sorted
    bool any_pair = false;
    // The shapes other than planes in groups: all shapes of a moving body, and each shape of the world alone.
    std::vector<int> grouped;    // shapes, group by group
    std::vector<int> group_end;  // (groups) end of each group in `grouped`
    std::vector<int> group_of;   // (shapes) -1 for a plane
    int group_begin(size_t group) const { return group == 0 ? 0 : group_end[group - 1]; }
    // Pairs of groups with a pair of shapes; without a value if there are more than max_group_pairs.
    std::optional<std::vector<std::pair<int, int>>> group_pairs;
    // per shape: m, or factors; m, the origin of the shape in its body; rad in the shape's axes;
    // dimensionless; dimensionless; m, see ShapeSpec
    ParameterSlice size, position, rotation, friction, restitution, margin;
    ParameterSlice stiffness, damping;  // per compliant shape: N/m and N s/m of a contact point
    int moving_surfaces = 0;            // how many shapes have one
    // per such shape: m/s, rad/s; see ShapeSpec
    ParameterSlice surface_velocity, surface_angular_velocity;
    int condim = 3;  // the largest of the shapes and the pairs, at least 3
    // per shape, if condim is above 3: m
    ParameterSlice torsional_friction, rolling_friction;
    SoftnessSlices softness;             // per shape, if the model is soft
    std::vector<ContactPair> own_pairs;  // sorted by their shapes
    // per pair: as those of shapes
    ParameterSlice pair_friction, pair_margin, pair_torsional_friction, pair_rolling_friction;
    SoftnessSlices pair_softness;

    // True if shapes a and b may collide; a must move, and a < b if both move.
    bool is_pair(int a, int b) const;
    // all pairs, sorted; their number is quadratic in the number of shapes
    std::vector<std::pair<int, int>> pairs() const;
    int index(std::string_view name) const;  // -1 if there is none
    // Index of the pair with parameters of its own; -1 if there is none
    int own_pair(int a, int b) const { return own_pairs.empty() ? -1 : find_own_pair(a, b); }
    // The parameters whose sum is the margin of a contact of shapes a and b: that of their pair and -1, or
    // those of both.
    std::array<int, 2> margin_parts(int a, int b) const {
        if (const int pair = own_pair(a, b); pair >= 0) return {pair_margin.at(pair), -1};
        return {margin.at(a), margin.at(b)};
    }
    template <class T> T contact_margin(const T* theta, int a, int b) const {
        const auto [first, second] = margin_parts(a, b);
        return second < 0 ? theta[first] : theta[first] + theta[second];
    }
    // The most that a shape adds to the margin of a contact
    double largest_margin(const double* theta, int shape) const;

private:
    int find_own_pair(int a, int b) const;
};

// A shape to be added by build_shapes.
struct ShapeSpec {
    std::string name;
    ShapeType type = ShapeType::sphere;
    int body = -1;  // index of the body in the model, -1: the world
    Mat3<double> R_BS = Mat3<double>::Identity();
    Vec3<double> position = Vec3<double>::Zero();
    Vec3<double> size = Vec3<double>::Zero();
    double friction = 1, restitution = 0;
    // N/m, N s/m of a contact point; unlimited: rigid, damping unused
    double stiffness = unlimited, damping = 0;
    Softness softness = {};  // used if the model is soft, as are the next two numbers
    int priority = 0;
    double mixing_weight = 1;
    // Number of rows of a contact, which has the larger one of its shapes: 1, no friction; 3, friction against
    // sliding; 4, also against spinning about the normal; 6, also against rolling.
    int condim = 3;
    double torsional_friction = 0, rolling_friction = 0;  // m; coefficients of the last two
    double margin = 0;                                    // m; gaps are measured between surfaces grown by it
    // The surface moves past the shape, as that of a conveyor or a turntable: at r from the shape's origin with
    // lin + ang x r, m/s, in the shape's axes.
    std::optional<Motion<double>> surface_motion = {};
    // two shapes may collide if the mask of each has a bit of the other's group
    std::uint32_t group = 1, mask = ~0u;
    bool self_collision = true;                        // false: never collides with shapes of its own tree
    std::shared_ptr<const Hull> hull = nullptr;        // of a mesh
    std::shared_ptr<const Terrain> terrain = nullptr;  // of a terrain
};

// A pair with parameters of its own. Its shapes may collide whatever their groups and bodies are, unless one body
// carries both.
struct ContactPairSpec {
    std::string name;
    int a = 0, b = 0;  // indices of the shapes
    int condim = 3;
    double friction = 1, torsional_friction = 0, rolling_friction = 0, margin = 0;
    Softness softness = {};  // used if the model is soft
};

// Registers the shapes' parameters in model.layout as "shapes/<name>/size", ".../position", ".../rotation",
// ".../friction", ".../restitution" and ".../margin", for compliant shapes also ".../stiffness" and
// ".../damping", for those whose surface moves ".../surface_velocity" and ".../surface_angular_velocity", if the
// condim of any shape is above 3 ".../torsional_friction" and ".../rolling_friction", and in a soft model
// ".../solref" and ".../solimp", and those of the pairs as "pairs/<name>/friction" and so on.
// Determines which pairs may collide. Bodies joined by fixed joints count as one body, or as the world. Excluded
// are pairs within a body or within the world, of a body and its parent (unless the parent is the world), and pairs
// that groups, masks or self_collision exclude. Excluded are also pairs of bodies in `excluded`, by name, without
// those that are fixed to them; "world" is the world without its fixed bodies. `carriers`: (body, parent) of bodies
// whose joint is a chain of links without shapes.
ShapeSet build_shapes(Model& model, const std::vector<ShapeSpec>& specs,
                      const std::vector<std::pair<std::string, std::string>>& excluded = {},
                      const std::vector<ContactPairSpec>& pairs = {},
                      const std::vector<std::pair<std::string, std::string>>& carriers = {});

}  // namespace costate
