// Visual geometry of bodies.
#include "scenes/read/model_reader.hpp"

namespace costate {
namespace {

constexpr ShapeType types[] = {ShapeType::sphere, ShapeType::capsule,   ShapeType::cylinder,
                               ShapeType::box,    ShapeType::ellipsoid, ShapeType::mesh};

// Reads the size of a visual and refuses the size keys of other types.
Vec3<double> read_size(const Node& node, ShapeType type) {
    const std::string because = "the visual is a " + node["type"].text();
    const bool round = type == ShapeType::sphere || type == ShapeType::capsule || type == ShapeType::cylinder;
    if (!round) node.forbid({"radius"}, because);
    if (!round || type == ShapeType::sphere) node.forbid({"half_length"}, because);
    if (type != ShapeType::box) node.forbid({"half_extents"}, because);
    if (type != ShapeType::ellipsoid) node.forbid({"semi_axes"}, because);
    if (type != ShapeType::mesh) node.forbid({"file", "scale"}, because);
    switch (type) {
        case ShapeType::sphere: return {node["radius"].positive(), 0, 0};
        case ShapeType::box: return positive3(node["half_extents"]);
        case ShapeType::ellipsoid: return positive3(node["semi_axes"]);
        case ShapeType::mesh: return node.vec3_or("scale", {1, 1, 1});
        default: return {node["radius"].positive(), node["half_length"].positive(), 0};
    }
}

}  // namespace

Visual read_visual(const Node& node) {
    node.expect_keys("visual");
    Visual visual;
    visual.type = types[node["type"].choice({"sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh"})];
    visual.size = read_size(node, visual.type);
    visual.X_BV = read_pose(node);
    if (visual.type == ShapeType::mesh) {
        const std::string file = node["file"].text();
        if (file.empty()) node["file"].fail("is empty", "name a mesh");
        visual.file = node.folder() / file;
    }
    if (const auto rgba = node.find("rgba")) {
        const std::vector<Node> components = rgba->items(4);
        for (size_t c = 0; c < 4; ++c) {
            visual.rgba[c] = components[c].nonnegative();
            if (visual.rgba[c] > 1) components[c].fail("is above 1", "use 0 to 1");
        }
    }
    return visual;
}

}  // namespace costate
