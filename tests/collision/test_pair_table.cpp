// The table of pairs: how many points a pair has at most, and how the normal of a contact follows from its
// features. It is printed here from the rows of collision/detect/narrow.cpp, kept in
// tests/readme/pair_table.md for collision/README.md, and every row is checked: contacts found, adjoints equal
// to dual numbers.
#include <fstream>
#include <sstream>

#include "tests/support/check_adjoint.hpp"
#include "tests/support/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

namespace {

struct Entry {
    int points = 0;
    bool implicit = false;
    double worst = 0;  // relative difference of adjoint and dual numbers
};

// <J x_dot, y_bar> against <x_dot, J* y_bar> for one contact, with respect to both poses and sizes
double adjoint_error(Rng& g, const Placed& a, const Placed& b, const FeaturePair& f) {
    using P = Probe<Transform<double>>;
    const Covector x_dot = g.covector(18), y_bar = g.covector(7);
    Covector y_dot(7), x_bar(18);
    const Contact<D> c =
        costate::contact(a.shape, b.shape, f, P::lift(a.X, x_dot.data()), P::lift(b.X, x_dot.data() + 6),
                         P3::lift(a.size, x_dot.data() + 12), P3::lift(b.size, x_dot.data() + 15));
    Probe<Contact<double>>::tangent(c, y_dot.data());
    Force<double> A = Force<double>::zero(), B = A;
    Vec3<double> sa(0, 0, 0), sb(0, 0, 0);
    contact_adj(a.shape, b.shape, f, a.X, b.X, a.size, b.size, Probe<Contact<double>>::bar(y_bar.data()), A,
                B, sa, sb);
    Probe<Motion<double>>::covector(A, x_bar.data());
    Probe<Motion<double>>::covector(B, x_bar.data() + 6);
    P3::covector(sa, x_bar.data() + 12);
    P3::covector(sb, x_bar.data() + 15);
    return std::abs(pairing(x_dot, x_bar) - pairing(y_dot, y_bar)) /
           (norm(x_dot) * norm(x_bar) + norm(y_dot) * norm(y_bar));
}

Entry entry_of(ShapeType ta, ShapeType tb) {
    Entry entry;
    Rng g(100 * static_cast<unsigned>(ta) + static_cast<unsigned>(tb));
    for (int trial = 0; trial < 400; ++trial) {
        auto [a, b] = random_pair(g, ta, tb, 0.4);
        if (trial % 4 == 0) {  // upright, one over the other or beside it
            if (a.shape.type == ShapeType::mesh) a.shape = cube_mesh();
            if (b.shape.type == ShapeType::mesh) b.shape = cube_mesh();
            if (b.shape.type == ShapeType::terrain) {
                b.shape = random_terrain(g, 9, 0);
                b.X.p.setZero();
            }
            b.X.R = Mat3<double>::Identity();
            a.X.R = rotation_matrix(quaternion_exp<double>({trial % 8 == 0 ? 0 : std::acos(0.0), 0, 0}));
            a.X.p = b.X.p + (trial % 3 == 0 ? Vec3<double>(0.4, 0, 0) : Vec3<double>(0, 0, 0.4));
        }
        const FeatureList list = features(a, b);
        entry.points = std::max(entry.points, list.count);
        for (int i = 0; i < list.count; ++i) {
            const FeaturePair f = list.pair(i, 0, 1);
            const auto has = [&](FeatureKind kind) { return f.on_a.kind == kind || f.on_b.kind == kind; };
            entry.implicit = entry.implicit || (has(FeatureKind::curve) && !has(FeatureKind::face));
            entry.worst = std::max(entry.worst, adjoint_error(g, a, b, f));
        }
    }
    return entry;
}

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("pair table: as tests/readme/pair_table.md says, every gradient equal to dual numbers") {
    std::string table = "|";
    for (const ShapeType tb : all_shape_types)
        table += std::string(" | ") + shape_type_name(tb);
    table += " |\n|---";
    for (size_t i = 0; i < std::size(all_shape_types); ++i)
        table += "|---";
    table += "|\n";
    for (size_t row = 0; row < std::size(all_shape_types); ++row) {
        const ShapeType ta = all_shape_types[row];
        table += std::string("| **") + shape_type_name(ta) + "**";
        for (size_t column = 0; column < std::size(all_shape_types); ++column) {
            const ShapeType tb = all_shape_types[column];
            if (column > row) {
                table += " |";
                continue;
            }
            if (!pair_supported(ta, tb)) {
                table += " | –";
                continue;
            }
            CAPTURE(std::string(shape_type_name(ta)));
            CAPTURE(std::string(shape_type_name(tb)));
            // a terrain comes second, as in every list of pairs
            const Entry entry = ta == ShapeType::terrain ? entry_of(tb, ta) : entry_of(ta, tb);
            const PairKind kind = pair_kind(ta, tb);
            const bool implicit = kind.normal == NormalForm::implicit;
            CHECK(entry.points == kind.most_points);
            CHECK((entry.implicit && !kind.in_cases) == implicit);  // cases give the normal of a curve, too
            CHECK(entry.worst < (implicit ? 1e-9 : 1e-11));
            table += " | " + std::to_string(kind.most_points) + (implicit ? ", implicit" : ", closed");
        }
        table += " |\n";
    }
    MESSAGE("\n" << table);
    CHECK(text_of("tests/readme/pair_table.md") == table);
}
