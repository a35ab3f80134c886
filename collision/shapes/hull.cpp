#include "collision/shapes/hull.hpp"

#include "core/math/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace costate {

Hull hull_of_faces(std::vector<Vec3<double>> vertices, const std::vector<std::vector<int>>& faces) {
    Hull hull;
    hull.vertices = std::move(vertices);
    const auto vertex = [&](int i) { return hull.vertices[i]; };
    std::map<std::pair<int, int>, int> edge_of;
    for (const std::vector<int>& loop : faces) {
        HullFace face{Vec3<double>::Zero(), Vec3<double>::Zero(), static_cast<int>(hull.sides.size()),
                      static_cast<int>(loop.size())};
        const int index = static_cast<int>(hull.faces.size());
        for (const int i : loop)
            face.origin += vertex(i) / static_cast<double>(loop.size());
        for (size_t k = 0; k < loop.size(); ++k) {
            const int tail = loop[k], head = loop[(k + 1) % loop.size()];
            face.normal += (vertex(tail) - face.origin).cross(vertex(head) - face.origin);
            const auto [it, added] =
                edge_of.try_emplace(std::minmax(tail, head), static_cast<int>(hull.edges.size()));
            if (added)
                hull.edges.push_back(
                    {tail, head, index, -1, vertex(head) - vertex(tail), Vec3<double>::Zero()});
            else
                hull.edges[it->second].right = index;
            HullEdge& edge = hull.edges[it->second];
            edge.inward += face.origin - 0.5 * (vertex(tail) + vertex(head));
            hull.sides.push_back({tail, head, it->second, index});
        }
        face.normal.normalize();
        hull.faces.push_back(face);
    }
    Vec3<double> lo = hull.vertices[0], hi = lo;
    for (const Vec3<double>& v : hull.vertices) {
        lo = lo.cwiseMin(v);
        hi = hi.cwiseMax(v);
    }
    hull.centre = 0.5 * (lo + hi);
    hull.half = 0.5 * (hi - lo);
    return hull;
}

VertexLists::VertexLists(const std::vector<std::vector<int>>& lists) : first{0} {
    for (const std::vector<int>& list : lists) {
        items.insert(items.end(), list.begin(), list.end());
        first.push_back(static_cast<int>(items.size()));
    }
}

int HullPaths::climb(std::span<const Vec3<double>> vertices, const Vec3<double>& d, int v) const {
    double most = d.dot(vertices[v]);
    for (int from = -1; v != from;) {
        from = v;
        for (const int w : neighbours.of(from))
            if (const double x = d.dot(vertices[w]); x > most || (x == most && w < v)) {
                most = x;
                v = w;
            }
    }
    return v;
}

int HullPaths::farthest(std::span<const Vec3<double>> vertices, const Vec3<double>& d) const {
    int k;
    const double along = d.cwiseAbs().maxCoeff(&k);
    const auto cell = [&](int axis) {
        const double x = 0.5 * cells * (d[axis] / along + 1);
        return static_cast<int>(std::min(std::max(0.0, x), cells - 1.0));  // 0 for a zero direction
    };
    const int side = 2 * k + (d[k] < 0 ? 0 : 1), row = cell((k + 1) % 3), column = cell((k + 2) % 3);
    return climb(vertices, d, start[(side * cells + row) * cells + column]);
}

std::shared_ptr<const HullPaths> hull_paths(const Hull& hull,
                                            const std::vector<std::array<int, 2>>& diagonals) {
    std::vector<std::vector<int>> neighbours(hull.vertices.size()), edges = neighbours, faces = neighbours;
    const auto join = [&](int v, int w) {
        neighbours[v].push_back(w);
        neighbours[w].push_back(v);
    };
    for (size_t e = 0; e < hull.edges.size(); ++e)
        for (const int v : {hull.edges[e].tail, hull.edges[e].head})
            edges[v].push_back(static_cast<int>(e));
    for (const HullSide& side : hull.sides)
        faces[side.tail].push_back(side.face);
    for (const HullEdge& edge : hull.edges)
        join(edge.tail, edge.head);
    for (const auto& [v, w] : diagonals)
        join(v, w);
    for (std::vector<int>& list : neighbours) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    auto paths = std::make_shared<HullPaths>();
    paths->neighbours = VertexLists(neighbours);
    paths->edges = VertexLists(edges);
    paths->faces = VertexLists(faces);
    constexpr int cells = HullPaths::cells;
    // each search starts at the result of the previous one
    int last = 0;
    for (size_t n = 0; n < paths->start.size(); ++n) {
        const int i = static_cast<int>(n), side = i / (cells * cells), k = side / 2;
        Vec3<double> d;
        d[k] = side % 2 == 0 ? -1 : 1;
        d[(k + 1) % 3] = (2.0 * (i / cells % cells) + 1) / cells - 1;
        d[(k + 2) % 3] = (2.0 * (i % cells) + 1) / cells - 1;
        paths->start[n] = last = paths->climb(hull.vertices, d, last);
    }
    return paths;
}

