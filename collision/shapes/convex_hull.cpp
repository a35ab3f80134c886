// Convex hull of points by quickhull (Barber, Dobkin, Huhdanpaa, "The quickhull algorithm for convex hulls",
// 1996), followed by merging its triangles to flat faces. Runs once, when a file is loaded. Points are
// rounded to a grid of 2^-29 of their extent, on which all predicates are exact. Files often have points that
// are coplanar up to the last bit, for which floating-point predicates would be inconsistent.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <queue>
#include <stdexcept>

#include "collision/shapes/hull.hpp"

namespace costate {
namespace {

// Lengths are in cells of the grid.
// From the middle to the farthest coordinate, i.e. the extent
constexpr double cells = 1 << 29;
constexpr double thinnest = 1e-6 * cells;  // least thickness of a hull
__extension__ typedef __int128 Wide;       // a triple product of differences, up to 3 * 2^30 * 2^61
using GridPoint = Eigen::Matrix<std::int64_t, 3, 1>;

struct Triangle {
    int v[3];
    int next_to[3];    // the triangle across the side from v[k] to v[k+1]
    GridPoint normal;  // outward, twice the area long
    double twice_area;
    std::vector<int> outside;  // points above the triangle that are assigned to it
    bool alive = true;
};

struct Quickhull {
    std::vector<GridPoint> points;
    std::vector<Triangle> triangles;
    // tolerance of flatness: 1e-6 of the extent, or a few times the round-off of coordinates with 24 bits
    double tolerance;
    double cell;  // size of a cell of the grid, in the unit of the given points

    explicit Quickhull(const std::vector<Vec3<double>>& given,
                       int most_vertices = std::numeric_limits<int>::max()) {
        if (given.size() < 4) throw std::invalid_argument("a convex mesh needs at least four vertices");
        Vec3<double> lo = given[0], hi = lo;
        for (const Vec3<double>& x : given) {
            if (!x.allFinite()) throw std::invalid_argument("a convex mesh with a vertex that is not finite");
            lo = lo.cwiseMin(x);
            hi = hi.cwiseMax(x);
        }
        const Vec3<double> middle = 0.5 * lo + 0.5 * hi;
        const double extent = (hi - middle).maxCoeff();
        if (!(extent > 0) || !std::isfinite(extent))
            throw std::invalid_argument("a convex mesh without extent");
        cell = extent / cells;
        tolerance = cells * std::max(1e-6, 5e-7 * lo.cwiseAbs().cwiseMax(hi.cwiseAbs()).maxCoeff() / extent);
        for (const Vec3<double>& x : given)
            points.push_back(((x - middle) / extent * cells).array().round().matrix().cast<std::int64_t>());
        start();
        if (static_cast<size_t>(most_vertices) < points.size()) {
            add_farthest(most_vertices - 4);
            return;
        }
        for (size_t t = 0; t < triangles.size(); ++t)
            if (triangles[t].alive && !triangles[t].outside.empty()) add_point(static_cast<int>(t));
    }
    // The height of the farthest point above the hull, in the unit of the given points.
    double left_out() const {
        double most = 0;
        for (const Triangle& t : triangles)
            for (const int i : t.outside)
                if (t.alive) most = std::max(most, height(t, i));
        return most * cell;
    }
    const GridPoint& at(int i) const { return points[i]; }
    Vec3<double> place(int i) const { return at(i).cast<double>(); }
    Triangle& triangle(int t) { return triangles[t]; }
    const Triangle& triangle(int t) const { return triangles[t]; }

    // Six times the volume under a point: positive if it is above the triangle.
    Wide above(const Triangle& t, int i) const {
        const GridPoint d = at(i) - at(t.v[0]);
        return Wide(t.normal[0]) * d[0] + Wide(t.normal[1]) * d[1] + Wide(t.normal[2]) * d[2];
    }
    double height(const Triangle& t, int i) const { return static_cast<double>(above(t, i)) / t.twice_area; }

    // True if the unrounded corners are so nearly collinear that other points may be above their plane.
    bool thin(int t) const {
        const Triangle& it = triangle(t);
        double longest = 0;
        for (int k = 0; k < 3; ++k)
            longest = std::max(longest, (place(it.v[(k + 1) % 3]) - place(it.v[k])).norm());
        return it.twice_area < 1e-3 * cells * longest;
    }

    // The point that maximizes a measure; ties go to the first.
    template <class Measure> int farthest(Measure measure) const {
        int best = 0;
        for (int i = 1; i < static_cast<int>(points.size()); ++i)
            if (measure(place(i)) > measure(place(best)) + 1) best = i;
        if (!(measure(place(best)) > thinnest))
            throw std::invalid_argument("the vertices of a convex mesh lie in a plane");
        return best;
    }

    int add_triangle(int a, int b, int c) {
        const GridPoint normal = (at(b) - at(a)).cross(at(c) - at(a));
        triangles.push_back({{a, b, c}, {-1, -1, -1}, normal, normal.cast<double>().norm(), {}});
        return static_cast<int>(triangles.size()) - 1;
    }

