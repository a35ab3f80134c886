// Contacts from features: every meeting of two features against dual numbers, and the whole way through the
// choice of features against central differences.
#include "collision/contact/contact.hpp"

#include <set>

#include "collision/contact/tangents.hpp"
#include "collision/detect/narrow.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

struct TypedFeature {
    Shape shape;
    Feature feature;
    // Which of the three numbers of size the contact depends on.
    std::set<int> sizes() const {
        if (feature.kind == FeatureKind::side) {
            std::set<int> on = TypedFeature{shape, edge_of_side(shape, feature)}.sizes();
            on.merge(TypedFeature{shape, face_of_side(shape, feature)}.sizes());
            return on;
        }
        std::set<int> on;
        if (is_swept(shape.type, feature)) on.insert(0);
        const FeatureGeometry g = feature_geometry(shape, feature);
        for (int k = 0; k < 3; ++k) {
            if (g.origin[k] == 0 && !(turns_with_size(shape.type) && g.direction.norm() != 0)) continue;
            if (shape.type == ShapeType::capsule)
                on.insert(1);
            else if (shape.type == ShapeType::cylinder)
                on.insert(k == 2 ? 1 : 0);
            else if (shape.type != ShapeType::plane)
                on.insert(k);
        }
        return on;
    }
};

struct PairCase {
    TypedFeature a, b;
    FeaturePair pair() const { return {0, 1, a.feature, b.feature}; }
    bool has_side() const {
        return a.feature.kind == FeatureKind::side || b.feature.kind == FeatureKind::side;
    }
};

// Vertices, edges, faces and sides, no curves.
std::vector<TypedFeature> all_features() {
    const Shape sphere = shape_of(ShapeType::sphere), plane = shape_of(ShapeType::plane),
                capsule = shape_of(ShapeType::capsule);
    const Shape box = shape_of(ShapeType::box), cylinder = shape_of(ShapeType::cylinder);
    Rng g(8);
    const Shape mesh = random_mesh(g, 8), terrain = random_terrain(g, 4, 0.5);
    std::vector<TypedFeature> list{{sphere, vertex_feature(0)},
                                   {plane, face_feature(0)},
                                   {capsule, edge_feature(0)},
                                   {cylinder, edge_feature(cylinder_axis)}};
    for (int i = 0; i < 2; ++i)
        list.push_back({capsule, vertex_feature(i)});
    for (int i = 0; i < 8; ++i)
        list.push_back({box, vertex_feature(i)});
    for (int i = 0; i < 12; ++i)
        list.push_back({box, edge_feature(i)});
    for (int i = 0; i < 6; ++i)
        list.push_back({box, face_feature(i)});
    for (int i = 0; i < 24; i += 3)
        list.push_back({box, side_feature(i)});
    for (int i = 1; i < 4; i += 2)
        for (const Shape& s : {cylinder, mesh, terrain}) {
            list.push_back({s, vertex_feature(i)});
            list.push_back({s, edge_feature(2 * i)});
            list.push_back({s, face_feature(i / 2)});
            list.push_back({s, side_feature(5 * i)});
        }
    return list;
}

// A vertex meets anything but a side, an edge also edges, in either order and with either normal, and sides.
const std::vector<PairCase>& all_cases() {
    static const std::vector<PairCase> cases = [] {
        std::vector<PairCase> list;
        for (const TypedFeature& a : all_features())
            for (const TypedFeature& b : all_features()) {
                const auto [first, second] = std::minmax(a.feature.kind, b.feature.kind);
                if (first >= FeatureKind::face || (first == FeatureKind::edge && second == FeatureKind::face))
                    continue;
                if (first == FeatureKind::vertex && second == FeatureKind::side) continue;
                list.push_back({a, b});
                if (first != FeatureKind::edge || second != FeatureKind::edge) continue;
                list.push_back({a, b});
                list.back().b.feature.index |= reversed_normal;
            }
        return list;
    }();
    return cases;
}

// Inputs: twists of a and b, then the sizes that matter. Outputs: point, normal, gap.
struct ContactPass {
    PairCase c;
    Transform<double> X_a, X_b;
    Vec3<double> size_a, size_b;

    ContactPass(Rng& g, Regime r) : ContactPass(g, r, all_cases()[g.engine() % all_cases().size()]) {}
    ContactPass(Rng& g, Regime r, const PairCase& which) : c(which) {
        // beside a side an edge 1e-8 from parallel to it has no crossing
        X_a = Probe<Transform<double>>::random(g, c.has_side() ? Regime::random : r);
        X_b = Probe<Transform<double>>::random(g, r);
        X_a.p += Vec3<double>(0.7, 0.4, 0.3);  // cores 1e-8 apart have normals known to 1e-8 only
        for (int k = 0; k < 3; ++k) {
            size_a[k] = g.uniform(0.1, 1);
            size_b[k] = g.uniform(0.1, 1);
        }
    }
    int inputs() const { return static_cast<int>(12 + c.a.sizes().size() + c.b.sizes().size()); }
    int outputs() const { return 7; }

