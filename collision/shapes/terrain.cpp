#include "collision/shapes/terrain.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

namespace costate {
namespace {

constexpr double coplanar = 1e-6;  // neighbours with a sine of their angle up to this are coplanar

void mark_edges(Terrain& t) {
    const size_t sides = 3 * t.triangles.size();
    std::map<std::pair<int, int>, std::vector<int>> sides_between;  // two vertices, lower first
    const auto ends = [&](size_t side) {
        const auto& corners = t.triangles[side / 3];
        return std::pair(corners[side % 3], corners[(side + 1) % 3]);
    };
    for (size_t s = 0; s < sides; ++s) {
        const auto [tail, head] = ends(s);
        sides_between[std::minmax(tail, head)].push_back(static_cast<int>(s));
    }
    t.edge_of_side.resize(sides);
    t.beyond.assign(sides, -1);
    t.sharp_side.resize(sides);
    t.sharp_vertex.assign(t.vertices.size(), false);
    for (size_t s = 0; s < sides; ++s) {
        const auto [tail, head] = ends(s);
        const std::vector<int>& same = sides_between[std::minmax(tail, head)];
        t.edge_of_side[s] = same[0];
        bool sharp = true;
        for (const int other : same) {
            if (other == static_cast<int>(s)) continue;
            // the third corner of the neighbour is below this triangle's plane
            t.beyond[s] = t.triangles[other / 3][(other + 2) % 3];
            const Vec3<double> to_it = t.vertices[t.beyond[s]] - t.vertices[tail];
            sharp =
                sharp && t.normal(static_cast<int>(s / 3)).normalized().dot(to_it) < -coplanar * to_it.norm();
        }
        t.sharp_side[s] = sharp;
        if (sharp) t.sharp_vertex[tail] = t.sharp_vertex[head] = true;
    }
}

void list_neighbours(Terrain& t) {
    std::vector<std::set<int>> neighbours(t.vertices.size()), around(t.vertices.size());
    t.up.assign(t.vertices.size(), Vec3<double>::Zero());
    t.peak.assign(t.vertices.size(), true);
    for (size_t i = 0; i < t.triangles.size(); ++i)
        for (size_t k = 0; k < 3; ++k) {
            const int tail = t.triangles[i][k], head = t.triangles[i][(k + 1) % 3];
            const int v = tail;
            const int w = head;
            neighbours[v].insert(head);
            neighbours[w].insert(tail);
            around[v].insert(static_cast<int>(i));
            t.up[v] += t.normal(static_cast<int>(i)).normalized();
            if (!t.sharp_side[3 * i + k]) t.peak[v] = t.peak[w] = false;
        }
    const auto flatten = [](const std::vector<std::set<int>>& lists, std::vector<int>& all,
                            std::vector<int>& first) {
        for (const std::set<int>& list : lists) {
            first.push_back(static_cast<int>(all.size()));
            all.insert(all.end(), list.begin(), list.end());
        }
        first.push_back(static_cast<int>(all.size()));
    };
    flatten(neighbours, t.neighbours, t.first_neighbour);
    flatten(around, t.around, t.first_around);
}

// Bisects the triangles in order[first, last) recursively at the median of the longest axis.
void add_boxes(Terrain& t, std::vector<int>& order, size_t first, size_t last) {
    Vec3<double> lo = t.corner(order[first], 0), hi = lo;
    for (size_t i = first; i < last; ++i)
        for (int k = 0; k < 3; ++k) {
            lo = lo.cwiseMin(t.corner(order[i], k));
            hi = hi.cwiseMax(t.corner(order[i], k));
        }
    const size_t box = t.boxes.size();
    t.boxes.push_back({lo, hi, last - first == 1 ? order[first] : -1, 0});
    if (last - first > 1) {
        int axis;
        (hi - lo).maxCoeff(&axis);
        const auto middle = [&](int i) {
            return t.corner(i, 0)[axis] + t.corner(i, 1)[axis] + t.corner(i, 2)[axis];
        };
        const size_t half = first + (last - first) / 2;
        const auto at = [&](size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
        std::nth_element(at(first), at(half), at(last),
                         [&](int i, int j) { return std::pair(middle(i), i) < std::pair(middle(j), j); });
        add_boxes(t, order, first, half);
        add_boxes(t, order, half, last);
    }
    t.boxes[box].after = static_cast<int>(t.boxes.size());
}

std::shared_ptr<const Terrain> finished(Terrain t) {
    if (t.triangles.empty()) throw std::invalid_argument("a terrain without triangles");
    for (const auto& corners : t.triangles)
        for (const int v : corners)
            if (v < 0 || v >= static_cast<int>(t.vertices.size()))
                throw std::invalid_argument("a triangle has an invalid vertex index");
    for (size_t i = 0; i < t.triangles.size(); ++i) {
        const int n = static_cast<int>(i);
        const double longest =
            (t.corner(n, 1) - t.corner(n, 0)).squaredNorm() + (t.corner(n, 2) - t.corner(n, 0)).squaredNorm();
        if (!(t.normal(n).norm() > 1e-12 * longest))
            throw std::invalid_argument("triangle " + std::to_string(i) + " is flat");
    }
    mark_edges(t);
    list_neighbours(t);
    std::vector<int> order(t.triangles.size());
    std::iota(order.begin(), order.end(), 0);
    add_boxes(t, order, 0, order.size());
    t.centre = 0.5 * (t.boxes[0].lo + t.boxes[0].hi);
    t.half = 0.5 * (t.boxes[0].hi - t.boxes[0].lo);
    return std::make_shared<const Terrain>(std::move(t));
}

}  // namespace

std::shared_ptr<const Terrain> triangle_terrain(std::vector<Vec3<double>> vertices,
                                                std::vector<std::array<int, 3>> triangles) {
    Terrain t;
    t.vertices = std::move(vertices);
    t.triangles = std::move(triangles);
    return finished(std::move(t));
}

std::shared_ptr<const Terrain> height_field(int nx, int ny, double cell_x, double cell_y,
                                            const std::vector<double>& heights) {
    if (nx < 2 || ny < 2 || heights.size() != static_cast<size_t>(nx) * static_cast<size_t>(ny) ||
        !(cell_x > 0) || !(cell_y > 0))
        throw std::invalid_argument(
            "a height field needs nx * ny heights, at least 2 x 2 of them, and cells of positive size");
    Terrain t;
    t.solid_below = true;
    for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i)
            t.vertices.emplace_back((i - 0.5 * (nx - 1)) * cell_x, (j - 0.5 * (ny - 1)) * cell_y,
                                    heights[j * nx + i]);
    for (int j = 0; j + 1 < ny; ++j)
        for (int i = 0; i + 1 < nx; ++i) {
            const int v = j * nx + i;
            t.triangles.push_back({v, v + 1, v + nx + 1});
            t.triangles.push_back({v, v + nx + 1, v + nx});
        }
    return finished(std::move(t));
}

}  // namespace costate
