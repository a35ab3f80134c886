// The Jacobian of a step against its products: every row by the adjoint (J^T e), random combinations of its
// columns by dual numbers (J d). For every solver, impact and forward dynamics; on random worlds in contact,
// the toy worlds, the rich scene and all included scenes.
#include <doctest/doctest.h>

#include "adjoint/rollout/state.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/random_state.hpp"
#include "tests/support/rich_scene.hpp"

using namespace costate;
using namespace costate::test;

namespace {

using Matrix = StepJacobian::Matrix;

struct Variant {
    const char* name;
    Settings settings;
};

// Every combination of solver and gradient.
std::vector<Variant> solver_variants() {
    std::vector<Variant> all{{"pgs", {}}, {"pgs implicit", {}}, {"lcp", {}},
                             {"ncp", {}}, {"ncp by admm", {}},  {"ncp relaxed", {}}};
    all[1].settings.gradient = ImpulseGradient::implicit;
    all[2].settings.solver = SolverType::lcp;
    for (size_t i = 3; i < all.size(); ++i)
        all[i].settings.solver = SolverType::ncp;
    all[4].settings.cone_method = ConeMethod::admm;
    all[5].settings.relaxed = true;
    return all;
}

bool has_implicit_gradient(const Settings& s) {
    return s.solver != SolverType::pgs || s.gradient == ImpulseGradient::implicit;
}

// All combinations with the other settings of a step.
std::vector<Variant> step_variants() {
    std::vector<Variant> all;
    for (const Impact impact : {Impact::start, Impact::elastic, Impact::located})
        for (const ForwardDynamics dynamics : {ForwardDynamics::crba, ForwardDynamics::aba})
            for (const bool aware : {false, true})
                for (Variant v : solver_variants()) {
                    v.settings.impact = impact;
                    v.settings.forward_dynamics = dynamics;
                    v.settings.complementarity_aware = aware;
                    if (!aware || has_implicit_gradient(v.settings)) all.push_back(v);
                }
    return all;
}

// A variant keeps the numerical settings of the world.
void set_variant(Settings& s, const Variant& v) {
    s.solver = v.settings.solver;
    s.gradient = v.settings.gradient;
    s.cone_method = v.settings.cone_method;
    s.relaxed = v.settings.relaxed;
    s.impact = v.settings.impact;
    s.forward_dynamics = v.settings.forward_dynamics;
    s.complementarity_aware = v.settings.complementarity_aware;
    s.warm_start = false;
}

// The largest difference over the columns, relative to the larger of the column's largest entry and `least`.
double gap_between(const Matrix& A, const Matrix& B, double least = 1) {
    double worst = 0;
    for (Eigen::Index i = 0; i < B.cols(); ++i) {
        const double size = std::max(least, B.col(i).cwiseAbs().maxCoeff());
        worst = std::max(worst, (A.col(i) - B.col(i)).cwiseAbs().maxCoeff() / size);
    }
    return worst;
}

// Errors of the Jacobian against its products.
struct Errors {
    double rows_x = 0, rows_u = 0, rows_theta = 0;  // from adjoints
    double along = 0;                               // from dual numbers
    double condition = 1;                           // largest condition of the islands' active sets
    // Solves lose accuracy in proportion to the condition.
    double bound() const { return 1e-12 + 1e-14 * condition; }
    bool within_bounds() const {
        return std::max({rows_x, rows_u, rows_theta}) <= bound() && along <= 10 * bound();
    }
};

// Totals over the states.
struct Agreement {
    int states = 0, sharp = 0;  // sharp: well-conditioned states
    int contacts = 0, sliding_on_itself = 0, located = 0, bounces = 0;
    int equalities = 0, limits = 0, sprung = 0, thrusters = 0, tendons = 0;
    void add(const World& w, const StepScratch<double>& s) {
        ++states;
        for (const Actuator& a : w.model.actuators) {
            thrusters += !a.on_joint;
            tendons += w.model.drives_path(a);
        }
        for (const RowBlock& b : s.rows.blocks) {
            const double* lambda = s.impulses.lambda.data() + b.row;
            if (lambda[0] == 0) continue;
            equalities +=
                b.kind == RowKind::connect || b.kind == RowKind::weld || b.kind == RowKind::coupling;
            limits += b.kind == RowKind::limit || b.kind == RowKind::ball_limit;
            sprung += b.springs.any();
            located += b.bias == BiasCase::located;
            bounces += b.bias == BiasCase::bounce;
            if (b.kind != RowKind::contact) continue;
            ++contacts;
            const signed char* sign = s.rows.chain_sign.data() + b.chain;
            sliding_on_itself += lambda[1] != 0 && std::find(sign, sign + b.length, 0) != sign + b.length;
        }
    }
};

// True if the step has an impact that its setting treats specially.
bool shows_impact(const StepScratch<double>& s, Impact impact) {
    return std::ranges::any_of(s.rows.blocks, [&](const RowBlock& b) {
        const BiasCase wanted = impact == Impact::located ? BiasCase::located : BiasCase::bounce;
        return s.impulses.lambda[b.row] > 0 && (impact == Impact::start || b.bias == wanted);
    });
}

// Condition of the systems of implicit derivatives.
double condition(const StepScratch<double>& s) {
    double worst = 1;
    for (size_t i = 0; i < s.rows.islands.size(); ++i) {
        DenseSolver solver = s.impulses.sets[i].solver;
        const int n = static_cast<int>(s.impulses.sets[i].active.size());
        if (n == 0 || solver.size() != s.impulses.sets[i].active.size()) continue;
        if (!solver.full_rank()) return std::numeric_limits<double>::infinity();
        Matrix inverse = Matrix::Identity(n, n);
        solver.solve_columns_inplace(inverse.data(), n);
        const VecX<double> sizes = inverse.jacobiSvd().singularValues();
        worst = std::max(worst, sizes[0] / sizes[n - 1]);
    }
    return worst;
}

// A step's Jacobian against all rows by step_adj, and against dual numbers along random directions.
Errors compare(const ToyState& t, Stream& g, Agreement& tally) {
    const World& w = t.world;
    const int ndx = w.ndx();
    StepScratch<double> s(w);
    run_step(t, s);
    tally.add(w, s);
    StepJacobian J(w), by_adjoints(w);
    step_jacobian(w, t.theta.data(), t.x.data(), t.u.data(), s, J);
    Matrix by_theta;
    step_jacobian_by_adjoints(w, t.theta.data(), t.x.data(), t.u.data(), s, by_adjoints, &by_theta);

    // The complementarity-aware adjoint is not linear in its covector, so it is not a product with a matrix; contacts that
    // are felt from a distance are not part of the Jacobian.
    ToyState solved = t;
    solved.world.settings.felt_distance = 0;
    solved.world.settings.complementarity_aware = false;
    Matrix rows_x(ndx, ndx), rows_u(ndx, w.nu()), rows_theta(ndx, w.np());
    for (int i = 0; i < ndx; ++i) {
        const StepBars bars = step_bars(solved, s, VecX<double>::Unit(ndx, i));
        rows_x.row(i) = bars.x.transpose();
        rows_u.row(i) = bars.u.transpose();
        rows_theta.row(i) = bars.theta.transpose();
    }
    Errors e;
    e.condition = condition(s);
    e.rows_x = std::max(gap_between(J.by_x, rows_x), gap_between(by_adjoints.by_x, rows_x));
    e.rows_u = std::max(gap_between(J.by_u, rows_u), gap_between(by_adjoints.by_u, rows_u));
    // by the logarithms of parameters; columns are small differences of large numbers
    const VecX<double> scale = t.theta.cwiseAbs().cwiseMax(1e-2);
    rows_theta *= scale.asDiagonal();
    e.rows_theta = gap_between(by_theta * scale.asDiagonal(), rows_theta, rows_theta.cwiseAbs().maxCoeff());
    // An elastic impact has the gradient of another motion, and sweeps with implicit gradients have the
    // gradient of their limit.
    const bool swept = w.settings.solver == SolverType::pgs;
    if (w.settings.impact == Impact::elastic || (swept && w.implicit_gradient())) return e;
    StepScratch<D> dual(w);
    for (int k = 0; k < 3; ++k) {
        VecX<double> dx = VecX<double>::Zero(ndx), du = VecX<double>::Zero(w.nu()),
                     dtheta = VecX<double>::Zero(w.np());
        if (k == 0) dx = random_vector(ndx, g, Regime::random);
        if (k == 1) du = random_vector(w.nu(), g, Regime::random);
        if (k == 2) dtheta = t.theta.cwiseProduct(random_vector(w.np(), g, Regime::random));
        const VecX<double> pushed = push_step(t, dual, dtheta, dx, du);
        const VecX<double> product = J.by_x * dx + J.by_u * du + by_theta * dtheta;
        const VecX<double> sizes = J.by_x.cwiseAbs() * dx.cwiseAbs() + J.by_u.cwiseAbs() * du.cwiseAbs() +
                                   by_theta.cwiseAbs() * dtheta.cwiseAbs();
        if (!same_branches(s, dual)) continue;  // sums of dual numbers round differently
        e.along =
            std::max(e.along, (product - pushed).cwiseAbs().maxCoeff() / std::max(1.0, sizes.maxCoeff()));
    }
    return e;
}

void check_products(const ToyState& t, const Variant& v, Stream& g, Agreement& tally) {
    CAPTURE(v.name);
    CAPTURE(static_cast<int>(v.settings.impact));
    CAPTURE(static_cast<int>(v.settings.forward_dynamics));
    CAPTURE(v.settings.complementarity_aware);
    const Errors e = compare(t, g, tally);
    CAPTURE(e.rows_x);
    CAPTURE(e.rows_u);
    CAPTURE(e.rows_theta);
    CAPTURE(e.along);
    CAPTURE(e.condition);
    CHECK(e.within_bounds());
    tally.sharp += e.condition < 1e3;
}

// The first step of a scene with a loaded contact among the first 300 steps, otherwise the last of these.
ToyState bearing_state(const Scene& s) {
    ToyState t{s.world, s.theta, s.x0.head(s.world.own_nx()), VecX<double>::Zero(s.world.nu())};
    t.world.settings.warm_start = false;
    StepScratch<double> scratch(t.world);
    for (int k = 0; k < std::min(s.steps, 300); ++k) {
        s.plan.evaluate(s.z0.data(), k, t.u.data());
        const VecX<double> next = run_step(t, scratch);
        if (shows_impact(scratch, Impact::start)) return t;
        t.x = next;
    }
    return t;
}

}  // namespace

