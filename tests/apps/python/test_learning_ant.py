"""The ant of dflex: its model and reward, and small trainings by all learners of the example."""
import math
import sys
import tempfile
import unittest

import numpy

from test_examples import EXAMPLES, run

sys.path.insert(0, str(EXAMPLES))
from learn_dflex_ant import DflexAnt  # noqa: E402


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
            model = DflexAnt(friction).model
            values = dict(zip(model.parameter_names, model.parameters))
            mass = sum(value for name, value in values.items() if name.endswith("/mass"))
            self.assertAlmostEqual(mass, 182.2, places=1)  # kg, of water
            compliance[friction] = values["contact/compliance"]
        self.assertAlmostEqual(compliance["viscous"], 1 / (3000 / 240))  # the impulse of a step by a slip of 1 m/s
        self.assertLess(compliance["dry"], 1e-4)

    def test_all_learners_learn(self):
        small = ("--seeds", 0, "--workers", 1, "--set", "*.epochs=1", "*.horizon=4", "*.num_envs=4", "*.every=1",
                 "*.minibatch=8", "*.hidden=[8]", "*.critic_hidden=[8]")
        with tempfile.TemporaryDirectory() as folder:
            out = run(EXAMPLES / "learn_dflex_ant.py", "--out", folder, *small)
            self.assertEqual(out.returncode, 0, out.stderr)
            for name in ("SHAC", "SHAC, dry friction", "AHAC", "SAPO", "PPO"):
                self.assertIn(f"| {name} | 1 |", out.stdout)


if __name__ == "__main__":
    unittest.main()
