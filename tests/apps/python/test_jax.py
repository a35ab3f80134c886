"""costate.jax against central differences and against the batch itself. Where JAX is not installed, a stand-in with
the interface of the four functions that it uses takes its place; then nothing is shown about tracing and compiling."""
import importlib.util
import sys
import unittest
from pathlib import Path

import numpy

import costate

STAND_IN = importlib.util.find_spec("jax") is None
if STAND_IN:
    sys.path.insert(0, str(Path(__file__).parent / "stand_in"))
    print("JAX is not installed: its stand-in is used")
import jax  # noqa: E402

if not STAND_IN:
    jax.config.update("jax_enable_x64", True)
from costate import jax as differentiable  # noqa: E402

N, T = 2, 3


def case(name, dtype=numpy.float64):
    """(batch, x (N, nx), u (T, N, nu)) with feet in the ground, and quaternions that are not of length 1."""
    model, random = costate.Model(name), numpy.random.default_rng(4)
    q, v = model.initial_state()
    rows = []
    for _ in range(N):
        moved = model.retract(q, 0.05 * random.normal(size=model.nv))
        if model.nq > model.nv:
            moved[2] = q[2] - 0.01
            moved[3:7] *= 1.2
        rows.append(numpy.concatenate([moved, v + 0.1 * random.normal(size=model.nv)]))
    u = 0.1 * random.normal(size=(T, N, model.nu)) + (q[7:] if model.nq > model.nv else 0)
    return (costate.Batch(model, N, substeps=2, own_parameters=True, ambient=True), numpy.array(rows, dtype),
            u.astype(dtype))


class JaxTest(unittest.TestCase):
    def assert_derivative(self, function, at, bar, gradient, seed=1, step=1e-6):
        """The gradient of bar . function(at) along a random direction against a central difference."""
        d = numpy.random.default_rng(seed).normal(size=at.shape)
        change = (function(at + step * d) - function(at - step * d)) * bar
        self.assertAlmostEqual(change.sum() / (2 * step), (numpy.asarray(gradient) * d).sum(), delta=2e-5 * max(
            1, abs((numpy.asarray(gradient) * d).sum())))

    def test_a_rollout_pulls_gradients_back_to_states_controls_and_parameters(self):
        for name in ("cartpole", "quadruped_stand"):
            with self.subTest(name):
                batch, x, u = case(name)
                theta = batch.model.parameters
                states, pull_back = jax.vjp(lambda x, u, p: differentiable.rollout(batch, x, u, p)[0], x, u, theta)
                numpy.testing.assert_array_equal(states, batch.rollout(x, u)[0])
                bar = numpy.random.default_rng(2).normal(size=states.shape)
                bars = pull_back(bar)
                starts = numpy.concatenate([x[None], numpy.asarray(states)[:-1]])
                for ours, expected in zip(bars, batch.backward(starts, u, bar)):
                    numpy.testing.assert_allclose(ours, expected, rtol=1e-13, atol=1e-13)
                self.assert_derivative(lambda y: batch.rollout(y, u)[0], x, bar, bars[0])
                self.assert_derivative(lambda y: batch.rollout(x, y)[0], u, bar, bars[1])

    def test_a_step_is_a_rollout_of_one(self):
        batch, x, u = case("cartpole")
        x_next, diverged = differentiable.step(batch, x, u[0])
        numpy.testing.assert_array_equal(x_next, batch.step(x, u[0])[0])
        self.assertFalse(numpy.asarray(diverged).any())

    def test_parameters_of_each_environment_and_of_the_call(self):
        batch, x, u = case("cartpole")
        mass = batch.model.parameter_names.index("bodies/cartpole/pole/mass")
        theta = numpy.tile(batch.model.parameters, (N, 1))
        theta[1, mass] *= 2
        states, pull_back = jax.vjp(lambda p: differentiable.rollout(batch, x, u, p)[0], theta)
        self.assertIsNone(batch._parameters)  # as before the call
        plain = batch.rollout(x, u)[0]
        numpy.testing.assert_array_equal(states[:, 0], plain[:, 0])
        self.assertFalse(numpy.array_equal(states[:, 1], plain[:, 1]))
        (bar,) = pull_back(numpy.ones(states.shape))

        def run(m):
            moved = theta.copy()
            moved[:, mass] = m
            batch.set_parameters(moved)
            return batch.rollout(x, u)[0]

        self.assert_derivative(run, theta[:, mass], 1, numpy.asarray(bar)[:, mass])

    def test_poses(self):
        batch, x, _ = case("quadruped_stand")
        frames = batch.frames(batch.model.bodies[:3])
        (where, velocities), pull_back = jax.vjp(lambda x: differentiable.poses(batch, x, frames), x)
        for ours, expected in zip((where, velocities), batch.poses(x, frames)):
            numpy.testing.assert_array_equal(ours, expected)
        random = numpy.random.default_rng(3)
        bars = random.normal(size=where.shape), random.normal(size=velocities.shape)
        (x_bar,) = pull_back(*bars) if STAND_IN else pull_back(bars)
        self.assert_derivative(lambda y: numpy.concatenate([p.ravel() for p in batch.poses(y, frames)]), x,
                               numpy.concatenate([b.ravel() for b in bars]), x_bar)

    def test_results_have_the_type_of_the_state(self):
        batch, x, u = case("cartpole", numpy.float32)
        states, pull_back = jax.vjp(lambda x, u: differentiable.rollout(batch, x, u)[0], x, u)
        self.assertEqual(states.dtype, numpy.float32)
        self.assertEqual([bar.dtype for bar in pull_back(numpy.ones(states.shape, numpy.float32))],
                         [numpy.float32, numpy.float32])

    def test_the_batch_must_be_ambient(self):
        batch = costate.Batch(costate.Model("cartpole"), N)
        with self.assertRaisesRegex(ValueError, "ambient=True"):
            differentiable.rollout(batch, numpy.zeros((N, 4)), numpy.zeros((1, N, 1)))

    @unittest.skipIf(STAND_IN, "needs JAX itself: compiling and vectorizing")
    def test_compiled_and_vectorized(self):
        batch, x, u = case("cartpole")
        loss = lambda u: (differentiable.rollout(batch, x, u)[0][-1] ** 2).sum()  # noqa: E731
        numpy.testing.assert_allclose(jax.jit(jax.grad(loss))(u), jax.grad(loss)(u))
        numpy.testing.assert_allclose(jax.vmap(loss)(numpy.stack([u, 2 * u])), [loss(u), loss(2 * u)])
