// Contacts from features: every meeting of two features against dual numbers, and the whole way through the choice of
// features against central differences.
#include "collision/contact.hpp"

#include "collision/narrow.hpp"
#include "collision/tangents.hpp"
#include "tests/check_adjoint.hpp"
#include "tests/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

struct TypedFeature {
    ShapeType type;
    Feature feature;
    // Which of the three numbers of size the contact depends on.
    std::vector<int> sizes() const {
        std::vector<int> on;
        if (is_round(type)) on.push_back(0);
        if (type == ShapeType::capsule && feature.kind == FeatureKind::vertex) on.push_back(1);
        for (int k = 0; k < 3; ++k)
            if (type == ShapeType::box && box_side(feature)[k] != 0) on.push_back(k);
        return on;
    }
};

struct Case {
    TypedFeature a, b;
    FeaturePair pair() const { return {0, 1, a.feature, b.feature}; }
};

std::vector<TypedFeature> all_features() {
    std::vector<TypedFeature> list{{ShapeType::sphere, vertex_feature(0)}, {ShapeType::plane, face_feature(0)}};
    list.push_back({ShapeType::capsule, edge_feature(0)});
    for (int i = 0; i < 2; ++i) list.push_back({ShapeType::capsule, vertex_feature(i)});
    for (int i = 0; i < 8; ++i) list.push_back({ShapeType::box, vertex_feature(i)});
    for (int i = 0; i < 12; ++i) list.push_back({ShapeType::box, edge_feature(i)});
    for (int i = 0; i < 6; ++i) list.push_back({ShapeType::box, face_feature(i)});
    return list;
}

// A vertex meets anything, an edge also edges, in either order and with either normal.
const std::vector<Case>& all_cases() {
    static const std::vector<Case> cases = [] {
        std::vector<Case> list;
        for (const TypedFeature& a : all_features())
            for (const TypedFeature& b : all_features()) {
                const auto [first, second] = std::minmax(a.feature.kind, b.feature.kind);
                if (first == FeatureKind::face || (first == FeatureKind::edge && second == FeatureKind::face)) continue;
                list.push_back({a, b});
                if (first != FeatureKind::edge) continue;
                list.push_back({a, b});
                list.back().b.feature.index |= reversed_normal;
            }
        return list;
    }();
    return cases;
}

// Inputs: twists of a and b, then the sizes that matter. Outputs: point, normal, gap.
struct ContactPass {
    Case c;
    Transform<double> X_a, X_b;
    Vec3<double> size_a, size_b;

    ContactPass(Rng& g, Regime r) : ContactPass(g, r, all_cases()[g.engine() % all_cases().size()]) {}
    ContactPass(Rng& g, Regime r, const Case& which) : c(which) {
        X_a = Probe<Transform<double>>::random(g, r), X_b = Probe<Transform<double>>::random(g, r);
        X_a.p += Vec3<double>(0.7, 0.4, 0.3);  // cores 1e-8 apart have normals known to 1e-8 only
        for (int k = 0; k < 3; ++k) size_a[k] = g.uniform(0.1, 1), size_b[k] = g.uniform(0.1, 1);
    }
    int inputs() const { return static_cast<int>(12 + c.a.sizes().size() + c.b.sizes().size()); }
    int outputs() const { return 7; }

    Covector forward(const Covector& x_dot) const {
        Vec3<D> sa = size_a.cast<D>(), sb = size_b.cast<D>();
        const double* d = x_dot.data() + 12;
        for (const int k : c.a.sizes()) sa[k].d = *d++;
        for (const int k : c.b.sizes()) sb[k].d = *d++;
        const Transform<D> XA = Probe<Transform<double>>::lift(X_a, x_dot.data());
        const Transform<D> XB = Probe<Transform<double>>::lift(X_b, x_dot.data() + 6);
        Covector y_dot(7);
        Probe<Contact<double>>::tangent(contact(c.a.type, c.b.type, c.pair(), XA, XB, sa, sb), y_dot.data());
        return y_dot;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        using P = Probe<Transform<double>>;
        Force<double> A = P::bar(prior.data()), B = P::bar(prior.data() + 6);
        Vec3<double> sa(0, 0, 0), sb(0, 0, 0);
        const Contact<double> out_bar = Probe<Contact<double>>::bar(y_bar.data());
        contact_adj(c.a.type, c.b.type, c.pair(), X_a, X_b, size_a, size_b, out_bar, A, B, sa, sb);
        Covector x_bar = prior;
        P::covector(A, x_bar.data()), P::covector(B, x_bar.data() + 6);
        double* s = x_bar.data() + 12;
        for (const int k : c.a.sizes()) *s++ += sa[k], sa[k] = 0;
        for (const int k : c.b.sizes()) *s++ += sb[k], sb[k] = 0;
        CHECK(sa.norm() + sb.norm() == 0);
        return x_bar;
    }
};

