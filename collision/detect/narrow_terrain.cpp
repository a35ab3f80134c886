// A solid on a terrain: triangle by triangle. What lies over a triangle's face meets the face; sharp edges
// and vertices are met like those of other polytopes where nothing near them rises above the contact's
// normal. Edges between coplanar triangles and in valleys are no edges, so that what slides across them feels
// the faces alone.
#include <cmath>
#include <limits>

#include "collision/contact/placed_feature.hpp"
#include "collision/detect/gjk.hpp"
#include "collision/detect/narrow_parts.hpp"
#include "collision/shapes/terrain.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double touching = 1e-6;  // m; cores that overlap less than this may count as apart

// Whether the surface holds a point back that is behind the plane of the triangle: only if there is ground
// below the surface and the triangle is the one straight above the point, for all others are seen from
// behind.
bool holds_back(const Solid& triangle, const Vec& x) {
    const Terrain& surface = *triangle.shape->terrain;
    if (!surface.solid_below) return false;
    const Vec at = (triangle.X.R.transpose() * (x - triangle.X.p)).cwiseQuotient(triangle.scale);
    for (int k = 0; k < 3; ++k) {
        const Vec tail = surface.corner(triangle.triangle, k),
                  side = surface.corner(triangle.triangle, (k + 1) % 3) - tail;
        if (side.x() * (at.y() - tail.y()) < side.y() * (at.x() - tail.x())) return false;
    }
    return true;
}

// Whether x, behind the triangle at that height over its plane, is higher over the plane of a neighbour
// beyond a sharp side or around a peak: then it is the neighbour's, or outside.
bool nearer_to_neighbour(const Solid& triangle, const Vec& x, double height) {
    const Terrain& surface = *triangle.shape->terrain;
    const Vec local = triangle.X.R.transpose() * (x - triangle.X.p);
    const auto higher = [&](const Vec& normal, int v) {
        const Vec n = normal.cwiseProduct(cofactors(triangle.scale)).normalized();
        return n.dot(local - triangle.scale.cwiseProduct(surface.vertices[v])) > height + touching;
    };
    const auto& corners = surface.triangles[triangle.triangle];
    for (size_t k = 0; k < 3; ++k) {
        const int v = corners[k];
        const int beyond = surface.beyond[3 * static_cast<size_t>(triangle.triangle) + k];
        if (beyond >= 0 && triangle.sharp_side(static_cast<int>(k))) {
            const Vec tail = surface.vertices[v], head = surface.vertices[corners[(k + 1) % 3]];
            if (higher((surface.vertices[beyond] - tail).cross(head - tail), corners[k])) return true;
        }
        for (int i = surface.first_around[v]; surface.peak[v] && i < surface.first_around[v + 1]; ++i)
            if (higher(surface.normal(surface.around[i]), corners[k])) return true;
    }
    return false;
}

// A curve over the face, or where the surface is sharp, over the edges alone: the triangle has no thickness
// to be pushed out of.
void curve_on_triangle(const Solid& a, const Solid& triangle, const TriangleTables& tables,
                       ContactList& list) {
    face_points(triangle, 0, a, false, list);
    for (int k = 0; k < 3; ++k) {
        if (!triangle.sharp_side(k)) continue;
        const EdgeTables edge(tables, k);
        curved_points(a, Solid(triangle, edge, k), list);
    }
}

}  // namespace

void terrain_points(const Solid& a, const Solid& terrain, ContactList& list) {
    const Terrain& surface = *terrain.shape->terrain;
    Vec lo, hi;  // of a, grown by the reach, in the terrain's axes at unit scale
    for (int k = 0; k < 3; ++k) {
        const Vec axis = terrain.X.R.col(k);
        const double more = a.radius + list.reach(), middle = axis.dot(terrain.X.p);
        lo[k] = (axis.dot(a.support(-axis)) - middle - more) / terrain.scale[k];
        hi[k] = (axis.dot(a.support(axis)) - middle + more) / terrain.scale[k];
    }
    const Vec centre = a.centre();
    surface.for_each_triangle(lo, hi, [&](int t) {
        const TriangleTables tables(surface, t);
        const Solid triangle(terrain, tables, t);
        const Vec n = triangle.normal(0);
        const double height = n.dot(a.support(-n) - triangle.face_point(0)) - a.radius;
        if (height >= list.reach()) return;
        const bool behind = n.dot(centre - triangle.face_point(0)) <= 0;
        if (behind && !holds_back(triangle, centre)) return;
        list.make_room();
        const int before = list.count();
        if (a.is_curved())
            curve_on_triangle(a, triangle, tables, list);
        else
            polytope_points(a, triangle, list);
        if (behind || !(list.least_gap(before) < -a.radius - touching)) return;
        // a core that is apart from the triangle is not as deep behind it as its plane tells: it has passed
        // beside it
        const double distance = gjk({a}, {triangle}).distance;
        list.drop_if(before, [&](const ContactList::Point& p) {
            const double core_gap = p.gap + a.radius;
            if (core_gap >= -touching) return false;
            if (distance > 0) return true;
            return p.on_b.kind != FeatureKind::edge && p.on_b.kind != FeatureKind::vertex &&
                   nearer_to_neighbour(triangle, p.point + p.normal * (0.5 * p.gap + a.radius), core_gap);
        });
    });
    list.drop_deeper_beside();
}

}  // namespace costate
