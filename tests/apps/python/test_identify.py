"""Identification: synthetic recordings give back what made them, with the errors that noise allows; derivatives against central
differences; bad input."""
import json
import unittest
from pathlib import Path

import numpy

import costate
from costate import Recording, Unknown
from costate._identification import recordings as tracking
from costate._identification.least_squares import Problem
from costate._identification.unknowns import Unknowns
from costate._products import Products

SCENES = Path(__file__).resolve().parents[3] / "scenes/library"
SUBSTEPS, STEPS = 10, 60
MASSES = Unknown("bodies/pendulum/*/mass", "log")
DAMPING = Unknown("joints/pendulum/shoulder/damping", "log")
FRICTION = Unknown("joints/pendulum/elbow/dry_friction", lower=0, upper=1)
TRUTH = {"bodies/pendulum/upper/mass": 1.2, "bodies/pendulum/lower/mass": 0.8, "joints/pendulum/shoulder/damping": 0.15,
         "joints/pendulum/elbow/dry_friction": 0.2}
NOISE = {"pendulum/shoulder": 2e-3, "pose(pendulum/lower)": 1e-3}

# a body in flight that carries a link on a hinge
FLIER = {
    "gravity": [0, 0, -9.81],
    "models": [{"name": "f", "position": [0, 0, 5], "model": {
        "bodies": [
            {"name": "body", "joint": {"name": "free", "type": "free"}, "mass": 2, "com": [0.01, 0, 0.02],
             "inertia": [0.03, 0.02, 0.04, 0.001, 0, 0.002], "sites": [{"name": "imu", "position": [0.1, 0, 0]}]},
            {"name": "link", "parent": "body", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0], "damping": 0.01},
             "mass": 0.5, "com": [0, 0, -0.1], "inertia": [0.002, 0.002, 0.001, 0, 0, 0]}],
        "sensors": [{"name": "gyro", "type": "gyro", "site": "imu"}],
        "actuators": [{"name": "motor", "joint": "hinge", "type": "motor"}]}}]
}


def pendulum():
    return costate.Model("double_pendulum_identification")


def recorded(model, x, u, substeps=SUBSTEPS, theta=None):
    """The states (steps + 1, nx) of one environment."""
    batch = costate.Batch(model, 1, threads=1, substeps=substeps)
    batch.set_parameters(theta)
    return numpy.concatenate([x[None], batch.rollout(x[None], u[:, None])[0][:, 0]])


def swings(model, noise=0.0, seed=0, n=3, torque=4.0):
    """Recordings of the pendulum with the true parameters; the second is shorter, with gaps."""
    theta, random, out = model.parameters, numpy.random.default_rng(seed), []
    for name, value in TRUTH.items():
        theta[model.parameter_names.index(name)] = value
    for i in range(n):
        u = torque * numpy.sin(0.1 * (1 + i) * numpy.arange(STEPS))[:, None]
        x = numpy.array([0.3 * i, 0.5, 0, 1.0])
        at = numpy.arange(i, STEPS + 1 - 5 * i, 4)
        states = recorded(model, x, u, theta=theta)[at]
        poses = numpy.array([numpy.concatenate(model.body_pose(s[:2], "pendulum/lower")) for s in states])
        angles = states[:, 0] + noise * NOISE["pendulum/shoulder"] * random.normal(size=len(at))
        poses[:, :3] += noise * NOISE["pose(pendulum/lower)"] * random.normal(size=(len(at), 3))
        turn = 0.5 * noise * NOISE["pose(pendulum/lower)"] * random.normal(size=(len(at), 3))
        w, v = poses[:, 3:4].copy(), poses[:, 4:].copy()
        poses[:, 3:4] -= (v * turn).sum(1, keepdims=True)
        poses[:, 4:] += w * turn + numpy.cross(v, turn)
        if i == 1:
            angles[3:6] = numpy.nan
        out.append(Recording(0.01 * at, {"pendulum/shoulder": angles, "pose(pendulum/lower)": poses}, x, u=u))
    return out


def fit(model, recordings, unknowns, **options):
    return costate.identify(model, recordings, unknowns, NOISE, substeps=SUBSTEPS, threads=1, **options)


