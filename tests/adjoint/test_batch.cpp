// Batches: the same bits as single steps and their adjoints, for every setting of a batch.
#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <stdexcept>

#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"
#include "core/dynamics/queries.hpp"
#include "tests/support/batch_case.hpp"

using namespace costate;
using namespace costate::test;

TEST_CASE("batch: the bits of single steps and adjoints, by every solver, for any threads and substeps") {
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp})
        for (const bool warm_start : {false, true}) {
            const BatchCase c(batch_settings(solver, warm_start));
            for (const bool own_parameters : {false, true})
                for (const int substeps : {1, 4}) {
                    const BatchResults expected = call_singly(c, own_parameters, substeps);
                    CHECK(expected.theta_bar.allFinite());
                    CHECK(expected.u_bar.norm() > 0);
                    CHECK(*std::ranges::max_element(expected.residual) > 0);
                    for (const int threads : {1, 2}) {
                        CAPTURE(solver);
                        CAPTURE(warm_start);
                        CAPTURE(own_parameters);
                        CAPTURE(substeps);
                        CAPTURE(threads);
                        BatchOptions o{.n_env = batch_size, .threads = threads, .substeps = substeps};
                        o.own_parameters = own_parameters;
                        check_same(run_batch(c, o), expected);
                        o.checkpoint_bytes = static_cast<size_t>(threads) * 2 * c.nx * sizeof(double);
                        check_same(run_batch(c, o), expected);
                    }
                }
        }
}

TEST_CASE("batch: steps of the batch's own states are those of a rollout") {
    const BatchCase c(batch_settings(SolverType::pgs, true));
    const BatchResults expected = call_singly(c, false, 1);
    CaseBatch batch(c, {.n_env = batch_size, .threads = 2});
    const auto begin = [&](size_t e, double* x) { std::copy_n(c.x.data() + e * c.nx, c.nx, x); };
    const VecX<double> last = expected.states.tail(c.x.size());

    batch.reset(nullptr, batch_size, begin);
    VecX<double> x_next(c.x.size());
    for (size_t t = 0; t < batch_steps; ++t) {
        CHECK(batch.step(nullptr, c.u.data() + t * batch_size * c.nu, x_next.data()) == 0);
        CHECK(x_next == rows_of(expected.states, t, batch_size * c.nx));
        CHECK(std::ranges::equal(batch.states(), x_next));
    }
    CHECK(x_next == last);

    VecX<double> states(expected.states.size());
    batch.reset(nullptr, batch_size, begin);
    CHECK(batch.rollout(batch_steps, nullptr, c.u.data(), states.data(), nullptr) == 0);
    CHECK(states == expected.states);
    CHECK(std::ranges::equal(batch.states(), last));

    // steps from states of the caller do not change them
    CHECK(batch.step(c.x.data(), c.u.data(), x_next.data()) == 0);
    CHECK(x_next == rows_of(expected.states, 0, batch_size * c.nx));
    CHECK(std::ranges::equal(batch.states(), last));
}

TEST_CASE("batch: gradients by parameters, summed over environments in their order") {
    const BatchCase c(batch_settings(SolverType::ncp, false));
    const BatchResults each = call_singly(c, false, 1);
    CaseBatch batch(c, {.n_env = batch_size, .threads = 2});
    BatchResults out = each;
    pull_back(c, batch, out, Batch::ThetaBar::sum);
    VecX<double> sum = rows_of(each.theta_bar, 0, c.np);
    for (size_t e = 1; e < batch_size; ++e)
        sum += rows_of(each.theta_bar, e, c.np);
    CHECK(rows_of(out.theta_bar, 0, c.np) == sum);
    CHECK(out.x_bar == each.x_bar);
}

