// Sensors: the dot-product test of every kind through a step, and what mechanics says of their values.
#include "solvers/sensors/distance_sensors.hpp"
#include "solvers/sensors/sensors.hpp"
#include "solvers/sensors/zone.hpp"

#include "collision/shapes/terrain.hpp"
#include "tests/support/contact_stage.hpp"
#include "tests/support/sample_shapes.hpp"
#include "tests/support/step_derivatives.hpp"
#include "tests/support/step_sensor_pass.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr int kinds = static_cast<int>(std::size(sensor_traits));

std::vector<int> shapes_of(const World& w, int body) {
    std::vector<int> all;
    for (size_t n = 0; n < w.shapes.shapes.size(); ++n)
        if (w.shapes.shapes[n].body == body) all.push_back(static_cast<int>(n));
    return all;
}

// A sensor on each of several subjects of a world.
void add_sensors(World& w, SensorKind kind) {
    const Model& m = w.model;
    const int bodies = static_cast<int>(m.bodies.size());
    Sensor s;
    s.name = "y" + std::to_string(w.sensors.size());
    s.kind = kind;
    switch (traits_of(kind).subject) {
        case SensorSubject::scan:
            s.rows = 2;
            s.columns = 3;
            s.spacing_x = 0.03;
            s.spacing_y = 0.02;
            s.cutoff = 10;
            [[fallthrough]];
        case SensorSubject::frame:
            for (size_t n = 0; n < m.sites.size(); ++n) {
                Sensor at = s;
                at.site = static_cast<int>(n);
                at.body = m.sites[n].body;
                w.add_sensor(at);
            }
            for (const int body : {0, 2, bodies - 1}) {
                s.body = body;
                w.add_sensor(s);
            }
            s.zone = Zone{ShapeType::box, {0.3, 0.2, 0.4}};
            w.add_sensor(s);
            return;
        case SensorSubject::frames:
            for (size_t n = 0; n < m.sites.size(); ++n)
                for (const int other : {0, 2, bodies - 1}) {
                    const SensorFrame site{m.sites[n].body, static_cast<int>(n)}, body{other, -1};
                    for (const auto& [of, in] : {std::pair(site, body), std::pair(body, site)}) {
                        s.body = of.body;
                        s.site = of.site;
                        s.reference = in;
                        w.add_sensor(s);
                    }
                }
            return;
        case SensorSubject::subtree:
            s.bodies = {bodies - 3, bodies};
            w.add_sensor(s);
            s.bodies = {0, bodies};
            w.add_sensor(s);
            return;
        case SensorSubject::joint:
            for (const int body : {0, bodies - 1}) {
                s.body = body;
                w.add_sensor(s);
            }
            return;
        case SensorSubject::tendon:
            for (size_t n = 0; n < m.tendons.size(); ++n) {
                s.tendon = static_cast<int>(n);
                w.add_sensor(s);
            }
            return;
        case SensorSubject::axis:
            for (const JointLimit& limit : m.limits) {
                s.body = limit.body;
                if (!limit.ball) w.add_sensor(s);
            }
            [[fallthrough]];
        case SensorSubject::drive:
        case SensorSubject::actuator:
            for (int n = 0; n < m.nu; ++n) {
                const Actuator& a = m.actuators[n];
                if (!a.on_joint && traits_of(kind).subject != SensorSubject::actuator) continue;
                s.actuator = n;
                s.body = a.body;
                w.add_sensor(s);
            }
            return;
        case SensorSubject::pair:
            for (int a = 0; a < bodies; ++a)
                for (int b = -1; b < a; ++b) {
                    s.shapes_a = shapes_of(w, a);
                    s.shapes_b = shapes_of(w, b);
                    if (!s.shapes_a.empty() && !s.shapes_b.empty()) w.add_sensor(s);
                }
            return;
    }
}

// All sensors, those that can saturate at the cutoff.
void add_all_sensors(World& w, double cutoff = unlimited) {
    for (int kind = 0; kind < kinds; ++kind)
        add_sensors(w, static_cast<SensorKind>(kind));
    for (Sensor& s : w.sensors)
        if (can_be_cut_off(s.kind) && !ends_at_cutoff(s.kind)) s.cutoff = cutoff;
}