    Covector forward(const Covector& x_dot) const {
        Vec3<D> sa = size_a.cast<D>(), sb = size_b.cast<D>();
        const double* d = x_dot.data() + 12;
        for (const int k : c.a.sizes())
            sa[k].d = *d++;
        for (const int k : c.b.sizes())
            sb[k].d = *d++;
        const Transform<D> XA = Probe<Transform<double>>::lift(X_a, x_dot.data());
        const Transform<D> XB = Probe<Transform<double>>::lift(X_b, x_dot.data() + 6);
        Covector y_dot(7);
        Probe<Contact<double>>::tangent(costate::contact(c.a.shape, c.b.shape, c.pair(), XA, XB, sa, sb),
                                        y_dot.data());
        return y_dot;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        using P = Probe<Transform<double>>;
        Force<double> A = P::bar(prior.data()), B = P::bar(prior.data() + 6);
        Vec3<double> sa(0, 0, 0), sb(0, 0, 0);
        const Contact<double> out_bar = Probe<Contact<double>>::bar(y_bar.data());
        contact_adj(c.a.shape, c.b.shape, c.pair(), X_a, X_b, size_a, size_b, out_bar, A, B, sa, sb);
        Covector x_bar = prior;
        P::covector(A, x_bar.data());
        P::covector(B, x_bar.data() + 6);
        double* s = x_bar.data() + 12;
        for (const int k : c.a.sizes()) {
            *s++ += sa[k];
            sa[k] = 0;
        }
        for (const int k : c.b.sizes()) {
            *s++ += sb[k];
            sb[k] = 0;
        }
        CHECK(sa.norm() + sb.norm() < 1e-11);
        return x_bar;
    }
};

struct OneCase : ContactPass {
    static inline size_t which = 0;
    OneCase(Rng& g, Regime r) : ContactPass(g, r, all_cases()[which]) {}
};

}  // namespace

TEST_CASE("adjoint: contact, contact_of; a random meeting") { check_pass<ContactPass>(1e-11); }

TEST_CASE("adjoint: contact, contact_of; every meeting of two features") {
    for (OneCase::which = 0; OneCase::which < all_cases().size(); ++OneCase::which) {
        CAPTURE(OneCase::which);
        check_pass<OneCase>(1e-11);
    }
}

TEST_CASE("contact: gap, point and normal against central differences through the choice of features") {
    const double step = 1e-6;
    Rng g(7);
    for (const ShapeType ta : all_shape_types)
        for (const ShapeType tb : all_shape_types) {
            if (!pair_supported(ta, tb)) continue;
            CAPTURE(std::string(shape_type_name(ta)));
            CAPTURE(std::string(shape_type_name(tb)));
            int compared = 0, rejected = 0;
            for (int trial = 0; trial < 80; ++trial) {
                CAPTURE(trial);
                const auto [a, b] = random_pair(g, ta, tb, 0.5);
                const FeatureList at = features(a, b, 0.3);
                const Covector d = g.covector(12);
                for (int i = 0; i < at.count; ++i) {
                    const FeaturePair f = at.pair(i, 0, 1);
                    Covector y[2];
                    bool same = true;
                    for (int side = 0; side < 2; ++side) {
                        Covector e = d;
                        for (double& x : e)
                            x *= side == 0 ? -step : step;
                        const Placed A{a.shape, a.size, moved(a.X, e.data())},
                            B{b.shape, b.size, moved(b.X, e.data() + 6)};
                        const FeatureList near = features(A, B, 0.3);
                        same = same && near.count == at.count && near.pair(i, 0, 1) == f;
                        y[side].resize(7);
                        if (same)
                            Probe<Contact<double>>::covector(contact(A, B, near.pair(i, 0, 1)),
                                                             y[side].data());
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
                    contact_adj(a.shape, b.shape, f, a.X, b.X, a.size, b.size, out_bar, A_bar, B_bar, sa, sb);
                    Covector x_bar(12), y_dot(7);
                    Probe<Motion<double>>::covector(A_bar, x_bar.data());
                    Probe<Motion<double>>::covector(B_bar, x_bar.data() + 6);
                    for (size_t k = 0; k < 7; ++k)
                        y_dot[k] = (y[1][k] - y[0][k]) / (2 * step);
                    CHECK(duals_agree(d, x_bar, y_dot, y_bar, 1e-6));
                }
            }
            CHECK(compared >= 10);
            CHECK(rejected <= 1 + compared / 20);
        }
}

TEST_CASE("contact: normal from b to a, point midway, and swapping the shapes turns the normal") {
    Rng g(3);
    for (const PairCase& c : all_cases()) {
        const ContactPass p(g, Regime::random, c);
        if ((c.b.feature.index & reversed_normal) != 0) continue;
        const Contact<double> y =
            costate::contact(c.a.shape, c.b.shape, c.pair(), p.X_a, p.X_b, p.size_a, p.size_b);
        const FeaturePair back{0, 1, c.b.feature, c.a.feature};
        const Contact<double> z =
            costate::contact(c.b.shape, c.a.shape, back, p.X_b, p.X_a, p.size_b, p.size_a);
        CHECK(y.normal.norm() == doctest::Approx(1));
        CHECK(y.gap == doctest::Approx(z.gap));
        CHECK((y.normal + z.normal).norm() < 1e-12);
        CHECK((y.point - z.point).norm() < 1e-12 * (1 + y.point.norm()));
    }
    const Transform<double> X{Mat3<double>::Identity(), {0, 0, 1.5}};
    const Placed ball = placed(ShapeType::sphere, {1, 0, 0}, X);
    const Placed ground = placed(ShapeType::plane, {0, 0, 0}, Transform<double>::identity());
    const Contact<double> y = contact(ball, ground, {0, 1, vertex_feature(0), face_feature(0)});
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