struct OneCase : ContactPass {
    static inline size_t which = 0;
    OneCase(Rng& g, Regime r) : ContactPass(g, r, all_cases()[which]) {}
};

// X moved by the twist d.
Transform<double> moved(const Transform<double>& X, const double* d) {
    const Mat3<double> R = rotation_matrix(quaternion_exp<double>(P3::bar(d)));
    return {R * X.R, R * X.p + P3::bar(d + 3)};
}

struct Placed {
    ShapeType type;
    Vec3<double> size;
    Transform<double> X;
};

// The smallest gap of the features that meet.
double gap(const Placed& a, const Placed& b) {
    const FeatureList list = closest_features(a.type, b.type, a.X, b.X, a.size, b.size);
    double smallest = 1e300;
    for (int i = 0; i < list.count; ++i) {
        const FeaturePair f{0, 1, list.items[i].on_a, list.items[i].on_b};
        smallest = std::min(smallest, contact(a.type, b.type, f, a.X, b.X, a.size, b.size).gap);
    }
    return smallest;
}

}  // namespace

TEST_CASE("contact: a random meeting") { check_pass<ContactPass>(1e-11); }

TEST_CASE("contact: every meeting of two features") {
    for (OneCase::which = 0; OneCase::which < all_cases().size(); ++OneCase::which) {
        CAPTURE(OneCase::which);
        check_pass<OneCase>(1e-11);
    }
}

TEST_CASE("contact: gap, point and normal against central differences through the choice of features") {
    const ShapeType types[] = {ShapeType::plane, ShapeType::sphere, ShapeType::capsule, ShapeType::box};
    const double step = 1e-6;
    int compared = 0, rejected = 0;
    Rng g(7);
    for (const ShapeType ta : types)
        for (const ShapeType tb : types) {
            if (!pair_supported(ta, tb)) continue;
            for (int trial = 0; trial < 60; ++trial) {
                CAPTURE(shape_type_name(ta));
                CAPTURE(shape_type_name(tb));
                CAPTURE(trial);
                const Transform<double> X_a = Probe<Transform<double>>::random(g, Regime::random);
                const Transform<double> X_b = Probe<Transform<double>>::random(g, Regime::random);
                const Vec3<double> size_a(g.uniform(0.2, 1), g.uniform(0.2, 1), g.uniform(0.2, 1)), size_b = 0.7 * size_a;
                const FeatureList at = closest_features(ta, tb, X_a, X_b, size_a, size_b);
                const Covector d = g.covector(12);
                for (int i = 0; i < at.count; ++i) {
                    const FeaturePair f{0, 1, at.items[i].on_a, at.items[i].on_b};
                    Covector y[2];
                    bool same = true;
                    for (int side = 0; side < 2; ++side) {
                        Covector e = d;
                        for (double& x : e) x *= side == 0 ? -step : step;
                        const Transform<double> A = moved(X_a, e.data()), B = moved(X_b, e.data() + 6);
                        const FeatureList near = closest_features(ta, tb, A, B, size_a, size_b);
                        same = same && near.count == at.count && near.items[i].on_a == f.on_a && near.items[i].on_b == f.on_b;
                        y[side].resize(7);
                        Probe<Contact<double>>::covector(contact(ta, tb, f, A, B, size_a, size_b), y[side].data());
                    }
                    if (!same) {
                        ++rejected;
                        continue;
                    }
                    ++compared;
                    const Covector y_bar = g.covector(7);
                    const Contact<double> out_bar = Probe<Contact<double>>::bar(y_bar.data());
                    Force<double> A_bar = Force<double>::zero(), B_bar = Force<double>::zero();
                    Vec3<double> sa(0, 0, 0), sb(0, 0, 0);
                    contact_adj(ta, tb, f, X_a, X_b, size_a, size_b, out_bar, A_bar, B_bar, sa, sb);
                    Covector x_bar(12), y_dot(7);
                    Probe<Motion<double>>::covector(A_bar, x_bar.data());
                    Probe<Motion<double>>::covector(B_bar, x_bar.data() + 6);
                    for (size_t k = 0; k < 7; ++k) y_dot[k] = (y[1][k] - y[0][k]) / (2 * step);
                    CHECK(duals_agree(d, x_bar, y_dot, y_bar, 1e-6));
                }
            }
        }
    CHECK(compared > 1000);
    CHECK(rejected < compared / 50);
}

