// Limits of tendons: the dot-product test of a step with sensors, rigid and soft, MuJoCo's accelerations, a ball on a
// string, and files.
#include <doctest/doctest.h>

#include "tests/support/mjcf_text.hpp"
#include "tests/support/step_sensor_pass.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Three trees. A fixed tendon over all of them, a spatial one with a pulley between them, and one within a tree;
// at their limits near q = 0.
Model bound_model(Rng& g, bool soft) {
    using J = JointType;
    ModelBuilder builder;
    const J joints[] = {J::revolute, J::revolute, J::spherical, J::free, J::prismatic};
    const int parents[] = {-1, 0, 1, -1, -1};
    std::vector<int> sites;
    for (int i = 0; i < 5; ++i) {
        BodySpec body = random_body(g, i, parents[i], joints[i]);
        if (joints[i] == J::free) {
            body.placement.setZero();
            body.R_PB.setIdentity();
        }
        builder.add_body(body);
        sites.push_back(builder.add_site(
            {"site" + std::to_string(i), i, 0.3 * g.vec3(Regime::random), Mat3<double>::Identity()}));
    }
    const Softness softness{{0.03, 0.8}, {0.6, 0.9, 2, 0.4, 3}};
    const TendonPointSpec hook{-1, {1, 2, 3}};
    builder.add_tendon({"rope",
                        {},
                        0,
                        0,
                        0,
                        0,
                        {{1, {hook, {sites[0]}, {sites[2]}}}, {2, {{sites[2]}, {sites[3]}, {sites[4]}}}},
                        -unlimited,
                        0.4,
                        softness});
    builder.add_tendon({"rod", {}, 0, 0, 0, 0, {{1, {{sites[1]}, {sites[2]}}}}, 7, 8, softness});
    builder.add_tendon({"belt", {{0, 0.7}, {1, -0.4}, {4, -1.2}}, 0, 0, 0, 0, {}, 6, 9, softness});
    builder.set_soft(soft);
    return builder.build();
}

template <bool soft> struct TendonLimitPass : StepSensorPass {
    static inline int pulling = 0;  // rows with an impulse
    static ToyState world(Rng& g, Regime r) {
        Settings settings;
        if (soft) settings.law = ContactLaw::mujoco;
        ToyState t = state_without_shapes(bound_model(g, soft), g, r, settings);
        add_wrench_sensors(t.world, 5);
        for (Sensor s; s.tendon < 2;) {
            ++s.tendon;
            for (const SensorKind kind :
                 {SensorKind::tendon_length, SensorKind::tendon_velocity, SensorKind::tendon_limit_force}) {
                s.kind = kind;
                s.name = "tendon" + std::to_string(t.world.sensors.size());
                t.world.add_sensor(s);
            }
        }
        return t;
    }
    TendonLimitPass(Rng& g, Regime r) : StepSensorPass(world(g, r), g) {
        run_step(t, s);
        REQUIRE(s.rows.blocks.size() == 3);
        REQUIRE(s.rows.islands.size() == 1);
        for (const RowBlock& b : s.rows.blocks) {
            CHECK(b.kind == RowKind::tendon_limit);
            pulling += s.impulses.lambda[b.row] > 0;
        }
    }
};

// The state after one step from q and v.
VecX<double> after_a_step(const Scene& scene, const std::vector<double>& q, const std::vector<double>& v) {
    StepScratch<double> s(scene.world);
    VecX<double> x(scene.world.nx()), next = x;
    x << Eigen::Map<const VecX<double>>(q.data(), scene.world.nq()),
        Eigen::Map<const VecX<double>>(v.data(), scene.world.nv());
    step<double>(scene.world, {scene.theta.data(), x.data(), nullptr}, s, next.data());
    return next;
}

}  // namespace

TEST_CASE("adjoint: a step at limits of tendons, with sensors") {
    check_pass<TendonLimitPass<false>>(1e-10);
    check_pass<TendonLimitPass<true>>(1e-10);
    CHECK((TendonLimitPass<false>::pulling > 5 && TendonLimitPass<true>::pulling > 5));
}

