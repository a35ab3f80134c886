"""States with activations, of a filter and a muscle: where they start, and the derivatives of steps and rollouts."""
import tempfile
import unittest
from pathlib import Path

import numpy

import costate
from costate.gym import Task
from costate.gym.task import Randomization

FILE = Path(__file__).parents[1] / "activations.json"


class ActivationsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.m = costate.Model(FILE)
        cls.act = slice(cls.m.nq + cls.m.nv, cls.m.nx)
        cls.x = cls.m.start()
        cls.u = numpy.array([0.1, 0.5, 0.8])

    def near(self, a, b, tolerance):
        self.assertLessEqual(numpy.abs(a - b).max(), tolerance * max(1, numpy.abs(b).max()))

    def displaced(self, x, d):
        m = self.m
        return m.state(m.retract(x[:m.nq], d[:m.nv]), x[m.nq:self.act.start] + d[m.nv:2 * m.nv],
                       x[self.act] + d[2 * m.nv:])

    def difference(self, a, b):
        return numpy.concatenate([self.m.difference(a[:self.m.nq], b[:self.m.nq]), b[self.m.nq:] - a[self.m.nq:]])

    def test_states_start_with_the_activations_of_the_file(self):
        m = self.m
        self.assertEqual(m.activations, ["m/servo", "m/flexor"])
        self.assertEqual((m.nx, m.ndx), (m.nq + m.nv + 2, 2 * m.nv + 2))
        numpy.testing.assert_array_equal(self.x[self.act], [0.25, 0.4])
        numpy.testing.assert_array_equal(m.state(*m.initial_state()), self.x)
        numpy.testing.assert_array_equal(costate.Batch(m, n_env=1).state()[0][0], self.x)
        numpy.testing.assert_array_equal(m.start("m/tense")[self.act], [0.25, 0.9])
        numpy.testing.assert_array_equal(m.state(*m.initial_state(), activations=[0.1, 0.2])[self.act], [0.1, 0.2])
        with self.assertRaisesRegex(ValueError, "activations"):
            m.state(*m.initial_state(), activations=[0.1])
        with self.assertRaisesRegex(costate.BadArgument, "no keyframe 'lax'"):
            m.start("lax")
        with self.assertRaisesRegex(costate.BadArgument, "has activations"):
            m.step(*m.initial_state(), self.u)

    def test_tasks_and_recordings_start_with_them(self):
        class Still(Task):
            scene = FILE

            def observation(self, x, t):
                return x[:, : self.model.nx].copy()

        task = Still()
        numpy.testing.assert_array_equal(task.state(*task.home)[self.act], [0.25, 0.4])
        with tempfile.TemporaryDirectory() as folder:
            states = numpy.array([self.x, self.m.state_step(self.x, self.u)])
            file = Path(folder) / "run.csv"
            costate.write_trajectory(file, self.m, states, numpy.array([self.u, self.u]))
            self.near(costate.read_trajectory(file, self.m).states, states, 1e-15)

    def test_derivatives_of_a_step_are_central_differences(self):
        m, e = self.m, 1e-6
        J = m.state_step_jacobian(self.x, self.u)
        next_state = m.state_step(self.x, self.u)
        columns = [(self.difference(next_state, m.state_step(self.displaced(self.x, d), self.u)) -
                    self.difference(next_state, m.state_step(self.displaced(self.x, -d), self.u))) / (2 * e)
                   for d in e * numpy.eye(m.ndx)]
        self.near(J.by_state, numpy.array(columns).T, 1e-6)
        columns = [(m.state_step(self.x, self.u + d) - m.state_step(self.x, self.u - d))[m.nq:] / (2 * e)
                   for d in e * numpy.eye(m.nu)]
        self.near(J.by_control[m.nv:], numpy.array(columns).T, 1e-6)
        self.assertGreater(numpy.abs(J.by_state[m.nv + 6:2 * m.nv, 2 * m.nv:]).max(), 1e-3)
        self.assertGreater(numpy.abs(J.by_control[2 * m.nv:]).max(), 0.01)
        random = numpy.random.default_rng(2)
        bar, x_dot, u_dot = (random.normal(size=n) for n in (m.ndx, m.ndx, m.nu))
        back = m.state_step_vjp(self.x, self.u, bar)
        forth = m.state_step_jvp(self.x, self.u, x_dot, u_dot)
        self.near(forth, J.by_state @ x_dot + J.by_control @ u_dot, 1e-10)
        self.near(back.x @ x_dot + back.u @ u_dot, bar @ forth, 1e-10)

    def test_the_gradient_of_a_rollout_is_central_differences(self):
        m, steps, e = self.m, 15, 1e-6
        batch, random = costate.Batch(m, n_env=2, substeps=2), numpy.random.default_rng(3)
        x, u = numpy.repeat(self.x[None], 2, 0), random.normal(size=(steps, 2, m.nu))
        states, completed = batch.rollout(x, u)
        bars = random.normal(size=(steps, 2, m.ndx))
        g = batch.backward(numpy.concatenate([x[None], states[:-1]]), u, bars, completed)
        x_dot, u_dot, theta_dot = random.normal(size=(2, m.ndx)), random.normal(size=u.shape), numpy.zeros(m.nparam)
        names = [name for name in m.parameter_names if "/m/servo/time" in name or "/m/flexor/" in name]
        self.assertIn("actuators/m/flexor/switch_width", names)
        for name in names:
            theta_dot[m.parameter_names.index(name)] = random.normal()
        theta_dot *= m.parameters

        def loss(s):
            other = m.copy()
            other.parameters = m.parameters + s * theta_dot
            moved, _ = costate.Batch(other, n_env=2, substeps=2).rollout(
                numpy.array([self.displaced(x[i], s * x_dot[i]) for i in range(2)]), u + s * u_dot)
            return sum(bars[t, i] @ self.difference(states[t, i], moved[t, i]) for t in range(steps) for i in range(2))

        slope = numpy.sum(g.x * x_dot) + numpy.sum(g.u * u_dot) + g.parameters @ theta_dot
        self.near(slope, (loss(e) - loss(-e)) / (2 * e), 1e-5)

    def test_environments_may_have_other_time_constants_and_limits(self):
        m = self.m
        random = numpy.random.default_rng(1)
        drawn = Randomization(m, {"actuators/*/time_constant": (0.5, 2.0), "actuators/*/fall_time": (0.5, 2.0),
                                  "actuators/m/servo/activation_limits[1]": (0.2, 0.3)})
        batch = costate.Batch(m, n_env=3, own_parameters=True)
        theta = numpy.array([drawn.draw(random) for _ in range(3)])
        batch.set_parameters(theta)
        u = numpy.repeat(numpy.array([[[0.0, 1.0, 0.0]]]), 3, 1)
        states, _ = batch.rollout(numpy.repeat(self.x[None], 3, 0), numpy.repeat(u, 40, 0))
        self.assertEqual([len(set(row)) for row in states[0, :, self.act].T], [3, 3])
        limits = theta[:, m.parameter_names.index("actuators/m/servo/activation_limits[1]")]
        numpy.testing.assert_array_equal(states[-1, :, self.act.start], limits)


if __name__ == "__main__":
    unittest.main()
