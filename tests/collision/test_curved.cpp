// Curves: their support points, the normals at which they meet others, and whole contacts, at the solutions
// the narrow phase finds.
#include "collision/contact/curved.hpp"

#include "collision/contact/contact.hpp"
#include "collision/detect/detect.hpp"
#include "collision/detect/narrow.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

Vec3<D> lifted(const Vec3<double>& x, const double* d) { return P3::lift(x, d); }

// Numbers of size of a type that a curve of it depends on.
int sizes_of(ShapeType type) { return type == ShapeType::cylinder ? 2 : 3; }

// Inputs: twist of the shape, direction, sizes. Output: the point.
struct SupportPass {
    Shape shape;
    Feature feature;
    Transform<double> X;
    Vec3<double> size, d;
    SupportPass(Rng& g, Regime r) : X(Probe<Transform<double>>::random(g, r)), d(g.vec3(Regime::random)) {
        const bool round = g.uniform(0, 1) < 0.5;
        shape = shape_of(round ? ShapeType::ellipsoid : ShapeType::cylinder);
        feature = curve_feature(round || g.uniform(0, 1) < 0.5 ? 0 : 1);
        for (int k = 0; k < 3; ++k)
            size[k] = g.uniform(0.2, 1);
    }
    int inputs() const { return 9 + sizes_of(shape.type); }
    int outputs() const { return 3; }
    Covector forward(const Covector& x_dot) const {
        double s_dot[3] = {};
        std::copy(x_dot.begin() + 9, x_dot.end(), s_dot);
        const Transform<D> XD = Probe<Transform<double>>::lift(X, x_dot.data());
        Covector y(3);
        P3::tangent(support_point<D>(shape, feature, XD, lifted(size, s_dot), lifted(d, x_dot.data() + 6)),
                    y.data());
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        NoBar none;
        Force<double> X_bar = Probe<Transform<double>>::bar(prior.data());
        Vec3<double> d_bar = P3::bar(prior.data() + 6), s_bar = Vec3<double>::Zero();
        std::copy(prior.begin() + 9, prior.end(), s_bar.data());
        support_point_adj(shape, feature, X, size, d, P3::bar(y_bar.data()), none, none, X_bar, s_bar, d_bar);
        Covector x_bar = prior;
        Probe<Transform<double>>::covector(X_bar, x_bar.data());
        P3::covector(d_bar, x_bar.data() + 6);
        std::copy(s_bar.data(), s_bar.data() + sizes_of(shape.type), x_bar.data() + 9);
        return x_bar;
    }
};

// Two shapes near each other with a curve on at least one of them, as the narrow phase sees them. Not every
// number of size matters to every feature, so all three count as inputs and those without effect are told.
struct CurvePair {
    Placed a, b;
    FeaturePair f;
    bool a_has_curve() const { return f.on_a.kind == FeatureKind::curve; }
    const Placed& first() const { return a_has_curve() ? a : b; }
    const Placed& second() const { return a_has_curve() ? b : a; }
    const Feature& first_feature() const { return a_has_curve() ? f.on_a : f.on_b; }
    const Feature& second_feature() const { return a_has_curve() ? f.on_b : f.on_a; }
    Vec3<double> normal() const { return a_has_curve() ? f.normal : Vec3<double>(-f.normal); }

    static CurvePair random(Rng& g) {
        constexpr ShapeType partners[] = {ShapeType::plane,     ShapeType::sphere, ShapeType::capsule,
                                          ShapeType::box,       ShapeType::mesh,   ShapeType::cylinder,
                                          ShapeType::ellipsoid, ShapeType::terrain};
        for (;;) {
            const ShapeType curved = g.uniform(0, 1) < 0.5 ? ShapeType::ellipsoid : ShapeType::cylinder;
            Placed a = random_placed(g, curved, 0.6), b = random_placed(g, partners[g.engine() % 8], 0.6);
            if (g.uniform(0, 1) < 0.5) std::swap(a, b);
            const FeatureList list = features(a, b);
            for (int i = 0; i < list.count; ++i) {
                const CurvePair p{a, b, list.pair(i, 0, 1)};
                if (p.f.on_a.kind == FeatureKind::curve || p.f.on_b.kind == FeatureKind::curve) return p;
            }
        }
    }
};

// Inputs: twists and sizes of both; f is a function of the two features, its adjoint likewise.
struct CurvePassBase {
    CurvePair p;
    int inputs_without_effect = 0;
    explicit CurvePassBase(Rng& g) : p(CurvePair::random(g)) {}
    int inputs() const { return 18; }

