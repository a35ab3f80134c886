"""One state at a time: what a model says of itself, derivatives against central differences, and bad input."""
import threading
import unittest
from pathlib import Path

import numpy

import costate


def central(f, x, step=1e-6):
    """Columns: the change of f by each number of x."""
    return numpy.stack([(f(x + d) - f(x - d)) / (2 * step) for d in step * numpy.eye(len(x))], 1)


class Exchanged:
    """An array of another library, which numpy knows by DLPack only."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


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

    def test_a_model_says_how_it_is_built(self):
        m = self.m
        home = m.keyframe("robot/home")
        self.assertEqual((home.q[2], home.q[9], home.u[1]), (0.287755846, -1.8, 0.90384))
        numpy.testing.assert_array_equal(m.keyframe(0).u, home.u)
        self.assertFalse(home.v.any())
        with self.assertRaisesRegex(costate.BadArgument, "there is no keyframe 'sit'; there are robot/home"):
            m.keyframe("sit")
        self.assertEqual(m.parents[:3], [None, "robot/trunk", "robot/FR_hip"])
        self.assertEqual(len(m.parents), len(m.bodies))
        self.assertEqual(m.time_step, m.parameters[m.parameter_names.index("world/time_step")])
        self.assertEqual(m.actuator_limits.control.shape, (12, 2))
        self.assertEqual(m.joint_limits[1].tolist(), [-0.863, 0.863])
        self.assertEqual(m.joint_limits[0].tolist(), [-numpy.inf, numpy.inf])
        sited = costate.Model(Path(__file__).resolve().parents[1] / "sensors_scene.json")
        self.assertEqual((sited.sites, sited.site_bodies), (["robot/palm"], ["robot/hand"]))
        self.assertEqual(sited.actuator_limits.force.tolist(), [[-numpy.inf, numpy.inf]])

    def test_limits_follow_the_parameters(self):
        m = costate.Model.from_string({"models": [{"name": "r", "model": {
            "bodies": [{"name": "b", "joint": {"type": "revolute", "axis": [0, 0, 1], "limits": [-1, 2]}, "mass": 1,
                        "inertia": [1, 1, 1, 0, 0, 0]}],
            "actuators": [{"joint": "b", "type": "motor", "control_limits": [-3, 4], "force_limits": [-5, 6]}]}}]})
        self.assertEqual([part.tolist() for part in m.actuator_limits], [[[-3, 4]], [[-5, 6]]])
        theta = m.parameters
        theta[theta == 4] = 8
        theta[theta == 2] = 3
        m.parameters = theta
        self.assertEqual((m.actuator_limits.control[0, 1], m.joint_limits[0, 1]), (8, 3))

    def test_a_copy_has_parameters_of_its_own(self):
        m = costate.Model("cartpole")
        m.set_parameter("bodies/cartpole/pole/mass", 0.3)
        other = m.copy()
        self.assertEqual(type(other), costate.Model)
        numpy.testing.assert_array_equal(other.parameters, m.parameters)
        other.set_parameter("bodies/cartpole/pole/mass", 0.5)
        m.close()
        self.assertAlmostEqual(other.mass_matrix(numpy.zeros(2))[0, 0], 1.5)
        with self.assertRaises(costate.BadHandle):
            m.copy()

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
        self.near(by_q, central(lambda d: m.forward_dynamics(m.retract(self.q, d), self.v, tau),
                                numpy.zeros(m.nv)), 1e-6)
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
        self.near(J.by_state[:, :m.nv], central(lambda d: after(m.retract(self.q, d), self.v, self.u), zero), 1e-5)
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

    def test_numbers_of_all_kinds_are_taken(self):
        m, q, v, u = self.m, self.q, self.v, self.u
        want = numpy.concatenate(m.step(q, v, u))
        strided, other_end = numpy.repeat(v, 2)[::2], v.astype(v.dtype.newbyteorder())
        for given in (list(v), tuple(v), strided, other_end, Exchanged(v), v.view(numpy.recarray)):
            numpy.testing.assert_array_equal(numpy.concatenate(m.step(q, given, u)), want)
        single = q.astype(numpy.float32)
        numpy.testing.assert_array_equal(m.step(single, v, u)[1], m.step(single.astype(float), v, u)[1])
        pendulum = costate.Model("pendulum_2")
        for zeros in ([0, 0], numpy.zeros(2, numpy.int8), numpy.zeros(2, numpy.uint64)):
            numpy.testing.assert_array_equal(pendulum.mass_matrix(zeros), pendulum.mass_matrix(numpy.zeros(2)))

    def test_what_is_not_such_an_array_of_numbers_is_refused(self):
        m, q, v, u = self.m, self.q, self.v, self.u
        with self.assertRaisesRegex(ValueError, r"q must have shape \(19,\), not \(18,\)"):
            m.step(v, v, u)
        for wrong in (v.astype(complex), v > 0, list(map(str, v)), None, object()):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, "v must hold numbers, not"):
                m.step(q, wrong, u)
        with self.assertRaisesRegex(TypeError, "u is a list that numpy cannot convert"):
            m.step(q, v, [[0.0], 0.0])
        with self.assertRaisesRegex(ValueError, "wanted has 'z'; possible are q, v, u, parameters"):
            m.step_vjp(q, v, u, v, v, wanted=("z",))
        with self.assertRaisesRegex(ValueError, "wanted has 'q'; possible are x, u, parameters"):
            m.state_step_vjp(numpy.concatenate([q, v]), u, numpy.zeros(36), wanted=("q",))
        with self.assertRaisesRegex(TypeError, r"wanted must be a list of names, such as \('q',\)"):
            m.step_vjp(q, v, u, v, v, wanted="q")

    def test_an_index_is_an_integer_in_range(self):
        m = self.m
        numpy.testing.assert_array_equal(
            m.body_pose(self.q, numpy.int64(3))[0],
            m.body_pose(self.q, m.bodies[3])[0])
        for wrong, sentence in ((3.7, "body must be an integer, not 3.7"), (True, "not True"), (None, "not None")):
            with self.assertRaisesRegex(TypeError, sentence):
                m.body_pose(self.q, wrong)
        for wrong in (99, -1, 2**31 - 1):
            with self.assertRaisesRegex(costate.BadArgument,
                                        f"there is no body {wrong}; there are 13, the first is 0"):
                m.body_pose(self.q, wrong)
        with self.assertRaisesRegex(costate.BadArgument, "body is 4294967297"):
            m.body_pose(self.q, 2**32 + 1)

    def test_an_unknown_name_gets_the_nearest_in_one_line(self):
        for given, nearest in (("bodies/trunk/mass", "bodies/robot/trunk/mass"), ("world/gravty[2]",
                                                                                  "world/gravity[2]")):
            with self.assertRaises(costate.BadArgument) as caught:
                self.m.set_parameter(given, 1)
            self.assertEqual(str(caught.exception), f"there is no parameter {given!r}; the nearest is {nearest}")
        with self.assertRaisesRegex(ValueError,
                                    "no body 'pendulum/link3'; there are pendulum/link1, pendulum/link2$"):
            costate.Model("pendulum_2").body_pose([0, 0], "pendulum/link3")

    def test_what_goes_wrong_is_an_exception_with_a_sentence(self):
        with self.assertRaisesRegex(costate.BadFile, "nothing"):
            costate.Model("nothing")
        with self.assertRaisesRegex(costate.BadArgument, "not finite"):
            self.m.step(self.q * numpy.nan, self.v, self.u)
        with self.assertRaisesRegex(ValueError, "no body 'robot/trnk'; the nearest is robot/trunk$"):
            self.m.body_pose(self.q, "robot/trnk")
        m = costate.Model("cartpole")
        m.close()
        m.close()
        with self.assertRaisesRegex(costate.BadHandle, "freed"):
            m.parameters
        self.assertTrue(issubclass(costate.BadFile, costate.Error) and issubclass(costate.BadFile, ValueError))

    def test_threads_share_a_model(self):
        want, got = self.m.step(self.q, self.v, self.u)[1], []
        threads = [
            threading.Thread(target=lambda: got.append(self.m.step(self.q, self.v, self.u)[1])) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(len(got) == 4 and all(numpy.array_equal(want, v) for v in got))
