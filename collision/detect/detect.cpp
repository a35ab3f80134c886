#include "collision/detect/detect.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include <BulletCollision/BroadphaseCollision/btDbvt.h>
#include <BulletCollision/CollisionShapes/btConvexInternalShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>

#include "collision/contact/contact.hpp"
#include "collision/detect/narrow.hpp"
#include "collision/detect/passing.hpp"

namespace costate {
namespace {

constexpr double fatten = 0.05;  // m; margin of a leaf, within which its shape may move without an update

// Bullet does not check its allocator for null, so the allocator throws if memory runs out.
[[maybe_unused]] const bool allocator_throws = [] {
    btAlignedAllocSetCustom(
        [](size_t n) {
            if (void* memory = std::malloc(n)) return memory;
            throw std::bad_alloc();
        },
        std::free);
    return true;
}();

btVector3 to_bullet(const Vec3<double>& v) { return {v.x(), v.y(), v.z()}; }

bool is_plane(const Shape& s) { return s.type == ShapeType::plane; }

// The axis-aligned box of a shape, grown by the distance within which it may have contacts.
struct Bounds {
    Vec3<double> lo, hi;  // m
    bool overlaps(const Bounds& b) const {
        return lo.x() <= b.hi.x() && lo.y() <= b.hi.y() && lo.z() <= b.hi.z() && b.lo.x() <= hi.x() &&
               b.lo.y() <= hi.y() && b.lo.z() <= hi.z();
    }
};

struct Sphere {
    Vec3<double> centre;  // m, in the world
    double radius;        // m
    // False for spheres that are not numbers.
    bool within(const Sphere& b, double distance) const {
        const double most = radius + b.radius + distance;
        return (centre - b.centre).squaredNorm() < most * most;
    }
};

// A sphere around a group of shapes, and an upper bound for the growth of each (Query::growth).
struct Group {
    Sphere sphere;
    double growth;  // m
};

// The inputs of detect, and its output list.
struct Query {
    const ShapeSet& set;
    const double* theta;
    const Transform<double>* X_WS;
    const Motion<double>* V_WS;
    double h, min_margin;
    const double* nearing_of;  // (shapes) m; null: min_margin/2 each
    double slop;
    Detection& out;

    const Shape& shape(int i) const { return set.shapes[i]; }
    Vec3<double> size(int i) const { return Eigen::Map<const Vec3<double>>(theta + set.size.at(i)); }

    // The most that a shape's margin adds to that of a contact.
    double margin(int i) const { return set.largest_margin(theta, i); }
    // Of a terrain the whole margin: which of its triangles count depends on how far it is searched.
    double nearing(int i) const {
        if (nearing_of == nullptr) return 0.5 * min_margin;
        return shape(i).terrain ? min_margin : nearing_of[i];
    }
    // Upper bound for the speed of the shape's points within a radius of its origin.
    double speed(int i, double radius) const { return V_WS[i].lin.norm() + V_WS[i].ang.norm() * radius; }
    // The distance from the surface within which the shape may have contacts.
    double growth(int i) const {
        return std::max(nearing(i), 2 * h * speed(i, bounding_radius(shape(i), size(i)))) + margin(i);
    }
    // The gap up to which a pair has contacts that approach at this speed.
    double gap_limit(int a, int b, double approach) const {
        return std::max(std::min(min_margin, nearing(a) + nearing(b)), 2 * h * approach);
    }
    // Upper bound for the gaps of the pair's contacts; a must be bounded. From the relative velocity at points
    // within a's radius and the gap; with a terrain, from the speeds of both.
    double reach(int a, int b) const {
        const double margins = set.contact_margin(theta, a, b), radius = bounding_radius(shape(a), size(a));
        if (shape(a).terrain || shape(b).terrain) {
            const double distance = (X_WS[a].p - X_WS[b].p).norm();
            return gap_limit(a, b, speed(a, radius) + speed(b, distance + radius)) + margins;
        }
        const Vec3<double> lin = V_WS[a].lin - point_velocity<double>(V_WS[b], X_WS[a].p - X_WS[b].p);
        const double turn = (V_WS[a].ang - V_WS[b].ang).norm();
        const double approach = (lin.norm() + turn * (radius + margins)) / (1 - std::min(2 * h * turn, 0.5));
        return gap_limit(a, b, approach) + margins;
    }