// Every input of a step -> the sensors of one kind, or of all kinds.
struct SensorPass : ContactStage {
    static inline int kind = -1;              // -1: all
    static inline double cutoff = unlimited;  // of all sensors
    SensorScratch<double> scratch;
    SensorScratch<D> scratch_dual;
    std::vector<D> y;
    std::vector<double> y_bar;
    int inputs_without_effect = 2;  // of all sensors: erp and slop correct positions, which no sensor reads

    SensorPass(Rng& g, Regime r) : ContactStage(g, r), scratch(w), scratch_dual(w) {
        for (int i = 0; i < 3; ++i)
            t.theta[m.site_rotation.at(0) + i] = g.normal();
        theta = t.theta.cast<D>();
        if (kind < 0)
            add_all_sensors(t.world, cutoff);
        else
            add_sensors(t.world, static_cast<SensorKind>(kind));
        y.resize(w.ny());
        y_bar.resize(w.ny());
        const int bodies = static_cast<int>(m.bodies.size()),
                  shapes = static_cast<int>(w.shapes.shapes.size());
        add_configuration(in);
        add_velocity(in);
        in.add_along_direction(g, [&](Inputs& all) { add_controls(all); });
        for (const auto& slice : {m.mass, m.com, m.inertia, m.placement, m.rotation, m.axis_rotation})
            add_parameters_along_direction(g, slice, bodies);
        for (const auto& slice : {m.damping, m.armature, m.stiffness, m.rest})
            add_parameters_along_direction(g, slice, m.nv);
        for (const auto& slice : {m.actuator.gear, m.actuator.kp, m.actuator.kd})
            add_parameters_along_direction(g, slice, m.nu);
        for (const auto& slice : {m.gravity, w.time_step, w.compliance, w.erp, w.slop})
            add_parameters(slice, 1);
        for (const auto& slice : {w.shapes.size, w.shapes.position, w.shapes.rotation, w.shapes.friction,
                                  w.shapes.restitution, w.shapes.margin})
            add_parameters_along_direction(g, slice, shapes);
        add_parameters(m.site_position, 1);
        add_parameters(m.site_rotation, 1);
        add_springs(g);
        out.add<double>(y, y_bar);
        if (kind >= 0 || cutoff < unlimited) inputs_without_effect = count_without_effect();
    }
    int count_without_effect() {
        int count = 0;
        for (int i = 0; i < inputs(); ++i) {
            Covector only(static_cast<size_t>(inputs()));
            only[i] = 1;
            count += norm(forward(only)) == 0;
        }
        return count;
    }
    void run_duals() override {
        step(w, {theta.data(), x.data(), u.data()}, d, x_next.data());
        sensor_values(w, {theta.data(), x.data(), u.data()}, d, scratch_dual, y.data());
    }
    void run_adjoint() override {
        std::vector<double> values(y.size());
        sensor_values(w, {t.theta.data(), t.x.data(), t.u.data()}, s, scratch, values.data());
        sensor_values_adj(w, {t.theta.data(), t.x.data(), t.u.data()}, s, scratch, y_bar.data(),
                          {theta_bar.data(), x_bar.data(), u_bar.data()});
        step_adj(w, {t.theta.data(), t.x.data(), t.u.data()}, s, x_next_bar.data(),
                 {theta_bar.data(), x_bar.data(), u_bar.data()});
    }
};

// A step of a body above a terrain and, beyond it, a plane, both tilted, with a scan that meets both.
struct TiltedScanPass : StepSensorPass {
    static ToyState world(Rng& g, Regime r) {
        ModelBuilder builder;
        BodySpec body = random_body(g, 0, -1, JointType::free);
        body.placement.setZero();
        body.R_PB.setIdentity();
        builder.add_body(body);
        Model m = builder.build();
        ShapeSpec terrain = toy_shape(g, "terrain", ShapeType::terrain, -1, {0.3, 0.4, 0.5}),
                  plane = toy_shape(g, "plane", ShapeType::plane, -1, Vec3<double>::Zero());
        terrain.terrain = random_terrain(g, 5, 0.2).terrain;
        plane.position = {0, 0, -1};
        for (ShapeSpec* each : {&terrain, &plane})
            each->R_BS = rotation_matrix(quaternion_exp<double>(0.2 * g.vec3(Regime::random)));
        ShapeSet set = build_shapes(m, {terrain, plane});
        ToyState t{World(std::move(m), std::move(set), Settings()), {}, {}, {}};
        t.theta = t.world.model.layout.nominal();
        t.x.resize(t.world.nx());
        t.x << random_configuration(t.world.model, g, r), random_vector(t.world.nv(), g, r);
        t.x.head<3>() = Vec3<double>(0, 0, 2) + 0.1 * g.vec3(Regime::random);
        Sensor scan;
        scan.name = "scan";
        scan.kind = SensorKind::height_scan;
        scan.body = 0;
        scan.rows = 4;
        scan.columns = 5;
        scan.spacing_x = 0.31;
        scan.spacing_y = 0.23;
        scan.cutoff = 10;
        t.world.add_sensor(scan);
        turn_all(t, g);
        return t;
    }
    TiltedScanPass(Rng& g, Regime r) : StepSensorPass(world(g, r), g) {}
};