const Hull& cube_hull() {
    static const Hull cube = [] {
        std::vector<Vec3<double>> vertices;
        for (int i = 0; i < 8; ++i)
            vertices.emplace_back((i & 1) != 0 ? 1 : -1, (i & 2) != 0 ? 1 : -1, (i & 4) != 0 ? 1 : -1);
        std::vector<std::vector<int>> faces;
        for (int k = 0; k < 3; ++k)
            for (int side = 0; side < 2; ++side) {
                const int base = side << k, u = 1 << (k + 1) % 3, w = 1 << (k + 2) % 3;
                if (side == 1)
                    faces.push_back({base, base + u, base + u + w, base + w});
                else
                    faces.push_back({base, base + w, base + u + w, base + u});
            }
        Hull hull = hull_of_faces(vertices, faces);
        // the edges in the order of cube_hull, each along its axis
        std::vector<HullEdge> edges(hull.edges.size());
        std::vector<int> number;
        for (HullEdge edge : hull.edges) {
            int k = 0;
            while (edge.direction[k] == 0)
                ++k;
            if (edge.direction[k] < 0) {
                std::swap(edge.tail, edge.head);
                std::swap(edge.left, edge.right);
                edge.direction = -edge.direction;
            }
            const Vec3<double>& tail = hull.vertices[edge.tail];
            number.push_back(4 * k + (tail[(k + 1) % 3] > 0 ? 1 : 0) + (tail[(k + 2) % 3] > 0 ? 2 : 0));
            edges[number.back()] = edge;
        }
        hull.edges = edges;
        for (HullSide& side : hull.sides)
            side.edge = number[side.edge];
        return hull;
    }();
    return cube;
}

const Hull& prism_hull() {
    static const Hull prism = [] {
        constexpr int n = prism_corners;
        std::vector<Vec3<double>> vertices;
        for (int i = 0; i < 2 * n; ++i) {
            const auto [y, x] = sin_cos(2 * std::numbers::pi * (i % n) / n);
            vertices.emplace_back(std::abs(x) < 1e-15 ? 0 : x, std::abs(y) < 1e-15 ? 0 : y, i < n ? -1 : 1);
        }
        std::vector<std::vector<int>> faces(2);
        for (int k = 0; k < n; ++k) {
            faces[0].push_back(n - 1 - k);
            faces[1].push_back(n + k);
        }
        for (int k = 0; k < n; ++k)
            faces.push_back({k, (k + 1) % n, n + (k + 1) % n, n + k});
        Hull hull = hull_of_faces(vertices, faces);
        hull.faces[0].origin = -Vec3<double>::UnitZ();
        hull.faces[1].origin = Vec3<double>::UnitZ();
        return hull;
    }();
    return prism;
}

const Hull& segment_hull() {
    static const Hull segment = [] {
        Hull hull;
        hull.vertices = {-Vec3<double>::UnitZ(), Vec3<double>::UnitZ()};
        hull.edges = {{0, 1, -1, -1, 2 * Vec3<double>::UnitZ(), Vec3<double>::Zero()}};
        hull.centre = Vec3<double>::Zero();
        hull.half = Vec3<double>::UnitZ();
        return hull;
    }();
    return segment;
}

const Hull& point_hull() {
    static const Hull point = [] {
        Hull hull;
        hull.vertices = {Vec3<double>::Zero()};
        hull.centre = hull.half = Vec3<double>::Zero();
        return hull;
    }();
    return point;
}

}  // namespace costate
