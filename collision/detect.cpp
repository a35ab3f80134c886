#include "collision/detect.hpp"

#include <algorithm>
#include <cmath>

#include <BulletCollision/BroadphaseCollision/btDbvt.h>
#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>

#include "collision/contact.hpp"
#include "collision/narrow.hpp"

namespace costate {
namespace {

constexpr double fatten = 0.05;  // m; how far a shape may move before its leaf does

btVector3 to_bullet(const Vec3<double>& v) { return {v.x(), v.y(), v.z()}; }

btTransform to_bullet(const Transform<double>& X) {
    const Mat3<double>& R = X.R;
    const btMatrix3x3 axes(R(0, 0), R(0, 1), R(0, 2), R(1, 0), R(1, 1), R(1, 2), R(2, 0), R(2, 1), R(2, 2));
    return btTransform(axes, to_bullet(X.p));
}

bool is_plane(const Shape& s) { return s.type == ShapeType::plane; }

// Everything detect reads, and the list it writes.
struct Query {
    const ShapeSet& set;
    const double* theta;
    const Transform<double>* X_WS;
    const Motion<double>* V_WS;
    double h, min_margin;
    std::vector<FeaturePair>& features;

    const Shape& shape(int i) const { return set.shapes[static_cast<size_t>(i)]; }
    Vec3<double> size(int i) const { return Eigen::Map<const Vec3<double>>(theta + set.size.at(i)); }

    Bounds bounds(int i) const {
        const ShapeType type = shape(i).type;
        const Vec3<double> s = size(i);
        const Mat3<double>& R = X_WS[i].R;
        Vec3<double> extent = Vec3<double>::Constant(s.x());
        if (type == ShapeType::box) extent = R.cwiseAbs() * s;
        if (type == ShapeType::capsule) extent += s.y() * R.col(2).cwiseAbs();
        const double speed = V_WS[i].lin.norm() + V_WS[i].ang.norm() * bounding_radius(type, s);
        extent.array() += std::max(0.5 * min_margin, 2 * h * speed);
        return {X_WS[i].p - extent, X_WS[i].p + extent};
    }

    // Features by values first, then the closed form of each.
    void try_pair(int a, int b) const {
        const ShapeType ta = shape(a).type, tb = shape(b).type;
        const Vec3<double> size_a = size(a), size_b = size(b);
        const FeatureList list = closest_features(ta, tb, X_WS[a], X_WS[b], size_a, size_b);
        for (int i = 0; i < list.count; ++i) {
            const FeaturePair f{a, b, list.items[i].on_a, list.items[i].on_b};
            const Contact<double> c = contact(ta, tb, f, X_WS[a], X_WS[b], size_a, size_b);
            const Vec3<double> v_a = point_velocity<double>(V_WS[a], c.point - X_WS[a].p);
            const Vec3<double> v_b = point_velocity<double>(V_WS[b], c.point - X_WS[b].p);
            if (c.gap < std::max(min_margin, 2 * h * c.normal.dot(v_b - v_a))) features.push_back(f);
        }
    }
};

}  // namespace

// One leaf a finite shape, with a box somewhat larger than its bounds, so that most steps leave the tree alone. Its form depends
// on the past; the pairs that pass the exact bounds do not.
struct Detection::Tree {
    btDbvt dbvt;
    std::vector<btDbvtNode*> leaves;  // null for planes