// The pose of a body, and position and rotation of a site on it -> the pose of the site.
struct SiteFramePass : ContactStage {
    Transform<D> pose;
    Force<double> pose_bar = Force<double>::zero();
    SiteFramePass(Rng& g, Regime r) : ContactStage(g, r) {
        for (int i = 0; i < 3; ++i)
            t.theta[m.site_rotation.at(0) + i] = g.around_zero(r);
        theta = t.theta.cast<D>();
        const size_t body = m.sites[0].body;
        in.add<Transform<double>>(s.kinematics.X[body], d.kinematics.X[body], s.bar.X[body]);
        add_parameters(m.site_position, 1);
        add_parameters(m.site_rotation, 1);
        out.add<Transform<double>>(pose, pose_bar);
    }
    void run_duals() override { pose = site_frame(m, theta.data(), d.kinematics, 0); }
    void run_adjoint() override {
        const Transform<double> X = site_frame(m, t.theta.data(), s.kinematics, 0);
        site_frame_adj(m, t.theta.data(), s.kinematics, 0, X, pose_bar, s.bar, theta_bar.data());
    }
};

// Directional derivatives of all sensors of a toy state by dual numbers against the adjoint, with an external
// wrench on every body. Branches must agree.
void check_toy_sensors(ToyState t, unsigned seed) {
    CAPTURE(seed);
    Rng g(seed);
    World& w = t.world;
    add_all_sensors(w);
    const auto bodies = static_cast<Eigen::Index>(w.model.bodies.size());
    const VecX<double> wrenches = random_vector(static_cast<int>(6 * bodies), g, Regime::random),
                       y_bar = random_vector(w.ny(), g, Regime::random);
    for (size_t n = 0; n < w.model.sites.size(); ++n)
        t.theta[w.model.site_rotation.at(static_cast<int>(n))] = g.normal();

    StepScratch<double> s(w);
    SensorScratch<double> scratch(w);
    VecX<double> next(w.nx()), y(w.ny());
    step(w, {t.theta.data(), t.x.data(), t.u.data(), wrenches.data()}, s, next.data());
    sensor_values(w, {t.theta.data(), t.x.data(), t.u.data()}, s, scratch, y.data());
    StepBars bar{VecX<double>::Zero(w.np()), VecX<double>::Zero(w.ndx()), VecX<double>::Zero(w.nu())};
    VecX<double> next_bar = VecX<double>::Zero(w.ndx()), wrenches_bar = VecX<double>::Zero(wrenches.size());
    s.clear_bars();
    sensor_values_adj(w, {t.theta.data(), t.x.data(), t.u.data()}, s, scratch, y_bar.data(),
                      {bar.theta.data(), bar.x.data(), bar.u.data()});
    step_adj(w, {t.theta.data(), t.x.data(), t.u.data(), wrenches.data()}, s, next_bar.data(),
             {bar.theta.data(), bar.x.data(), bar.u.data(), wrenches_bar.data()});

    StepScratch<D> d(w);
    SensorScratch<D> scratch_dual(w);
    for (int trial = 0; trial < 5; ++trial) {
        const VecX<double> dtheta = random_vector(w.np(), g, Regime::random),
                           dx = random_vector(w.ndx(), g, Regime::random),
                           du = random_vector(w.nu(), g, Regime::random),
                           dw = random_vector(static_cast<int>(6 * bodies), g, Regime::random);
        const VecX<D> theta = lift_vector(t.theta, dtheta.data()), x = lift_state(w.model, t.x, dx.data()),
                      u = lift_vector(t.u, du.data()), pushed = lift_vector(wrenches, dw.data());
        VecX<D> next_dual(w.nx()), y_dual(w.ny());
        step(w, {theta.data(), x.data(), u.data(), pushed.data()}, d, next_dual.data());
        if (!same_branches(s, d)) continue;
        sensor_values(w, {theta.data(), x.data(), u.data()}, d, scratch_dual, y_dual.data());
        double forward = 0, size = 0;
        for (Eigen::Index i = 0; i < y.size(); ++i) {
            CHECK(y_dual[i].v == doctest::Approx(y[i]).epsilon(1e-9));
            forward += y_dual[i].d * y_bar[i];
            size += std::abs(y_dual[i].d * y_bar[i]);
        }
        const double reverse = bar.pair(dtheta, dx, du) + wrenches_bar.dot(dw);
        CHECK(std::abs(forward - reverse) <= 1e-10 * (size + std::abs(reverse)));
    }
}

}  // namespace

