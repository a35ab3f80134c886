// A solid on a terrain, triangle by triangle. Parts over a triangle's face collide with the face. Sharp edges
// and vertices collide like those of other polytopes, if no neighbouring triangle rises along the contact
// normal. Edges between coplanar triangles and in valleys do not collide, so sliding bodies feel only the
// faces.
#include <cmath>
#include <limits>

#include "collision/contact/placed_feature.hpp"
#include "collision/detect/gjk.hpp"
#include "collision/detect/narrow_parts.hpp"
#include "collision/shapes/terrain.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double touching = 1e-6;  // m; cores that overlap by less than this may count as separate

// True if the surface pushes back a point behind the plane of the triangle: only if the terrain is solid
// below its surface and the triangle is straight above the point, because all others are seen from behind.
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

// True if x, behind the triangle at `height` over its plane, is higher over the plane of a neighbour across a
// sharp side or around a peak: then x belongs to the neighbour, or is outside.
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

// A curve over the face, or, at a sharp part of the surface, only over the edges, because a triangle has no
// thickness.
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
    Vec lo, hi;  // box of a, grown by the reach, in the terrain's axes at unit scale
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
        // a core that does not touch the triangle is not behind it, whatever its depth below the plane: it is
        // beside the triangle
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
