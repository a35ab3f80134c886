// The parts of the narrow phase beyond closed forms. Each offers points to a list.
#pragma once

#include "collision/contact/placed_feature.hpp"
#include "collision/detect/contact_list.hpp"

namespace costate {

// All pairs without a closed form; of a plane or a terrain it is the second.
FeatureList general_features(const Solid& a, const Solid& b, double reach);

// The points of `other` over a face of `ref`, measured along the normal of the face. ref_is_a: ref is the
// first of the pair.
void face_points(const Solid& ref, int face, const Solid& other, bool ref_is_a, ContactList& list);

// Two cores with vertices, one of them with faces. A terrain's triangle is the second.
void polytope_points(const Solid& a, const Solid& b, ContactList& list);
// The same by asking all faces and edges, however many there are.
void all_polytope_points(const Solid& a, const Solid& b, ContactList& list);

// Two cores, one of them a cylinder or an ellipsoid. A terrain's triangle is the second.
void curved_points(const Solid& a, const Solid& b, ContactList& list);

// A solid on a terrain.
void terrain_points(const Solid& a, const Solid& terrain, ContactList& list);

// From the axis of separation n, from b to a, to the points of the two faces that are nearly at right angles
// to it, if they tell the same separation: so that flat faces meet in several points although an edge or a
// vertex comes first.
bool near_face_points(const Solid& a, const Solid& b, const Vec3<double>& n, double separation,
                      ContactList& list);

}  // namespace costate
