// Sites, the named frames of bodies: in scenes, in objectives, and gradients by their positions.
#include <doctest/doctest.h>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "core/dynamics/queries.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;

namespace {

constexpr const char* tip = R"([{"name": "grip", "position": [0.1, -0.2, 0.3], "rpy_deg": [0, 0, 90]}])";
constexpr const char* at_site =
    R"([{"term": "position", "site": "arm/grip", "target": [0.3, 0, 0.5], "at": "running"},
                                    {"term": "velocity", "site": "arm/grip", "norm": "distance"},
                                    {"term": "height", "site": "mark", "weight": 3}])";
constexpr const char* at_point =
    R"([{"term": "position", "body": "arm/lower", "point": [0.1, -0.2, 0.3], "target": [0.3, 0, 0.5],
                                      "at": "running"},
                                     {"term": "velocity", "body": "arm/lower", "point": [0.1, -0.2, 0.3], "norm": "distance"},
                                     {"term": "height", "body": "ball", "point": [0, 0.1, 0.2], "weight": 3}])";

Scene with_sites(const char* objective, const char* more = "[]") {
    return changed(
        {{"/models/0/model/bodies/1/sites", tip},
         {"/models/1/model/bodies/0/sites", R"([{"name": "ball.mark", "position": [0, 0.1, 0.2]}])"},
         {"/models/1/name", "\"ball\""},
         {"/ground/restitution", "0.2"},  // no tie with that of other shapes, which is a kink
         {"/parameters", more},
         {"/objective", objective}});
}

struct SiteRun {
    Scene scene;
    Simulation simulation{scene.world, scene.objective};
    Rollout<Simulation> rollout{simulation, scene.plan, scene.steps};
    explicit SiteRun(Scene s) : scene(std::move(s)) {}
    double loss(const VecX<double>& theta) { return rollout.forward(theta, scene.x0, scene.z0); }
    Gradient gradient() {
        loss(scene.theta);
        Gradient g;
        rollout.backward(scene.theta, scene.z0, g);
        return g;
    }
};

}  // namespace

TEST_CASE("sites: they have the positions of the scene") {
    const Scene s = with_sites("[]", R"([{"path": "sites/arm/grip/position", "value": [0.1, -0.2, 0.4]}])");
    const Model& m = s.world.model;
    REQUIRE(m.sites.size() == 2);
    CHECK((m.sites[0].name == "arm/grip" && m.sites[0].body == m.body_index("arm/lower")));
    CHECK((m.sites[1].name == "ball.mark" && m.sites[1].body == m.body_index("ball")));
    Kinematics<double> k(m);
    kinematics(m, s.theta.data(), s.x0.data(), s.x0.data() + m.nq, k);
    const Transform<double> grip = site_pose(m, s.theta.data(), k, 0),
                            mark = site_pose(m, s.theta.data(), k, 1);
    // the elbow slides up by 0.25
    CHECK((grip.p - Vec3<double>(0.1, -0.2, 1 - 0.4 + 0.25 + 0.4)).norm() < 1e-15);
    CHECK((grip.R.col(0) - Vec3<double>::UnitY()).norm() < 1e-15);
    CHECK((mark.p - Vec3<double>(1, 0.1, 0.7)).norm() < 1e-15);
}

TEST_CASE("sites: a term at a site is the term at its point, and has a gradient by its place") {
    std::string text = at_site;
    text.replace(text.find("\"mark\""), 6, "\"ball.mark\"");
    SiteRun site(with_sites(text.c_str())), point(with_sites(at_point));
    const Gradient g = site.gradient(), h = point.gradient();
    CHECK(site.loss(site.scene.theta) == point.loss(point.scene.theta));
    CHECK((g.controls - h.controls).norm() == 0);
    CHECK((g.initial_state - h.initial_state).norm() == 0);
    const int at = site.scene.world.model.site_position.at(0);
    CHECK(h.parameters.segment<6>(at).norm() == 0);
    CHECK(g.parameters.segment<3>(at).minCoeff() < 0);
    CHECK((g.parameters.segment<3>(at + 3) - Vec3<double>(h.parameters.segment<3>(at + 3))).norm() > 0.1);
    VecX<double> others = g.parameters - h.parameters;
    others.segment<6>(at).setZero();
    CHECK(others.norm() == 0);
    for (int i = at; i < at + 6; ++i) {
        CAPTURE(i - at);
        VecX<double> up = site.scene.theta, down = up;
        up[i] += 1e-5;
        down[i] -= 1e-5;
        CHECK((site.loss(up) - site.loss(down)) / 2e-5 == doctest::Approx(g.parameters[i]).epsilon(1e-7));
    }
    const GradcheckReport r =
        gradcheck(site.rollout, site.scene.theta, site.scene.x0, site.scene.z0, GradcheckOptions());
    CAPTURE(r.parameters.worst);
    CHECK(r.parameters.max_relative_error < 1e-7);
    CHECK(r.initial_state.max_relative_error < 1e-7);
}

TEST_CASE("sites: wrong ones are named") {
    const auto said = [](const char* objective) { return complaint([&] { with_sites(objective); }); };
    check_complaint(said(R"([{"term": "position", "site": "arm/gripp"}])"), "test.json#/objective/0/site: ",
                    "no site is named \"arm/gripp\", the nearest is \"arm/grip\"", "correct the name");
    check_complaint(said(R"([{"term": "position", "site": "arm/grip", "body": "ball"}])"),
                    "test.json#/objective/0/body: ", "the site gives the point", "remove it");
    check_complaint(said(R"([{"term": "height", "site": "arm/grip", "point": [0, 0, 0]}])"),
                    "test.json#/objective/0/point: ", "the site gives the point", "remove it");
    check_complaint(said(R"([{"term": "effort", "site": "arm/grip"}])"),
                    "test.json#/objective/0/site: ", "the term is effort", "remove it");
    const auto sites = [](const char* text) {
        return complaint([&] { changed({{"/models/0/model/bodies/1/sites", text}}); });
    };
    const char* place = "test.json#/models/0/model/bodies/1/sites";
    check_complaint(sites(R"([{"position": [0, 0, 0]}])"), std::string(place) + "/0: ", "has no \"name\"",
                    "add it");
    check_complaint(sites(R"([{"name": "a"}, {"name": "a"}])"),
                    std::string(place) + "/1/name: ", "already a site named \"a\"", "rename");
    check_complaint(sites(R"([{"name": "a", "pos": [0, 0, 0]}])"),
                    std::string(place) + "/0/pos: ", "unknown key of site", "correct");
    check_complaint(
        complaint([] { with_sites("[]", R"([{"path": "sites/arm/grp/position", "value": 1}])"); }),
        "test.json#/parameters/0/path: ", "the nearest is \"sites/arm/grip/position\"", "correct");
}