    Sphere sphere(int i) const {
        const Shape& it = shape(i);
        const Vec3<double> s = size(i);
        const Transform<double>& X = X_WS[i];
        const auto around_box = [&](const auto& data) {
            return Sphere{X.p + X.R * s.cwiseProduct(data.centre), s.cwiseProduct(data.half).norm()};
        };
        if (it.hull) return around_box(*it.hull);
        if (it.terrain) return around_box(*it.terrain);
        return {X.p, bounding_radius(it, s)};
    }

    // A group moves as one rigid body.
    Group group(int begin, int end, const std::vector<Sphere>& spheres) const {
        const auto each = [&](const auto& visit) {
            for (int k = begin; k < end; ++k)
                visit(set.grouped[k]);
        };
        Group g{{Vec3<double>::Zero(), 0}, 0};
        double nearest = 0;
        each([&](int i) { g.sphere.centre += spheres[i].centre; });
        g.sphere.centre /= end - begin;
        each([&](int i) {
            const double radius = (spheres[i].centre - g.sphere.centre).norm() + spheres[i].radius;
            g.sphere.radius = std::max(g.sphere.radius, radius);
            g.growth = std::max(g.growth, margin(i));
            nearest = std::max(nearest, nearing(i));
        });
        const int first = set.grouped[begin];
        const Motion<double>& V = V_WS[first];
        const Vec3<double> v = point_velocity<double>(V, g.sphere.centre - X_WS[first].p);
        g.growth += std::max(nearest, 2 * h * (v.norm() + V.ang.norm() * g.sphere.radius));
        return g;
    }

    Bounds bounds(int i) const {
        const Shape& it = shape(i);
        const Vec3<double> s = size(i);
        const Mat3<double>& R = X_WS[i].R;
        Vec3<double> middle = X_WS[i].p, extent;
        const auto stretched = [&](const auto& data) {
            middle += R * s.cwiseProduct(data.centre);
            extent = R.cwiseAbs() * s.cwiseProduct(data.half);
        };
        if (it.hull) {
            stretched(*it.hull);
        } else if (it.terrain) {
            stretched(*it.terrain);
        } else {
            for (int k = 0; k < 3; ++k)
                extent[k] = shape_kind(it.type).reach(it, s, R.row(k));
        }
        extent.array() += growth(i);
        return {middle - extent, middle + extent};
    }

    // True if no point of a bounded shape is within reach of the plane. growth: of the shape's group.
    bool clear_of_plane(int plane, const Sphere& sphere, double growth) const {
        if (set.filters[plane].body >= 0) return false;
        const double height = X_WS[plane].R.col(2).dot(sphere.centre - X_WS[plane].p) - sphere.radius;
        return height >= growth + nearing(plane) + margin(plane);
    }
    bool clear_of_plane(int plane, int other, const Bounds& bounds) const {
        const Vec3<double> n = X_WS[plane].R.col(2), middle = 0.5 * (bounds.lo + bounds.hi),
                           half = bounds.hi - middle;
        return n.dot(middle - X_WS[plane].p) - n.cwiseAbs().dot(half) >= reach(other, plane);
    }