    template <class F> auto with_duals(const Covector& x_dot, F f) const {
        using P = Probe<Transform<double>>;
        const Transform<D> X1 = P::lift(p.first().X, x_dot.data()),
                           X2 = P::lift(p.second().X, x_dot.data() + 6);
        const Vec3<D> s1 = lifted(p.first().size, x_dot.data() + 12),
                      s2 = lifted(p.second().size, x_dot.data() + 15);
        return f(FeatureOf<D>{p.first().shape, p.first_feature(), X1, s1},
                 FeatureOf<D>{p.second().shape, p.second_feature(), X2, s2});
    }
    template <class F> Covector with_bars(const Covector& prior, F f) const {
        using P = Probe<Transform<double>>;
        Force<double> X1 = P::bar(prior.data()), X2 = P::bar(prior.data() + 6);
        Vec3<double> s1 = P3::bar(prior.data() + 12), s2 = P3::bar(prior.data() + 15);
        f(FeatureOf<double>{p.first().shape, p.first_feature(), p.first().X, p.first().size},
          FeatureOf<double>{p.second().shape, p.second_feature(), p.second().X, p.second().size},
          FeatureOfBar<double>{X1, s1}, FeatureOfBar<double>{X2, s2});
        Covector x_bar(18);
        P::covector(X1, x_bar.data());
        P::covector(X2, x_bar.data() + 6);
        P3::covector(s1, x_bar.data() + 12);
        P3::covector(s2, x_bar.data() + 15);
        return x_bar;
    }
    template <class Pass> void count_without_effect(const Pass& pass) {
        for (int i = 0; i < 18; ++i) {
            Covector only(18);
            only[i] = 1;
            inputs_without_effect += norm(pass.forward(only)) == 0;
        }
    }
};

struct CurveNormalPass : CurvePassBase {
    CurveNormalPass(Rng& g, Regime) : CurvePassBase(g) { count_without_effect(*this); }
    int outputs() const { return 3; }
    Covector forward(const Covector& x_dot) const {
        return with_duals(x_dot, [&](const FeatureOf<D>& f1, const FeatureOf<D>& f2) {
            Covector y(3);
            P3::tangent(curve_normal(f1, f2, p.normal()), y.data());
            return y;
        });
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        return with_bars(prior, [&](const auto& f1, const auto& f2, auto bar_1, auto bar_2) {
            curve_normal_adj(f1, f2, curve_normal(f1, f2, p.normal()), P3::bar(y_bar.data()), bar_1, bar_2);
        });
    }
};

struct CurvePass : CurvePassBase {
    CurvePass(Rng& g, Regime) : CurvePassBase(g) { count_without_effect(*this); }
    int outputs() const { return 7; }
    Covector forward(const Covector& x_dot) const {
        return with_duals(x_dot, [&](const FeatureOf<D>& f1, const FeatureOf<D>& f2) {
            Covector y(7);
            Probe<Contact<double>>::tangent(curve_contact(f1, f2, p.normal()), y.data());
            return y;
        });
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        return with_bars(prior, [&](const auto& f1, const auto& f2, auto bar_1, auto bar_2) {
            curve_contact_adj(f1, f2, p.normal(), Probe<Contact<double>>::bar(y_bar.data()), bar_1, bar_2);
        });
    }
};

// Each pass draws its own pair.
template <class Pass> struct Many : Pass {
    static inline unsigned which = 0;
    static Rng& reseeded(Rng& g) { return g.engine.seed(which), g; }
    Many(Rng& g, Regime r) : Pass(reseeded(g), r) {}
};

}  // namespace

TEST_CASE("adjoint: support_point") { check_pass<SupportPass>(1e-12); }

TEST_CASE("adjoint: curve_normal, curve_contact; one pair") {
    check_pass<CurveNormalPass>(1e-9);
    check_pass<CurvePass>(1e-9);
}

// The equation of a normal may be nearly singular (a depth like the radius of curvature), so 1e-9 instead of
// 1e-11.
TEST_CASE("adjoint: curve_normal, curve_contact; many pairs") {
    for (unsigned seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        Many<CurveNormalPass>::which = Many<CurvePass>::which = seed;
        check_pass<Many<CurveNormalPass>>(1e-9);
        check_pass<Many<CurvePass>>(1e-9);
    }
}

TEST_CASE("curved: the normal is stationary to round-off") {
    Rng g(4);
    for (int trial = 0; trial < 2000; ++trial) {
        const CurvePair p = CurvePair::random(g);
        if (p.second_feature().kind == FeatureKind::face) continue;
        const FeatureOf<double> f1{p.first().shape, p.first_feature(), p.first().X, p.first().size};
        const FeatureOf<double> f2{p.second().shape, p.second_feature(), p.second().X, p.second().size};
        CHECK((curve_normal(f1, f2, p.normal()) - p.normal()).norm() < 1e-12);
    }
}

