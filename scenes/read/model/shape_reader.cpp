// Shapes and surfaces.
#include <algorithm>
#include <tuple>

#include "scenes/format/names.hpp"
#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/read/model/joint_reader.hpp"
#include "scenes/read/model/model_reader.hpp"
#include "solvers/complementarity/mlcp.hpp"

namespace costate {

namespace {

constexpr size_t max_vertices = 100'000, max_heights = 1'000'000;

// A type in files, and its row in the table.
struct KnownShape {
    const ShapeKind* kind;
    ShapeFormat format;

    bool has(const char* key) const {
        const auto same = [&](const char* other) {
            return other != nullptr && std::string_view(other) == key;
        };
        return std::ranges::any_of(format.data, same) ||
               std::ranges::any_of(kind->sizes, same, &SizeKey::name);
    }
    // Refuses the keys of the data and size of `other` that this type does not have.
    void forbid_keys_of(const KnownShape& other, const Node& node) const {
        const auto forbid = [&](const char* key) {
            if (key != nullptr && !has(key)) node.forbid({key}, std::string("the shape is a ") + format.name);
        };
        std::ranges::for_each(other.format.data, forbid);
        std::ranges::for_each(other.kind->sizes, forbid, &SizeKey::name);
    }
};

std::vector<KnownShape> known_shapes() {
    std::vector<KnownShape> all;
    for (const ShapeKind& kind : shape_kinds)
        for (const ShapeFormat& format : kind.formats)
            if (format.name != nullptr) all.push_back({&kind, format});
    return all;
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

std::shared_ptr<const Hull> read_hull(const Node& shape, std::vector<std::string>& warnings) {
    const Node source = mesh_source(shape);
    std::vector<Vec3<double>> points = shape.has("file") ? read_file(source).vertices : read_vertices(source);
    try {
        if (points.size() > max_vertices) {
            MeshHull hull = hull_of_points(points);
            if (hull.left_out > 0) {
                const Vec3<double> scale = shape.vec3_or("scale", Vec3<double>::Ones());
                warnings.push_back(source.place() + ": " + text_of_coarse(hull, scale.cwiseAbs().maxCoeff()) +
                                   "; use a mesh with fewer vertices");
            }
            points = std::move(hull.vertices);
        }
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

// The number of rows of a contact; by default those that the coefficients ask for.
int read_condim(const Node& node, double torsional, double rolling) {
    int rows = rolling > 0 ? 6 : (torsional > 0 ? 4 : 3);
    if (const auto condim = node.find("condim")) {
        rows = static_cast<int>(condim->integer(1, max_contact_rows));
        if (rows == 2 || rows == 5) condim->fail("is not a number of rows", "use 1, 3, 4 or 6");
    }
    return rows;
}

}  // namespace

PairInput read_pair(const Node& node) {
    node.expect_keys("pair");
    const std::vector<Node> shapes = node["shapes"].items(2);
    PairInput out{{}, shapes[0].text(), shapes[1].text()};
    if (out.a == out.b) shapes[1].fail("is the same shape", "name two shapes");
    ContactPairSpec& s = out.spec;
    const auto name = node.find("name");
    s.name = name ? read_name(*name) : out.a + "-" + out.b;
    std::ranges::replace(s.name, '/', '_');  // of its shapes
    s.friction = node.nonnegative_or("friction", s.friction);
    s.torsional_friction = node.nonnegative_or("torsional_friction", 0);
    s.rolling_friction = node.nonnegative_or("rolling_friction", 0);
    s.condim = read_condim(node, s.torsional_friction, s.rolling_friction);
    s.margin = node.nonnegative_or("margin", 0);
    s.softness = read_softness(node, "solref", "solimp");
    return out;
}

Vec3<double> read_size(const Node& node, const ShapeKind& kind, bool mirrors) {
    Vec3<double> size = Vec3<double>::Zero();
    for (const SizeKey& key : kind.sizes) {
        if (key.name == nullptr) continue;
        if (key.factors && !node.has(key.name)) {
            size.segment(key.first, key.count).setOnes();
            continue;
        }
        const Node value = node[key.name];
        const std::vector<Node> numbers = key.count == 1 ? std::vector<Node>{value} : value.items(key.count);
        for (int k = 0; k < key.count; ++k)
            size[key.first + k] = key.factors && mirrors ? numbers[k].number() : numbers[k].positive();
    }
    return size;
}

void read_surface(const Node& node, ShapeSpec& s) {
    s.friction = node.nonnegative_or("friction", 1);
    s.restitution = node.nonnegative_or("restitution", 0);
    if (s.restitution > 1) node["restitution"].fail("is above 1, which adds energy", "use 0 to 1");
    std::tie(s.stiffness, s.damping) = read_spring(node, "stiffness", "damping");
    if (s.stiffness < unlimited)
        node.forbid({"restitution"}, "a shape with \"stiffness\" bounces by its spring");
    s.softness = read_softness(node, "solref", "solimp");
    s.mixing_weight = node.nonnegative_or("solmix", 1);
    if (const auto priority = node.find("priority"))
        s.priority = static_cast<int>(priority->integer(-1000000, 1000000));
    s.torsional_friction = node.nonnegative_or("torsional_friction", 0);
    s.rolling_friction = node.nonnegative_or("rolling_friction", 0);
    s.condim = read_condim(node, s.torsional_friction, s.rolling_friction);
    const Vec3<double> rest = Vec3<double>::Zero();
    if (node.has("surface_velocity") || node.has("surface_angular_velocity"))
        s.surface_motion = {node.vec3_or("surface_angular_velocity", rest),
                            node.vec3_or("surface_velocity", rest)};
}

ShapeSpec read_shape(const Node& node, const std::string& otherwise, std::vector<std::string>& warnings) {
    node.expect_keys("shape");
    const std::vector<KnownShape> shapes = known_shapes();
    std::vector<std::string> names;
    for (const KnownShape& shape : shapes)
        names.emplace_back(shape.format.name);
    const KnownShape& known = shapes[node["type"].choice(names)];
    for (const KnownShape& other : shapes)
        known.forbid_keys_of(other, node);
    ShapeSpec s;
    s.type = known.kind->type;
    const auto name = node.find("name");
    s.name = name ? read_name(*name) : otherwise;
    if (s.type == ShapeType::mesh) s.hull = read_hull(node, warnings);
    if (s.type == ShapeType::terrain)
        s.terrain = known.has("heights") ? read_height_field(node) : read_triangle_mesh(node);
    s.size = read_size(node, *known.kind, false);
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
