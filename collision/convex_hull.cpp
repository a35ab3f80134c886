// The convex hull of points by quickhull (Barber, Dobkin, Huhdanpaa, "The quickhull algorithm for convex hulls", 1996), then
// its triangles merged to flat faces. Runs once, at load.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "collision/hull.hpp"

namespace costate {
namespace {

constexpr double on_surface = 1e-9, flat = 1e-7;  // relative to the extent of the points

struct Triangle {
    int v[3];
    int next_to[3];            // the triangle beyond the side from v[k] to v[k+1]
    Vec3<double> normal;       // unit
    double offset;             // normal . x on it
    std::vector<int> outside;  // points above it that no other triangle holds
    bool alive = true;
    double height(const Vec3<double>& x) const { return normal.dot(x) - offset; }
};

struct Quickhull {
    const std::vector<Vec3<double>>& points;
    Vec3<double> middle = Vec3<double>::Zero();
    double extent = 0, eps = 0;
    std::vector<Triangle> triangles;

    explicit Quickhull(const std::vector<Vec3<double>>& all) : points(all) {
        if (points.size() < 4) throw std::invalid_argument("a convex mesh needs at least four vertices");
        for (const Vec3<double>& x : points) middle += x / static_cast<double>(points.size());
        for (const Vec3<double>& x : points) extent = std::max(extent, (x - middle).norm());
        eps = on_surface * extent;
        start();
        for (size_t t = 0; t < triangles.size(); ++t)
            if (triangles[t].alive && !triangles[t].outside.empty()) add_point(static_cast<int>(t));
    }
    const Vec3<double>& at(int i) const { return points[static_cast<size_t>(i)]; }
    Triangle& triangle(int t) { return triangles[static_cast<size_t>(t)]; }

    // The point that is farthest by a measure, the first among equals.
    template <class Measure> int farthest(Measure measure) const {
        int best = 0;
        for (size_t i = 1; i < points.size(); ++i)
            if (measure(points[i]) > measure(at(best)) + eps) best = static_cast<int>(i);
        if (!(measure(at(best)) > 1e3 * eps)) throw std::invalid_argument("the vertices of a convex mesh lie in a plane");
        return best;
    }

    int add_triangle(int a, int b, int c) {
        Triangle t{{a, b, c}, {-1, -1, -1}, (at(b) - at(a)).cross(at(c) - at(a)).normalized(), 0, {}};
        t.offset = t.normal.dot(at(a));
        triangles.push_back(t);
        return static_cast<int>(triangles.size()) - 1;
    }

    // To the one of the triangles from `first` on that it is highest above.
    void assign(int point, size_t first) {
        int best = -1;
        double height = eps;
        for (size_t t = first; t < triangles.size(); ++t)
            if (triangles[t].height(at(point)) > height) height = triangles[t].height(at(point)), best = static_cast<int>(t);
        if (best >= 0) triangle(best).outside.push_back(point);
    }