    // Assigns a point to the triangle, from index `first` on, above which it is highest.
    void assign(int point, size_t first) {
        int best = -1;
        double most = 0;
        for (size_t t = first; t < triangles.size(); ++t)
            if (above(triangles[t], point) > 0 && (best < 0 || height(triangles[t], point) > most)) {
                most = height(triangles[t], point);
                best = static_cast<int>(t);
            }
        if (best >= 0) triangle(best).outside.push_back(point);
    }

    void start() {
        const int a = farthest([&](const Vec3<double>& x) { return x.norm(); });
        const int b = farthest([&](const Vec3<double>& x) { return (x - place(a)).norm(); });
        const Vec3<double> u = (place(b) - place(a)).normalized();
        int c = farthest([&](const Vec3<double>& x) { return (x - place(a)).cross(u).norm(); });
        const Vec3<double> n = u.cross(place(c) - place(a)).normalized();
        int d = farthest([&](const Vec3<double>& x) { return std::abs(n.dot(x - place(a))); });
        if (n.dot(place(d) - place(a)) > 0) std::swap(c, d);
        add_triangle(a, b, c);
        add_triangle(a, d, b);
        add_triangle(b, d, c);
        add_triangle(c, d, a);
        constexpr int beyond[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
        for (int t = 0; t < 4; ++t)
            std::copy(beyond[t], beyond[t] + 3, triangle(t).next_to);
        for (int i = 0; i < static_cast<int>(points.size()); ++i)
            assign(i, 0);
    }

    // The highest point above triangle t. Ties go to the point farthest from the middle, which is a corner of
    // the hull.
    int highest(int t) const {
        const std::vector<int>& outside = triangle(t).outside;
        int best = outside[0];
        for (const int i : outside) {
            const Wide gain = above(triangle(t), i) - above(triangle(t), best);
            if (gain > 0 || (gain == 0 && place(i).norm() > place(best).norm())) best = i;
        }
        return best;
    }

    // Adds the highest point above any triangle, `count` times or until there is none.
    void add_farthest(int count) {
        // by height, then the first triangle; what is outside a triangle is known when it is made
        std::priority_queue<std::pair<double, int>> heights;
        for (int added = 0, t = 0; added < count; ++added) {
            for (; t < std::ssize(triangles); ++t)
                if (triangle(t).alive && !triangle(t).outside.empty())
                    heights.emplace(height(triangle(t), highest(t)), -t);
            while (!heights.empty() && !triangle(-heights.top().second).alive)
                heights.pop();
            if (heights.empty()) return;
            add_point(-heights.top().second);
        }
    }

    // Replaces all triangles visible from the highest point above t by a cone from their rim to this point.
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
                if (!triangle(other).alive || above(triangle(other), apex) <= 0) continue;
                triangle(other).alive = false;
                visible.push_back(other);
            }
        for (const int v : visible) {
            const Triangle& seen = triangle(v);
            for (int side = 0; side < 3; ++side)
                if (triangle(seen.next_to[side]).alive)
                    rim.push_back({seen.v[side], seen.v[(side + 1) % 3], seen.next_to[side]});
            for (const int i : seen.outside)
                if (i != apex) orphans.push_back(i);
        }
        const size_t first = triangles.size();
        std::map<int, int> from;  // vertex -> new triangle on the rim side that starts there
        for (const RimSide& side : rim)
            from[side.tail] = add_triangle(side.tail, side.head, apex);
        for (const RimSide& side : rim) {
            const int added = from[side.tail], following = from[side.head];
            triangle(added).next_to[0] = side.beyond;
            triangle(added).next_to[1] = following;
            triangle(following).next_to[2] = added;
            Triangle& beyond = triangle(side.beyond);
            for (int k = 0; k < 3; ++k)
                if (beyond.v[k] == side.head && beyond.v[(k + 1) % 3] == side.tail) beyond.next_to[k] = added;
        }
        for (const int i : orphans)
            assign(i, first);
    }
};

struct Face {
    std::vector<int> loop;  // vertices, anticlockwise seen from outside
    int seed;               // its largest triangle
};

// The triangles of a hull, merged to faces.
struct Faces {
    const Quickhull& hull;
    std::vector<int> face;  // per triangle, the seed of its face, -1: not assigned
    std::vector<Face> faces;

