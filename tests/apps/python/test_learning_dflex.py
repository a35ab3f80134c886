"""The robots of dflex: their models and rewards, and small trainings by all learners of the examples."""
import math
import sys
import tempfile
import unittest

import numpy
from costate import gym
from test_examples import EXAMPLES, run

sys.path.insert(0, str(EXAMPLES))
from learn_dflex_ant import DflexAnt  # noqa: E402
from learn_dflex_cheetah import DflexCheetah  # noqa: E402
from learn_dflex_humanoid import DflexHumanoid  # noqa: E402


def values(task):
    return dict(zip(task.model.parameter_names, task.model.parameters))


class DflexAntTest(unittest.TestCase):
    def test_the_reward_is_speed_uprightness_heading_and_height(self):
        task = DflexAnt()
        x = numpy.stack([task.state(*task.start(numpy.random.default_rng(seed))) for seed in range(9)])
        self.assertAlmostEqual(x[:, 2].mean(), 0.75, delta=0.1)
        still, t = numpy.zeros((9, 8)), numpy.zeros(9, int)
        x[:, 3:7], x[:, 15] = [[1, 0, 0, 0]], 2.0  # upright, ahead, at 2 m/s
        numpy.testing.assert_allclose(task.reward(x, still, x, t), 2 + 0.1 + 1 + x[:, 2] - 0.27)
        x[:, 3:7] = [[math.sqrt(0.5), 0, 0, math.sqrt(0.5)]]  # to the left
        numpy.testing.assert_allclose(task.reward(x, still, x, t), 2 + 0.1 + x[:, 2] - 0.27)
        self.assertFalse(task.terminated(x, t).any())
        x[:, 2] = 0.26
        self.assertTrue(task.terminated(x, t).all())

    def test_its_mass_and_friction_are_those_of_dflex(self):
        compliance = {}
        for friction in ("viscous", "dry"):
            of = values(DflexAnt(friction))
            mass = sum(value for name, value in of.items() if name.endswith("/mass"))
            self.assertAlmostEqual(mass, 182.2, places=1)  # kg, of water
            self.assertEqual(of["joints/ant/front_left_ankle/damping"], 11)  # N m s/rad, 10 by the springs of limits
            compliance[friction] = of["contact/compliance"]
        self.assertAlmostEqual(compliance["viscous"], 1 / (3000 / 240))  # the impulse of a step by a slip of 1 m/s
        self.assertLess(compliance["dry"], 1e-4)

    def test_all_learners_learn(self):
        small = ("--seeds", 0, "--workers", 1, "--set", "*.epochs=1", "*.horizon=4", "*.num_envs=4", "*.every=1",
                 "*.minibatch=8", "*.hidden=[8]", "*.critic_hidden=[8]")
        for robot, more in (("ant", ["SHAC, dry friction"]), ("cheetah", []), ("humanoid", [])):
            with tempfile.TemporaryDirectory() as folder:
                out = run(EXAMPLES / f"learn_dflex_{robot}.py", "--out", folder, *small)
                self.assertEqual(out.returncode, 0, out.stderr)
                for name in ["SHAC", "AHAC", "SAPO", "PPO", *more]:
                    self.assertIn(f"| {name} | 1 |", out.stdout)


class DflexHumanoidTest(unittest.TestCase):
    def test_the_reward_has_the_height_above_84_cm_and_the_actions(self):
        task, t = DflexHumanoid(), numpy.zeros(3, int)
        q, v = task.home
        x = numpy.stack([task.state(q, 0 * v)] * 3)
        x[:, 2], x[:, 3:7] = [0.64, 0.89, 1.3], [[1, 0, 0, 0]]
        action = 0.5 * numpy.ones((3, 17))
        height = numpy.array([-200 * 0.2**2, 10 * 0.05, 10 * 0.1])
        numpy.testing.assert_allclose(task.reward(x, action, x, t), 0.1 + 1 + height - 0.002 * 17 * 0.25)
        numpy.testing.assert_array_equal(task.terminated(x, t), [True, False, False])

    def test_its_torques_are_those_of_dflex(self):
        of = values(DflexHumanoid())
        names = "abdomen_y", "right_hip_y", "left_knee", "left_elbow"
        gears = [of[f"actuators/humanoid/{name}/gear"] for name in names]
        numpy.testing.assert_allclose(gears, [70, 210, 140, 70])  # N m


class DflexCheetahTest(unittest.TestCase):
    def test_its_joints_are_those_of_dflex(self):
        task, gym_task = DflexCheetah(), values(gym.make_task("half-cheetah"))
        of = values(task)
        self.assertEqual(task.control_step, 1 / 60)
        for name in ("bthigh", "ffoot"):
            path = f"joints/half_cheetah/{name}/damping"
            self.assertAlmostEqual(of[path], gym_task[path] + 10)  # N m s/rad
            self.assertEqual(of[f"actuators/half_cheetah/{name}/gear"], 200)  # N m


if __name__ == "__main__":
    unittest.main()
