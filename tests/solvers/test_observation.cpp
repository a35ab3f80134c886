// Observations of a step's contacts.
#include "solvers/step/observation.hpp"

#include "tests/support/contact_stage.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Points, frames, gaps, impulses -> observations of contacts.
struct ObserveContactPass : ContactStage {
    std::vector<ContactObservation<D>> y;
    std::vector<ContactObservationBar<double>> y_bar;
    ObserveContactPass(Rng& g, Regime r) : ContactStage(g, r), y(s.contacts.points.size()), y_bar(y.size()) {
        for (size_t i = 0; i < y.size(); ++i) {
            ContactPoint<double>& c = s.contacts.points[i];
            ContactPoint<D>& dual = d.contacts.points[i];
            ContactPointBar<double>& bar = s.contacts.points_bar[i];
            // at rest some tangential impulses are 0
            in.add_along_direction(g, [&](Inputs& all) {
                all.add(c.geometry.normal, dual.geometry.normal, bar.geometry.normal);
                all.add(c.tangents.t1, dual.tangents.t1, bar.tangents.t1);
                all.add(c.tangents.t2, dual.tangents.t2, bar.tangents.t2);
                if (c.pyramid) all.add(c.friction, dual.friction, bar.friction);
            });
            in.add(c.geometry.point, dual.geometry.point, bar.geometry.point);
            in.add(c.geometry.gap, dual.geometry.gap, bar.geometry.gap);
            const int row = s.rows.contact_row[i];
            if (row >= 0)
                in.add(s.impulses.lambda.data() + row, d.impulses.lambda.data() + row,
                       s.impulses.lambda_bar.data() + row, c.pyramid ? c.rows() : 3);
            out.add<Vec3<double>>(y[i].point, y_bar[i].point);
            out.add<Vec3<double>>(y[i].normal, y_bar[i].normal);
            out.add<double>(y[i].gap, y_bar[i].gap);
            out.add<Vec3<double>>(y[i].impulse, y_bar[i].impulse);
        }
    }
    void run_duals() override {
        for (size_t i = 0; i < y.size(); ++i)
            y[i] = observe_contact(w, d, static_cast<int>(i));
    }
    void run_adjoint() override {
        for (size_t i = 0; i < y.size(); ++i)
            observe_contact_adj(s, static_cast<int>(i), y_bar[i]);
    }
};

}  // namespace

TEST_CASE("adjoint: observe_contact") {
    check_pass<ObserveContactPass>(1e-12);
    check_pass_on_pyramids<ObserveContactPass>(1e-12);
}

TEST_CASE("an observation has the contacts of the step") {
    Rng g(4);
    const ObserveContactPass stage(g, Regime::random);
    const Observation<double> y(stage.w, stage.s);
    REQUIRE(y.contacts() > 0);
    double sum = 0;
    for (int i = 0; i < y.contacts(); ++i) {
        const ContactObservation<double> c = y.contact(i);
        const int row = stage.s.rows.contact_row[i];
        if (row < 0) {
            CHECK(c.impulse.isZero());
            continue;
        }
        const double normal_impulse = stage.s.impulses.lambda[row];
        CHECK(c.normal.dot(c.impulse) == doctest::Approx(normal_impulse));
        CHECK(c.impulse.squaredNorm() ==
              doctest::Approx(Eigen::Map<const Vec3<double>>(&stage.s.impulses.lambda[row]).squaredNorm()));
        sum += normal_impulse;
    }
    CHECK(y.normal_impulse(-1) == doctest::Approx(sum));
}
