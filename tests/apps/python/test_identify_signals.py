"""Offsets, gains and delays of signals: found with the errors that noise allows, beside parameters; derivatives against
central differences; what the data leave open; bad input."""
import unittest

import numpy
from test_identify import DAMPING, FLIER, FRICTION, MASSES, TRUTH, pendulum, recorded

import costate
from costate import Recording, Signal
from costate._identification import recordings as tracking
from costate._identification.least_squares import Problem
from costate._identification.unknowns import Unknowns

STEP, SUBSTEPS, STEPS = 0.01, 10, 80
NAMES = ("pendulum/shoulder", "d(pendulum/elbow)")
NOISE = dict(zip(NAMES, (2e-3, 0.02)))
# offset, gain, delay of the first signal
OFFSET, GAIN, DELAY = 0.05, 1.1, 0.0173
UNKNOWN = Signal(offset=True, gain=True, delay=(0, 0.05))


def swings(model, seed=0, n=2, offsets=(OFFSET, OFFSET), noise=1.0, delay=DELAY):
    """Recordings of the pendulum with the true parameters; the instrument of the shoulder is written anew here."""
    theta, random, out = model.parameters, numpy.random.default_rng(seed), []
    for name, value in TRUTH.items():
        theta[model.parameter_names.index(name)] = value
    for i in range(n):
        u = 4 * numpy.sin(0.1 * (1 + i) * numpy.arange(STEPS))[:, None]
        x = numpy.array([0.3 * i, 0.5, 0, 1.0])
        states, at = recorded(model, x, u, theta=theta), numpy.arange(i, STEPS + 1, 2)
        angle = numpy.interp(STEP * at - delay, STEP * numpy.arange(STEPS + 1), states[:, 0])
        clean = (GAIN * angle + offsets[i], states[at, 3])
        signals = {name: one + noise * NOISE[name] * random.normal(size=len(at)) for name, one in zip(NAMES, clean)}
        out.append(Recording(STEP * at, signals, x, u=u))
    return out


def fit(model, recordings, unknowns, signals, **options):
    return costate.identify(model, recordings, unknowns, NOISE, signals=signals, substeps=SUBSTEPS, threads=1, **options)


