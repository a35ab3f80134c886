// The searches of the narrow phase. Each adds points to a list.
#pragma once

#include "collision/contact/placed_feature.hpp"
#include "collision/detect/contact_list.hpp"

namespace costate {

// Adds the points of `other` over a face of `ref`, measured along the normal of the face. ref_is_a: `ref` is
// the first shape of the pair.
void face_points(const Solid& ref, int face, const Solid& other, bool ref_is_a, ContactList& list);

// Two cores with vertices, at least one of them with faces. A terrain's triangle must be the second.
void polytope_points(const Solid& a, const Solid& b, ContactList& list);
// The same by testing all faces and edges, whatever their number.
void all_polytope_points(const Solid& a, const Solid& b, ContactList& list);

// Two cores, at least one of them a cylinder or an ellipsoid. A terrain's triangle must be the second.
void curved_points(const Solid& a, const Solid& b, ContactList& list);

// A solid on a terrain.
void terrain_points(const Solid& a, const Solid& terrain, ContactList& list);

// True if it is certain that no direction separates the cores of a and b more than n, which is from b to a and normal
// to the face of `s`, a or b.
bool separates_most(const Solid& a, const Solid& b, const Vec3<double>& n, const Solid& s, int face);

// Adds the points of the two faces that are nearly normal to the axis of separation n (from b to a), if they
// have the same separation. Thus flat faces get several contact points although an edge or a vertex is
// slightly closer.
bool near_face_points(const Solid& a, const Solid& b, const Vec3<double>& n, double separation,
                      ContactList& list);

}  // namespace costate
