#include "collision/shapes/shape.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace costate {

const char* shape_type_name(ShapeType type) {
    switch (type) {
        case ShapeType::plane: return "plane";
        case ShapeType::sphere: return "sphere";
        case ShapeType::capsule: return "capsule";
        case ShapeType::box: return "box";
        case ShapeType::cylinder: return "cylinder";
        case ShapeType::ellipsoid: return "ellipsoid";
        case ShapeType::mesh: return "mesh";
        case ShapeType::terrain: return "terrain";
    }
    return "?";
}

bool pair_supported(ShapeType a, ShapeType b) {
    const auto unbounded = [](ShapeType type) {
        return type == ShapeType::plane || type == ShapeType::terrain;
    };
    return !unbounded(a) || !unbounded(b);
}

double bounding_radius(const Shape& shape, const Vec3<double>& size) {
    const auto corner = [&](const auto& extent) {
        return (extent.centre.cwiseAbs() + extent.half).cwiseProduct(size).norm();
    };
    switch (shape.type) {
        case ShapeType::plane: return std::numeric_limits<double>::infinity();
        case ShapeType::sphere: return size.x();
        case ShapeType::capsule: return size.x() + size.y();
        case ShapeType::box: return size.norm();
        case ShapeType::cylinder: return std::hypot(size.x(), size.y());
        case ShapeType::ellipsoid: return size.maxCoeff();
        case ShapeType::mesh: return corner(*shape.hull);
        case ShapeType::terrain: return corner(*shape.terrain);
    }
    return 0;
}

int ShapeSet::index(std::string_view name) const {
    const auto it =
        std::find_if(shapes.begin(), shapes.end(), [&](const Shape& s) { return s.name == name; });
    return it == shapes.end() ? -1 : static_cast<int>(it - shapes.begin());
}

namespace {

// The body that stands for all those it is joined to by fixed joints, -1 for the world.
int moving_body(const Model& model, int body) {
    while (body >= 0 && model.bodies[body].joint == JointType::fixed)
        body = model.bodies[body].parent;
    return body;
}

int moving_parent(const Model& model, int body) { return moving_body(model, model.bodies[body].parent); }

int moving_body(const Model& model, const std::string& name) {
    const int body = model.body_index(name);
    assert((body >= 0 || name == "world") && "an excluded pair names a body that does not exist");
    return moving_body(model, body);
}

// a and b stand for their groups
bool may_touch(const Model& model, int a, int b) {
    if (a == b) return false;
    if (a < 0 || b < 0) return true;
    return moving_parent(model, a) != b && moving_parent(model, b) != a;
}

void register_parameters(Model& model, const std::vector<ShapeSpec>& specs, ShapeSet& set) {
    std::vector<std::string> names, compliant;
    std::vector<double> size, position, friction, restitution, margin, stiffness, damping;
    for (const ShapeSpec& s : specs) {
        names.push_back(s.name);
        size.insert(size.end(), s.size.begin(), s.size.end());
        position.insert(position.end(), s.position.begin(), s.position.end());
        friction.push_back(s.friction);
        restitution.push_back(s.restitution);
        margin.push_back(s.margin);
        if (s.stiffness == unlimited) continue;
        set.shapes[names.size() - 1].spring = static_cast<int>(compliant.size());
        compliant.push_back(s.name);
        stiffness.push_back(s.stiffness);
        damping.push_back(s.damping);
    }
    set.size = model.layout.add("shapes", names, "size", 3, ParameterRange::positive, size);
    set.position = model.layout.add("shapes", names, "position", 3, ParameterRange::any, position);
    set.rotation = model.layout.add("shapes", names, "rotation", 3, ParameterRange::any,
                                    std::vector<double>(3 * names.size()));
    set.friction = model.layout.add("shapes", names, "friction", 1, ParameterRange::nonnegative, friction);
    set.restitution =
        model.layout.add("shapes", names, "restitution", 1, ParameterRange::nonnegative, restitution);
    set.margin = model.layout.add("shapes", names, "margin", 1, ParameterRange::nonnegative, margin);
    set.stiffness =
        model.layout.add("shapes", compliant, "stiffness", 1, ParameterRange::positive, stiffness);
    set.damping = model.layout.add("shapes", compliant, "damping", 1, ParameterRange::nonnegative, damping);
    for (size_t n = 0; n < specs.size(); ++n) {
        if (specs[n].type == ShapeType::plane)
            model.layout.set_no_effect(set.size, static_cast<int>(n), "a plane has no size", "remove it");
        if (set.shapes[n].spring >= 0)
            model.layout.set_no_effect(set.restitution, static_cast<int>(n),
                                       "a compliant shape has no restitution", "remove its stiffness");
    }
}

bool groups_meet(const Model& model, const ShapeSpec& a, const ShapeSpec& b) {
    if ((a.group & b.mask) == 0 || (b.group & a.mask) == 0) return false;
    if (a.self_collision && b.self_collision) return true;
    const auto tree = [&](const ShapeSpec& s) { return s.body < 0 ? -1 : model.bodies[s.body].tree; };
    return tree(a) != tree(b);
}

}  // namespace

ShapeSet build_shapes(Model& model, const std::vector<ShapeSpec>& specs,
                      const std::vector<std::pair<std::string, std::string>>& excluded) {
    ShapeSet set;
    std::vector<int> carrier;
    for (const ShapeSpec& s : specs) {
        assert((s.type != ShapeType::mesh || s.hull) && (s.type != ShapeType::terrain || s.terrain) &&
               "a shape without its data");
        set.shapes.push_back({s.name, s.type, s.body, s.R_BS, s.hull, s.terrain});
        carrier.push_back(moving_body(model, s.body));
        assert((s.type != ShapeType::terrain || carrier.back() < 0) && "a terrain belongs to the world");
    }
    register_parameters(model, specs, set);

    std::vector<std::pair<int, int>> apart;
    for (const auto& [first, second] : excluded)
        apart.push_back(std::minmax({moving_body(model, first), moving_body(model, second)}));

    const size_t n = specs.size();
    for (size_t i = 0; i < n; ++i)
        for (size_t j = i + 1; j < n; ++j) {
            const std::pair<int, int> bodies = std::minmax({carrier[i], carrier[j]});
            if (!may_touch(model, carrier[i], carrier[j])) continue;
            if (std::find(apart.begin(), apart.end(), bodies) != apart.end()) continue;
            if (!groups_meet(model, specs[i], specs[j]) || !pair_supported(specs[i].type, specs[j].type))
                continue;
            std::pair<int, int> pair(static_cast<int>(i), static_cast<int>(j));
            if (carrier[i] < 0) std::swap(pair.first, pair.second);
            set.pairs.push_back(pair);
        }
    std::sort(set.pairs.begin(), set.pairs.end());

    set.pair_bits.assign((n * n + 63) / 64, 0);
    for (const auto& [a, b] : set.pairs) {
        const size_t bit = static_cast<size_t>(a) * n + static_cast<size_t>(b);
        set.pair_bits[bit / 64] |= std::uint64_t{1} << (bit % 64);
        const ShapeType ta = specs[a].type, tb = specs[b].type;
        if (ta == ShapeType::plane || tb == ShapeType::plane) set.plane_pairs.emplace_back(a, b);
    }
    return set;
}

}  // namespace costate