    explicit Faces(const Quickhull& of) : hull(of), face(of.triangles.size(), -1) {
        std::vector<int> order;  // large triangles first, because their planes are well defined
        for (size_t t = 0; t < face.size(); ++t)
            if (hull.triangles[t].alive) order.push_back(static_cast<int>(t));
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return hull.triangle(a).twice_area > hull.triangle(b).twice_area;
        });
        std::map<int, Face> by_first;  // triangle
        for (const int seed : order) {
            if (face[seed] >= 0) continue;
            const std::vector<int> part = grown(seed), loop = rim(part, seed);
            if (!loop.empty())
                by_first[*std::min_element(part.begin(), part.end())] = {loop, seed};
            else  // not a convex polygon
                for (const int t : part)
                    by_first[t] = {{hull.triangle(t).v[0], hull.triangle(t).v[1], hull.triangle(t).v[2]}, t};
        }
        for (auto& [_, it] : by_first)
            faces.push_back(std::move(it));
        drop_vertices_along_edges();
    }

    // The unassigned triangles around the seed that are in its plane.
    std::vector<int> grown(int seed) {
        const Triangle& plane = hull.triangle(seed);
        std::vector<int> part{seed};
        face[seed] = seed;
        for (size_t k = 0; k < part.size(); ++k)
            for (const int next : hull.triangle(part[k]).next_to) {
                const Triangle& t = hull.triangle(next);
                const bool flat = std::ranges::all_of(
                    t.v, [&](int i) { return std::abs(hull.height(plane, i)) < hull.tolerance; });
                if (face[next] >= 0 || !flat) continue;
                if (!(t.normal.cast<double>().dot(plane.normal.cast<double>()) > 0)) continue;
                face[next] = seed;
                part.push_back(next);
            }
        return part;
    }

    // The outline of a part of the surface; empty unless it is a single convex loop.
    std::vector<int> rim(const std::vector<int>& part, int seed) const {
        std::map<int, int> after;
        size_t sides = 0;
        for (const int n : part) {
            const Triangle& t = hull.triangle(n);
            for (int side = 0; side < 3; ++side)
                if (face[t.next_to[side]] != seed) {
                    after[t.v[side]] = t.v[(side + 1) % 3];
                    ++sides;
                }
        }
        std::vector<int> loop;
        if (after.size() != sides || sides < 3) return {};
        for (int v = after.begin()->first; loop.size() < sides; v = after.at(v)) {
            if (!loop.empty() && v == loop[0]) return {};
            loop.push_back(v);
        }
        const Vec3<double> n = hull.triangle(seed).normal.cast<double>().normalized();
        for (size_t k = 0; k < sides && part.size() > 1; ++k) {
            const Vec3<double> b = hull.place(loop[(k + 1) % sides]), u = b - hull.place(loop[k]),
                               w = hull.place(loop[(k + 2) % sides]) - b;
            // distance of b from the line through its neighbours
            if (n.dot(u.cross(w)) < -10 * hull.tolerance * (u + w).norm()) return {};
        }
        return loop;
    }

    // Removes vertices that belong to only two faces: they are on the edge between these.
    void drop_vertices_along_edges() {
        std::map<int, std::vector<size_t>> faces_of;
        for (size_t f = 0; f < faces.size(); ++f)
            for (const int v : faces[f].loop)
                faces_of[v].push_back(f);
        for (const auto& [v, of] : faces_of) {
            if (of.size() != 2 || std::min(faces[of[0]].loop.size(), faces[of[1]].loop.size()) < 4) continue;
            for (const size_t f : of)
                std::erase(faces[f].loop, v);
        }
    }
};

// The sides of the triangles of the exact hull of the vertices of a hull, without tolerance. For a hull of
// triangles, they are its edges.
std::vector<std::array<int, 2>> diagonals(const Hull& hull) {
    std::vector<std::array<int, 2>> pairs;
    if (std::ranges::all_of(hull.faces, [](const HullFace& face) { return face.count == 3; })) return pairs;
    for (const Triangle& t : Quickhull(hull.vertices).triangles)
        for (int k = 0; k < 3 && t.alive; ++k)
            if (t.v[k] < t.v[(k + 1) % 3]) pairs.push_back({t.v[k], t.v[(k + 1) % 3]});
    return pairs;
}

}  // namespace

std::shared_ptr<const Hull> convex_hull(const std::vector<Vec3<double>>& points, int most_vertices,
                                        double* left_out) {
    const Quickhull quick(points, most_vertices);
    if (left_out != nullptr) *left_out = quick.left_out();
    const std::vector<Face> faces = Faces(quick).faces;
    std::map<int, int> index;  // point -> index among the remaining vertices
    for (const Face& face : faces)
        for (const int i : face.loop)
            index[i] = 0;
    std::vector<Vec3<double>> vertices;
    for (auto& [point, i] : index) {
        i = static_cast<int>(vertices.size());
        vertices.push_back(points[point]);
    }
    std::vector<std::vector<int>> loops;
    for (const Face& face : faces) {
        loops.emplace_back();
        for (const int i : face.loop)
            loops.back().push_back(index[i]);
    }
    Hull hull = hull_of_faces(std::move(vertices), loops);
    for (size_t f = 0; f < faces.size(); ++f)
        if (quick.thin(faces[f].seed))
            hull.faces[f].normal = quick.triangle(faces[f].seed).normal.cast<double>().normalized();
    if (hull.vertices.size() >= large_hull) hull.paths = hull_paths(hull, diagonals(hull));
    return std::make_shared<const Hull>(std::move(hull));
}

}  // namespace costate
