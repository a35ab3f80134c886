"""Objectives of scenes: losses and gradients against central differences, rollouts, and optimizations."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy

import costate

LEARNED = {
    "steps": 200,
    "models": [{"name": "arm", "model": {
        "bodies": [{"name": "link", "joint": {"name": "joint", "type": "revolute", "axis": [0, 1, 0]}, "mass": 1,
                    "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.01, 0, 0, 0]}],
        "actuators": [{"name": "motor", "joint": "joint", "type": "motor"}]}}],
    "controls": [{"actuators": ["arm/motor"], "optimize": {"knots": 3}, "initial": 0.5}],
    "objective": [{"term": "position", "body": "arm/link", "point": [0, 0, -1], "target": [0.6, 0, -0.8]}],
}


class SceneTest(unittest.TestCase):
    def test_a_scene_has_variables_a_loss_and_its_gradient(self):
        for name, step in (("throw", 1e-5), ("double_pendulum_identification", 1e-6), ("box_slide_identification",
                                                                                       1e-6)):
            with self.subTest(name):
                scene = costate.Scene(name)
                y, (lower, upper) = scene.start, scene.bounds
                self.assertEqual(y.shape, (len(scene.variables),))
                self.assertTrue((lower <= y).all() and (y <= upper).all())
                loss, gradient = scene.loss_and_gradient(y)
                self.assertEqual(scene.loss(y), loss)
                numpy.testing.assert_array_equal(scene.gradient(y.tolist()), gradient)
                direction = gradient / numpy.linalg.norm(gradient)
                change = (scene.loss(y + step * direction) - scene.loss(y - step * direction)) / (2 * step)
                self.assertAlmostEqual(change / (gradient @ direction), 1, delta=1e-4)

    def test_the_rollout_is_that_of_the_model(self):
        scene = costate.Scene("throw")
        m, (states, controls) = scene.model, scene.rollout(scene.start)
        self.assertEqual((states.shape, controls.shape), ((scene.steps + 1, m.nx), (scene.steps, m.nu)))
        numpy.testing.assert_array_equal(states[0], m.state(*m.initial_state()))
        for t in (0, 1, 500, scene.steps - 1):
            numpy.testing.assert_allclose(m.state_step(states[t], controls[t]), states[t + 1], atol=1e-14)
        self.assertRegex(scene.variables[0], r"^controls/arm/torque\d\[0\]$")

    def test_the_loss_of_a_batch_is_the_mean_over_its_environments(self):
        batch = {"environments": 40, "randomize": {"joints": {"arm/joint": 0.3},
                                                   "controls": [{"actuators": ["arm/motor"], "noise": 0.2}]}}
        one, scene = costate.Scene(LEARNED), costate.Scene(LEARNED | {"batch": batch})
        y = scene.start
        loss, gradient = scene.loss_and_gradient(y)
        self.assertEqual(scene.loss(y), loss)
        self.assertNotEqual(one.loss(y), loss)
        for i in range(len(y)):
            step = numpy.eye(len(y))[i] * 1e-6
            self.assertAlmostEqual((scene.loss(y + step) - scene.loss(y - step)) / 2e-6, gradient[i], delta=1e-7)
        numpy.testing.assert_array_equal(scene.rollout(y)[0], one.rollout(y)[0])
        result = scene.optimize(iterations=10)
        self.assertLess(result.loss, loss)
        self.assertEqual(result.initial_loss, loss)
        self.assertEqual(scene.loss(result.y), result.loss)
        with self.assertRaisesRegex(costate.BadArgument, "the scene has a \"batch\""):
            scene.optimize("gauss_newton")
        heavy = LEARNED | {"batch": batch, "gravity": [0, 0, -1e308]}
        with self.assertRaisesRegex(costate.Diverged, "environment 0: the state is not finite"):
            costate.Scene(heavy).loss(y)

    def test_feedback_brings_a_pole_back(self):
        scene = costate.Scene("cartpole_swingup")
        law = scene.feedback(scene.optimize("ilqr", iterations=150).y)
        m = scene.model
        self.assertEqual([a.shape for a in law], [(501, 4), (500, 1), (500, 1, 4), (501, 4), (501, 4, 4)])

        def last(gains):
            x = law.states[0] + [0.02, 0.02, 0, 0]
            for t in range(scene.steps):
                x = m.state_step(x, law.controls[t] + gains[t] @ (x - law.states[t]))
            return numpy.abs(x - law.states[-1]).max()
        self.assertLess(last(law.gains), 0.05 * last(0 * law.gains))
        with self.assertRaisesRegex(costate.BadArgument, 'not "per_step"'):
            costate.Scene("throw").feedback(costate.Scene("throw").start)

    def test_a_controller_holds_a_pole_of_another_mass(self):
        scene, plant = costate.Scene("cartpole_swingup"), costate.Model("cartpole_swingup")
        plant.set_parameter("bodies/cartpole/pole/mass", 1.5 * plant.parameters[plant.parameter_names.index(
            "bodies/cartpole/pole/mass")])
        controller = costate.Controller(scene, horizon=40)
        self.assertEqual(controller.horizon, 40)
        with self.assertRaisesRegex(costate.BadArgument, "no plan yet"):
            controller.control(plant.state(*plant.initial_state()), 0)
        x = numpy.array([0.1, 0.15, 0, 0])
        for step in range(400):
            t = 0.01 * step
            if step % 5 == 0:
                plan = controller.plan(x, t, iterations=2)
                self.assertLessEqual(plan.iterations, 2)
                numpy.testing.assert_array_equal(plan.states[0], x)
            k = step % 5
            u = controller.control(x, t)
            numpy.testing.assert_allclose(u, plan.controls[k] + plan.gains[k] @ (x - plan.states[k]), atol=1e-9)
            x = plant.state_step(x, u)
        self.assertLess(abs(x[1]), 0.02)
        self.assertEqual([a.shape for a in plan[1:4]], [(41, 4), (40, 1), (40, 1, 4)])
        self.assertEqual(controller.plan(x, 100, 10**6, seconds=1e-9).iterations, 0)

    def test_what_a_controller_refuses(self):
        scene = costate.Scene("cartpole_swingup")
        with self.assertRaisesRegex(costate.BadArgument, 'needs "per_step" controls alone'):
            costate.Controller(costate.Scene("throw"))
        with self.assertRaisesRegex(TypeError, "scene must be a costate.Scene, not Model"):
            costate.Controller(scene.model)
        with self.assertRaisesRegex(costate.BadArgument, "horizon is 0, the least is 1"):
            costate.Controller(scene, 0)
        controller = costate.Controller(scene)
        self.assertEqual(controller.horizon, 100)
        x = scene.model.state(*scene.model.initial_state())
        for arguments, error, sentence in (((x, 0, 0), costate.BadArgument, "iterations is 0"),
                                           ((x, 0, 1, 0), costate.BadArgument, "seconds is 0.0, it must be above 0"),
                                           ((x, -1), costate.BadArgument, "time must be 0 or more"),
                                           ((x[:2], 0), ValueError, "x must have shape"),
                                           (([0, 0, 1e200, 0], 0), costate.Diverged, "diverged in its 100 steps")):
            with self.assertRaisesRegex(error, sentence):
                controller.plan(*arguments)
        controller.close()
        with self.assertRaises(costate.BadHandle):
            controller.plan(x, 0)

    def test_a_controller_is_read(self):
        names = ("states", "controls", "gains", "cost_gradients", "cost_hessians")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "controller.json")
            with open(file, "w", encoding="utf-8") as out:
                json.dump({"states": [[0, 1], [2, 3]], "controls": [[4]], "gains": [[[5, 6]]],
                           "cost_gradients": [[7, 8], [9, 10]], "cost_hessians": []}, out)
            law = costate.read_controller(file)
            self.assertEqual([a.shape for a in law], [(2, 2), (1, 1), (1, 1, 2), (2, 2), (0,)])
            self.assertEqual(law._fields, names)
            self.assertEqual(law.gains[0, 0, 1], 6)
            with open(file, "w", encoding="utf-8") as out:
                out.write("{}")
            with self.assertRaisesRegex(ValueError, "is not a controller.json"):
                costate.read_controller(file)

    def test_variables_have_names(self):
        for name in ("throw", "double_pendulum_identification", "golf"):
            scene = costate.Scene(name)
            self.assertEqual(len(set(scene.variables)), len(scene.variables), scene.variables)
        self.assertIn("bodies/", " ".join(costate.Scene("double_pendulum_identification").variables))
        self.assertRegex(" ".join(costate.Scene("golf").variables), "initial/|controls/|bodies/|joints/")

    def test_the_throw_arrives(self):
        scene = costate.Scene("throw")
        result = scene.optimize()
        self.assertGreater(result.initial_loss, 1)
        self.assertLess(result.loss, 2e-3)
        self.assertEqual(result.loss, scene.loss(result.y))
        self.assertEqual((result.losses[0], result.losses[-1]), (result.initial_loss, result.loss))
        self.assertEqual(len(result.losses), result.iterations + 1)
        self.assertTrue((numpy.diff(result.losses) <= 0).all() and result.stopped
                        and result.gradient_evaluations > 0)

    def test_stages_precede_the_optimization(self):
        stage = {"method": "adam", "iterations": 3, "parameters": [{"path": "bodies/*/mass", "value": 2}]}
        scene = costate.Scene({**LEARNED, "optimize": {"iterations": 4, "stages": [stage]}})
        told = []
        result = scene.optimize(progress=lambda done, of, loss: told.append((done, of)))
        self.assertEqual((result.iterations, told[0], told[-1]), (7, (0, 7), (7, 7)))
        self.assertEqual((result.loss, result.initial_loss), (scene.loss(result.y), scene.loss(scene.start)))
        self.assertLess(result.loss, result.initial_loss)
        ended = scene.optimize(progress=lambda done, of, loss: done < 2)
        self.assertEqual((ended.iterations, ended.stopped, ended.loss), (2, "interrupted", scene.loss(ended.y)))

    def test_settings_replace_those_of_the_file(self):
        scene = costate.Scene(LEARNED)
        self.assertEqual(scene.variables, [f"controls/arm/motor[{k}]" for k in range(3)])
        result = scene.optimize("gradient_descent", iterations=5, learning_rate=0.5)
        self.assertEqual(result.iterations, 5)
        self.assertLess(result.loss, result.initial_loss)
        self.assertLess(scene.optimize("adam", iterations=20).loss, result.initial_loss)
        for options, sentence in (({"method": "lbgfs"}, 'there is no method "lbgfs".*lbfgs'),
                                  ({"method": "ilqr"}, "ilqr cannot minimize this objective")):
            with self.assertRaisesRegex(costate.BadArgument, sentence):
                scene.optimize(**options)
        with self.assertRaisesRegex(ValueError, "iterations is 0, the least is 1"):
            scene.optimize(iterations=0)
        with self.assertRaisesRegex(costate.BadArgument, "nothing to optimize"):
            costate.Scene({key: LEARNED[key] for key in LEARNED if key != "controls"}).optimize("adam")
        with self.assertRaisesRegex(ValueError, r"y must have shape \(3,\), not \(2,\)"):
            scene.loss([0, 0])
        with self.assertRaisesRegex(costate.BadArgument, r"y\[1\] is not finite"):
            scene.loss([0, numpy.nan, 0])
        with self.assertRaisesRegex(costate.Diverged, "step"):
            scene.loss([1e300, 1e300, 1e300])

    def test_the_best_of_several_starts_counts(self):
        scene, told = costate.Scene(LEARNED), []
        options = {"method": "gradient_descent", "iterations": 3, "learning_rate": 0.2}
        alone = scene.optimize(**options)
        self.assertEqual(alone.restart_losses.tolist(), [alone.loss])
        runs = [scene.optimize(**options, restarts=5, sigma=2, threads=threads,
                               progress=lambda *report: told.append(report)) for threads in (1, 2, None)]
        for found in runs:
            self.assertEqual(found.restart_losses[0], alone.loss)  # the first begins where the scene does
            self.assertEqual((found.loss, len(set(found.restart_losses))), (min(found.restart_losses), 5))
            self.assertEqual((found.loss, found.initial_loss), (scene.loss(found.y), alone.initial_loss))
            numpy.testing.assert_array_equal(found.y, runs[0].y)
        self.assertEqual(told[19], (15, 15, runs[0].loss))  # 5 runs of one thread, each a start and 3 steps
        drawn = scene.optimize(**options, restarts=5, sigma=2, seed=7)
        self.assertNotEqual(drawn.restart_losses[1], runs[0].restart_losses[1])
        ended = scene.optimize("gradient_descent", iterations=50, restarts=4, threads=1,
                               progress=lambda done, *_: done < 4)
        self.assertEqual(("interrupted", [numpy.inf] * 3), (ended.stopped, ended.restart_losses[1:].tolist()))
        self.assertEqual(ended.loss, ended.restart_losses[0])
        program = os.environ["COSTATE_PROGRAM"]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(LEARNED, file)
            file.flush()
            command = [program, "optimize", file.name, "--json", "--method", "gauss_newton", "--iterations", "1"]
            done = subprocess.run([*command, "--restarts", "3"], capture_output=True, text=True, check=True)
            of_program = json.loads(done.stdout)
        same = scene.optimize("gauss_newton", iterations=1, restarts=3)
        self.assertEqual(same.restart_losses.tolist(), of_program["restart_losses"])

        def fail(done, *_):
            raise KeyError("of the caller")

        with self.assertRaisesRegex(KeyError, "of the caller"):
            scene.optimize("adam", restarts=3, progress=fail)
        batch = {"environments": 4, "randomize": {"joints": {"arm/joint": 0.3}}}
        for scene, options, sentence in (
                (costate.Scene(LEARNED | {"batch": batch}), {}, 'leave out the "batch"'),
                (costate.Scene(LEARNED, cost=lambda x, u: (0.0, 0 * x, 0 * u)), {}, "leave out the cost"),
                (costate.Scene("cartpole_swingup"), {"method": "receding_horizon"}, "another method")):
            with self.assertRaisesRegex(costate.BadArgument, "restarts are for one rollout: .*" + sentence):
                scene.optimize(restarts=2, **options)
        with self.assertRaisesRegex(ValueError, "restarts is 0, the least is 1"):
            scene.optimize(restarts=0)

    def test_progress_is_told_and_may_end_an_optimization(self):
        scene, told = costate.Scene(LEARNED), []
        result = scene.optimize("gradient_descent", iterations=5, learning_rate=0.5,
                                progress=lambda *report: told.append(report))
        self.assertEqual(told, [(k, 5, loss) for k, loss in enumerate(result.losses)])
        ended = scene.optimize("gradient_descent", iterations=5, learning_rate=0.5,
                               progress=lambda iteration, *_: iteration < 2)
        self.assertEqual((ended.iterations, ended.stopped), (2, "interrupted"))
        self.assertEqual((ended.loss, scene.loss(ended.y)), (result.losses[2],) * 2)

        def fail(*_):
            raise KeyError("of the caller")

        with self.assertRaisesRegex(KeyError, "of the caller"):
            scene.optimize("adam", progress=fail)

    def test_progress_is_told_and_may_end_an_evaluation(self):
        scene = costate.Scene(LEARNED)
        y, passes = scene.start, scene.steps + 1
        for call, total in ((scene.loss, passes), (scene.gradient, 2 * passes), (scene.rollout, passes)):
            told = []
            numpy.testing.assert_equal(call(y, progress=lambda *report: told.append(report)), call(y))
            self.assertEqual(told[-1], (total, total))
            self.assertEqual(told, sorted(told))
        cost = costate.Scene(LEARNED, cost=lambda states, controls: (0.0, None, None))
        told = []
        self.assertEqual(cost.loss_and_gradient(y, lambda *report: told.append(report))[0], scene.loss(y))
        self.assertEqual(told[-1], (2 * passes, 2 * passes))

    def test_progress_of_a_long_evaluation_may_end_it(self):
        scene = costate.Scene(dict(LEARNED, steps=1_000_000, memory="1M"))
        for call in (scene.loss, scene.gradient, scene.rollout):
            told = []

            def end(*report):
                told.append(report)
                return len(told) < 3

            with self.assertRaisesRegex(costate.Interrupted, "told of progress"):
                call(scene.start, progress=end)
            self.assertTrue(len(told) == 3 and 0 < told[0][0] < told[1][0] < told[2][0] < told[2][1])

        def fail(*_):
            raise KeyError("of the caller")

        with self.assertRaisesRegex(KeyError, "of the caller"):
            scene.loss(scene.start, progress=fail)

    def test_a_loss_keeps_no_states(self):
        # a gradient keeps 32 MB of them
        code = ("import json, resource, sys, costate\n"
                "scene = costate.Scene(json.loads(sys.argv[1]))\n"
                "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
                "scene.loss(scene.start)\n"
                "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)")
        scene = json.dumps(dict(LEARNED, steps=2_000_000))
        grown = subprocess.check_output([sys.executable, "-c", code, scene], text=True)
        self.assertLess(int(grown), 4000)  # kB

    def test_parameters_of_the_model_count(self):
        scene = costate.Scene(LEARNED)
        before = scene.loss(scene.start)
        scene.model.set_parameter("bodies/arm/link/mass", 2)
        self.assertNotEqual(scene.loss(scene.start), before)
        self.assertIs(costate.Scene(scene.model).model, scene.model)
        with self.assertRaisesRegex(TypeError, "base: give options to the model"):
            costate.Scene(scene.model, base="fixed")

    def test_control_c_ends_an_optimization(self):
        scene = costate.Scene({**LEARNED, "steps": 20000})
        for call in (lambda: scene.optimize("adam", iterations=10**6),
                     lambda: [scene.gradient(scene.start) for _ in range(10**6)]):
            sent = []

            def send():
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)

            timer = threading.Timer(0.3, send)
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                call()
            self.assertLess(time.monotonic() - sent[0], 5)
            timer.join()
        self.assertTrue(numpy.isfinite(scene.loss(scene.start)))