    void update(const ShapeSet& set, const std::vector<Bounds>& bounds) {
        for (; leaves.size() > set.shapes.size(); leaves.pop_back())
            if (leaves.back() != nullptr) dbvt.remove(leaves.back());
        leaves.resize(set.shapes.size());
        for (size_t i = 0; i < leaves.size(); ++i) {
            btDbvtNode*& leaf = leaves[i];
            if (is_plane(set.shapes[i])) {
                if (leaf != nullptr) dbvt.remove(leaf);
                leaf = nullptr;
                continue;
            }
            const btVector3 lo = to_bullet(bounds[i].lo), hi = to_bullet(bounds[i].hi), more(fatten, fatten, fatten);
            const btDbvtVolume tight = btDbvtVolume::FromMM(lo, hi);
            btDbvtVolume fat = btDbvtVolume::FromMM(lo - more, hi + more);
            if (leaf == nullptr) leaf = dbvt.insert(fat, nullptr);
            else if (!leaf->volume.Contain(tight)) dbvt.update(leaf, fat);
            leaf->dataAsInt = static_cast<int>(i);
        }
        dbvt.m_stkStack.reserve(static_cast<int>(256 + 8 * leaves.size()));
    }
};

Detection::Detection() = default;
Detection::Detection(const Detection& other) : features(other.features) {}
Detection& Detection::operator=(const Detection& other) {
    features = other.features;
    return *this;
}
Detection::Detection(Detection&&) noexcept = default;
Detection& Detection::operator=(Detection&&) noexcept = default;
Detection::~Detection() = default;

void detect(const ShapeSet& set, const double* theta, const Transform<double>* X_WS, const Motion<double>* V_WS, double h,
            Detection& detection, double min_margin) {
    detection.features.clear();
    const Query query{set, theta, X_WS, V_WS, h, min_margin, detection.features};
    std::vector<Bounds>& bounds = detection.bounds_;
    bounds.resize(set.shapes.size());
    for (size_t i = 0; i < bounds.size(); ++i)
        if (!is_plane(set.shapes[i])) bounds[i] = query.bounds(static_cast<int>(i));

    for (const auto& [a, b] : set.plane_pairs) query.try_pair(a, b);

    struct Pairs : btDbvt::ICollide {
        const Query& query;
        const std::vector<Bounds>& bounds;
        Pairs(const Query& q, const std::vector<Bounds>& all) : query(q), bounds(all) {}
        void Process(const btDbvtNode* first, const btDbvtNode* second) override {
            int a = first->dataAsInt, b = second->dataAsInt;
            if (!bounds[static_cast<size_t>(a)].overlaps(bounds[static_cast<size_t>(b)])) return;
            if (!query.set.is_pair(a, b)) std::swap(a, b);
            if (query.set.is_pair(a, b)) query.try_pair(a, b);
        }
    } finite_pairs(query, bounds);
    if (!detection.tree_) detection.tree_ = std::make_unique<Detection::Tree>();
    detection.tree_->update(set, bounds);
    btDbvt& dbvt = detection.tree_->dbvt;
    dbvt.collideTTpersistentStack(dbvt.m_root, dbvt.m_root, finite_pairs);
    std::sort(detection.features.begin(), detection.features.end());
}

double gjk_distance(ShapeType ta, ShapeType tb, const Transform<double>& X_a, const Transform<double>& X_b,
                    const Vec3<double>& size_a, const Vec3<double>& size_b) {
    // The core of a shape: a point, a segment along z or a box, all without margin; the radius comes off at the end.
    struct Core {
        btSphereShape point{0};
        btCapsuleShapeZ segment;
        btBoxShape box;
        btTransform pose;
        const btConvexShape* shape;
        double radius;
        Core(ShapeType type, const Vec3<double>& size, Transform<double> X)
            : segment(0, 2 * size.y()), box(type == ShapeType::plane ? btVector3(10, 10, 10) : to_bullet(size)), shape(&point),
              radius(is_round(type) ? size.x() : 0) {
            if (type == ShapeType::plane) X.p -= 10 * X.R.col(2);
            if (type == ShapeType::capsule) shape = &segment;
            if (type == ShapeType::plane || type == ShapeType::box) shape = &box;
            box.setMargin(0);
            pose = to_bullet(X);
        }
    };
    const Core a(ta, size_a, X_a), b(tb, size_b, X_b);
    const btVector3 guess = b.pose.getOrigin() - a.pose.getOrigin();
    btGjkEpaSolver2::sResults result;
    if (!btGjkEpaSolver2::Distance(a.shape, a.pose, b.shape, b.pose, guess, result))
        btGjkEpaSolver2::Penetration(a.shape, a.pose, b.shape, b.pose, guess, result, false);
    return result.distance - a.radius - b.radius;
}

}  // namespace costate
