#include "scenes/import/mesh/convex_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "core/math/elementary.hpp"
#include "scenes/import/mesh/mesh_mass.hpp"

namespace costate {
namespace {

constexpr size_t looked_at = 20'000;  // triangles to test

// Tests whether a point is deeper than `depth` below the surface of a hull.
class Depth {
public:
    Depth(const Hull& hull, double depth) : hull_(hull), depth_(depth) {}

    // Walks from the nearest face of the previous point to neighbours that are nearer to this one. Tests all
    // faces if the walk ends at a face that is too far.
    bool deeper(const Vec3<double>& x) {
        for (int from = -1; from != near_;) {
            if (below(near_, x) <= depth_) return false;
            from = near_;
            const HullFace& face = hull_.faces[from];
            for (int k = face.first; k < face.first + face.count; ++k) {
                const HullEdge& edge = hull_.edges[hull_.sides[k].edge];
                const int beyond = edge.left == from ? edge.right : edge.left;
                if (beyond >= 0 && below(beyond, x) < below(near_, x)) near_ = beyond;
            }
        }
        return std::ranges::all_of(
            hull_.faces, [&](const HullFace& face) { return face.normal.dot(face.origin - x) > depth_; });
    }

private:
    double below(int f, const Vec3<double>& x) const {
        const HullFace& face = hull_.faces[f];
        return face.normal.dot(face.origin - x);
    }
    const Hull& hull_;
    double depth_;
    int near_ = 0;
};

// The hull of points; none if they are in one plane.
std::shared_ptr<const Hull> hull_or_none(const std::vector<Vec3<double>>& points) {
    if (points.size() < 4) return nullptr;
    try {
        return convex_hull(points);
    } catch (const std::invalid_argument&) {
        return nullptr;
    }
}

double volume(const std::shared_ptr<const Hull>& hull) {
    if (!hull) return 0;
    double out = 0;
    for (const HullFace& face : hull->faces) {
        const HullSide* sides = hull->sides.data() + face.first;
        const Vec3<double> a = hull->vertices[sides[0].tail] - hull->centre;
        for (int k = 1; k + 1 < face.count; ++k)
            out += a.dot((hull->vertices[sides[k].tail] - hull->centre)
                             .cross(hull->vertices[sides[k].head] - hull->centre)) /
                   6;
    }
    return out;
}

// What a sweep of cuts collects: points whose hull is that of all points so far.
class GrowingHull {
public:
    double add(const std::vector<Vec3<double>>& points) {
        points_.insert(points_.end(), points.begin(), points.end());
        const std::shared_ptr<const Hull> hull = hull_or_none(points_);
        if (hull) points_ = hull->vertices;
        return volume(hull);
    }

private:
    std::vector<Vec3<double>> points_;
};

struct Plane {
    Vec3<double> normal;  // unit
    double height;        // of its points along the normal, m
};

// Appends what is of a triangle on one side of a plane: `heights` (of its corners) are negative there.
void clip(const TriangleMesh& mesh, const std::array<int, 3>& triangle, const Vec3<double>& heights,
          std::vector<int>& taken, TriangleMesh& out) {
    std::vector<int> polygon;
    const auto add = [&](const Vec3<double>& x) {
        polygon.push_back(static_cast<int>(out.vertices.size()));
        out.vertices.push_back(x);
    };
    for (int k = 0; k < 3; ++k) {
        const int next = (k + 1) % 3;
        const Vec3<double>&a = mesh.vertices[triangle[k]], &b = mesh.vertices[triangle[next]];
        if (heights[k] <= 0) {
            int& index = taken[triangle[k]];
            if (index < 0) {
                index = static_cast<int>(out.vertices.size());
                out.vertices.push_back(a);
            }
            polygon.push_back(index);
        }
        if (heights[k] * heights[next] < 0)
            add((heights[k] * b - heights[next] * a) / (heights[k] - heights[next]));
    }
    for (size_t k = 1; k + 1 < polygon.size(); ++k)
        out.triangles.push_back({polygon[0], polygon[k], polygon[k + 1]});
}

struct Halves {
    TriangleMesh below, above;
};

// A triangle in the plane bounds what is behind it.
Halves cut(const TriangleMesh& mesh, const Plane& plane) {
    Halves out;
    std::vector<int> below(mesh.vertices.size(), -1), above = below;
    std::vector<double> height(mesh.vertices.size());
    double extent = 0;
    for (size_t i = 0; i < height.size(); ++i) {
        height[i] = plane.normal.dot(mesh.vertices[i]) - plane.height;
        extent = std::max(extent, std::abs(height[i]));
    }
    for (double& h : height)
        if (std::abs(h) < 1e-7 * extent) h = 0;
    for (const std::array<int, 3>& triangle : mesh.triangles) {
        const Vec3<double> h(height[triangle[0]], height[triangle[1]], height[triangle[2]]);
        const Vec3<double>& a = mesh.vertices[triangle[0]];
        const bool faces_up =
            h.isZero(0) &&
            plane.normal.dot((mesh.vertices[triangle[1]] - a).cross(mesh.vertices[triangle[2]] - a)) > 0;
        if (h.minCoeff() < 0 || faces_up) clip(mesh, triangle, h, below, out.below);
        if (h.maxCoeff() > 0 || (h.isZero(0) && !faces_up)) clip(mesh, triangle, -h, above, out.above);
    }
    return out;
}

constexpr int windows = 20;  // cuts tried along each direction

// A height for each window between the ends: the one that most vertices have, otherwise the middle.
std::vector<double> heights_to_try(const TriangleMesh& mesh, const Vec3<double>& normal) {
    std::vector<double> heights;
    for (const Vec3<double>& v : mesh.vertices)
        heights.push_back(normal.dot(v));
    std::ranges::sort(heights);
    const double low = heights.front(), extent = heights.back() - low, equal = 1e-6 * extent;
    std::vector<double> out;
    for (int w = 0; w < windows; ++w) {
        const double from = std::max(low + extent * w / windows, low + 1e-3 * extent),
                     to = std::min(low + extent * (w + 1) / windows, heights.back() - 1e-3 * extent);
        auto first = std::ranges::lower_bound(heights, from);
        const auto end = std::ranges::lower_bound(heights, to);
        double best = 0.5 * (from + to);
        for (std::ptrdiff_t most = 1; first < end;) {
            const auto next = std::upper_bound(first, end, *first + equal);
            if (next - first > most) {
                most = next - first;
                best = *first;
            }
            first = next;
        }
        out.push_back(best);
    }
    return out;
}

constexpr double weight_of_difference = 0.05;  // of the volumes of two sides

std::optional<Plane> best_cut(const TriangleMesh& mesh) {
    std::optional<Plane> best;
    double least = std::numeric_limits<double>::infinity();
    for (const Vec3<double>& direction :
         {Vec3<double>(1, 0, 0), Vec3<double>(0, 1, 0), Vec3<double>(0, 0, 1), Vec3<double>(1, 1, 0),
          Vec3<double>(1, -1, 0), Vec3<double>(0, 1, 1), Vec3<double>(0, 1, -1), Vec3<double>(1, 0, 1),
          Vec3<double>(1, 0, -1)}) {
        const Vec3<double> normal = direction.normalized();
        const std::vector<double> heights = heights_to_try(mesh, normal);
        std::vector<std::vector<Vec3<double>>> slices;
        TriangleMesh rest = mesh;
        for (const double height : heights) {
            Halves halves = cut(rest, {normal, height});
            slices.push_back(std::move(halves.below.vertices));
            rest = std::move(halves.above);
        }
        std::vector<double> above(heights.size());
        GrowingHull upper, lower;
        for (size_t k = heights.size(); k-- > 0;)
            above[k] = upper.add(k + 1 == heights.size() ? rest.vertices : slices[k + 1]);
        for (size_t k = 0; k < heights.size(); ++k) {
            const double below = lower.add(slices[k]);
            const double cost = below + above[k] + weight_of_difference * std::abs(below - above[k]);
            if (cost < least) {
                least = cost;
                best = Plane{normal, heights[k]};
            }
        }
    }
    return best;
}

// How often a surface winds around a point: 1 inside of a closed one, 0 outside (Van Oosterom, Strackee: The solid
// angle of a plane triangle, IEEE Trans. Biomedical Engineering 30, 1983).
double winding(const TriangleMesh& mesh, const Vec3<double>& x) {
    double angle = 0;
    for (const std::array<int, 3>& triangle : mesh.triangles) {
        const Vec3<double> a = mesh.vertices[triangle[0]] - x, b = mesh.vertices[triangle[1]] - x,
                           c = mesh.vertices[triangle[2]] - x;
        const double la = a.norm(), lb = b.norm(), lc = c.norm();
        angle += atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
    }
    return angle / (2 * M_PI);
}

struct Part {
    TriangleMesh mesh;
    std::vector<Plane> planes = {};              // that bound it
    std::shared_ptr<const Hull> hull = nullptr;  // none if flat
    double volume = 0;
    bool done = false;  // fills its hull, or cannot be cut
};

void measure(Part& part, double depth) {
    part.hull = hull_or_none(part.mesh.vertices);
    part.volume = volume(part.hull);
    part.done = !part.hull || fills_hull(part.mesh, *part.hull, depth);
}

// The surface of a part lacks the faces where it was cut. Their edges are added, as triangles without area: where the
// last of its planes meets another one inside of the whole mesh. The ends of an edge are corners of the surface.
void add_edges(const TriangleMesh& whole, double extent, Part& part) {
    const Plane plane = part.planes.back();
    const double tolerance = 1e-6 * extent;
    std::vector<int> in_plane;
    for (size_t i = 0; i < part.mesh.vertices.size(); ++i)
        if (std::abs(plane.normal.dot(part.mesh.vertices[i]) - plane.height) < tolerance)
            in_plane.push_back(static_cast<int>(i));
    for (size_t k = 0; k + 1 < part.planes.size(); ++k) {
        const Plane& other = part.planes[k];
        const Vec3<double> along = plane.normal.cross(other.normal);
        std::vector<std::pair<double, int>> on_line;
        for (const int i : in_plane)
            if (const Vec3<double>& x = part.mesh.vertices[i];
                std::abs(other.normal.dot(x) - other.height) < tolerance)
                on_line.emplace_back(along.dot(x), i);
        std::ranges::sort(on_line);
        for (size_t i = 0; i + 1 < on_line.size(); ++i) {
            const auto& [from, a] = on_line[i];
            const auto& [to, b] = on_line[i + 1];
            if (to - from > tolerance &&
                std::abs(winding(whole, 0.5 * (part.mesh.vertices[a] + part.mesh.vertices[b]))) > 0.5)
                part.mesh.triangles.push_back({a, b, b});
        }
    }
}

// The hull of two parts.
std::shared_ptr<const Hull> common_hull(const Part& a, const Part& b) {
    std::vector<Vec3<double>> points = a.hull ? a.hull->vertices : a.mesh.vertices;
    const std::vector<Vec3<double>>& more = b.hull ? b.hull->vertices : b.mesh.vertices;
    points.insert(points.end(), more.begin(), more.end());
    return hull_or_none(points);
}

void append(const TriangleMesh& from, TriangleMesh& to) {
    const int first = static_cast<int>(to.vertices.size());
    to.vertices.insert(to.vertices.end(), from.vertices.begin(), from.vertices.end());
    for (const auto& [a, b, c] : from.triangles)
        to.triangles.push_back({first + a, first + b, first + c});
}

// Joins parts whose common hull adds nothing, then others until there are at most `most`.
void join(std::vector<Part>& parts, size_t most) {
    const auto added = [&](size_t a, size_t b) {
        return volume(common_hull(parts[a], parts[b])) - parts[a].volume - parts[b].volume;
    };
    double whole = 0;
    for (const Part& part : parts)
        whole += part.volume;
    std::vector<std::vector<double>> cost(parts.size());  // cost[a][b] for b < a
    for (size_t a = 0; a < parts.size(); ++a)
        for (size_t b = 0; b < a; ++b)
            cost[a].push_back(added(a, b));
    // Once parts overlap, what their hull adds to their volumes may be below 0.
    for (bool disjoint = true; parts.size() > 1;) {
        size_t one = 1, two = 0;
        for (size_t a = 0; a < parts.size(); ++a)
            for (size_t b = 0; b < a; ++b)
                if (cost[a][b] < cost[one][two]) {
                    one = a;
                    two = b;
                }
        disjoint = disjoint && cost[one][two] <= 1e-6 * whole;
        if (!disjoint && parts.size() <= most) return;
        parts[two].hull = common_hull(parts[one], parts[two]);
        parts[two].volume = volume(parts[two].hull);
        append(parts[one].mesh, parts[two].mesh);
        const auto removed = static_cast<std::ptrdiff_t>(one);
        parts.erase(parts.begin() + removed);
        cost.erase(cost.begin() + removed);
        for (size_t a = one; a < parts.size(); ++a)
            cost[a].erase(cost[a].begin() + removed);
        for (size_t a = 0; a < parts.size(); ++a)
            if (a != two) cost[std::max(a, two)][std::min(a, two)] = added(a, two);
    }
}

}  // namespace

// Corners alone would not suffice: those of an extruded L are all on the surface of its hull.
bool fills_hull(const TriangleMesh& mesh, const Hull& hull, double depth) {
    Depth test(hull, depth);
    const size_t stride = 1 + mesh.triangles.size() / looked_at;
    for (size_t i = 0; i < mesh.triangles.size(); i += stride) {
        Mat3<double> corners;
        for (int k = 0; k < 3; ++k)
            corners.col(k) = mesh.vertices[mesh.triangles[i][k]];
        if (test.deeper(corners.rowwise().mean())) return false;
        for (int k = 0; k < 3; ++k)
            if (test.deeper(corners.col(k)) || test.deeper(0.5 * (corners.col(k) + corners.col((k + 1) % 3))))
                return false;
    }
    return true;
}

std::vector<TriangleMesh> separate_surfaces(const TriangleMesh& mesh) {
    std::vector<int> joined_to(mesh.vertices.size());  // another vertex of the same surface, or itself
    std::iota(joined_to.begin(), joined_to.end(), 0);
    const auto root_of = [&](int i) {
        while (joined_to[i] != i)
            i = joined_to[i] = joined_to[joined_to[i]];
        return i;
    };
    for (const auto& [i, j, k] : mesh.triangles) {
        joined_to[root_of(j)] = root_of(i);
        joined_to[root_of(k)] = root_of(i);
    }
    std::vector<TriangleMesh> out;
    std::vector<int> surface(mesh.vertices.size(), -1), index(mesh.vertices.size(), -1);  // surface: of roots
    for (const std::array<int, 3>& triangle : mesh.triangles) {
        int& number = surface[root_of(triangle[0])];
        if (number < 0) {
            number = static_cast<int>(out.size());
            out.emplace_back();
        }
        TriangleMesh& to = out[number];
        std::array<int, 3>& corners = to.triangles.emplace_back(triangle);
        for (int& corner : corners) {
            if (index[corner] < 0) {
                index[corner] = static_cast<int>(to.vertices.size());
                to.vertices.push_back(mesh.vertices[corner]);
            }
            corner = index[corner];
        }
    }
    return out;
}

std::vector<TriangleMesh> convex_parts(const TriangleMesh& given, int most_parts, double depth) {
    if (most_parts < 1) throw std::invalid_argument("a mesh has at least one part");
    TriangleMesh mesh = given;
    if (mesh_mass(mesh, MeshInertia::exact).m < 0)  // inside out
        for (std::array<int, 3>& corners : mesh.triangles)
            std::swap(corners[1], corners[2]);
    const auto most = static_cast<size_t>(most_parts);
    std::vector<Part> parts{{.mesh = mesh}};
    measure(parts[0], depth);
    if (parts[0].done) return {mesh};
    const double extent = 2 * parts[0].hull->half.maxCoeff();
    while (parts.size() < 2 * most) {
        auto next = parts.end();
        for (auto part = parts.begin(); part != parts.end(); ++part)
            if (!part->done && (next == parts.end() || part->volume > next->volume)) next = part;
        if (next == parts.end()) break;
        next->done = true;
        const std::optional<Plane> plane = best_cut(next->mesh);
        if (!plane) continue;
        Halves halves = cut(next->mesh, *plane);
        if (halves.below.triangles.empty() || halves.above.triangles.empty()) continue;
        next->planes.push_back(*plane);
        Part above{.mesh = std::move(halves.above), .planes = next->planes};
        next->mesh = std::move(halves.below);
        for (Part* part : {&*next, &above}) {
            add_edges(mesh, extent, *part);
            measure(*part, depth);
        }
        parts.push_back(std::move(above));
    }
    join(parts, most);
    std::vector<TriangleMesh> out;
    for (Part& part : parts)
        out.push_back(std::move(part.mesh));
    return out;
}

}  // namespace costate