TEST_CASE("batch: an environment that diverges does not change the others") {
    constexpr size_t bad = 2;
    constexpr EnvironmentStatus ok = EnvironmentStatus::ok, diverged = EnvironmentStatus::diverged;
    BatchCase c(batch_settings(SolverType::pgs, false));
    const BatchResults expected = call_singly(c, true, 2);
    // an unlimited force in the second control step
    const ParameterInterval limits = c.w.model.actuators[1].control;
    c.theta[static_cast<Eigen::Index>(bad * c.np) + limits.upper] = std::numeric_limits<double>::infinity();
    c.u[static_cast<Eigen::Index>((batch_size + bad) * c.nu) + 1] = std::numeric_limits<double>::max();
    const auto begin = [&](size_t e, double* x) { std::copy_n(c.x.data() + e * c.nx, c.nx, x); };
    for (const int threads : {1, 2}) {
        CAPTURE(threads);
        CaseBatch batch(c, {.n_env = batch_size, .threads = threads, .substeps = 2, .own_parameters = true});
        batch.reset(nullptr, batch_size, begin);
        BatchResults out(c), first(c);
        CHECK(batch.rollout(batch_steps, nullptr, c.u.data(), out.states.data(), out.completed.data()) == 1);
        CHECK(batch.outcome() == std::vector{ok, ok, diverged, ok, ok});
        CHECK(batch.status() == batch.outcome());
        CHECK(batch.step(nullptr, c.u.data(), nullptr) == 1);  // and stays diverged
        CHECK(rows_of(out.states, bad, c.nx) == rows_of(expected.states, bad, c.nx));
        CHECK(std::ranges::equal(rows_of(out.states, 2 * batch_size + bad, c.nx),
                                 rows_of(expected.states, bad, c.nx)));
        CHECK(std::equal(batch.states().begin() + static_cast<std::ptrdiff_t>(bad * c.nx),
                         batch.states().begin() + static_cast<std::ptrdiff_t>((bad + 1) * c.nx),
                         expected.states.data() + bad * c.nx));
        pull_back(c, batch, out);
        batch.backward(1, c.x.data(), c.u.data(), nullptr, c.states_bar.data(), first.x_bar.data(),
                       first.u_bar.data(), first.theta_bar.data(), Batch::ThetaBar::each);
        for (size_t e = 0; e < batch_size; ++e) {
            CAPTURE(e);
            const BatchResults& of = e == bad ? first : expected;  // of its only completed control step
            CHECK(out.completed[e] == (e == bad ? 1 : batch_steps));
            CHECK(rows_of(out.x_bar, e, c.ndx) == rows_of(of.x_bar, e, c.ndx));
            CHECK(rows_of(out.theta_bar, e, c.np) == rows_of(of.theta_bar, e, c.np));
            for (size_t t = 0; t < batch_steps; ++t) {
                const size_t row = t * batch_size + e;
                if (e != bad) CHECK(rows_of(out.states, row, c.nx) == rows_of(expected.states, row, c.nx));
                const VecX<double> u_bar = rows_of(out.u_bar, row, c.nu);
                CHECK(u_bar ==
                      (e == bad && t > 0 ? VecX<double>::Zero(c.w.nu()) : rows_of(of.u_bar, row, c.nu)));
            }
        }
        const int again = bad;
        batch.reset(&again, 1, [&](size_t, double* x) { begin(bad, x); });
        CHECK(batch.status() == std::vector(batch_size, ok));
    }
}

TEST_CASE("batch: a reset that throws changes no environment") {
    const BatchCase c(batch_settings(SolverType::pgs, false));
    CaseBatch batch(c, {.n_env = batch_size});
    const std::vector<double> before = batch.states();
    const auto fails = [&](size_t k, double* x) {
        if (k == 2) throw std::runtime_error("no such state");
        std::copy_n(c.x.data() + k * c.nx, c.nx, x);
    };
    CHECK_THROWS_WITH(batch.reset(nullptr, batch_size, fails), "no such state");
    CHECK(batch.states() == before);
}

