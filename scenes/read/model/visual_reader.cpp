// Visual geometry of bodies.
#include <algorithm>

#include "scenes/read/model/model_reader.hpp"

namespace costate {
namespace {

std::vector<const ShapeKind*> visual_kinds() {
    std::vector<const ShapeKind*> kinds;
    for (const ShapeKind& kind : shape_kinds)
        if (kind.visual) kinds.push_back(&kind);
    return kinds;
}

// Refuses the size keys of other types.
void forbid_others(const Node& node, const ShapeKind& kind) {
    const std::string because = std::string("the visual is a ") + kind.name;
    for (const ShapeKind* other : visual_kinds())
        for (const SizeKey& key : other->sizes) {
            const auto same = [&](const SizeKey& own) {
                return own.name != nullptr && std::string_view(own.name) == key.name;
            };
            if (key.name != nullptr && std::ranges::none_of(kind.sizes, same))
                node.forbid({key.name}, because);
        }
    if (kind.type != ShapeType::mesh) node.forbid({"file"}, because);
}

}  // namespace

Visual read_visual(const Node& node) {
    node.expect_keys("visual");
    Visual visual;
    const std::vector<const ShapeKind*> kinds = visual_kinds();
    std::vector<std::string> names;
    for (const ShapeKind* kind : kinds)
        names.emplace_back(kind->name);
    const ShapeKind& kind = *kinds[node["type"].choice(names)];
    forbid_others(node, kind);
    visual.type = kind.type;
    visual.size = read_size(node, kind, true);
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
