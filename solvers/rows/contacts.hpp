// Contacts of a step: pairs of features, and the frame, gap and friction of each contact in the common frame
// of body a's tree (bodies of the world are at rest in every frame). Covectors of body b are expressed in the
// common frame of b's tree.
#pragma once

#include "collision/contact/contact.hpp"
#include "collision/contact/tangents.hpp"
#include "collision/detect/detect.hpp"
#include "core/dynamics/kinematics.hpp"
#include "core/math/lanes.hpp"
#include "solvers/world.hpp"

namespace costate {

// Friction coefficient of a contact: that of the pair of its shapes; else the product of their coefficients. By
// MuJoCo's law it is the larger coefficient or that of the shape with the higher priority, squared: importers of MJCF
// store square roots. The rule says it in terms of one or two parameters.
struct FrictionRule {
    enum class Kind : unsigned char { none, single, product, square } kind = Kind::none;
    int first = 0, second = 0;  // parameters; the second of a product
};
// The parameters of which a contact has its coefficients and its margin. Where it takes the larger coefficient
// of two, which of them is a branch of the step.
struct ContactSources {
    FrictionRule friction;
    int torsional = -1, rolling = -1;  // couple_coefficient; -1: none
    std::array<int, 2> margin = {};    // see ShapeSet::margin_parts
};

template <class T> struct ContactPoint {
    FeaturePair features;
    ContactSources sources;
    int body_a, body_b;   // -1: the world
    Vec3<T> to_b;         // origin of b's common frame in a's common frame, m
    Contact<T> geometry;  // point and normal in a's common frame, gap; the normal points from b to a
    Tangents<T> tangents;
    int tangent_axis;  // of TangentAxis
    int directions;    // of its force and couple, 3, 4 or 6: solvers/rows/contact_rows.hpp
    bool pyramid;      // its rows are the edges of a pyramid, two for each direction but the normal
    T friction, restitution;
    T torsional_arm, rolling_arm;  // coefficients of torsional and rolling friction over that of sliding, m
    Condition<T> b_bounces;        // restitution is b's, the larger one
    int rows() const { return pyramid ? 2 * (directions - 1) : directions; }
    // normal (0 and 3) and tangents (1 and 4, 2 and 5)
    const Vec3<T>& direction(int i) const {
        return i % 3 == 0 ? geometry.normal : (i % 3 == 1 ? tangents.t1 : tangents.t2);
    }
};

template <class T> struct ContactPointBar {
    Contact<T> geometry;
    Tangents<T> tangents;
    T friction, restitution, torsional_arm, rolling_arm;
    static ContactPointBar zero() {
        return {{Vec3<T>::Zero(), Vec3<T>::Zero(), T(0)},
                {Vec3<T>::Zero(), Vec3<T>::Zero()},
                T(0),
                T(0),
                T(0),
                T(0)};
    }
    Vec3<T>& direction(int i) {
        return i % 3 == 0 ? geometry.normal : (i % 3 == 1 ? tangents.t1 : tangents.t2);
    }
};

// What detection reads of one lane.
struct OneLane {
    std::vector<Transform<double>> X_WS;
    std::vector<Motion<double>> V_WS;
    std::vector<double> nearing;
    std::vector<FeaturePair> features;  // of all lanes before it
};

template <class T> struct ContactScratch {
    Detection detection;
    std::vector<double> theta;              // (np) values of the parameters, if T is a dual number
    std::vector<const double*> lane_theta;  // (lanes) those of each lane, if T is lanes
    std::vector<Transform<Value<T>>> X_WS;  // (shapes)
    std::vector<Motion<Value<T>>> V_WS;     // (shapes) at the shape's origin
    std::vector<Transform<T>> X_CS;         // (shapes) in the common frame of the body's tree
    std::vector<Value<T>> nearing;          // (shapes) see detect; empty: contacts of the whole margin
    std::vector<Motion<Value<T>>> twists;   // (bodies) changes of velocity
    OneLane one;
    std::vector<LaneBits> lanes;  // (points) that have the contact
    std::vector<ContactPoint<T>> points;
    std::vector<ContactPointBar<T>> points_bar;
    explicit ContactScratch(const World& w)
        : X_WS(w.shapes.shapes.size()),
          V_WS(w.shapes.shapes.size()),
          X_CS(w.shapes.shapes.size()),
          nearing(w.shapes.shapes.size()),
          twists(w.model.bodies.size()) {
        nearing.clear();
    }
};

template <class T> Vec3<Value<T>> values(const Vec3<T>& x) {
    return {value_of(x[0]), value_of(x[1]), value_of(x[2])};
}

template <class T> Vec3<T> common_origin(const Model& m, const Kinematics<T>& k, int body) {
    return body < 0 ? Vec3<T>(Vec3<T>::Zero()) : k.origin[m.bodies[body].tree];
}

// X_CS of a shape, in the common frame of its body's tree.
template <class T>
Transform<T> shape_pose(const World& w, const T* theta, const Kinematics<T>& k, int shape) {
    const Shape& it = w.shapes.shapes[shape];
    const Transform<T> X_BS{retract_rotation(cast<T>(it.R_BS), load3(theta + w.shapes.rotation.at(shape))),
                            load3(theta + w.shapes.position.at(shape))};
    return it.body < 0 ? X_BS : compose(k.X[it.body], X_BS);
}
// X_CS: the result of the forward. A rotation in the shape's axes is about its origin.
template <class T>
void shape_pose_adj(const World& w, const T* theta, const Kinematics<T>& k, int shape,
                    const Transform<T>& X_CS, const Force<T>& X_bar, KinematicsBar<T>& bar, T* theta_bar) {
    const int body = w.shapes.shapes[shape].body, rotation = w.shapes.rotation.at(shape);
    T* position_bar = theta_bar + w.shapes.position.at(shape);
    Vec3<T> rotation_bar = Vec3<T>::Zero();
    quaternion_exp_adj<T>(load3(theta + rotation), X_CS.R.transpose() * (X_bar.ang - X_CS.p.cross(X_bar.lin)),
                          rotation_bar);
    add3(theta_bar + rotation, rotation_bar);
    if (body < 0) return add3(position_bar, X_bar.lin);
    add3<T>(position_bar, k.X[body].R.transpose() * X_bar.lin);
    bar.X[body] += X_bar;
}

template <class T> void take_lane(ContactScratch<T>& s, int i) {
    const auto of_lane = [i](const auto& x) {
        return x.unaryExpr([i](const auto& y) { return lane(y, i); });
    };
    const size_t shapes = s.X_WS.size();
    s.one.X_WS.resize(shapes);
    s.one.V_WS.resize(shapes);
    s.one.nearing.resize(s.nearing.size());
    for (size_t n = 0; n < shapes; ++n) {
        s.one.X_WS[n] = {of_lane(s.X_WS[n].R), of_lane(s.X_WS[n].p)};
        s.one.V_WS[n] = {of_lane(s.V_WS[n].ang), of_lane(s.V_WS[n].lin)};
    }
    for (size_t n = 0; n < s.nearing.size(); ++n)
        s.one.nearing[n] = lane(s.nearing[n], i);
}

// Every shape's X_CS, and the values of its world pose and twist for detect.
template <class T>
void place_shapes(const World& w, const T* theta, const Kinematics<T>& k, ContactScratch<T>& s) {
    for (size_t n = 0; n < w.shapes.shapes.size(); ++n) {
        const int body = w.shapes.shapes[n].body;
        s.X_CS[n] = shape_pose(w, theta, k, static_cast<int>(n));
        const Vec3<T> origin = common_origin(w.model, k, body);
        s.X_WS[n] = {s.X_CS[n].R.unaryExpr([](const T& x) { return value_of(x); }),
                     values<T>(origin + s.X_CS[n].p)};
        s.V_WS[n] = Motion<Value<T>>::zero();
        if (body < 0) continue;
        const Motion<T>& V = k.V[body];
        s.V_WS[n] = {values(V.ang), values(point_velocity(V, s.X_CS[n].p))};
    }
}

// True if contacts of a pair of features take the same operations whichever start their normal has.
inline bool needs_no_start(const FeaturePair& f) {
    const bool curved = f.on_a.kind == FeatureKind::curve || f.on_b.kind == FeatureKind::curve;
    return !curved || f.on_a.kind == FeatureKind::face || f.on_b.kind == FeatureKind::face;
}

// Merges the features found in lane i into those of the lanes before it, in the order of detection.
template <class T> void add_features_of_lane(ContactScratch<T>& s, int i) {
    for (const FeaturePair& f : s.detection.features) {
        if (!needs_no_start(f)) throw LanesPart();
        const auto place = std::ranges::lower_bound(s.one.features, f);
        const auto n = place - s.one.features.begin();
        if (place == s.one.features.end() || *place != f) {
            s.one.features.insert(place, f);
            s.lanes.insert(s.lanes.begin() + n, LaneBits{0});
        }
        s.lanes[static_cast<size_t>(n)] |= static_cast<LaneBits>(1 << i);
    }
}

// The pairs of features in contact. Detection reads only values, no derivatives, and runs lane by lane. A soft law
// pushes only where surfaces overlap at the start of the step.
template <class T> void detect_contacts(const World& w, const T* theta, ContactScratch<T>& s) {
    const double margin = w.model.soft ? 0 : w.settings.margin;
    const auto detect_by = [&](const double* values, const Transform<double>* X_WS,
                               const Motion<double>* V_WS, const double* nearing) {
        const double h = w.model.soft ? 0 : values[w.time_step.at(0)];
        detect(w.shapes, values, X_WS, V_WS, h, s.detection, margin, s.nearing.empty() ? nullptr : nearing,
               w.model.soft ? 0 : values[w.slop.at(0)]);
    };
    if constexpr (is_lanes<T>) {
        for (int i = 0; i < lanes_of<T>; ++i) {
            take_lane(s, i);
            detect_by(s.lane_theta[i], s.one.X_WS.data(), s.one.V_WS.data(), s.one.nearing.data());
            if (i == 0) {
                s.lanes.clear();
                s.one.features.clear();
            }
            add_features_of_lane(s, i);
        }
        s.detection.features = s.one.features;
    } else if constexpr (std::is_same_v<T, double>) {
        detect_by(theta, s.X_WS.data(), s.V_WS.data(), s.nearing.data());
        s.lanes.assign(s.detection.features.size(), all_lanes<T>);
    } else {
        s.theta.resize(w.np());
        for (size_t i = 0; i < s.theta.size(); ++i)
            s.theta[i] = value_of(theta[i]);
        detect_by(s.theta.data(), s.X_WS.data(), s.V_WS.data(), s.nearing.data());
        s.lanes.assign(s.detection.features.size(), all_lanes<T>);
    }
}

// Pose of a shape in a's common frame. to_it: origin of the shape's common frame in a's.
template <class T> Transform<T> seen_from_a(const ContactScratch<T>& s, int shape, const Vec3<T>& to_it) {
    const Transform<T>& X = s.X_CS[shape];
    return {X.R, X.p + to_it};
}

// The shape whose parameters a contact has by MuJoCo's law: the one with the higher priority; none: both.
inline const Shape* prior_shape(const World& w, const Shape& a, const Shape& b) {
    if (!w.model.soft || a.priority == b.priority) return nullptr;
    return a.priority > b.priority ? &a : &b;
}
inline int contact_condim(const World& w, int shape_a, int shape_b) {
    const ShapeSet& set = w.shapes;
    if (const int pair = set.own_pair(shape_a, shape_b); pair >= 0) return set.own_pairs[pair].condim;
    const Shape &a = set.shapes[shape_a], &b = set.shapes[shape_b];
    const Shape* prior = prior_shape(w, a, b);
    return prior != nullptr ? prior->condim : std::max(a.condim, b.condim);
}

template <class T> FrictionRule friction_rule(const World& w, const T* theta, const FeaturePair& f) {
    using Kind = FrictionRule::Kind;
    const ShapeSet& set = w.shapes;
    if (contact_condim(w, f.a, f.b) == 1) return {};
    if (const int pair = set.own_pair(f.a, f.b); pair >= 0)
        return {Kind::single, set.pair_friction.at(pair), 0};
    const int of_a = set.friction.at(f.a), of_b = set.friction.at(f.b);
    if (!w.model.soft) return {Kind::product, of_a, of_b};
    const Shape* prior = prior_shape(w, set.shapes[f.a], set.shapes[f.b]);
    const bool a_rules = prior != nullptr ? prior == &set.shapes[f.a] : theta[of_a] > theta[of_b];
    return {Kind::square, a_rules ? of_a : of_b, 0};
}
template <class T> T contact_friction(const FrictionRule& rule, const T* theta) {
    switch (rule.kind) {
        case FrictionRule::Kind::none: return T(0);
        case FrictionRule::Kind::single: return theta[rule.first];
        case FrictionRule::Kind::product: return theta[rule.first] * theta[rule.second];
        case FrictionRule::Kind::square: return theta[rule.first] * theta[rule.first];
    }
    return T(0);
}
template <class T>
void contact_friction_adj(const FrictionRule& rule, const T* theta, const T& out_bar, T* theta_bar) {
    switch (rule.kind) {
        case FrictionRule::Kind::none: break;
        case FrictionRule::Kind::single: theta_bar[rule.first] += out_bar; break;
        case FrictionRule::Kind::product:
            theta_bar[rule.first] += out_bar * theta[rule.second];
            theta_bar[rule.second] += out_bar * theta[rule.first];
            break;
        case FrictionRule::Kind::square: theta_bar[rule.first] += T(2) * out_bar * theta[rule.first]; break;
    }
}

// The parameter with a contact's torsional or rolling friction, m: that of its pair; else the larger coefficient of
// its shapes, or that of the prior one.
template <class T>
int couple_coefficient(const World& w, const T* theta, const ParameterSlice& of_shapes,
                       const ParameterSlice& of_pairs, const FeaturePair& f) {
    if (const int pair = w.shapes.own_pair(f.a, f.b); pair >= 0) return of_pairs.at(pair);
    const bool a_is_larger = theta[of_shapes.at(f.a)] > theta[of_shapes.at(f.b)];
    const Shape &a = w.shapes.shapes[f.a], &b = w.shapes.shapes[f.b];
    const Shape* prior = prior_shape(w, a, b);
    return of_shapes.at((prior != nullptr ? prior == &a : a_is_larger) ? f.a : f.b);
}
// The coefficient at `chosen` over that of sliding, m
template <class T> T friction_arm(const T* theta, int chosen, const T& friction) {
    return value_of(friction) == 0 ? T(0) : T(theta[chosen] / friction);
}
template <class T>
void friction_arm_adj(const T* theta, int chosen, const T& friction, const T& out_bar, T& friction_bar,
                      T* theta_bar) {
    if (value_of(friction) == 0) return;
    theta_bar[chosen] += out_bar / friction;
    friction_bar -= out_bar * theta[chosen] / (friction * friction);
}
template <class T>
ContactSources contact_sources(const World& w, const T* theta, const FeaturePair& f, int directions) {
    const ShapeSet& set = w.shapes;
    ContactSources s;
    s.friction = friction_rule(w, theta, f);
    if (directions > 3)
        s.torsional = couple_coefficient(w, theta, set.torsional_friction, set.pair_torsional_friction, f);
    if (directions > 4)
        s.rolling = couple_coefficient(w, theta, set.rolling_friction, set.pair_rolling_friction, f);
    s.margin = set.margin_parts(f.a, f.b);
    return s;
}

// What the first tangent of a contact is along. The edges of a pyramid lie as in MuJoCo: along the axis of a capsule on
// a plane, else along y, or z where the normal is along y.
template <class T> struct TangentAxis {
    Vec3<T> e;
    int axis = capsule_axis;  // 0, 1, 2: e is constant
    int capsule = -1;         // the shape whose axis e is
    static constexpr int capsule_axis = 3;
    TangentAxis(const ShapeSet& set, const ContactScratch<T>& s, const ContactPoint<T>& c) {
        const Vec3<T>& n = c.geometry.normal;
        const FeaturePair& f = c.features;
        const auto is = [&](int shape, ShapeType type) { return set.shapes[shape].type == type; };
        for (const auto& [on, under] : {std::pair(f.a, f.b), std::pair(f.b, f.a)})
            if (c.pyramid && is(on, ShapeType::capsule) && is(under, ShapeType::plane)) capsule = on;
        if (capsule >= 0) {
            e = s.X_CS[capsule].R.col(2);
            if (value_of(n.cross(e).squaredNorm()) > 1e-12) return;
            capsule = -1;  // it stands upright
        }
        axis = !c.pyramid ? tangent_axis(n) : (magnitude(value_of(n.y())) < 0.5 ? 1 : 2);
        e = Vec3<T>::Unit(axis);
    }
};

template <class T>
ContactPoint<T> contact_point(const World& w, const T* theta, const Kinematics<T>& k,
                              const ContactScratch<T>& s, const FeaturePair& f) {
    const ShapeSet& set = w.shapes;
    const Shape &a = set.shapes[f.a], &b = set.shapes[f.b];
    ContactPoint<T> c;
    c.features = f;
    c.body_a = a.body;
    c.body_b = b.body;
    c.to_b = common_origin(w.model, k, b.body) - common_origin(w.model, k, a.body);
    c.geometry = contact(a, b, f, s.X_CS[f.a], seen_from_a(s, f.b, c.to_b), load3(theta + set.size.at(f.a)),
                         load3(theta + set.size.at(f.b)));
    c.directions = std::max(3, contact_condim(w, f.a, f.b));
    c.sources = contact_sources(w, theta, f, c.directions);
    c.geometry.gap -= set.contact_margin(theta, f.a, f.b);
    c.friction = contact_friction(c.sources.friction, theta);
    c.pyramid = w.pyramids() && value_of(c.friction) > 0;
    const TangentAxis<T> axis(set, s, c);
    c.tangent_axis = axis.axis;
    c.tangents = tangents_along(c.geometry.normal, axis.e);
    c.torsional_arm = c.directions > 3 ? friction_arm(theta, c.sources.torsional, c.friction) : T(0);
    c.rolling_arm = c.directions > 4 ? friction_arm(theta, c.sources.rolling, c.friction) : T(0);
    const T &e_a = theta[set.restitution.at(f.a)], &e_b = theta[set.restitution.at(f.b)];
    c.b_bounces = e_a < e_b;
    c.restitution = where(c.b_bounces, e_b, e_a);
    return c;
}

template <class T>
void contact_point_adj(const World& w, const T* theta, const Kinematics<T>& k, const ContactScratch<T>& s,
                       const ContactPoint<T>& c, const ContactPointBar<T>& out_bar, KinematicsBar<T>& bar,
                       T* theta_bar) {
    const ShapeSet& set = w.shapes;
    const FeaturePair& f = c.features;
    const Shape &a = set.shapes[f.a], &b = set.shapes[f.b];
    theta_bar[set.restitution.at(f.b)] += where(c.b_bounces, out_bar.restitution, T(0));
    theta_bar[set.restitution.at(f.a)] += where(c.b_bounces, T(0), out_bar.restitution);
    T friction_bar = out_bar.friction;
    if (c.directions > 3)
        friction_arm_adj(theta, c.sources.torsional, c.friction, out_bar.torsional_arm, friction_bar,
                         theta_bar);
    if (c.directions > 4)
        friction_arm_adj(theta, c.sources.rolling, c.friction, out_bar.rolling_arm, friction_bar, theta_bar);
    contact_friction_adj(c.sources.friction, theta, friction_bar, theta_bar);
    Contact<T> g_bar = out_bar.geometry;
    for (const int parameter : c.sources.margin)
        if (parameter >= 0) theta_bar[parameter] -= g_bar.gap;
    Force<T> a_bar = Force<T>::zero(), b_bar = Force<T>::zero();
    const TangentAxis<T> axis(set, s, c);
    Vec3<T> e_bar = Vec3<T>::Zero();
    tangents_along_adj(c.geometry.normal, axis.e, out_bar.tangents, g_bar.normal, e_bar);
    if (axis.capsule >= 0) (axis.capsule == f.a ? a_bar : b_bar).ang += axis.e.cross(e_bar);
    Vec3<T> size_a_bar = Vec3<T>::Zero(), size_b_bar = Vec3<T>::Zero();
    contact_adj(a, b, f, s.X_CS[f.a], seen_from_a(s, f.b, c.to_b), load3(theta + set.size.at(f.a)),
                load3(theta + set.size.at(f.b)), g_bar, a_bar, b_bar, size_a_bar, size_b_bar);
    add3(theta_bar + set.size.at(f.a), size_a_bar);
    add3(theta_bar + set.size.at(f.b), size_b_bar);
    shape_pose_adj(w, theta, k, f.a, s.X_CS[f.a], a_bar, bar, theta_bar);
    b_bar.ang -= c.to_b.cross(b_bar.lin);  // the wrench about the origin of b's frame
    shape_pose_adj(w, theta, k, f.b, s.X_CS[f.b], b_bar, bar, theta_bar);
}

// One contact for each detected pair of features.
template <class T>
void make_contacts(const World& w, const T* theta, const Kinematics<T>& k, ContactScratch<T>& s) {
    s.points.clear();
    for (const FeaturePair& f : s.detection.features)
        s.points.push_back(contact_point(w, theta, k, s, f));
}
template <class T>
void make_contacts_adj(const World& w, const T* theta, const Kinematics<T>& k, const ContactScratch<T>& s,
                       KinematicsBar<T>& bar, T* theta_bar) {
    for (size_t c = s.points.size(); c-- > 0;)
        contact_point_adj(w, theta, k, s, s.points[c], s.points_bar[c], bar, theta_bar);
}

extern template void place_shapes(const World&, const double*, const Kinematics<double>&,
                                  ContactScratch<double>&);
extern template void make_contacts(const World&, const double*, const Kinematics<double>&,
                                   ContactScratch<double>&);

}  // namespace costate
