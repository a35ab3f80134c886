// Shapes and surfaces.
#include <algorithm>
#include <tuple>

#include "scenes/format/names.hpp"
#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/read/joint_reader.hpp"
#include "scenes/read/model_reader.hpp"

namespace costate {

namespace {

constexpr size_t max_vertices = 100'000, max_heights = 1'000'000;

struct KnownShape {
    const char* name;
    ShapeType type;
    std::vector<const char*> keys;  // of its size
};
const std::vector<KnownShape>& known_shapes() {
    static const std::vector<KnownShape> table{
        {"sphere", ShapeType::sphere, {"radius"}},
        {"capsule", ShapeType::capsule, {"radius", "half_length"}},
        {"cylinder", ShapeType::cylinder, {"radius", "half_length"}},
        {"box", ShapeType::box, {"half_extents"}},
        {"ellipsoid", ShapeType::ellipsoid, {"semi_axes"}},
        {"mesh", ShapeType::mesh, {"vertices", "file", "scale"}},
        {"height_field", ShapeType::terrain, {"heights", "cell", "scale"}},
        {"triangle_mesh", ShapeType::terrain, {"vertices", "triangles", "file", "scale"}},
        {"plane", ShapeType::plane, {}}};
    return table;
}

// The mesh of the file that a shape names, relative to the folder of the document.
TriangleMesh read_file(const Node& name) {
    try {
        return read_mesh_file(find_file(name, name.folder()));
    } catch (const MeshFileError& e) {
        name.fail(e.what(), e.remedy);
    }
}

std::vector<Vec3<double>> read_vertices(const Node& node) {
    std::vector<Vec3<double>> points;
    const std::vector<Node> vertices = node.items();
    if (vertices.size() > max_vertices) node.fail("more than 100000 vertices", "use fewer");
    for (const Node& vertex : vertices)
        points.push_back(vertex.vec3());
    return points;
}

// The source of a mesh: "file" or "vertices"; both together are an error.
Node mesh_source(const Node& shape) {
    const std::optional<Node> file = shape.find("file");
    if (file)
        shape.forbid({"vertices", "triangles"}, "the shape is read from a file");
    else if (!shape.has("vertices"))
        shape.fail("has neither \"vertices\" nor \"file\"", "add one of the two");
    return file ? *file : shape["vertices"];
}

std::shared_ptr<const Hull> read_hull(const Node& shape) {
    const Node source = mesh_source(shape);
    const std::vector<Vec3<double>> points =
        shape.has("file") ? read_file(source).vertices : read_vertices(source);
    if (points.size() > max_vertices) source.fail("more than 100000 vertices", "use fewer");
    try {
        return shared_hull(points);
    } catch (const std::invalid_argument&) {
        source.fail("the points span no volume", "give four or more that are not in one plane");
    }
}

std::shared_ptr<const Terrain> read_triangle_mesh(const Node& shape) {
    const Node source = mesh_source(shape);
    TriangleMesh mesh;
    if (shape.has("file")) {
        mesh = read_file(source);
    } else {
        mesh.vertices = read_vertices(source);
        const std::vector<Node> triangles = shape["triangles"].items();
        if (triangles.size() > max_triangles)
            shape["triangles"].fail("more than 1000000 triangles", "use fewer");
        const auto last = static_cast<std::int64_t>(mesh.vertices.size()) - 1;
        for (const Node& triangle : triangles) {
            const std::vector<Node> corners = triangle.items(3);
            mesh.triangles.emplace_back();
            for (size_t k = 0; k < 3; ++k)
                mesh.triangles.back()[k] = static_cast<int>(corners[k].integer(0, last));
        }
    }
    try {
        return triangle_terrain(std::move(mesh.vertices), std::move(mesh.triangles));
    } catch (const std::invalid_argument& e) {
        source.fail(e.what(), "give triangles whose corners are not on one line");
    }
}

// Rows of heights along x, one row after the other along y.
std::shared_ptr<const Terrain> read_height_field(const Node& node) {
    const std::vector<Node> rows = node["heights"].items(), cell = node["cell"].items(2);
    if (rows.size() < 2) node["heights"].fail("needs two rows or more", "add rows along y");
    const int columns = static_cast<int>(rows[0].items().size());
    if (columns < 2) rows[0].fail("needs two heights or more", "add heights along x");
    if (rows.size() * static_cast<size_t>(columns) > max_heights)
        node["heights"].fail("more than 1000000 heights", "use larger cells");
    std::vector<double> heights;
    for (const Node& row : rows)
        for (const Node& height : row.items(columns))
            heights.push_back(height.number());
    try {
        return height_field(columns, static_cast<int>(rows.size()), cell[0].positive(), cell[1].positive(),
                            heights);
    } catch (const std::invalid_argument&) {
        node["heights"].fail("are too large relative to the cells", "use larger cells or lower heights");
    }
}

}  // namespace

Vec3<double> positive3(const Node& node) {
    const std::vector<Node> three = node.items(3);
    return {three[0].positive(), three[1].positive(), three[2].positive()};
}

void read_surface(const Node& node, ShapeSpec& s) {
    s.friction = node.nonnegative_or("friction", 1);
    s.restitution = node.nonnegative_or("restitution", 0);
    if (s.restitution > 1) node["restitution"].fail("is above 1, which adds energy", "use 0 to 1");
    std::tie(s.stiffness, s.damping) = read_spring(node, "stiffness", "damping");
    if (s.stiffness < unlimited)
        node.forbid({"restitution"}, "a shape with \"stiffness\" bounces by its spring");
}

ShapeSpec read_shape(const Node& node, const std::string& otherwise) {
    node.expect_keys("shape");
    const KnownShape& known = known_shapes()[  // in the order of the table
        node["type"].choice({"sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh", "height_field",
                             "triangle_mesh", "plane"})];
    for (const KnownShape& other : known_shapes())
        for (const char* key : other.keys)
            if (std::ranges::find(known.keys, std::string_view(key)) == known.keys.end())
                node.forbid({key}, std::string("the shape is a ") + known.name);
    ShapeSpec s;
    s.type = known.type;
    const auto name = node.find("name");
    s.name = name ? read_name(*name) : otherwise;
    switch (s.type) {
        case ShapeType::plane: break;
        case ShapeType::sphere: s.size[0] = node["radius"].positive(); break;
        case ShapeType::capsule:
        case ShapeType::cylinder:
            s.size = {node["radius"].positive(), node["half_length"].positive(), 0};
            break;
        case ShapeType::box: s.size = positive3(node["half_extents"]); break;
        case ShapeType::ellipsoid: s.size = positive3(node["semi_axes"]); break;
        case ShapeType::mesh: s.hull = read_hull(node); break;
        case ShapeType::terrain:
            s.terrain =
                node["type"].text() == "height_field" ? read_height_field(node) : read_triangle_mesh(node);
            break;
    }
    if (s.hull || s.terrain) s.size = node.has("scale") ? positive3(node["scale"]) : Vec3<double>(1, 1, 1);
    const Transform<double> X = read_pose(node);
    s.R_BS = X.R;
    s.position = X.p;
    read_surface(node, s);
    s.margin = node.number_or("margin", 0);
    if (const auto group = node.find("group"))
        s.group = static_cast<std::uint32_t>(group->integer(0, 0xffffffff));
    if (const auto mask = node.find("mask"))
        s.mask = static_cast<std::uint32_t>(mask->integer(0, 0xffffffff));
    if (const auto self = node.find("self_collision")) s.self_collision = self->boolean();
    return s;
}

}  // namespace costate