TEST_CASE("Jacobian of a step: its products on random worlds in contact, by every setting") {
    const std::vector<Variant> variants = step_variants();
    Agreement tally;
    for (int seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        const auto number = static_cast<std::uint64_t>(seed);
        ToyState base = random_touching_world(number, {}, {true, seed % 3 == 0, seed % 5 == 0});
        if (base.world.nv() == 0) continue;
        const Variant& v = variants[static_cast<size_t>(seed) % variants.size()];
        set_variant(base.world.settings, v);
        StepScratch<double> scratch(base.world);
        ToyState t = random_state(base, number, 0, scratch);
        for (int k = 1; k < 20; ++k) {
            run_step(t, scratch);
            if (shows_impact(scratch, v.settings.impact)) break;
            t = random_state(base, number, k, scratch);
        }
        Stream g(number, "products");
        check_products(t, v, g, tally);
    }
    CHECK(tally.states > 450);
    CHECK(2 * tally.sharp > tally.states);
    CHECK(tally.contacts > 500);
    CHECK(tally.sliding_on_itself > 50);
    CHECK(tally.located > 5);
    for (const int met :
         {tally.bounces, tally.equalities, tally.limits, tally.sprung, tally.thrusters, tally.tendons})
        CHECK(met > 50);
}

TEST_CASE("Jacobian of a step: its products in the toy worlds, by every setting") {
    Agreement tally;
    unsigned seed = 0;
    for (const Variant& v : step_variants()) {
        ++seed;
        CAPTURE(seed);
        Settings settings;
        set_variant(settings, v);
        settings.time_step = 0.01;
        settings.rest_speed = 1e-3;
        Stream g(seed, "products");
        check_products(toy_contact_state(seed, settings), v, g, tally);
        check_products(toy_joint_row_state(seed, settings), v, g, tally);
    }
    for (const int met : {tally.contacts, tally.bounces, tally.equalities, tally.limits, tally.sprung})
        CHECK(met > 50);
    CHECK(tally.located > 1);
}