TEST_CASE("limits of tendons: accelerations by MuJoCo's law are MuJoCo's") {
    const MjcfText file = mjcf(R"(<compiler angle="radian"/><option timestep="0.002"/>
<worldbody><site name="hook" pos="0 0 2"/>
<body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0"/><geom type="box" size=".2 .05 .05" pos=".2 0 0"/>
 <body name="b" pos=".4 0 0"><joint name="jb" axis="0 1 0.3"/><geom type="box" size=".15 .04 .05" pos=".15 0 0"/>
  <site name="tip" pos=".3 0 0.05"/></body></body>
<body name="ball" pos="0.5 0.2 0.6"><freejoint/><geom type="box" size=".06 .08 .1"/><site name="eye" pos="0.02 0.01 0.08"/></body>
<body name="c" pos="1 0 1"><joint name="jc" type="slide" axis="1 0 1"/><geom size=".05"/></body>
</worldbody>
<tendon><fixed name="f" limited="true" range="-0.1 0.2" solreflimit="0.05 0.8" solimplimit="0.8 0.9 0.02 0.4 3">
 <joint joint="ja" coef="1.2"/><joint joint="jb" coef="-0.7"/><joint joint="jc" coef="2"/></fixed>
<spatial name="s" range="0.1 0.9"><site site="hook"/><site site="tip"/><pulley divisor="2"/>
 <site site="tip"/><site site="eye"/></spatial></tendon>)");
    CHECK(file.imported.model["tendons"][1]["limits"] == Json{0.1, 0.9});
    Json json = file.scene_json();
    json["contact"]["law"] = "mujoco";
    const Scene scene = scene_from_json(json, "m.json");
    const std::vector<double> v{0.5, -0.4, 0.3, 0.2, -0.6, 0, 0, 0, 0.3};
    const VecX<double> next = after_a_step(scene,
                                           {0.4, -0.2, 0.5, 0.3, 0.7, 0.9233805168766388, 0.10259783520851543,
                                            -0.20519567041703085, 0.30779350562554625, 0.1},
                                           v);
    // qacc of MuJoCo 2.2.2 with Newton's method at a tolerance of 1e-15
    const double qacc[] = {-711.6546103380648,  -4381.2145795142451, 219.52462957813194,
                           -360.72898466010258, 48.579775221467642,  6252.1188303459885,
                           -508.36432558204615, -2476.9467850929068, -848.6954884890888};
    for (int j = 0; j < 9; ++j)
        CHECK((next[10 + j] - v[j]) / 0.002 == doctest::Approx(qacc[j]).epsilon(1e-8));
}

TEST_CASE("limits of tendons: a ball on a string falls, is caught without rebound, and hangs") {
    const Scene scene =
        scene_from_json(parse_json(R"({"steps": 1, "time_step": 0.001, "models": [{"name": "m",
        "position": [0, 0, 2], "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 0.5,
        "inertia": [0.001, 0.001, 0.001, 0, 0, 0], "sites": [{"name": "eye"}]}],
        "tendons": [{"name": "string", "path": [{"world": [0, 0, 0]}, {"site": "eye"}], "limits": [0, 0.3]}]}}]})",
                                   "string"),
                        "string.json");
    int caught = -1, at = 0;
    double impulse = 0;
    const VecX<double> x = walk(scene, 1000, [&](const VecX<double>&, const StepScratch<double>& s) {
        double sum = 0;
        for (const RowBlock& b : s.rows.blocks)
            sum += b.side < 0 ? s.impulses.lambda[b.row] : 0;
        if (sum > 0 && caught < 0) caught = at;
        impulse = sum;
        ++at;
    });
    CHECK(caught * 1e-3 == doctest::Approx(std::sqrt(2 * 0.3 / 9.81)).epsilon(0.02));
    CHECK(x[2] == doctest::Approx(1.7).epsilon(1e-3));
    CHECK(std::abs(x[9]) < 1e-7);
    CHECK(impulse == doctest::Approx(0.5 * 9.81 * 1e-3).epsilon(1e-9));
}

TEST_CASE("MJCF: limits of tendons, and what is wrong in them") {
    const auto tendon = [](const std::string& attributes, const char* option = "") {
        return mjcf(std::string(option) + "<tendon><fixed name='t' " + attributes +
                    "><joint joint='j' coef='2'/></fixed></tendon>" +
                    one_body("", "<joint name='j' type='slide' ref='0.5'/>"));
    };
    // MuJoCo's length is 2 (q + 0.5)
    const MjcfText m = tendon("range='-1 3' limited='true' solreflimit='.05 1'");
    CHECK(m.imported.model["tendons"][0]["limits"] == Json{-2.0, 2.0});
    CHECK(json_equals(m.imported.model["tendons"][0]["limit_solref"], {.05, 1}));
    CHECK(!tendon("range='-1 3' limited='false'").imported.model["tendons"][0].contains("limits"));
    CHECK(!tendon("range='-1 3'", "<option><flag limit='disable'/></option>")
               .imported.model["tendons"][0]
               .contains("limits"));
    CHECK_THROWS_WITH(tendon("limited='true'"), doctest::Contains("has no \"range\""));
    CHECK_THROWS_WITH(tendon("range='3 1' limited='true'"), doctest::Contains("is not a range"));
    // a length from 2 to 2.4 moves the slider to 0.5
    Json json = tendon("range='2 2.4' limited='true'").scene_json();
    json["gravity"] = {0, 0, 0};
    const Scene scene = scene_from_json(json, "m.json");
    CHECK(scene.world.model.layout.find("tendons/m/t/limits") != nullptr);
    CHECK(walk(scene, 2000)[0] == doctest::Approx(0.5).epsilon(1e-3));
}