class SignalTest(unittest.TestCase):
    def test_without_noise_they_are_found_to_rounding(self):
        m = pendulum()
        found = fit(m, swings(m, noise=0), [MASSES, DAMPING, FRICTION], {NAMES[0]: UNKNOWN})
        self.assertEqual(found.names, [*TRUTH, *(f"{kind}({NAMES[0]})" for kind in ("offset", "gain", "delay"))])
        numpy.testing.assert_allclose(found.values, [*TRUTH.values(), OFFSET, GAIN, DELAY], rtol=1e-8)
        self.assertEqual((found.stopped, found.undetermined, found.loose), ("converged", [], []))
        numpy.testing.assert_allclose(found.first[-3:], [0, 1, 0])
        numpy.testing.assert_allclose(found.parameters[[m.parameter_names.index(name) for name in TRUTH]], list(TRUTH.values()),
                                      rtol=1e-8)

    def test_standard_errors_are_the_spread_over_seeds(self):
        m, scores = pendulum(), []
        truth = numpy.array([TRUTH[DAMPING.path], OFFSET, GAIN, DELAY])
        for name, value in TRUTH.items():
            m.set_parameter(name, value)
        for seed in range(12):
            found = fit(m, swings(m, seed, n=1), [DAMPING], {NAMES[0]: UNKNOWN})
            scores.append((found.values - truth) / found.standard_errors)
        self.assertLess(numpy.abs(scores).max(), 3.5)
        # 12 draws of each of four numbers: the root mean square is uncertain by about 1/sqrt(2 * 12) = 20 % each
        self.assertAlmostEqual(numpy.sqrt(numpy.mean(numpy.square(scores))), 1, delta=0.3)
        self.assertTrue((numpy.sqrt(numpy.mean(numpy.square(scores), 0)) < 1.7).all(), scores)

    def test_a_signal_that_is_taken_as_it_is_gives_wrong_parameters(self):
        m = pendulum()
        blind, aware = (fit(m, swings(m), [MASSES, DAMPING, FRICTION], signals) for signals in ({}, {NAMES[0]: UNKNOWN}))
        self.assertGreater(blind.misfit, 5)
        self.assertLess(abs(aware.misfit - 1), 0.2)

    def test_each_recording_may_have_its_own(self):
        m, offsets = pendulum(), (0.05, -0.03)
        recordings = swings(m, offsets=offsets)
        found = fit(m, recordings, [DAMPING, MASSES, FRICTION], {NAMES[0]: UNKNOWN._replace(each=("offset",))})
        named = dict(zip(found.names, found.values))
        errors = dict(zip(found.names, found.standard_errors))
        for i, offset in enumerate(offsets):
            name = f"offset({NAMES[0]}, recording {i})"
            self.assertLess(abs(named[name] - offset), 3.5 * errors[name])
        self.assertEqual(found.names[-4:-2], [f"offset({NAMES[0]}, recording 0)", f"gain({NAMES[0]})"])
        self.assertEqual(float(found.signals[NAMES[0]].offset[0]), 0)  # of other recordings it is not known
        self.assertAlmostEqual(float(found.signals[NAMES[0]].gain[0]), GAIN, delta=0.05)

    def test_what_was_found_predicts_what_was_kept_out(self):
        m = pendulum()
        recordings = swings(m, offsets=(OFFSET, OFFSET))
        found = fit(m, recordings[:1], [MASSES, DAMPING, FRICTION], {NAMES[0]: UNKNOWN})
        options = {"substeps": SUBSTEPS, "threads": 1}
        without = costate.evaluate(m, recordings[1:], NOISE, found.parameters, **options)
        after = costate.evaluate(m, recordings[1:], NOISE, found.parameters, signals=found.signals, **options)
        self.assertGreater(without.misfit, 5)
        self.assertLess(after.misfit, 1.6)
        self.assertEqual(after.predicted[0][NAMES[0]].shape, (len(recordings[1].times), 1))
        self.assertLess(after.errors(0)[NAMES[0]], 2)
        late = numpy.array(recordings[1].times) < found.signals[NAMES[0]].delay  # of what was before the start
        numpy.testing.assert_array_equal(numpy.isnan(after.differences[0][NAMES[0]][:, 0]), late)
        with self.assertRaisesRegex(costate.BadArgument, r"offset\(pendulum/shoulder\) is unknown: `identify` finds it"):
            costate.evaluate(m, recordings, NOISE, signals={NAMES[0]: UNKNOWN}, **options)

    def test_a_prior_settles_a_gain_that_the_parameters_may_imitate(self):
        m, recordings = pendulum(), swings(pendulum())
        found = fit(m, recordings, [MASSES, DAMPING], {NAMES[0]: UNKNOWN._replace(priors={"gain": (1.3, 1e-7), "delay": (0.02, 1e-9)})})
        numpy.testing.assert_allclose(found.values[-2:], [1.3, 0.02], atol=1e-4)
        self.assertEqual(found.first[-1], 0.02)

    def test_a_delay_that_no_recording_shows_is_named(self):
        m = costate.Model.from_string({**FLIER, "gravity": [0, 0, 0]})  # at rest in space
        rest, u = m.state(*m.initial_state()), numpy.zeros((10, 1))
        states = recorded(m, rest, u, 5)
        random = numpy.random.default_rng(0)
        hinge = states[:, 7:8] + 1e-3 * random.normal(size=(11, 1))
        one = Recording(0.005 * numpy.arange(11), {"f/hinge": hinge}, rest, u=u)
        found = costate.identify(m, [one], [], {"f/hinge": 1e-3}, signals={"f/hinge": Signal(offset=True, delay=(0, 0.01))}, substeps=5,
                                 threads=1)
        self.assertEqual(found.undetermined, [{"delay(f/hinge)": 1.0}])
        self.assertTrue(numpy.isinf(found.standard_errors[1]))
        self.assertLess(abs(found.values[0]), 4e-3 / 3)
        self.assertIn("undetermined: delay(f/hinge) +1", str(found))
        found = costate.identify(m, [one], [], {"f/hinge": 1e-3}, signals={"f/hinge": Signal(offset=True, gain=True)}, substeps=5, threads=1)
        self.assertEqual(found.undetermined, [{"gain(f/hinge)": 1.0}])  # of an output that stays at zero
        slow = rest.copy()
        slow[-1] = 1e-3  # rad/s: what a delay of 10 ms changes is a hundredth of the noise
        one = one._replace(signals={"f/hinge": recorded(m, slow, u, 5)[:, 7:8] + hinge}, start=slow)
        found = costate.identify(m, [one], [], {"f/hinge": 1e-3}, signals={"f/hinge": Signal(delay=(0, 0.01))}, substeps=5, threads=1)
        self.assertEqual((found.undetermined, found.loose), ([], ["delay(f/hinge)"]))
        self.assertIn("no better than its bounds: delay(f/hinge)", str(found))

    def test_derivatives_are_those_of_the_residuals(self):
        m, random = costate.Model.from_string(FLIER), numpy.random.default_rng(5)
        x = m.state(*m.initial_state())
        x[m.nq:] = 2 * random.normal(size=m.nv)
        u = random.normal(size=(12, 1)) * 0.05
        states = recorded(m, x, u, 5)[[0, 3, 8, 11]]
        poses = numpy.array([numpy.concatenate(m.body_pose(s[:m.nq], "f/link")) for s in states])
        shown = {"f/free": states[:, :7], "d(f/hinge)": states[:, -1], "pose(f/link)": poses, "f/gyro": random.normal(size=(4, 3))}
        given = [Recording([0, 0.015, 0.04, 0.055], shown, x, [0.1] * 14, u), Recording([0.01, 0.015, 0.02, 0.045], shown, x, 0, u)]
        signals = {"f/free": Signal(offset=True, delay=(0, 0.011)), "pose(f/link)": Signal(offset=True, delay=(-0.004, 0.01), each=("delay",)),
                   "f/gyro": Signal(offset=True, gain=True, delay=(0.001, 0.01), each=("offset", "gain")),
                   "d(f/hinge)": Signal(offset=0.3, gain=2.0, delay=0.0072)}
        tracks = tracking.Tracks(m, given, dict.fromkeys(shown, 0.1), signals, 5, 1, 999)
        unknowns = Unknowns(m, ["bodies/f/body/pseudo_inertia", "joints/f/hinge/placement[*]"], tracks.instruments.blocks)
        problem, h = Problem(tracks, unknowns, numpy.inf), 1e-6
        y = unknowns.y.copy()
        y[13:] += 0.2 * random.normal(size=len(y) - 13)
        for i, name in enumerate(unknowns.names):
            if name.startswith("delay"):
                y[i] = 0.0037
        point = problem.point(y, tracks.starts)
        rows = problem.linearized(point)
        self.assertEqual(len(y), 13 + (6 + 1) + (6 + 2) + (2 * 6 + 1))

        def residuals(dy, dx):
            d = numpy.zeros((2, m.ndx))
            d[0] = dx
            theta, _ = unknowns.parameters(y + dy)
            starts = tracks.displaced(tracks.starts, d)
            return [*tracks.weighted(tracks.rollouts(theta, starts, problem.of_signals(y + dy))[2]), problem._start_prior(0, starts)[0]]

        now = residuals(0, 0)
        numpy.testing.assert_allclose(rows[0][0], numpy.concatenate([now[0], now[2]]), atol=1e-12)
        numpy.testing.assert_allclose(rows[1][0], now[1], atol=1e-12)
        self.assertEqual([len(now[0]), len(now[1])], [48, 58])  # without samples earlier than the longest delay
        for which in range(len(y) + 2):
            dy = numpy.eye(len(y))[which] if which < len(y) else random.normal(size=len(y)) * 0.01
            dx = numpy.zeros(m.ndx) if which < len(y) else random.normal(size=m.ndx)
            more, less = residuals(h * dy, h * dx), residuals(-h * dy, -h * dx)
            want = [(a - b) / (2 * h) for a, b in zip(more, less)]
            with self.subTest(unknowns.names[which] if which < len(y) else "all"):
                for (_, by_x, by_y), there in zip(rows, (numpy.concatenate([want[0], want[2]]), want[1])):
                    got = by_y @ dy + (by_x @ dx if by_x.shape[1] else 0)
                    numpy.testing.assert_allclose(got, there, atol=1e-6 + 3e-7 * numpy.abs(there).max())

    def test_bad_input_is_refused(self):
        m, recordings = pendulum(), swings(pendulum(), n=1)
        cases = (
            ({"pendulum/sholder": UNKNOWN}, r"signals has 'pendulum/sholder', which no recording has; there are pendulum/shoulder, d\(p"),
            ({NAMES[0]: Signal(delay=(0.05, 0))}, r"delay is \(0.05, 0\); it may be a number or \(lower, upper\), s"),
            ({NAMES[0]: Signal(delay=(0, numpy.inf))}, "it may be a number or"),
            ({NAMES[0]: Signal(delay=(0, 3.0))}, "recording 0: pendulum/shoulder: no sample is later than the longest delay of 3 s"),
            ({NAMES[0]: Signal(delay=(-0.1, 0))}, "u has 80 control steps, but its last sample is after 90"),
            ({NAMES[0]: Signal(offset=True, each=("ofset",))}, "there is no 'ofset'; there are offset, gain, delay"),
            ({NAMES[0]: Signal(offset=True, each=("gain",))}, "its gain is not unknown"),
            ({NAMES[0]: Signal(offset=True, priors={"offset": (0, 0)})}, "the prior of its offset must be positive"),
        )
        for signals, sentence in cases:
            with self.subTest(sentence), self.assertRaisesRegex(costate.BadArgument, sentence):
                fit(m, recordings, [DAMPING], signals)
        with self.assertRaisesRegex(costate.BadArgument, "'pose.pendulum/lower.' has a gain, but it holds a rotation"):
            one = recordings[0]._replace(signals={"pose(pendulum/lower)": numpy.zeros((len(recordings[0].times), 7))})
            costate.identify(m, [one], [DAMPING], {"pose(pendulum/lower)": 1}, signals={"pose(pendulum/lower)": Signal(gain=True)},
                             substeps=SUBSTEPS)


if __name__ == "__main__":
    unittest.main()
