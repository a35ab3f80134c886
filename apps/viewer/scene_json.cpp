#include "apps/viewer/scene_json.hpp"

#include <algorithm>
#include <cmath>

#include "apps/viewer/visual_mesh.hpp"

namespace costate {

namespace {

using Json = nlohmann::ordered_json;

// Rounds to seven digits: more than a screen resolves, but a shorter text.
double rounded(double x) {
    if (x == 0 || !std::isfinite(x)) return 0;
    const double unit = std::pow(10.0, 6 - std::floor(std::log10(std::abs(x))));
    return std::isfinite(unit) && unit > 0 ? std::round(x * unit) / unit : x;
}

template <class Vector> Json numbers(const Vector& x) {
    Json out = Json::array();
    for (Eigen::Index i = 0; i < x.size(); ++i)
        out.push_back(rounded(x[i]));
    return out;
}

// w x y z
Json orientation(const Mat3<double>& R) {
    const Eigen::Quaterniond q(R);
    return numbers(Eigen::Vector4d(q.w(), q.x(), q.y(), q.z()));
}

// The corners as one array of numbers, the triangles as one of indices.
Json geometry(const std::vector<Vec3<double>>& vertices, const std::vector<int>& triangles) {
    Json corners = Json::array();
    for (const Vec3<double>& v : vertices)
        for (const double x : v)
            corners.push_back(rounded(x));
    return {{"vertices", std::move(corners)}, {"triangles", triangles}};
}

Json geometry(const TriangleMesh& mesh) {
    std::vector<int> triangles;
    for (const auto& t : mesh.triangles)
        triangles.insert(triangles.end(), t.begin(), t.end());
    return geometry(mesh.vertices, triangles);
}

Json geometry(const Shape& s) {
    std::vector<Vec3<double>> vertices;
    std::vector<int> triangles;
    if (s.type == ShapeType::terrain) {
        vertices = s.terrain->vertices;
        for (const auto& t : s.terrain->triangles)
            triangles.insert(triangles.end(), t.begin(), t.end());
    } else {
        vertices = s.hull->vertices;
        for (const HullFace& face : s.hull->faces)  // a fan
            for (int k = 1; k + 1 < face.count; ++k)
                for (const int side : {face.first, face.first + k, face.first + k + 1})
                    triangles.push_back(s.hull->sides[side].tail);
    }
    return geometry(vertices, triangles);
}

const void* geometry_key(const Shape& s) {
    return s.type == ShapeType::terrain ? static_cast<const void*>(s.terrain.get())
                                        : static_cast<const void*>(s.hull.get());
}

// The distinct geometries of meshes and terrains, in the order of the first shapes that use them.
std::vector<const Shape*> distinct_geometries(const ShapeSet& set) {
    std::vector<const Shape*> found;
    for (const Shape& s : set.shapes) {
        if (geometry_key(s) == nullptr) continue;
        const bool known = std::any_of(found.begin(), found.end(),
                                       [&](const Shape* f) { return geometry_key(*f) == geometry_key(s); });
        if (!known) found.push_back(&s);
    }
    return found;
}

}  // namespace

Json describe_objects(const Scene& scene, const VecX<double>& theta) {
    const Model& m = scene.world.model;
    const ShapeSet& set = scene.world.shapes;
    Json bodies = Json::array(), shapes = Json::array();
    for (size_t i = 0; i < m.bodies.size(); ++i)
        bodies.push_back({{"com", numbers(load3(theta.data() + m.com.at(static_cast<int>(i))))},
                          {"mass", rounded(theta[m.mass.at(static_cast<int>(i))])}});
    const std::vector<const Shape*> geometries = distinct_geometries(set);
    for (size_t n = 0; n < set.shapes.size(); ++n) {
        const Shape& s = set.shapes[n];
        const int shape = static_cast<int>(n);
        Json entry{{"name", s.name},
                   {"type", shape_type_name(s.type)},
                   {"body", s.body},
                   {"size", numbers(load3(theta.data() + set.size.at(shape)))},
                   {"p", numbers(load3(theta.data() + set.position.at(shape)))},
                   {"q", orientation(s.R_BS)}};
        if (const void* key = geometry_key(s))
            entry["geometry"] = std::find_if(geometries.begin(), geometries.end(),
                                             [&](const Shape* g) { return geometry_key(*g) == key; }) -
                                geometries.begin();
        shapes.push_back(std::move(entry));
    }
    Json anchors = Json::array();
    for (size_t n = 0; n < m.equalities.size(); ++n) {
        const Equality& e = m.equalities[n];
        if (e.type == EqualityType::coupling) continue;
        const int index = static_cast<int>(n);
        if (e.body_a >= 0)
            anchors.push_back(
                {{"body", e.body_a}, {"p", numbers(load3(theta.data() + m.anchor_a.at(index)))}});
        if (e.body_b >= 0)
            anchors.push_back(
                {{"body", e.body_b}, {"p", numbers(load3(theta.data() + m.anchor_b.at(index)))}});
    }
    return {{"bodies", std::move(bodies)}, {"shapes", std::move(shapes)}, {"anchors", std::move(anchors)}};
}

Json describe_scene(const Scene& scene) {
    const Model& m = scene.world.model;
    Json bodies = Json::array(), actuators = Json::array(), targets = Json::array(),
         geometries = Json::array(), visuals = Json::array();
    for (const Body& b : m.bodies)
        bodies.push_back({{"name", b.name},
                          {"parent", b.parent},
                          {"tree", b.tree},
                          {"has_axis", joint_kind(b.joint).has_axis},
                          {"joint_name", b.joint_name},
                          {"axis", numbers(b.axis)}});
    for (const Actuator& a : m.actuators)
        actuators.push_back(
            {{"name", a.name}, {"body", a.body}, {"unit", control_unit(a.type, m.slides(a))}});
    for (const Term& t : scene.objective)
        if (t.kind == TermKind::position && t.reference.empty() && (t.axes.array() != 0).all())
            targets.push_back({{"name", t.name}, {"p", numbers(t.target)}});
    for (const Shape* s : distinct_geometries(scene.world.shapes))
        geometries.push_back(geometry(*s));
    const VisualMeshes meshes = read_visual_meshes(scene.visuals);
    const size_t first_visual_mesh = geometries.size();
    for (const TriangleMesh& mesh : meshes.meshes)
        geometries.push_back(geometry(mesh));
    for (size_t n = 0; n < scene.visuals.size(); ++n) {
        const Visual& v = scene.visuals[n];
        if (v.type == ShapeType::mesh && meshes.of_visual[n] < 0) continue;
        Json entry{{"type", shape_type_name(v.type)},
                   {"body", v.body},
                   {"size", numbers(v.size)},
                   {"p", numbers(v.X_BV.p)},
                   {"q", orientation(v.X_BV.R)}};
        if (v.rgba != Visual().rgba) entry["rgba"] = v.rgba;
        if (v.type == ShapeType::mesh)
            entry["geometry"] = first_visual_mesh + static_cast<size_t>(meshes.of_visual[n]);
        visuals.push_back(std::move(entry));
    }
    return {{"name", scene.name},
            {"description", scene.description},
            {"file", scene.file.filename().string()},
            {"bodies", std::move(bodies)},
            {"actuators", std::move(actuators)},
            {"targets", std::move(targets)},
            {"visuals", std::move(visuals)},
            {"geometries", std::move(geometries)},
            {"notes", meshes.notes}};
}

}  // namespace costate