TEST_CASE("batch: poses and velocities of frames, and their reverse") {
    const BatchCase c(batch_settings(SolverType::pgs, false));
    const Model& m = c.w.model;
    const int site = static_cast<int>(m.bodies.size()), frames[] = {m.body_index("body1"), site};
    constexpr size_t n = std::size(frames);
    CaseBatch batch(c, {.n_env = batch_size, .threads = 2, .own_parameters = true});
    const auto frames_at = [&](const VecX<double>& x) {
        std::pair<VecX<double>, VecX<double>> out(batch_size * n * 7, batch_size * n * 6);
        batch.poses(x.data(), frames, n, out.first.data(), out.second.data());
        return out;
    };
    const auto [poses, velocities] = frames_at(c.x);
    StepScratch<double> s(c.w);
    for (size_t e = 0; e < batch_size; ++e) {
        observe(c.w, c.theta.data() + e * c.np, c.x.data() + e * c.nx, s);
        const Transform<double> X = site_pose(m, c.theta.data() + e * c.np, s.kinematics, 0);
        const VecX<double> pose = rows_of(poses, e * n + 1, 7);
        CHECK((pose.head(3) - X.p).norm() <= 1e-15);
        CHECK(pose[3] == orientation(X).w);
        CHECK(Vec3<double>(pose.tail(3)) == orientation(X).v);
    }

    // along a direction d of all states, against a central difference; orientations have no covector
    Rng g(1);
    VecX<double> poses_bar = random_vector(batch_size * n * 6, g, Regime::random),
                 velocities_bar = random_vector(batch_size * n * 6, g, Regime::random),
                 x_bar(batch_size * c.ndx);
    for (size_t i = 0; i < batch_size * n; ++i)
        poses_bar.segment<3>(static_cast<Eigen::Index>(6 * i + 3)).setZero();
    batch.poses_backward(c.x.data(), frames, n, poses_bar.data(), velocities_bar.data(), x_bar.data(),
                         nullptr);
    const VecX<double> d = random_vector(static_cast<int>(batch_size * c.ndx), g, Regime::random);
    const auto value = [&](double h) {
        const VecX<double> by = h * d;
        VecX<double> x(c.x.size());
        for (size_t e = 0; e < batch_size; ++e)
            retract_state(c.w, c.x.data() + e * c.nx, by.data() + e * c.ndx, x.data() + e * c.nx);
        const auto [p, v] = frames_at(x);
        double sum = velocities_bar.dot(v);
        for (size_t i = 0; i < batch_size * n; ++i)
            sum += rows_of(poses_bar, i, 6).head(3).dot(rows_of(p, i, 7).head(3));
        return sum;
    };
    CHECK(x_bar.dot(d) == doctest::Approx((value(1e-6) - value(-1e-6)) / 2e-6).epsilon(1e-7));
}

TEST_CASE("batch: checkpoints that hold no state are refused") {
    const BatchCase c(batch_settings(SolverType::pgs, false));
    BatchOptions o{.n_env = batch_size, .threads = 2, .substeps = 8};
    o.checkpoint_bytes = c.nx * sizeof(double);
    CHECK_THROWS_AS(Batch(c.w, c.t.theta, c.t.x, o), std::invalid_argument);
    o.checkpoint_bytes *= 2;
    CHECK_NOTHROW(Batch(c.w, c.t.theta, c.t.x, o));
    CHECK(Batch::bytes(c.w, o) < Batch::bytes(c.w, {.n_env = batch_size, .threads = 2, .substeps = 8}));
}

TEST_CASE("workers: all work is done once, and an exception arrives") {
    const BatchCase c(batch_settings(SolverType::pgs, false));
    WorkspacePool workspaces(c.w);
    Workers workers(c.w, workspaces, Schedule::every_step(1), 3);
    constexpr size_t n = 1000;
    std::vector<std::atomic<int>> done(n);
    for (int k = 0; k < 100; ++k)
        workers.for_each(n, [&](Worker&, size_t i) { ++done[i]; });
    CHECK(std::ranges::all_of(done, [](const std::atomic<int>& times) { return times == 100; }));
    const auto fails = [](Worker&, size_t i) {
        if (i == n / 2) throw std::runtime_error("half way");
    };
    CHECK_THROWS_WITH(workers.for_each(n, fails), "half way");
    CHECK_NOTHROW(workers.for_each(n, [](Worker&, size_t) {}));
}
