// Variables of an optimizer instead of parameters: the map and its adjoint, its inverse, and that every point
// is a physically consistent body.
#include <Eigen/Eigenvalues>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/toy_models.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Variables on every scale -> theta.
struct PlaceParametersPass : StagePass {
    Model m;
    ParameterMap map;
    VecX<double> y, y_bar, theta_bar;
    VecX<D> y_dual, theta_dual;
    PlaceParametersPass(Rng& g, Regime r)
        : m(toy_model(g)),
          map{{m.damping.at(2)},
              {1, -unlimited, unlimited, ParameterScale::log_cholesky},
              {m.mass.at(4), 0, 9, ParameterScale::log},
              {6, -unlimited, unlimited, ParameterScale::log_cholesky}},
          y(random_vector(size_of(map), g, r)),
          y_bar(y.size()),
          theta_bar(m.layout.size()),
          y_dual(y.size()),
          theta_dual(m.layout.size()) {
        in.add(y.data(), y_dual.data(), y_bar.data(), static_cast<int>(y.size()));
        for (const ParameterSlice& s : {m.damping, m.mass, m.com, m.inertia})
            out.add<double>(theta_dual.data() + s.offset, theta_bar.data() + s.offset,
                            s.width * static_cast<int>(m.bodies.size()));
    }
    void run_duals() override {
        theta_dual = m.layout.nominal().cast<D>();
        place_parameters(m, map, y_dual.data(), theta_dual.data());
    }
    void run_adjoint() override { place_parameters_adj(m, map, y.data(), theta_bar.data(), y_bar.data()); }
};

LogCholesky<double> random_point(Rng& g, double spread) {
    LogCholesky<double> y{spread * g.normal(), spread * g.vec3(Regime::random),
                          spread * g.vec3(Regime::random), spread * g.vec3(Regime::random)};
    return y;
}

// [Sigma h; h^T m] about the body's origin, by its definition from mass, centre of mass and inertia.
Eigen::Matrix4d pseudo_inertia(const MassProperties<double>& B) {
    const RigidInertia<double> I = place_inertia(Transform<double>::identity(), B);
    Eigen::Matrix4d J;
    J << 0.5 * I.I.trace() * Mat3<double>::Identity() - I.I, I.h, I.h.transpose(), I.m;
    return J;
}

}  // namespace

TEST_CASE("adjoint: place_parameters") { check_pass<PlaceParametersPass>(1e-12); }

TEST_CASE(
    "parameter map: the pseudo-inertia of a point is the product of its factor, as Rucker and Wensing write "
    "it") {
    Rng g(1);
    for (int n = 0; n < 100; ++n) {
        const LogCholesky<double> y = random_point(g, 0.7);
        Eigen::Matrix4d U;
        U << std::exp(y.d[0]), y.s[0], y.s[2], y.t[0], 0, std::exp(y.d[1]), y.s[1], y.t[1], 0, 0,
            std::exp(y.d[2]), y.t[2], 0, 0, 0, 1;
        U *= std::exp(y.alpha);
        const Eigen::Matrix4d expected = U * U.transpose();
        CHECK((pseudo_inertia(log_cholesky_body(y)) - expected).norm() <= 1e-13 * expected.norm());
    }
}

TEST_CASE("parameter map: every point is a physically consistent body, and every body is one point") {
    Rng g(2);
    for (int n = 0; n < 2000; ++n) {
        const LogCholesky<double> y = random_point(g, 1.2);
        const MassProperties<double> B = log_cholesky_body(y);
        CHECK(B.m > 0);
        // ascending
        const Vec3<double> moments = Eigen::SelfAdjointEigenSolver<Mat3<double>>(B.I).eigenvalues();
        CHECK(moments[0] > 0);
        CHECK(moments[2] < moments[0] + moments[1]);
        const Eigen::Matrix4d J = pseudo_inertia(B);
        // in units in which its diagonal is 1
        const Eigen::Vector4d unit = J.diagonal().cwiseSqrt().cwiseInverse();
        CHECK(Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(unit.asDiagonal() * J * unit.asDiagonal())
                  .eigenvalues()[0] > 0);
    }
    for (int n = 0; n < 200; ++n) {
        const MassProperties<double> B = random_mass(g);
        const auto y = log_cholesky_of(B);
        REQUIRE(y);
        const MassProperties<double> again = log_cholesky_body(*y);
        CHECK(again.m == doctest::Approx(B.m).epsilon(1e-14));
        CHECK((again.c - B.c).norm() == 0);
        CHECK((again.I - B.I).norm() <= 1e-12 * B.I.norm());
    }
    const auto has_point = [](double xx, double yy, double zz) {
        return log_cholesky_of({2, Vec3<double>::Zero(), Vec3<double>(xx, yy, zz).asDiagonal()}).has_value();
    };
    CHECK(has_point(1, 1, 1.9));
    CHECK(!has_point(1, 1, 2));    // flat
    CHECK(!has_point(1, 1, 2.1));  // impossible
    CHECK(!has_point(1, 1, 0));    // a rod
    CHECK(!has_point(0, 0, 0));    // a point
    CHECK(!log_cholesky_of({0, Vec3<double>::Zero(), Mat3<double>::Identity()}).has_value());
}