    // Selects features by values, then evaluates the closed form of each.
    // spheres: of all shapes, if they are known.
    void try_pair(int a, int b, const std::vector<Sphere>& spheres) const {
        const Shape &sa = shape(a), &sb = shape(b);
        const Vec3<double> size_a = size(a), size_b = size(b);
        const double margins = set.contact_margin(theta, a, b);
        const double within = is_plane(sa) ? reach(b, a) : reach(a, b);
        if (!spheres.empty() && !is_plane(sa) && !is_plane(sb) && !spheres[a].within(spheres[b], within))
            return;
        ++out.pairs_tried;
        const FeatureList list = closest_features(sa, sb, X_WS[a], X_WS[b], size_a, size_b, within);
        if (list.count == 0) return;
        const auto moving = [&](int i, const Vec3<double>& its_size) {
            return MovingSolid{{shape(i), X_WS[i], its_size}, h * V_WS[i].ang, h * V_WS[i].lin};
        };
        Passing passing(moving(a, size_a), moving(b, size_b), margins, slop);
        for (int i = 0; i < list.count; ++i) {
            const FeaturePair f = list.pair(i, a, b);
            const Contact<double> c = contact(sa, sb, f, X_WS[a], X_WS[b], size_a, size_b);
            const Vec3<double> v_a = point_velocity<double>(V_WS[a], c.point - X_WS[a].p);
            const Vec3<double> v_b = point_velocity<double>(V_WS[b], c.point - X_WS[b].p);
            const double gap = c.gap - margins, approach = c.normal.dot(v_b - v_a);
            if (gap < gap_limit(a, b, approach) && !passing.leaves_out(c.normal, gap - h * approach))
                out.features.push_back(f);
        }
    }
};

// One tree leaf per bounded shape, with a box larger than the shape's bounds, so that most steps do not
// change the tree. The tree depends on history; the reported pairs do not, because they are tested with the
// exact bounds.
struct BoundsTree {
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
            const btVector3 lo = to_bullet(bounds[i].lo), hi = to_bullet(bounds[i].hi),
                            more(fatten, fatten, fatten);
            const btDbvtVolume tight = btDbvtVolume::FromMM(lo, hi);
            btDbvtVolume fat = btDbvtVolume::FromMM(lo - more, hi + more);
            if (leaf == nullptr)
                leaf = insert(fat);
            else if (!leaf->volume.Contain(tight))
                dbvt.update(leaf, fat);
            leaf->dataAsInt = static_cast<int>(i);
        }
        dbvt.m_stkStack.reserve(static_cast<int>(256 + 8 * leaves.size()));
    }

private:
    // An insertion allocates two nodes. If the second allocation fails, Bullet leaks the first, which is
    // therefore allocated here as Bullet's spare node.
    btDbvtNode* insert(const btDbvtVolume& volume) {
        if (dbvt.m_free == nullptr) dbvt.m_free = new (btAlignedAlloc(sizeof(btDbvtNode), 16)) btDbvtNode();
        btDbvtNode* first = dbvt.m_free;
        try {
            return dbvt.insert(volume, nullptr);
        } catch (...) {
            btAlignedFree(first);
            throw;
        }
    }
};

}  // namespace

struct Detection::Scratch {
    std::vector<Sphere> spheres;         // (shapes) unset for planes
    std::vector<Group> groups;           // as ShapeSet::group_end; empty if the tree is used
    std::vector<Bounds> bounds;          // (shapes) set where asked for
    std::vector<unsigned char> bounded;  // (shapes) 1: `bounds` is set
    BoundsTree tree;

    const Bounds& bounds_of(const Query& query, int i) {
        if (bounded[i] == 0) {
            bounds[i] = query.bounds(i);
            bounded[i] = 1;
        }
        return bounds[i];
    }

    void start(const Query& query) {
        const ShapeSet& set = query.set;
        bounds.resize(set.shapes.size());
        bounded.assign(set.shapes.size(), 0);
        groups.clear();
        spheres.clear();
        if (!set.group_pairs) return;
        spheres.resize(set.shapes.size());
        for (const int i : set.grouped)
            spheres[i] = query.sphere(i);
        for (size_t g = 0; g < set.group_end.size(); ++g)
            groups.push_back(query.group(set.group_begin(g), set.group_end[g], spheres));
    }

    void try_planes(const Query& query) {
        for (const auto& [a, b] : query.set.plane_pairs) {
            const bool first = is_plane(query.shape(a));
            const int plane = first ? a : b, other = first ? b : a;
            if (!groups.empty() &&
                query.clear_of_plane(plane, spheres[other], groups[query.set.group_of[other]].growth))
                continue;
            if (!query.clear_of_plane(plane, other, bounds_of(query, other))) query.try_pair(a, b, spheres);
        }
    }

    // Groups whose spheres meet, then shapes whose spheres and boxes meet.
    void try_groups(const Query& query) {
        const ShapeSet& set = query.set;
        for (const auto& [g, h] : *set.group_pairs) {
            const double growth = groups[g].growth + groups[h].growth;
            if (!groups[g].sphere.within(groups[h].sphere, growth)) continue;
            for (int k = set.group_begin(g); k < set.group_end[g]; ++k)
                for (int l = set.group_begin(h); l < set.group_end[h]; ++l) {
                    int a = set.grouped[k], b = set.grouped[l];
                    if (!spheres[a].within(spheres[b], growth)) continue;
                    if (!bounds_of(query, a).overlaps(bounds_of(query, b))) continue;
                    if (!set.is_pair(a, b)) std::swap(a, b);
                    if (set.is_pair(a, b)) query.try_pair(a, b, spheres);
                }
        }
    }