TEST_CASE(
    "Jacobian of a step: its products at a state of every shipped scene and of the rich one, by every "
    "solver") {
    const std::vector<Variant> variants = step_variants();
    Agreement tally;
    std::uint64_t seed = 0;
    const auto check_scene = [&](const Scene& scene) {
        ToyState t = bearing_state(scene);
        for (size_t solver = 0; solver < solver_variants().size(); ++solver) {
            ++seed;
            const Variant& v = variants[(7 * seed) % variants.size()];
            set_variant(t.world.settings, v);
            Stream g(seed, "products");
            check_products(t, v, g, tally);
        }
    };
    check_scene(rich_scene());
    for (const std::string& name : shipped_scenes()) {
        CAPTURE(name);
        check_scene(load_scene(name));
    }
    CHECK(tally.contacts > 1000);
    CHECK(2 * tally.sharp > tally.states);
}

// A sphere on a slide and a planar joint in the air grazes its parent sphere. Tangents are made from world
// axes, which do not rotate with the two spheres.
TEST_CASE("Jacobian of a step: self-contact with a friction box has tangents from world axes") {
    const std::string friction = R"("friction": 0.3)";
    for (const std::string more :
         {"", R"(, "condim": 4, "torsional_friction": 0.02)",
          R"(, "condim": 6, "torsional_friction": 0.02, "rolling_friction": 0.01)"}) {
        CAPTURE(more);
        const Scene scene = scene_from_json(
            parse_json(R"({"name": "w", "steps": 10, "gravity": [0, 0, 0], "solver": {"type": "lcp"},
        "models": [{"name": "base", "position": [0, 0, 1], "model": {"bodies": [
            {"name": "base", "mass": 1, "inertia": [0.01, 0.012, 0.014, 0, 0, 0], "joint": {"type": "free"},
             "shapes": [{"type": "sphere", "radius": 0.1, )" +
                           friction + more + R"(}]},
            {"name": "l1", "parent": "base", "mass": 0.5, "inertia": [0.01, 0.012, 0.014, 0, 0, 0],
             "joint": {"name": "j1", "type": "prismatic", "axis": [1, 0, 0]}},
            {"name": "l2", "parent": "l1", "mass": 0.5, "inertia": [0.01, 0.012, 0.014, 0, 0, 0],
             "joint": {"name": "j2", "type": "planar", "axis": [0, 0, 1]},
             "shapes": [{"type": "sphere", "radius": 0.1, "position": [0.12, 0.1, 0.12]}]}]}}]})",
                       "w"),
            "w.json");
        ToyState t{scene.world, scene.theta, VecX<double>(scene.world.nx()), VecX<double>::Zero(0)};
        const double s = std::sin(0.2);
        t.x << 0, 0, 1, std::cos(0.2), 0.3 * s, 0.5 * s, 0.8124 * s, 0, 0, 0, 0, 0, 0, 0, 0.3, -0.2, 0.5, -5,
            6, -3, 0.2;
        t.x.segment<4>(3).normalize();
        for (Variant v : solver_variants()) {
            set_variant(t.world.settings, v);
            Agreement tally;
            Stream g(1);
            check_products(t, v, g, tally);
            CHECK(tally.sliding_on_itself == 1);
        }
    }
}