TEST_CASE("contact: normal from b to a, point midway, and swapping the shapes turns the normal") {
    Rng g(3);
    for (const Case& c : all_cases()) {
        const ContactPass p(g, Regime::random, c);
        if ((c.b.feature.index & reversed_normal) != 0) continue;
        const Contact<double> y = contact(c.a.type, c.b.type, c.pair(), p.X_a, p.X_b, p.size_a, p.size_b);
        FeaturePair back{0, 1, c.b.feature, c.a.feature};
        Contact<double> z = contact(c.b.type, c.a.type, back, p.X_b, p.X_a, p.size_b, p.size_a);
        CHECK(y.normal.norm() == doctest::Approx(1));
        CHECK(y.gap == doctest::Approx(z.gap));
        CHECK((y.normal + z.normal).norm() < 1e-12);
        CHECK((y.point - z.point).norm() < 1e-12);
    }
    const Transform<double> X{Mat3<double>::Identity(), {0, 0, 1.5}}, ground = Transform<double>::identity();
    const FeaturePair f{0, 1, vertex_feature(0), face_feature(0)};
    const Contact<double> y = contact<double>(ShapeType::sphere, ShapeType::plane, f, X, ground, {1, 0, 0}, {0, 0, 0});
    CHECK(y.gap == 0.5);
    CHECK(y.normal == Vec3<double>::UnitZ());
    CHECK(y.point == Vec3<double>(0, 0, 0.25));
}

TEST_CASE("contact tangents: right-handed and unit") {
    Rng g(5);
    for (int i = 0; i < 100; ++i) {
        const Vec3<double> n = normalise(g.vec3(Regime::random));
        const Tangents<double> t = contact_tangents(n);
        Mat3<double> frame;
        frame << n, t.t1, t.t2;
        CHECK((frame.transpose() * frame - Mat3<double>::Identity()).norm() < 1e-14);
        CHECK(frame.determinant() > 0);
    }
}