TEST_CASE("adjoint: a scan of tilted terrain") { check_pass<TiltedScanPass>(1e-11); }
TEST_CASE("adjoint: site_frame") { check_pass<SiteFramePass>(1e-12); }

// Against points along the ray that are in a zone a little smaller; rays between it and one a little larger decide nothing.
TEST_CASE("sensors: a zone counts the contacts whose ray meets it") {
    const auto inside = [](const Zone& zone, const Vec3<double>& p, double scale) {
        const Vec3<double> size = scale * zone.size, beyond = p.cwiseAbs() - size;
        const double z = std::abs(p.z());
        switch (zone.type) {
            case ShapeType::box: return beyond.maxCoeff() <= 0;
            case ShapeType::ellipsoid: return p.cwiseQuotient(size).norm() <= 1;
            case ShapeType::cylinder: return p.head<2>().norm() <= size[0] && z <= size[1];
            case ShapeType::capsule:
                return Vec3<double>(p.x(), p.y(), std::max(0.0, z - size[1])).norm() <= size[0];
            default: return p.norm() <= size[0];
        }
    };
    Rng g(5);
    for (const ShapeType type :
         {ShapeType::sphere, ShapeType::capsule, ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::box}) {
        const std::string name = shape_kind(type).name;
        CAPTURE(name);
        const Zone zone{type, {0.3, 0.5, 0.2}};
        int met = 0, missed = 0;
        for (int n = 0; n < 2000; ++n) {
            const Vec3<double> p = 0.4 * g.vec3(Regime::random);
            Vec3<double> d = g.vec3(Regime::random);
            if (n % 4 == 0) d = Vec3<double>::Unit(n / 4 % 3) * (n % 8 == 0 ? 1 : -1);
            bool meets = false, nearly = false;
            for (int k = 0; k <= 4000; ++k) {
                const Vec3<double> at = p + 0.001 * k * d.normalized();
                meets = meets || inside(zone, at, 0.99);
                nearly = nearly || inside(zone, at, 1.01);
            }
            if (meets != nearly) continue;
            CHECK(ray_meets(zone, p, d) == meets);
            ++(meets ? met : missed);
        }
        CHECK(met > 100);
        CHECK(missed > 100);
    }
    const Zone behind{ShapeType::sphere, {0.1, 0, 0}};
    CHECK(ray_meets(behind, {0, 0, 0.5}, {0, 0, -1}));
    CHECK(!ray_meets(behind, {0, 0, 0.5}, {0, 0, 1}));
}