namespace {

Mat3<double> rows(std::initializer_list<double> r) {
    return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(r.begin());
}

}  // namespace

// At these poses a simplex of GJK becomes so flat that none of its sides seems to part it from the origin.
TEST_CASE("curved: shapes a tenth of a millimetre apart do not overlap") {
    const Placed box =
        placed(ShapeType::box, {0.021962319341292339, 0.079419254752220808, 0.1083992998473884},
               {rows({-0.69605435413231154, -0.46645586327826294, -0.54582713720259557, 0.67653635397078327,
                      -0.17152647139983312, -0.71615447451303504, 0.24043065081093459, -0.86775434151749009,
                      0.43496609629737543}),
                {0.18048445908121549, -0.0081783004174446026, 0.31695736395909674}});
    const Placed can = placed(ShapeType::cylinder, {0.069264430604837487, 0.081916020722697463, 0},
                              {rows({0.99819484510594025, 0.055977839714920472, -0.021760805701503353,
                                     -0.045673814118103381, 0.94281021771760343, 0.33018600223387767,
                                     0.03899940907030322, -0.32859606636132449, 0.94366502068479319}),
                               {0.26214543464498008, 0.066018030700553121, 0.10114096957359127}});
    CHECK(
        gap(box, can) ==
        doctest::Approx(gjk_distance(box.shape, can.shape, box.X, can.X, box.size, can.size)).epsilon(1e-4));
    CHECK(gap(box, can) > 8e-5);
}

// Here Newton's steps for the rim and a vertex do not settle: the vertex is inside, and no normal at the rim
// is a maximum.
TEST_CASE("curved: the closed form keeps the normal of an overlap") {
    const Placed can = placed(ShapeType::cylinder, {0.080091162090245901, 0.087006324586448691, 0},
                              {rows({-0.93439117643232161, -0.080242869025023089, 0.34709395179987668,
                                     -0.3316664797598653, -0.15970318560439362, -0.92978074765586949,
                                     0.13004028456259623, -0.98389835576569684, 0.1226113775815173}),
                               {0.27212518996435614, 0.35543752448504728, 0.15975335763708895}});
    const Placed box =
        placed(ShapeType::box, {0.091649429647771757, 0.087176057777413385, 0.1062804760609446},
               {rows({0.78242512877426051, -0.11358251111824114, -0.61229889027390572, 0.036737068496175161,
                      0.98993246624934661, -0.13668979502433112, 0.6216601206936867, 0.084455464201915034,
                      0.77872072587388463}),
                {0.021042843696118418, 0.47593949661813251, 0.17415627703732844}});
    const FeatureList list = features(can, box, 0.01);
    REQUIRE(list.count > 0);
    for (int i = 0; i < list.count; ++i) {
        const FeaturePair f = list.pair(i, 0, 1);
        CHECK((contact(can, box, f).normal - f.normal).norm() < 1e-8);
        CHECK(contact(can, box, f).gap < 0);
    }
}

// The normal of the face that the first guess takes is its own, whatever the tolerance, but the edge lies
// beyond the rim.
TEST_CASE("curved: an edge beside a cap touches its rim") {
    const Placed box =
        placed(ShapeType::box, {0.02187422808483705, 0.094487613165826892, 0.10482925834172357},
               {rows({-0.19211646937198698, -0.62439859526598629, 0.75711138970821545, -0.10303713501205497,
                      0.78005218336716819, 0.61717253668048233, -0.97594805753408309, 0.040558420259877513,
                      -0.21419711375616901}),
                {0.17158295199372678, -0.22838247577302137, 0.24278332620464613}});
    const Placed can = placed(ShapeType::cylinder, {0.11701400992629749, 0.086762939393537561, 0},
                              {rows({-0.69121171292351724, -0.52847029648888044, -0.49289503309152105,
                                     -0.057467562449083132, -0.6397066011114183, 0.76646783609009783,
                                     -0.72036369091140184, 0.55811702197964796, 0.41180279575674461}),
                               {0.19751549660830009, -0.35504398669557635, 0.11212153503158892}});
    const FeatureList list = features(box, can, 0.01);
    REQUIRE(list.count == 1);
    CHECK(list.items[0].on_a == edge_feature(9));
    CHECK(list.items[0].on_b == curve_feature(1));
    CHECK(
        gap(box, can) ==
        doctest::Approx(gjk_distance(box.shape, can.shape, box.X, can.X, box.size, can.size)).epsilon(1e-6));
}
