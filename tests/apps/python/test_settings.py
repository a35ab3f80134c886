"""Under every setting of the solver: whole states and their derivatives, and batches of them."""
import tempfile
import unittest
import warnings

import numpy

import costate
import settings


JACOBIAN_ROUND_OFF = 1e-12
WITH_LOOP = '''<robot name="r">
  <loop_joint/>
  <link name="a">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
</robot>'''


def start(model):
    """A state (nx) on its way, with what two steps keep, and controls."""
    x, u = model.state(*model.initial_state()), numpy.full(model.nu, 0.1)
    for _ in range(2):
        x = model.state_step(x, u)
    return x, u


def near(test, a, b, tolerance):
    test.assertLessEqual(numpy.abs(a - b).max(), tolerance * max(1, numpy.abs(b).max()))


class SettingsTest(unittest.TestCase):
    def test_every_environment_has_the_steps_and_gradients_of_single_calls(self):
        for name, m in settings.models():
            with self.subTest(name):
                x, u = start(m)
                random = numpy.random.default_rng(4)
                us = u + 0.1 * random.normal(size=(2, 3, m.nu))
                bar = random.normal(size=(2, 3, m.ndx))
                xs = numpy.stack([m.state_step(x, us[0, i]) for i in range(3)])
                for threads in (1, 2):
                    batch = costate.Batch(m, 3, threads=threads)
                    states, _ = batch.rollout(xs, us)
                    residual, unconverged = batch.residuals()
                    g = batch.backward(numpy.stack([xs, states[0]]), us, bar, each=True)
                    for i in range(3):
                        x_bar, theta_bar, left = numpy.zeros(m.ndx), 0, []
                        for t in (1, 0):
                            before = (xs[i], states[0, i])[t]
                            numpy.testing.assert_array_equal(m.state_step(before, us[t, i]), states[t, i])
                            one = m.state_step_vjp(before, us[t, i], x_bar + bar[t, i])
                            x_bar, theta_bar = one.x, one.parameters + theta_bar
                            numpy.testing.assert_array_equal(g.u[t, i], one.u)
                            left.append(m.residual(before, us[t, i]))
                        numpy.testing.assert_array_equal(g.x[i], x_bar)
                        numpy.testing.assert_array_equal(g.parameters[i], theta_bar)
                        self.assertEqual(residual[i], max(r for r, _ in left))
                        self.assertEqual(unconverged[i], sum(not converged for _, converged in left))

    def test_derivatives_of_a_whole_state_agree(self):
        for name, m in settings.models():
            with self.subTest(name):
                x, u = start(m)
                random = numpy.random.default_rng(5)
                J = m.state_step_jacobian(x, u, parameters=True)
                bar, dot, u_dot = random.normal(size=m.ndx), random.normal(size=m.ndx), random.normal(size=m.nu)
                g = m.state_step_vjp(x, u, bar)
                near(self, bar @ J.by_state, g.x, 1e-9)
                near(self, bar @ J.by_control, g.u, 1e-9)
                near(self, bar @ J.by_parameters, g.parameters, 1e-9)
                if "elastic" not in name:
                    near(self, bar @ m.state_step_jvp(x, u, dot, u_dot), g.x @ dot + g.u @ u_dot, 1e-9)
                self.assertIsNone(m.state_step_vjp(x, u, bar, wanted=("u",)).x)

    def test_jacobians_of_all_environments_are_the_columns_of_adjoints(self):
        for name, m in settings.models():
            x, u = start(m)
            random = numpy.random.default_rng(6)
            us = u + 0.1 * random.normal(size=(3, m.nu))
            xs = numpy.stack([m.state_step(x, one) for one in us])
            ndx = m.ndx
            many = costate.Batch(m, 3 * ndx, threads=2, substeps=2)  # a row of the Jacobian in each
            rows = numpy.repeat(xs, ndx, 0), numpy.repeat(us, ndx, 0)
            bars = numpy.tile(numpy.eye(ndx), (3, 1))
            want = many.backward(rows[0][None], rows[1][None], bars[None], each=True)
            for threads in (1, 2):
                for ambient in (False, True):
                    with self.subTest(name, threads=threads, ambient=ambient):
                        batch = costate.Batch(m, 3, threads=threads, substeps=2, ambient=ambient)
                        J = batch.jacobian(xs, us, parameters=True)
                        near(self, J.by_state.reshape(-1, ndx), want.x, JACOBIAN_ROUND_OFF)
                        near(self, J.by_control.reshape(-1, m.nu), want.u[0], JACOBIAN_ROUND_OFF)
                        near(self, J.by_parameters.reshape(-1, m.nparam), want.parameters, JACOBIAN_ROUND_OFF)
                        self.assertFalse(J.diverged.any())
            some = batch.jacobian(xs, us, envs=[False, True, False])
            self.assertIsNone(some.by_parameters)
            numpy.testing.assert_array_equal(some.by_state[1], J.by_state[1])
            self.assertTrue((some.by_state[[0, 2]] == 0).all() and (some.by_control[[0, 2]] == 0).all())
            far = xs.copy()
            far[2, m.nq : m.nq + m.nv] = 1e200
            J = batch.jacobian(far, us)
            self.assertEqual((J.diverged.tolist(), J.by_state[2].any(), J.by_state[0].any()),
                             ([False, False, True], False, True))

    def test_ambient_gradients_of_every_environment_are_those_by_the_numbers_of_its_state(self):
        for warm in (False, True):
            solver = {"type": "pgs", "sweeps": 20, "warm_start": warm, "warm_contacts": 4}
            m = settings.model(solver=solver, ground={"friction": 0.7})
            x, u = start(m)
            x = numpy.stack([x, x, x])
            x[1, 3:7] *= 1.3  # means q/|q|
            us = numpy.stack([u, u, 2 * u])
            batch = costate.Batch(m, 3, ambient=True)
            bar = numpy.random.default_rng(3).normal(size=(1, 3, m.nx))
            g = batch.backward(x[None], us[None], bar).x
            keys = range(m.nq + m.nv, m.nq + m.nv + 4 * warm)
            bar[:, :, keys] = 0  # they do not move
            self.assertTrue((g[:, keys] == 0).all())
            for k in sorted(set(range(m.nx)) - set(keys)):
                d = numpy.zeros_like(x)
                d[:, k] = 1e-6
                change = (batch.step(x + d, us)[0] - batch.step(x - d, us)[0]) / 2e-6
                near(self, (change * bar[0]).sum(1), g[:, k], 1e-6 * numpy.abs(g).max())

    def test_a_file_that_asks_for_too_much_warns(self):
        with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
            file.write(WITH_LOOP)
            file.flush()
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    m = costate.Model(file.name)
            except costate.BadFile as error:
                if "TinyXML-2 was missing" in str(error):
                    self.skipTest(str(error))
                raise
        self.assertEqual([str(w.message) for w in caught], m.warnings)
        self.assertRegex(m.warnings[0], "<loop_joint>")
        for warning in caught:
            self.assertIs(warning.category, costate.ModelWarning)
            self.assertEqual(warning.filename, __file__)
