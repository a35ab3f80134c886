"""One state at a time: what a model says of itself, derivatives against central differences, and bad input."""
import threading
import unittest

import numpy

import costate


def central(f, x, step=1e-6):
    """Columns: the change of f by each number of x."""
    return numpy.stack([(f(x + d) - f(x - d)) / (2 * step) for d in step * numpy.eye(len(x))], 1)


class ModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.m = costate.Model("go1_stand")
        random = numpy.random.default_rng(1)
        cls.q, cls.v = cls.m.initial_state()
        cls.q = cls.m.retract(cls.q, 0.1 * random.normal(size=cls.m.nv))
        cls.q[2] -= 0.02  # feet are in the ground
        cls.v = 0.1 * random.normal(size=cls.m.nv)
        cls.u = cls.q[7:] + 0.1 * random.normal(size=cls.m.nu)
        cls.random = random

    def near(self, a, b, tolerance):
        self.assertLessEqual(numpy.abs(a - b).max(), tolerance * max(1, numpy.abs(b).max()))

    def test_a_model_has_names_and_sizes(self):
        m = self.m
        self.assertEqual((m.nq, m.nv, m.nu), (19, 18, 12))
        self.assertEqual(m.bodies[0], "robot/trunk")
        self.assertEqual(m.joint_slices("robot/base"), (slice(0, 7), slice(0, 6)))
        self.assertEqual(m.joint_slices(1), (slice(7, 8), slice(6, 7)))
        self.assertEqual(len(m.actuators), m.nu)
        self.assertEqual(len(m.parameter_names), m.nparam)
        self.assertEqual(m.warnings, [])

    def test_parameters_are_set_by_name(self):
        m = costate.Model("cartpole")
        before = m.parameters
        m.set_parameter("bodies/cartpole/pole/mass", 0.3)
        changed = numpy.flatnonzero(m.parameters != before)
        self.assertEqual([m.parameter_names[i] for i in changed], ["bodies/cartpole/pole/mass"])
        self.assertAlmostEqual(m.mass_matrix(numpy.zeros(2))[0, 0], 1.3)
        with self.assertRaisesRegex(costate.BadArgument, "mass"):
            m.set_parameter("bodies/cartpole/pole/mass", -1)
        m.parameters = before
        self.assertAlmostEqual(m.mass_matrix(numpy.zeros(2))[0, 0], 1.1)

    def test_configurations_are_a_manifold(self):
        m, d = self.m, 0.3 * self.random.normal(size=self.m.nv)
        self.near(m.difference(self.q, m.retract(self.q, d)), d, 1e-12)
        q = 1.7 * self.q  # means q/|q|
        ambient = self.random.normal(size=m.nq)
        by_d = central(lambda d: m.retract(self.q, d), numpy.zeros(m.nv))
        self.near(m.gradient_to_tangent(self.q, ambient), ambient @ by_d, 1e-8)
        tangent = self.random.normal(size=m.nv)
        self.near(m.gradient_to_tangent(q, m.gradient_to_ambient(q, tangent)), tangent, 1e-12)
        position, quaternion = m.body_pose(self.q, "robot/trunk")
        self.near(position, self.q[:3], 1e-15)
        self.near(quaternion, self.q[3:7], 1e-15)

    def test_forward_and_inverse_dynamics_agree(self):
        m, tau = self.m, self.random.normal(size=self.m.nv)
        a = m.forward_dynamics(self.q, self.v, tau)
        self.near(m.inverse_dynamics(self.q, self.v, a), tau, 1e-11)
        bias = m.inverse_dynamics(self.q, self.v, numpy.zeros(m.nv))
        self.near(m.mass_matrix(self.q) @ a + bias, tau, 1e-11)
        by_q, by_v, by_tau = m.forward_dynamics_derivatives(self.q, self.v, tau)
        self.near(by_q, central(lambda d: m.forward_dynamics(m.retract(self.q, d), self.v, tau), numpy.zeros(m.nv)), 1e-6)
        self.near(by_v, central(lambda v: m.forward_dynamics(self.q, v, tau), self.v), 1e-6)
        self.near(by_tau @ m.mass_matrix(self.q), numpy.eye(m.nv), 1e-11)

    def test_a_step_with_contact_has_one_derivative_in_three_forms(self):
        m, state = self.m, (self.q, self.v, self.u)
        self.assertGreater(len(m.contacts(*state)), 0)
        q_next, _ = m.step(*state)

        def after(q, v, u):
            q, v = m.step(q, v, u)
            return numpy.concatenate([m.difference(q_next, q), v])

        J = m.step_jacobian(*state, parameters=True)
        zero = numpy.zeros(m.nv)
        self.near(J.by_state[:, : m.nv], central(lambda d: after(m.retract(self.q, d), self.v, self.u), zero), 1e-5)
        self.near(J.by_state[:, m.nv :], central(lambda v: after(self.q, v, self.u), self.v), 1e-5)
        self.near(J.by_control, central(lambda u: after(self.q, self.v, u), self.u), 1e-5)
        bar = self.random.normal(size=2 * m.nv)
        g = m.step_vjp(*state, bar[: m.nv], bar[m.nv :])
        self.near(numpy.concatenate([g.q, g.v]), bar @ J.by_state, 1e-9)
        self.near(g.u, bar @ J.by_control, 1e-9)
        self.near(g.parameters, bar @ J.by_parameters, 1e-9)
        self.assertIsNone(m.step_vjp(*state, bar[: m.nv], bar[m.nv :], wanted=("u",)).parameters)
        u_dot = self.random.normal(size=m.nu)
        self.near(numpy.concatenate(m.step_jvp(*state, u_dot=u_dot)), J.by_control @ u_dot, 1e-9)

    def test_contacts_carry_a_quadruped_that_stands(self):
        m = costate.Model("quadruped_stand")
        q, v = m.initial_state()
        u = q[7:].copy()
        for _ in range(1000):
            q, v = m.step(q, v, u)
        contacts = m.contacts(q, v, u)
        self.assertEqual(len(contacts), 4)
        self.assertTrue((contacts["body_b"] == -1).all())
        self.near(contacts["normal"], numpy.array([0, 0, 1.0]), 1e-15)
        self.assertAlmostEqual(contacts["impulse"][:, 2].sum() / (25 * 9.81e-3), 1, delta=0.01)

    def test_arrays_are_neither_copied_nor_converted(self):
        m, q, v, u = self.m, self.q, self.v, self.u
        with self.assertRaisesRegex(ValueError, r"q must have shape \(19,\), not \(18,\)"):
            m.step(v, v, u)
        with self.assertRaisesRegex(TypeError, "q must be of float64, not float32"):
            m.step(q.astype(numpy.float32), v, u)
        with self.assertRaisesRegex(TypeError, "u must be a numpy array of float64 .* not list"):
            m.step(q, v, list(u))
        with self.assertRaisesRegex(ValueError, "v must be C-contiguous"):
            m.step(q, numpy.repeat(v, 2)[::2], u)

    def test_what_goes_wrong_is_an_exception_with_a_sentence(self):
        with self.assertRaisesRegex(costate.BadFile, "nothing"):
            costate.Model("nothing")
        with self.assertRaisesRegex(costate.BadArgument, "not finite"):
            self.m.step(self.q * numpy.nan, self.v, self.u)
        with self.assertRaisesRegex(ValueError, "no body 'robot/head'; there are robot/trunk"):
            self.m.body_pose(self.q, "robot/head")
        with self.assertRaises(costate.BadArgument):
            self.m.body_pose(self.q, 99)
        m = costate.Model("cartpole")
        m.close()
        m.close()
        with self.assertRaisesRegex(costate.BadHandle, "freed"):
            m.parameters
        self.assertTrue(issubclass(costate.BadFile, costate.Error) and issubclass(costate.BadFile, ValueError))

    def test_threads_share_a_model(self):
        want, got = self.m.step(self.q, self.v, self.u)[1], []
        threads = [threading.Thread(target=lambda: got.append(self.m.step(self.q, self.v, self.u)[1])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(len(got) == 4 and all(numpy.array_equal(want, v) for v in got))
