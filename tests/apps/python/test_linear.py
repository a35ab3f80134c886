"""The linearization of steps: against finite differences of steps, and in the layout of other engines."""
import unittest
from pathlib import Path

import numpy

import costate

STEP = 1e-6


class TransitionTest(unittest.TestCase):
    def test_it_is_the_derivative_of_a_control_step(self):
        for name, substeps in (("cartpole", 1), ("go1_stand", 1), ("go1_stand", 4)):
            with self.subTest(name, substeps=substeps):
                m = costate.Model(name)
                q, v = m.initial_state()
                random = numpy.random.default_rng(0)
                x = m.state(m.retract(q, 0.05 * random.normal(size=m.nv)), 0.1 * random.normal(size=m.nv))
                u = 0.1 * random.normal(size=m.nu)

                def after(d, u):
                    """The state after the step from x moved by d (2 nv), as a tangent vector at the one from x."""
                    y = m.state(m.retract(x[: m.nq], d[: m.nv]), x[m.nq :] + d[m.nv :])
                    for _ in range(substeps):
                        y = m.state_step(y, u)
                    return y

                end = after(numpy.zeros(m.ndx), u)

                def change(a, b):
                    return numpy.concatenate([m.difference(b[:m.nq], a[:m.nq]), a[m.nq:] - b[m.nq:]]) / (2 * STEP)

                A, B = costate.transition(m, x, u, substeps)
                zero = numpy.zeros(m.ndx)
                want = numpy.stack([change(after(d, u), after(-d, u)) for d in STEP * numpy.eye(m.ndx)], 1)
                numpy.testing.assert_allclose(A, want, atol=2e-5 * numpy.abs(want).max())
                want = numpy.stack(
                    [change(after(zero, u + d), after(zero, u - d)) for d in STEP * numpy.eye(m.nu)], 1)
                numpy.testing.assert_allclose(B, want, atol=2e-5 * max(1, numpy.abs(want).max()))
                self.assertEqual(end.shape, (m.nx,))

    def test_it_is_the_jacobian_of_a_batch(self):
        m = costate.Model("go1_stand")
        batch = costate.Batch(m, 2, substeps=3)
        x, u = batch.state()[0], numpy.full((2, m.nu), 0.1)
        J = batch.jacobian(x, u)
        A, B = costate.transition(m, x[0], u[0], 3)
        numpy.testing.assert_allclose(A, J.by_state[0], rtol=1e-12, atol=1e-12)
        numpy.testing.assert_allclose(B, J.by_control[0], rtol=1e-12, atol=1e-12)

    def test_joints_may_be_in_the_order_of_another_engine(self):
        m = costate.Model("go1_stand")
        x, u = m.state(*m.initial_state()), numpy.zeros(m.nu)
        A, B = costate.transition(m, x, u)
        moving = [name for name in m.joints if m.joint_slices(name)[1].start < m.joint_slices(name)[1].stop]
        order = [moving[0], *reversed(moving[1:])]  # the free joint, then the legs backwards
        A_there, B_there = costate.transition(m, x, u, joints=order)
        at = [*range(6), *range(17, 5, -1)]
        at += [18 + i for i in at]
        numpy.testing.assert_array_equal(A_there, A[at][:, at])
        numpy.testing.assert_array_equal(B_there, B[at])
        short = [name.split("/")[-1] for name in order]
        numpy.testing.assert_array_equal(costate.transition(m, x, u, joints=short).A, A_there)
        for joints, sentence in ((moving[1:], "12 different degrees of freedom of 18"),
                                 (["hip"] + moving, "0 joints are named"), (moving + moving[:1],
                                                                            "name every moving joint once")):
            with self.assertRaisesRegex(costate.BadArgument, sentence):
                costate.transition(m, x, u, joints=joints)

    def test_sensors_have_their_matrices(self):
        m = costate.Model(Path(__file__).resolve().parents[1] / "sensors_scene.json")
        random = numpy.random.default_rng(0)
        x, u = m.state(*m.initial_state()), random.normal(size=m.nu)
        L, J = costate.transition(m, x, u, sensors=True), m.observe_jacobian(x, u)
        numpy.testing.assert_array_equal(L.C, J.by_state)
        numpy.testing.assert_array_equal(L.D, J.by_control)
        plain = costate.transition(m, x, u)
        self.assertEqual(len(plain), 2)
        numpy.testing.assert_array_equal(L.A, plain.A)
        moving = [name for name in m.joints if m.joint_slices(name)[1].start < m.joint_slices(name)[1].stop]
        swapped = costate.transition(m, x, u, joints=moving[::-1], sensors=["effort", "robot/turning"])
        order = numpy.concatenate([numpy.arange(m.nv)[m.joint_slices(name)[1]] for name in moving[::-1]])
        order = numpy.concatenate([order, m.nv + order])
        rows = numpy.r_[m.sensor_slice("robot/effort"), m.sensor_slice("robot/turning")]
        numpy.testing.assert_array_equal(swapped.C, L.C[rows][:, order])
        numpy.testing.assert_array_equal(swapped.D, L.D[rows])
        numpy.testing.assert_array_equal(costate.transition(m, x, u, 3, sensors=True).C, L.C)
        with self.assertRaisesRegex(costate.BadArgument, "0 sensors are named 'smell'"):
            costate.transition(m, x, u, sensors=["smell"])
        with self.assertRaisesRegex(TypeError, "sensors must be True, False or a list of names, not 'effort'"):
            costate.transition(m, x, u, sensors="effort")

    def test_bad_input_is_refused(self):
        m = costate.Model("cartpole")
        with self.assertRaisesRegex(costate.BadArgument, "substeps is 0"):
            costate.transition(m, [0, 0, 0, 0], [0], 0)
        with self.assertRaisesRegex(TypeError, "model must be a costate.Model, not str"):
            costate.transition("cartpole", [0, 0, 0, 0], [0])
        with self.assertRaisesRegex(ValueError, r"x must have shape \(4,\)"):
            costate.transition(m, [0, 0], [0])