class IdentifyTest(unittest.TestCase):
    def test_without_noise_parameters_and_starts_are_found_to_rounding(self):
        m = pendulum()
        recordings = [r._replace(start=r.start + 0.05, start_noise=numpy.inf) for r in swings(m)]
        found = fit(m, recordings, [MASSES, DAMPING, FRICTION])
        self.assertEqual(found.names, list(TRUTH))
        numpy.testing.assert_allclose(found.values, list(TRUTH.values()), rtol=1e-9)
        numpy.testing.assert_allclose(found.starts, [[0, 0.5, 0, 1], [0.3, 0.5, 0, 1], [0.6, 0.5, 0, 1]], atol=1e-9)
        self.assertEqual((found.stopped, found.undetermined), ("converged", []))
        self.assertLess(found.misfit, 1e-6)
        self.assertTrue((numpy.diff(found.losses) < 0).all())
        self.assertIn("bodies/pendulum/upper/mass          1.2 +- ", str(found))

    def test_a_sample_at_the_start_alone_tells_of_the_start(self):
        model = pendulum()
        seen = Recording([0.0], {"pendulum/shoulder": [0.3]}, start=numpy.zeros(4), start_noise=[1, 0, 0, 0],
                         u=numpy.zeros((1, 1)))
        found = costate.identify(model, [seen], [], {"pendulum/shoulder": 1e-3})
        numpy.testing.assert_allclose(found.starts, [[0.3, 0, 0, 0]], atol=1e-6)

    def test_the_result_is_written_back_and_predicts_what_was_kept_out(self):
        m, recordings = pendulum(), swings(pendulum(), noise=1)
        found = fit(m, recordings[:2], [MASSES, DAMPING, FRICTION])
        held = recordings[2:]
        before = costate.evaluate(m, held, NOISE, substeps=SUBSTEPS, threads=1)
        m.parameters = found.parameters
        after = costate.evaluate(m, held, NOISE, substeps=SUBSTEPS, threads=1)
        self.assertGreater(before.misfit, 20)
        self.assertAlmostEqual(after.misfit, 1, delta=0.2)
        self.assertEqual(after.differences[0]["pose(pendulum/lower)"].shape, (len(held[0].times), 6))
        self.assertEqual(after.states[0].shape, (round(100 * held[0].times[-1]) + 1, m.nx))
        scene = json.loads((SCENES / "double_pendulum_identification.json").read_text())
        scene = {**scene, "parameters": found.entries(m)}
        for unused in ("objective", "optimize"):
            del scene[unused]
        numpy.testing.assert_allclose(costate.Model.from_string(scene).parameters, found.parameters, rtol=1e-14)

    def test_standard_errors_are_the_spread_over_seeds(self):
        m, n, found = pendulum(), 20, []
        for name, value in TRUTH.items():
            m.set_parameter(name, value)
        for seed in range(n):
            (one,) = swings(m, noise=1, seed=seed, n=1)
            one = one._replace(signals={"pendulum/shoulder": one.signals["pendulum/shoulder"]}, start_noise=[0.02, 0, 0, 0.05])
            found.append(fit(m, [one], [MASSES, DAMPING]))
        values = numpy.array([one.values for one in found])
        ratio = values.std(0, ddof=1) / numpy.array([one.standard_errors for one in found]).mean(0)
        # the standard deviation of n numbers is itself uncertain by 1/sqrt(2 (n - 1)) = 16 %
        self.assertTrue((ratio > 0.55).all() and (ratio < 1.45).all(), ratio)
        # 16 samples, of which the fit follows about three
        self.assertAlmostEqual(numpy.mean([one.misfit for one in found]), numpy.sqrt(13 / 16), delta=0.12)
        self.assertLess(numpy.abs(numpy.corrcoef(values.T) - found[0].correlation).max(), 0.6)
        numpy.testing.assert_allclose(numpy.diag(found[0].correlation), 1)

    def test_a_direction_that_no_recording_shows_is_named(self):
        m = pendulum()
        inertia = [f"bodies/pendulum/{body}/inertia[{i}]" for body in ("upper", "lower") for i in range(3)]
        unknowns = [Unknown(["bodies/pendulum/*/mass", *inertia], "log", tied=True), DAMPING, FRICTION._replace(scale="log")]
        free = swings(m, torque=0)
        found = fit(m, free, unknowns)  # without a known torque, only ratios to the masses show
        self.assertEqual(len(found.undetermined), 1)
        direction = found.undetermined[0]
        self.assertEqual(list(direction), found.names)
        numpy.testing.assert_allclose(list(direction.values()), 1, rtol=1e-4)
        self.assertTrue(numpy.isinf(found.standard_errors).all())
        self.assertIn("undetermined: ", str(found))
        known = fit(m, free, [unknowns[0]._replace(prior=(1.8, 0.01)), *unknowns[1:]])
        self.assertEqual(len(known.undetermined), 1)  # of the data; the prior settles it
        self.assertTrue(numpy.isfinite(known.standard_errors).all())
        self.assertAlmostEqual(known.standard_errors[0] / known.values[0], 0.01, delta=1e-4)

    def test_bounds_priors_and_outliers(self):
        m, recordings = pendulum(), swings(pendulum())
        held = fit(m, recordings, [MASSES, DAMPING, FRICTION._replace(lower=0.25)])
        self.assertEqual(held.values[-1], 0.25)
        pulled = fit(m, recordings, [MASSES, DAMPING, FRICTION._replace(prior=(0.5, 1e-7))])
        self.assertAlmostEqual(pulled.values[-1], 0.5, delta=1e-3)
        wrong = dict(recordings[0].signals)
        wrong["pendulum/shoulder"] = wrong["pendulum/shoulder"] + 0.2
        recordings = [recordings[0]._replace(signals=wrong), *recordings[1:]]
        all_count, few_count = (fit(m, recordings, [MASSES, DAMPING, FRICTION], outliers=limit).values for limit in (numpy.inf, 0.01))
        errors = [numpy.abs(values / list(TRUTH.values()) - 1).max() for values in (all_count, few_count)]
        self.assertLess(errors[1], 0.3 * errors[0])

    def test_derivatives_are_those_of_the_residuals(self):
        m, random = costate.Model.from_string(FLIER), numpy.random.default_rng(4)
        x = m.state(*m.initial_state())
        x[m.nq:] = random.normal(size=m.nv)
        u = random.normal(size=(8, 1)) * 0.05
        states = recorded(m, x, u, 5)[[0, 3, 8]]
        signals = {"f/free": states[:, :7], "d(f/hinge)": states[:, -1], "pose(f/link)": [m.body_pose(s[:m.nq], "f/link") for s in states]}
        signals["pose(f/link)"] = numpy.array([numpy.concatenate(pose) for pose in signals["pose(f/link)"]])
        signals["f/gyro"] = random.normal(size=(3, 3))
        given = [Recording([0, 0.015, 0.04], signals, m.state(m.retract(x[:m.nq], 0.3 * random.normal(size=m.nv)), x[m.nq:]),
                           [0.1] * 6 + [0] + [0.2] * 7, u)] * 2
        unknowns = Unknowns(m, ["bodies/f/body/pseudo_inertia", Unknown("bodies/f/link/inertia[0]", "log"), "joints/f/hinge/placement[*]",
                                Unknown(["bodies/f/link/com[0]", "bodies/f/link/com[2]"], tied=True)])
        tracks = tracking.Tracks(m, given, dict.fromkeys(signals, 0.1), {}, 5, 1, 999)
        problem = Problem(tracks, unknowns, numpy.inf)
        rows, free, h = problem.linearized(problem.first()), problem.free[0], 1e-6

        def residuals(dy, dx):
            d = numpy.zeros((2, m.ndx))
            d[:, free] = dx
            theta, _ = unknowns.parameters(unknowns.y + dy)
            starts = tracks.displaced(tracks.starts, d)
            prior = problem._start_prior(0, starts)[0]
            return numpy.concatenate([tracks.weighted(tracks.rollouts(theta, starts, problem.of_signals(unknowns.y + dy))[2])[0], prior])

        numpy.testing.assert_allclose(rows[0][0], residuals(0, 0), atol=1e-12)
        for which in range(8):
            dy, dx = (random.normal(size=size) for size in (len(unknowns.y), len(free)))
            dy *= which % 2 == 0
            want = (residuals(h * dy, h * dx) - residuals(-h * dy, -h * dx)) / (2 * h)
            numpy.testing.assert_allclose(rows[0][1] @ dx + rows[0][2] @ dy, want, atol=2e-7 * numpy.abs(want).max())

    def test_forward_products_and_jacobians_of_steps_give_the_same(self):
        m, recordings = pendulum(), swings(pendulum(), n=1)
        tracks = tracking.Tracks(m, recordings, NOISE, {}, SUBSTEPS, 1, 999)
        theta, by_y = Unknowns(m, [MASSES, DAMPING]).parameters(Unknowns(m, [MASSES, DAMPING]).y)
        few = tracks.linearized(theta, by_y, tracks.starts, numpy.empty(0))[1][0]
        most, tracking._FEW = tracking._FEW, 0
        try:
            many = tracks.linearized(theta, by_y, tracks.starts, numpy.empty(0))[1][0]
        finally:
            tracking._FEW = most
        numpy.testing.assert_allclose(few, many, atol=1e-9 * numpy.abs(many).max())

    def test_a_physical_body_is_found_by_its_pseudo_inertia(self):
        m, random = costate.Model.from_string(FLIER), numpy.random.default_rng(1)
        recordings = []
        for _ in range(2):
            x = m.state(*m.initial_state())
            x[m.nq:] = 2 * random.normal(size=m.nv)
            u = 0.3 * random.normal(size=(40, 1))
            states = recorded(m, x, u, 10)[::4]
            recordings.append(Recording(0.04 * numpy.arange(11), {"f/free": states[:, :7], "f/hinge": states[:, 7]}, x, u=u))
        truth = m.parameters
        m.set_parameter("bodies/f/body/mass", 3)
        m.set_parameter("bodies/f/body/com[1]", 0.03)
        noise = {"f/free": 1e-3, "f/hinge": 1e-3}
        found = costate.identify(m, recordings, ["bodies/f/body/pseudo_inertia"], noise, substeps=10, threads=1)
        numpy.testing.assert_allclose(found.parameters, truth, rtol=1e-6, atol=1e-9)
        self.assertEqual(len(found.parameter_names), 10)
        costate.Model.from_string({**FLIER, "parameters": found.entries(m)})

    def test_a_prior_of_a_pseudo_inertia_settles_what_a_hinge_hides(self):
        m, link = pendulum(), "bodies/pendulum/lower/pseudo_inertia"
        open_ = fit(m, swings(m), [link, DAMPING, FRICTION])
        self.assertGreater(len(open_.undetermined), 3)  # a hinge shows its moment about the axis and two of the centre
        known = fit(m, swings(m), [Unknown(link, prior=(1, 0.1)), DAMPING, FRICTION])
        self.assertTrue(numpy.isfinite(known.standard_errors).all())
        self.assertLess(dict(zip(known.names, known.standard_errors))[f"{link}[0]"], 0.0501)  # half of that of the mass
        self.assertGreater(known.simulations, known.linearizations)
        self.assertIn(known.linearizations - known.iterations, (1, 2))  # that of the report, and of a last step without a gain

    def test_products_with_few_entries_are_those_with_all(self):
        random = numpy.random.default_rng(0)
        by_y = numpy.zeros((9, 7))
        by_y[[0, 3, 3], [1, 0, 6]], by_y[4:7, 2:4], by_y[7:, 5] = (2, 3, 4), random.normal(size=(3, 2)), 5
        J = random.normal(size=(2, 3, 9))
        numpy.testing.assert_allclose(Products(by_y).product(J), J @ by_y, atol=1e-14)
        self.assertEqual(sorted(Products(by_y).moving), [0, 1, 2, 3, 5, 6])

    def test_milliseconds_are_refused(self):
        m, one = pendulum(), swings(pendulum(), n=1)[0]
        with self.assertRaisesRegex(costate.BadArgument, "recording 0: samples are 40 s apart, 40000 time steps of 0.001 s; times are in "
                                    "seconds: divide milliseconds by 1000"):
            fit(m, [one._replace(times=1000 * one.times)], [MASSES])

    def test_bad_input_is_refused(self):
        m, one = pendulum(), swings(pendulum(), n=1)[0]
        cases = (
            ([one._replace(times=one.times + 0.004)], [MASSES], "the sample at 0.004 s lies between control steps of 0.01 s"),
            ([one._replace(times=-one.times)], [MASSES], "times must increase"),
            ([one._replace(u=one.u[:30])], [MASSES], "u has 30 control steps, but its last sample is after 60"),
            ([one._replace(u=None)], [MASSES], "u is missing; the model has 1 actuators"),
            ([one._replace(start_noise=-1)], [MASSES], "start_noise must not be negative"),
            ([one._replace(signals={"pendulum/sholder": one.times})], [MASSES], "no signal 'pendulum/sholder'; there are pendulum/shoulder, "),
            ([one._replace(signals={"d(pendulum/elbow)": one.times})], [MASSES], r"noise has no 'd\(pendulum/elbow\)'"),
            ([one], [], "nothing is unknown"),
            ([], [MASSES], "there is no recording"),
            ([one], [MASSES, "bodies/pendulum/upper/mass"], "is in two unknowns"),
            ([one], ["bodies/pendulum/upper/mas"], "no parameter 'bodies/pendulum/upper/mas'; the nearest is bodies/pendulum/upper/mass"),
            ([one], [MASSES._replace(scale="ln")], "scale is 'ln', it may be linear or log"),
            ([one], [MASSES._replace(lower=5)], "outside of its bounds"),
            ([one], [Unknown("bodies/pendulum/upper/com[2]", "log")], "a logarithm needs a positive value"),
            ([one], [Unknown("bodies/pendulum/upper/pseudo_inertia", "log")], "has no scale, bounds, tie or start"),
            ([one], [Unknown("bodies/pendulum/upper/pseudo_inertia", prior=(2, 0.1))], r"its mean is the model's body: give \(1, s\)"),
        )
        for recordings, unknowns, sentence in cases:
            with self.subTest(sentence), self.assertRaisesRegex(costate.BadArgument, sentence):
                fit(m, recordings, unknowns)
        with self.assertRaisesRegex(ValueError, r"recording 0: pendulum/shoulder must have shape \(16, 1\), not \(30, 1\)"):
            fit(m, [one._replace(signals={"pendulum/shoulder": numpy.zeros(30)})], [MASSES])


if __name__ == "__main__":
    unittest.main()