// A rigid board has many more contacts than it needs. Some of them end on their friction bound with a slip of
// round-off size, whose direction has no meaning. The islands are large, so `condition` does not know them.
TEST_CASE("Jacobian of a step: a board on fifty spheres, by every solver") {
    std::string spheres;
    for (int i = 0; i < 50; ++i)
        spheres += std::string(i == 0 ? "" : ",") + R"({"name": ")" + std::to_string(i) +
                   R"(", "type": "sphere", "radius": 0.02, "friction": 0.6, "position": [)" +
                   std::to_string(0.05 * (i / 5) - 0.2) + "," + std::to_string(0.07 * (i % 5) - 0.15) +
                   ",0]}";
    const Scene scene =
        scene_from_json(parse_json(R"({"name": "board", "steps": 10, "time_step": 0.002, "ground": true,
        "models": [{"name": "m", "model": {"bodies": [{"name": "board", "joint": {"type": "free"}, "mass": 4,
            "inertia": [0.1, 0.2, 0.3, 0, 0, 0], "shapes": [)" +
                                       spheres + "]}]}}]}",
                                   "board"),
                        "board.json");
    for (const Variant& v : solver_variants()) {
        CAPTURE(std::string(v.name));
        ToyState t{scene.world, scene.theta, scene.x0, VecX<double>::Zero(0)};
        set_variant(t.world.settings, v);
        t.x[2] = 0.02;
        t.x[t.world.nq()] = 0.01;
        StepScratch<double> scratch(t.world);
        Stream g(1);
        Agreement tally;
        for (int k = 0; k < 10; ++k) {
            CAPTURE(k);
            const Errors e = compare(t, g, tally);
            CHECK(std::max({e.rows_x, e.rows_u, e.rows_theta}) <= 1e-8);
            CHECK(e.along <= 1e-8);
            t.x = run_step(t, scratch);
        }
        CHECK(tally.contacts > 100);
    }
}

TEST_CASE("Jacobian of a step: a ball that bounces in its step, located and elastic") {
    const Scene scene = scene_from_json(
        parse_json(R"({"name": "b", "steps": 10, "time_step": 0.001, "ground": {"restitution": 0.5},
        "models": [{"name": "ball", "model": {"bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 1,
            "inertia": [0.001, 0.001, 0.001, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.05}]}]}}]})",
                   "b"),
        "b.json");
    for (const Impact impact : {Impact::located, Impact::elastic})
        for (Variant v : solver_variants()) {
            v.settings.impact = impact;
            ToyState t{scene.world, scene.theta, scene.x0, VecX<double>::Zero(0)};
            set_variant(t.world.settings, v);
            t.x[2] = 0.0505;
            t.x[t.world.nq() + 2] = -1;
            Agreement tally;
            Stream g(1);
            check_products(t, v, g, tally);
            StepScratch<double> scratch(t.world);
            run_step(t, scratch);
            StepJacobian J(t.world);
            step_jacobian(t.world, t.theta.data(), t.x.data(), t.u.data(), scratch, J);
            CHECK(J.by_x(2, 2) == doctest::Approx(-0.5).epsilon(0.02));
        }
}
