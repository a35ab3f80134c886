"""Costs of the caller's own beside the objective of a scene: against central differences, and in optimizations."""
import os
import signal
import threading
import traceback
import unittest

import numpy
import torch

import costate
import costate.torch

BALL = {
    "name": "a ball that spins",
    "steps": 60,
    "models": [{"name": "ball", "position": [0, 0, 0.3], "model": {
        "bodies": [{"name": "ball", "joint": {"type": "free"}, "mass": 0.2, "inertia": [0.1, 0.2, 0.25, 0, 0, 0],
                    "shapes": [{"type": "sphere", "radius": 0.05}]}]}}],
    "initial": {"velocities": {"ball": {"linear": [0.5, 0, 0], "angular": [3, 2, 1]}},
                "optimize": {"velocities": ["ball"]}},
}


def derivative(scene, y, d, step=1e-6):
    return (scene.loss(y + step * d) - scene.loss(y - step * d)) / (2 * step)


def work(states, controls):
    """The sum of squares of controls and of the last velocities, with its gradients."""
    x_bar = numpy.zeros_like(states)
    x_bar[-1, 4:] = 2 * states[-1, 4:]
    return (controls**2).sum() + (states[-1, 4:]**2).sum(), x_bar, 2 * controls


class CostTest(unittest.TestCase):
    def check_gradient(self, scene, y, delta=1e-6):
        gradient = scene.gradient(y)
        self.assertGreater(numpy.linalg.norm(gradient), 1e-3)
        random = numpy.random.default_rng(3)
        for _ in range(3):
            d = random.normal(size=y.shape)
            self.assertAlmostEqual(derivative(scene, y, d), gradient @ d, delta=delta * numpy.abs(gradient * d).sum())

    def test_a_cost_is_added_to_the_objective(self):
        plain, scene = costate.Scene("throw"), costate.Scene("throw", cost=work)
        y = plain.start + 0.3
        states, controls = plain.rollout(y)
        self.assertAlmostEqual(scene.loss(y), plain.loss(y) + work(states, controls)[0], places=12)
        self.check_gradient(scene, y)
        numpy.testing.assert_array_equal(costate.Scene("throw", cost=lambda x, u: (0, None, None)).gradient(y),
                                         plain.gradient(y))

    def test_a_function_of_tensors_needs_no_gradient(self):
        def tensors(states, controls):
            return (controls**2).sum() + (states[-1, 4:]**2).sum()
        scene, by_hand = costate.Scene("throw", cost=costate.torch.cost(tensors)), costate.Scene("throw", cost=work)
        y = scene.start + 0.3
        self.assertAlmostEqual(scene.loss(y), by_hand.loss(y), places=12)
        numpy.testing.assert_allclose(scene.gradient(y), by_hand.gradient(y), rtol=1e-12)

    def test_gradients_by_quaternions_and_by_parameters(self):
        # a nonlinear function of the whole motion, with the ball's quaternions
        def tensors(states, controls):
            unit = states[:, 3:7] / states[:, 3:7].norm(dim=1, keepdim=True)
            return (unit[:, 1] * states[:, 2]).sum() + unit[-1, 0]**3 + states[20, 7:].pow(2).sum()
        scene = costate.Scene(self.spinning(), cost=costate.torch.cost(tensors))
        self.assertNotEqual(scene.model.nx, scene.model.ndx)
        self.check_gradient(scene, scene.start)

        # the same gradient in tangent rows
        ambient = costate.torch.cost(tensors)

        def tangent(states, controls):
            value, x_bar, u_bar = ambient(states, controls)
            rows = numpy.zeros((len(states), scene.model.ndx))
            rows[:, 6:] = x_bar[:, 7:]
            for t, x in enumerate(states):
                rows[t, :6] = scene.model.gradient_to_tangent(x[:7], x_bar[t, :7])
            return value, rows, u_bar
        numpy.testing.assert_allclose(costate.Scene(self.spinning(), cost=tangent).gradient(scene.start),
                                      scene.gradient(scene.start), rtol=1e-12, atol=1e-14)

    def spinning(self):
        paths = "bodies/ball/inertia", "world/gravity"
        return {**BALL, "parameters": [{"path": path, "optimize": True} for path in paths]}

    def test_optimizations_have_the_cost(self):
        scene = costate.Scene("throw", cost=costate.torch.cost(lambda x, u: 10 * (u**2).mean()))
        result = scene.optimize(iterations=20)
        self.assertEqual(result.loss, scene.loss(result.y))
        self.assertLess(result.loss, result.initial_loss)
        _, controls = scene.rollout(result.y)
        _, plain = scene.rollout(costate.Scene("throw").optimize("lbfgs").y)
        self.assertLess((controls**2).mean(), 0.1 * (plain**2).mean())
        for method in ("adam", "momentum", "gradient_descent"):
            result = scene.optimize(method, iterations=3, learning_rate=1e-2)
            self.assertLess(result.loss, result.initial_loss)
        with self.assertRaisesRegex(costate.BadArgument, "gauss_newton cannot .* a gradient alone; use lbfgs"):
            scene.optimize("gauss_newton")

    def test_what_is_refused(self):
        with self.assertRaisesRegex(TypeError, "cost must be a function of states and controls, not float"):
            costate.Scene("throw", cost=3.0)
        for result, error, sentence in (
                (1.0, TypeError, r"must return \(value, .*, not float; costate.torch.cost makes one"),
                (("a", None, None), TypeError, "must be one number, not 'a'"),
                ((numpy.zeros(2), None, None), TypeError, "must be one number"),
                ((numpy.nan, None, None), costate.Diverged, "the cost of the caller is not finite"),
                ((0, numpy.zeros((3, 3)), None), ValueError, "gradient by the states must have shape"),
                ((0, None, numpy.zeros(3)), ValueError, "gradient by the controls must have shape"),
                ((0, None, [["a"]]), TypeError, "must hold numbers")):
            scene = costate.Scene("throw", cost=lambda x, u, result=result: result)
            for call in (scene.gradient, lambda _, scene=scene: scene.optimize(iterations=1)):
                with self.subTest(sentence), self.assertRaisesRegex(error, sentence):
                    call(scene.start)
        nan = numpy.full((1001, costate.Scene("throw").model.ndx), numpy.nan)
        with self.assertRaisesRegex(costate.Diverged, "gradient"):
            costate.Scene("throw", cost=lambda x, u: (0, nan[:len(x)], None)).gradient(costate.Scene("throw").start)
        for function, sentence in ((lambda x, u: u.sum(0), r"one number, not a tensor \(9,\)"),
                                   (lambda x, u: 1.0, "one number, not float")):
            scene = costate.Scene("throw", cost=costate.torch.cost(function))
            with self.assertRaisesRegex(TypeError, sentence):
                scene.loss(scene.start)
        scene = costate.Scene("cartpole_swingup", cost=work)
        with self.assertRaisesRegex(costate.BadArgument, "a feedback law needs second derivatives"):
            scene.feedback(scene.start)
        with self.assertRaisesRegex(costate.BadArgument, "a controller needs second derivatives"):
            costate.Controller(scene)
        scene = costate.Scene({**BALL, "batch": {"environments": 4, "randomize": {"joints": {"ball": {"angular": 0.1}}}}}, cost=work)
        for call in (scene.loss, lambda _: scene.optimize()):
            with self.assertRaisesRegex(costate.BadArgument, 'of one rollout, but the scene has a "batch"'):
                call(scene.start)

    def test_what_a_cost_raises_arrives(self):
        calls = []

        def broken(states, controls):
            calls.append(1)
            if len(calls) > 5:
                raise ZeroDivisionError("in the cost")
            return work(states, controls)
        scene = costate.Scene("throw", cost=broken)
        with self.assertRaisesRegex(ZeroDivisionError, "in the cost"):
            try:
                scene.optimize()
            except ZeroDivisionError as error:
                self.assertIn("in broken", "".join(traceback.format_tb(error.__traceback__)))
                raise
        # the scene goes on to work
        calls.clear()
        self.assertTrue(numpy.isfinite(scene.loss(scene.start)))

    def test_control_c_ends_a_cost(self):
        def endless(states, controls):
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            while True:
                pass
        scene = costate.Scene("throw", cost=endless)
        with self.assertRaises(KeyboardInterrupt):
            scene.loss(scene.start)

    def test_the_arrays_of_a_cost_are_its_own(self):
        kept = []
        scene = costate.Scene("throw", cost=lambda x, u: (kept.append((x, u)) or 0, None, None))
        scene.loss(scene.start)
        states, controls = scene.rollout(scene.start)
        scene.loss(scene.start + 1)
        numpy.testing.assert_array_equal(kept[0][0], states)
        numpy.testing.assert_array_equal(kept[0][1], controls)