TEST_CASE("parameter map: a scene's body moves as a whole; its gradient against central differences") {
    const char* const bend =
        R"([{"term": "position", "body": "ball", "point": [0.1, 0.2, -0.1], "target": [1, 2, 3]},
                                 {"term": "position", "body": "arm/lower", "target": [1, 2, 3], "weight": 2}])";
    const Scene s = changed({{"/parameters", R"([{"path": "bodies/ball/pseudo_inertia", "optimize": true},
                                                 {"path": "joints/arm/shoulder/damping", "optimize": true},
                                                 {"path": "bodies/arm/*/pseudo_inertia", "optimize": true},
                                                 {"path": "bodies/ball/mass", "value": 0.7},
                                                 {"path": "bodies/ball/com", "value": [0.05, 0.02, -0.03]}])"},
                             {"/objective", bend},
                             {"/steps", "30"}});
    const Model& m = s.world.model;
    REQUIRE(s.parameters.size() == 4);
    CHECK((s.parameters[0].scale == ParameterScale::log_cholesky && s.parameters[0].index == 2 &&
           size_of(s.parameters) == 31));
    CHECK(variable_name(m, s.parameters, 10) == "joints/arm/shoulder/damping");
    CHECK(variable_name(m, s.parameters, 24) == "bodies/arm/lower/pseudo_inertia[3]");
    const VecX<double> y = variables_of(m, s.parameters, s.theta);
    CHECK(y[0] == 0.5 * std::log(0.7));
    VecX<double> theta = s.theta;
    place_parameters(m, s.parameters, y.data(), theta.data());
    CHECK((theta - s.theta).cwiseAbs().maxCoeff() < 1e-14);

    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    GradcheckOptions options;
    options.optimized = s.parameters;
    const GradcheckReport r = gradcheck(rollout, s.theta, s.x0, s.z0, options);
    CAPTURE(r.optimized.worst);
    CHECK(r.optimized.stencils == 31 + 16);
    CHECK(r.optimized.max_relative_error <= 1e-6);
    CHECK(r.optimized.taylor_order >= 1.95);
    CHECK(r.optimized.rejected < 0.1);

    // an optimizer uses the same map
    const Variables variables(s.world, s.plan, s.parameters, s.initial_state, {s.theta, s.x0, s.z0});
    const Eigen::Index torques = variables.size() - 31;
    CHECK(variables.start().tail(31) == y);
    VecX<double> far = variables.start();
    far.tail(31).array() += 0.3;
    theta = variables.inputs(far).theta;
    CHECK(theta[m.mass.at(2)] == doctest::Approx(0.7 * std::exp(0.6)));
    CHECK(theta[m.damping.at(0)] == doctest::Approx(0.4));
    rollout.forward(s.theta, s.x0, s.z0);
    Gradient g;
    rollout.backward(s.theta, s.z0, g);
    const VecX<double> y_bar = variables.pull_back(variables.start(), g);
    CHECK(y_bar[torques + 10] == g.parameters[m.damping.at(0)]);
    CHECK(y_bar[torques + 7] == g.parameters[m.com.at(2)]);  // t is the centre of mass
}

TEST_CASE("parameter map: bodies without a log-Cholesky form, and parts that move twice") {
    const auto with = [](const std::string& parameters) {
        return complaint([&] { changed({{"/parameters", parameters.c_str()}}); });
    };
    check_complaint(
        with(
            R"([{"path": "bodies/ball/pseudo_inertia", "optimize": true}, {"path": "bodies/ball/inertia", "value": [1, 1, 2, 0, 0, 0]}])"),
        "test.json#/parameters/0/path: ", "body \"ball\" is a point, thin or flat", "give it extent");
    check_complaint(
        with(
            R"([{"path": "bodies/ball/pseudo_inertia", "optimize": true}, {"path": "bodies/*/mass", "optimize": true}])"),
        "test.json#/parameters/1/path: ", "\"bodies/ball/mass\" is optimized twice", "name it in one place");
    check_complaint(
        with(
            R"([{"path": "bodies/ball/com[1]", "optimize": true}, {"path": "bodies/*/pseudo_inertia", "optimize": true}])"),
        "test.json#/parameters/1/path: ", "\"bodies/ball/com[1]\" is optimized twice",
        "name it in one place");
}