TEST_CASE("contact: at a tie the gap's derivative is a one-sided one, and everything is finite") {
    const Mat3<double> I = Mat3<double>::Identity(), half_turn = Vec3<double>(1, -1, -1).asDiagonal();
    const Mat3<double> lying = rotation_matrix<double>(quaternion_exp<double>({0, std::acos(0.0), 0}));
    const ShapeType sphere = ShapeType::sphere, capsule = ShapeType::capsule, box = ShapeType::box;
    enum Pieces { two, many, a_continuum };  // of the gap that meet here
    struct Tie { std::string name; Placed a, b; Pieces pieces = two; };
    const Vec3<double> ball(0.3, 0, 0), rod(0.2, 0.5, 0), point_rod(0.2, 0, 0), cube(0.4, 0.5, 0.6);
    const std::vector<Tie> ties{
        {"concentric spheres", {sphere, ball, {I, {1, 2, 3}}}, {sphere, ball, {I, {1, 2, 3}}}, many},
        {"parallel capsules", {capsule, rod, {I, {0, 0, 0.1}}}, {capsule, rod, {I, {0.6, 0, 0}}}},
        {"antiparallel capsules", {capsule, rod, {I, {0, 0, 0}}}, {capsule, rod, {half_turn, {0.6, 0, 0}}}},
        {"capsules in line", {capsule, rod, {I, {0, 0, 2}}}, {capsule, rod, {I, {0, 0, 0}}}},
        {"the same capsule", {capsule, rod, {I, {0, 0, 0}}}, {capsule, rod, {I, {0, 0, 0}}}, a_continuum},
        {"point capsules", {capsule, point_rod, {I, {0, 0, 0}}}, {capsule, point_rod, {I, {0, 0.7, 0}}}},
        {"point capsule and capsule", {capsule, point_rod, {I, {0, 0, 0.1}}}, {capsule, rod, {I, {0, 0.7, 0}}}},
        {"sphere on the axis of a capsule", {sphere, ball, {I, {0, 0, 0.1}}}, {capsule, rod, {I, {0, 0, 0}}}, many},
        {"sphere over the end of a capsule", {sphere, ball, {I, {0.5, 0, 0.5}}}, {capsule, rod, {I, {0, 0, 0}}}},
        {"centre on a face", {sphere, ball, {I, {0.4, 0.1, 0.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"centre on an edge", {sphere, ball, {I, {0.4, 0.5, 0.1}}}, {box, cube, {I, {0, 0, 0}}}, many},
        {"centre on a vertex", {sphere, ball, {I, {0.4, 0.5, 0.6}}}, {box, cube, {I, {0, 0, 0}}}, many},
        {"centre over an edge", {sphere, ball, {I, {0.4, 0.7, 0.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"centre over a vertex", {sphere, ball, {I, {0.4, 0.5, 0.9}}}, {box, cube, {I, {0, 0, 0}}}},
        {"centre in the centre", {sphere, ball, {I, {0, 0, 0}}}, {box, {0.5, 0.5, 0.5}, {I, {0, 0, 0}}}, many},
        {"capsule along a face", {capsule, rod, {lying, {0.1, 0, 0.8}}}, {box, {1, 1, 0.6}, {I, {0, 0, 0}}}},
        {"capsule along an edge", {capsule, rod, {I, {0.5, 0.7, 0.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"capsule along a flush edge", {capsule, rod, {I, {0.4, 0.5, 0.1}}}, {box, cube, {I, {0, 0, 0}}}, many},
        {"capsule in the centre", {capsule, rod, {I, {0, 0, 0}}}, {box, {0.5, 0.5, 1}, {I, {0, 0, 0}}}, many},
        {"point capsule on a box", {capsule, point_rod, {I, {0, 0, 0.8}}}, {box, cube, {I, {0, 0, 0}}}},
        {"flat box", {box, cube, {I, {0, 0, 0.6}}}, {ShapeType::plane, {0, 0, 0}, {I, {0, 0, 0}}}},
    };
    Rng g(6);
    for (const Tie& tie : ties) {
        CAPTURE(tie.name);
        const auto& [a, b] = std::pair(tie.a, tie.b);
        const FeatureList list = closest_features(a.type, b.type, a.X, b.X, a.size, b.size);
        REQUIRE(list.count >= 1);
        const FeaturePair f{0, 1, list.items[0].on_a, list.items[0].on_b};
        const Contact<double> c = contact(a.type, b.type, f, a.X, b.X, a.size, b.size);
        CHECK(std::isfinite(c.gap + c.normal.sum() + c.point.sum()));
        CHECK(c.normal.norm() == doctest::Approx(1));
        CHECK(c.gap == doctest::Approx(gap(a, b)));
        for (int k = 0; k < 7; ++k) {
            Covector e(7);
            e[static_cast<size_t>(k)] = 1;
            Force<double> A = Force<double>::zero(), B = A;
            Vec3<double> sa(0, 0, 0), sb(0, 0, 0);
            contact_adj(a.type, b.type, f, a.X, b.X, a.size, b.size, Probe<Contact<double>>::bar(e.data()), A, B, sa, sb);
            CHECK(std::isfinite(A.ang.sum() + A.lin.sum() + B.ang.sum() + B.lin.sum() + sa.sum() + sb.sum()));
            if (k < 6 || tie.pieces == a_continuum) continue;
            // The gap along a translation of a to either side: any, or along the normal where many pieces meet.
            for (int trial = 0; trial < 20; ++trial) {
                const Vec3<double> d = tie.pieces == two ? g.vec3(Regime::random) : c.normal;
                const double step = 1e-6, rate = A.lin.dot(d);
                Placed ahead = a, behind = a;
                ahead.X.p += step * d, behind.X.p -= step * d;
                const double right = (gap(ahead, b) - gap(a, b)) / step, left = (gap(a, b) - gap(behind, b)) / step;
                CAPTURE(right);
                CAPTURE(left);
                CAPTURE(rate);
                CHECK(std::min(std::abs(rate - right), std::abs(rate - left)) < 1e-4);
            }
        }
    }
}