    void start() {
        const int a = farthest([&](const Vec3<double>& x) { return (x - middle).norm(); });
        const int b = farthest([&](const Vec3<double>& x) { return (x - at(a)).norm(); });
        const Vec3<double> u = (at(b) - at(a)).normalized();
        int c = farthest([&](const Vec3<double>& x) { return (x - at(a)).cross(u).norm(); });
        const Vec3<double> n = u.cross(at(c) - at(a)).normalized();
        int d = farthest([&](const Vec3<double>& x) { return std::abs(n.dot(x - at(a))); });
        if (n.dot(at(d) - at(a)) > 0) std::swap(c, d);
        add_triangle(a, b, c), add_triangle(a, d, b), add_triangle(b, d, c), add_triangle(c, d, a);
        constexpr int beyond[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
        for (int t = 0; t < 4; ++t) std::copy(beyond[t], beyond[t] + 3, triangle(t).next_to);
        for (size_t i = 0; i < points.size(); ++i) assign(static_cast<int>(i), 0);
    }

    // The highest point above triangle t; among equals the farthest from the middle, which is a corner of the hull.
    int highest(int t) {
        const std::vector<int>& outside = triangle(t).outside;
        int best = outside[0];
        for (const int i : outside) {
            const double gain = triangle(t).height(at(i)) - triangle(t).height(at(best));
            if (gain > eps || (gain > -eps && (at(i) - middle).norm() > (at(best) - middle).norm() + eps)) best = i;
        }
        return best;
    }

    // Replaces all triangles that see the highest point above t by a cone from their rim to that point.
    void add_point(int t) {
        const int apex = highest(t);
        std::vector<int> visible{t}, orphans;
        triangle(t).alive = false;
        struct RimSide {
            int tail, head, beyond;
        };
        std::vector<RimSide> rim;
        for (size_t k = 0; k < visible.size(); ++k)
            for (int side = 0; side < 3; ++side) {
                const int other = triangle(visible[k]).next_to[side];
                if (!triangle(other).alive) continue;
                if (!(triangle(other).height(at(apex)) > eps)) continue;
                triangle(other).alive = false;
                visible.push_back(other);
            }
        for (const int v : visible) {
            const Triangle& seen = triangle(v);
            for (int side = 0; side < 3; ++side)
                if (triangle(seen.next_to[side]).alive) rim.push_back({seen.v[side], seen.v[(side + 1) % 3], seen.next_to[side]});
            for (const int i : seen.outside)
                if (i != apex) orphans.push_back(i);
        }
        const size_t first = triangles.size();
        std::map<int, int> from;  // the new triangle on the rim side that starts at a vertex
        for (const RimSide& side : rim) from[side.tail] = add_triangle(side.tail, side.head, apex);
        for (const RimSide& side : rim) {
            const int added = from[side.tail], following = from[side.head];
            triangle(added).next_to[0] = side.beyond;
            triangle(added).next_to[1] = following;
            triangle(following).next_to[2] = added;
            Triangle& beyond = triangle(side.beyond);
            for (int k = 0; k < 3; ++k)
                if (beyond.v[k] == side.head && beyond.v[(k + 1) % 3] == side.tail) beyond.next_to[k] = added;
        }
        for (const int i : orphans) assign(i, first);
    }

    // Per triangle, the first triangle of its flat face.
    std::vector<int> faces() {
        std::vector<int> face(triangles.size());
        for (size_t t = 0; t < face.size(); ++t) face[t] = static_cast<int>(t);
        const auto root = [&](int t) {
            while (face[static_cast<size_t>(t)] != t) t = face[static_cast<size_t>(t)];
            return t;
        };
        for (size_t t = 0; t < triangles.size(); ++t)
            for (int side = 0; side < 3 && triangles[t].alive; ++side) {
                const Triangle& other = triangle(triangles[t].next_to[side]);
                double rise = 0;
                for (int k = 0; k < 3; ++k)
                    rise = std::max(
                        {rise, std::abs(triangles[t].height(at(other.v[k]))), std::abs(other.height(at(triangles[t].v[k])))});
                const std::pair<int, int> roots = std::minmax(root(static_cast<int>(t)), root(triangles[t].next_to[side]));
                if (rise < flat * extent && triangles[t].normal.dot(other.normal) > 0)
                    face[static_cast<size_t>(roots.second)] = roots.first;
            }
        for (size_t t = 0; t < face.size(); ++t) face[t] = root(static_cast<int>(t));
        return face;
    }
};

}  // namespace

std::shared_ptr<const Hull> convex_hull(const std::vector<Vec3<double>>& points) {
    Quickhull quick(points);
    const std::vector<int> face = quick.faces();
    std::map<int, std::map<int, int>> outline;  // per face, the vertex after each of its rim
    for (size_t t = 0; t < quick.triangles.size(); ++t)
        for (int side = 0; side < 3 && quick.triangles[t].alive; ++side) {
            const Triangle& it = quick.triangles[t];
            if (face[static_cast<size_t>(it.next_to[side])] == face[t]) continue;
            outline[face[t]][it.v[side]] = it.v[(side + 1) % 3];
        }
    std::map<int, int> index;  // of a point among the vertices that are left
    for (const auto& [_, after] : outline)
        for (const auto& [tail, head] : after) index[tail] = 0;
    std::vector<Vec3<double>> vertices;
    for (auto& [point, i] : index) i = static_cast<int>(vertices.size()), vertices.push_back(quick.at(point));
    std::vector<std::vector<int>> loops;
    for (const auto& [_, after] : outline) {
        loops.emplace_back();
        int v = after.begin()->first;
        for (size_t k = 0; k < after.size(); ++k, v = after.at(v)) loops.back().push_back(index[v]);
    }
    return std::make_shared<const Hull>(hull_of_faces(std::move(vertices), loops));
}

}  // namespace costate