    void try_tree(const Query& query) {
        struct Pairs : btDbvt::ICollide {
            const Query& query;
            const std::vector<Bounds>& bounds;
            const std::vector<Sphere>& spheres;
            Pairs(const Query& q, const Scratch& s) : query(q), bounds(s.bounds), spheres(s.spheres) {}
            void Process(const btDbvtNode* first, const btDbvtNode* second) override {
                int a = first->dataAsInt, b = second->dataAsInt;
                if (!bounds[a].overlaps(bounds[b])) return;
                if (!query.set.is_pair(a, b)) std::swap(a, b);
                if (query.set.is_pair(a, b)) query.try_pair(a, b, spheres);
            }
        } pairs(query, *this);
        for (const int i : query.set.grouped)
            bounds_of(query, i);
        tree.update(query.set, bounds);
        tree.dbvt.collideTTpersistentStack(tree.dbvt.m_root, tree.dbvt.m_root, pairs);
    }
};

Detection::Detection() = default;
Detection::Detection(const Detection& other) : features(other.features), pairs_tried(other.pairs_tried) {}
Detection& Detection::operator=(const Detection& other) {
    features = other.features;
    pairs_tried = other.pairs_tried;
    return *this;
}
Detection::Detection(Detection&&) noexcept = default;
Detection& Detection::operator=(Detection&&) noexcept = default;
Detection::~Detection() = default;

void detect(const ShapeSet& set, const double* theta, const Transform<double>* X_WS,
            const Motion<double>* V_WS, double h, Detection& detection, double min_margin,
            const double* nearing, double slop) {
    detection.features.clear();
    detection.pairs_tried = 0;
    if (!detection.scratch_) detection.scratch_ = std::make_unique<Detection::Scratch>();
    Detection::Scratch& scratch = *detection.scratch_;
    const Query query{set, theta, X_WS, V_WS, h, min_margin, nearing, slop, detection};
    scratch.start(query);
    scratch.try_planes(query);
    if (set.group_pairs)
        scratch.try_groups(query);
    else
        scratch.try_tree(query);
    std::vector<FeaturePair>& found = detection.features;
    if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
}

namespace {

// The core of a solid as a Bullet shape; a plane becomes a cube of half extent 10 m below it.
class BulletCore final : public btConvexInternalShape {
public:
    explicit BulletCore(const Solid& s) : solid_(s) {
        m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
        m_collisionMargin = 0;
    }
    btVector3 localGetSupportingVertexWithoutMargin(const btVector3& along) const override {
        const Vec3<double> d(along.x(), along.y(), along.z());
        if (solid_.type() != ShapeType::plane) return to_bullet(solid_.support(d));
        const Vec3<double> l = solid_.X.R.transpose() * d,
                           side(l.x() < 0 ? -10 : 10, l.y() < 0 ? -10 : 10, l.z() < 0 ? -20 : 0);
        return to_bullet(transform_point(solid_.X, side));
    }
    btVector3 localGetSupportingVertex(const btVector3& along) const override {
        return localGetSupportingVertexWithoutMargin(along);
    }
    void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3*, btVector3*, int) const override {
    }
    void calculateLocalInertia(btScalar, btVector3&) const override {}
    const char* getName() const override { return "core"; }

private:
    const Solid& solid_;
};

}  // namespace

double gjk_distance(const Shape& sa, const Shape& sb, const Transform<double>& X_a,
                    const Transform<double>& X_b, const Vec3<double>& size_a, const Vec3<double>& size_b) {
    const Solid solid_a(sa, X_a, size_a), solid_b(sb, X_b, size_b);
    const BulletCore a(solid_a), b(solid_b);
    const btVector3 guess = to_bullet(solid_b.centre() - solid_a.centre());
    const btTransform here = btTransform::getIdentity();
    btGjkEpaSolver2::sResults result;
    if (!btGjkEpaSolver2::Distance(&a, here, &b, here, guess, result))
        btGjkEpaSolver2::Penetration(&a, here, &b, here, guess, result, false);
    return result.distance - solid_a.radius - solid_b.radius;
}

}  // namespace costate