TEST_CASE("adjoint: all sensors") {
    SensorPass::kind = -1;
    check_pass<SensorPass>(1e-11);
}
TEST_CASE("adjoint: every kind of sensor") {
    for (SensorPass::kind = 0; SensorPass::kind < kinds; ++SensorPass::kind) {
        CAPTURE(sensor_traits[SensorPass::kind].name);
        check_pass<SensorPass>(1e-11);
    }
    SensorPass::kind = -1;
}
TEST_CASE("adjoint: sensors that saturate are clamped to their cutoff") {
    SensorPass::cutoff = 0.5;
    check_pass<SensorPass>(1e-11);
    Rng g(1), same(1);
    SensorPass clamped(g, Regime::random);
    SensorPass::cutoff = unlimited;
    SensorPass free(same, Regime::random);
    free.count_without_effect();  // as for the other: it retracts the state by 0, which rounds
    clamped.run_duals();
    free.run_duals();
    int within = 0, beyond = 0;
    for (const Sensor& s : clamped.t.world.sensors)
        for (int i = s.offset; i < s.offset + s.size; ++i) {
            const bool can = can_be_cut_off(s.kind) && !ends_at_cutoff(s.kind);
            const double y = free.y[i].v;
            CHECK(clamped.y[i].v == (can ? std::clamp(y, -0.5, 0.5) : y));
            if (can) ++(std::abs(y) < 0.5 ? within : beyond);
        }
    CHECK((within > 50 && beyond > 50));
}
TEST_CASE("sensors: the limits that the dot-product test differentiates push in some of its cases") {
    SensorPass::kind = static_cast<int>(SensorKind::joint_limit_force);
    int pushing = 0;
    for (const Regime regime : {Regime::neutral, Regime::near_neutral, Regime::random})
        for (unsigned seed = 1; seed <= 5; ++seed) {  // those of check_pass
            Rng g(seed);
            SensorPass pass(g, regime);
            pass.run_duals();
            pushing += std::ranges::any_of(pass.y, [](const D& force) { return force.v > 0; });
        }
    SensorPass::kind = -1;
    CHECK(pushing >= 3);
}
TEST_CASE("sensors: the forces of pairs add up to that on a body, and are opposite for its partners") {
    int pushing = 0;
    for (unsigned seed = 1; seed <= 6; ++seed) {
        ToyState t = toy_contact_state(seed, sweeping());
        World& w = t.world;
        const int bodies = static_cast<int>(w.model.bodies.size());
        const auto add = [&](SensorKind kind, int a, int b) {
            Sensor s;
            s.name = "y" + std::to_string(w.sensors.size());
            s.kind = kind;
            s.body = a;
            s.shapes_a = shapes_of(w, a);
            s.shapes_b = shapes_of(w, b);
            w.add_sensor(s);
            return w.sensors.back().offset;
        };
        std::vector<int> whole;
        std::map<std::pair<int, int>, int> force, count;
        for (int a = 0; a < bodies; ++a)
            whole.push_back(add(SensorKind::contact_force, a, a));
        for (int a = -1; a < bodies; ++a)
            for (int b = -1; b < bodies; ++b) {
                if (a == b) continue;
                force[{a, b}] = add(SensorKind::pair_contact_force, a, b);
                count[{a, b}] = add(SensorKind::contact_count, a, b);
            }
        StepScratch<double> scratch(w);
        SensorScratch<double> sensor_scratch(w);
        std::vector<double> next(static_cast<size_t>(w.nx())), y(static_cast<size_t>(w.ny()));
        const StepInputs<double> inputs{t.theta.data(), t.x.data(), t.u.data()};
        step(w, inputs, scratch, next.data());
        sensor_values(w, w.sensors, inputs, scratch, sensor_scratch, y.data());
        const auto at = [&](int offset) { return Vec3<double>(load3(y.data() + offset)); };
        for (int a = 0; a < bodies; ++a) {
            Vec3<double> sum = Vec3<double>::Zero();
            for (int b = -1; b < bodies; ++b) {
                if (a == b) continue;
                const Vec3<double> on_a = at(force[{a, b}]);
                sum += on_a;
                CHECK((on_a + at(force[{b, a}])).norm() < 1e-9);
                CHECK((on_a.norm() == 0 || y[count[{a, b}]] > 0));
                CHECK(y[count[{a, b}]] == y[count[{b, a}]]);
                pushing += on_a.norm() > 1e-3;
            }
            CHECK((sum - at(whole[a])).norm() < 1e-9 * (1 + sum.norm()));
        }
    }
    CHECK(pushing >= 6);
}
TEST_CASE("adjoint: sensors and external wrenches, with contacts") {
    for (unsigned seed = 1; seed <= 6; ++seed)
        for (const Settings& settings :
             {sweeping(), soft_sweeping(FrictionCone::elliptic), soft_sweeping(FrictionCone::pyramidal)})
            check_toy_sensors(toy_contact_state(seed, settings), seed);
}
TEST_CASE("adjoint: sensors and external wrenches, with equalities") {
    for (unsigned seed = 1; seed <= 6; ++seed)
        check_toy_sensors(toy_joint_row_state(seed), seed);
}
