"""The examples that need PyTorch, matplotlib and scipy."""
import csv
import tempfile
import unittest
from pathlib import Path

from test_examples import EXAMPLES, run


class LearningTest(unittest.TestCase):
    def test_a_pendulum_is_swung_up_by_the_gradient_of_its_rollout(self):
        out = run(EXAMPLES / "trajectory_optimization.py")
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        self.assertIn("upright to 0.0", out.stdout)

    def test_learners_write_curves_and_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            out = run(EXAMPLES / "learn_cartpole.py", "--out", folder, "--seeds", 1, "--epochs", 5, "--iterations", 1, "--workers", 2)
            self.assertEqual(out.returncode, 0, out.stderr)
            rows = list(csv.DictReader(open(Path(folder) / "learning.csv")))
            self.assertEqual([(row["learner"], row["environment steps"]) for row in rows], [("PPO", "30720"), ("SHAC", "10240")])
            self.assertTrue(all(-9000 < float(row["return"]) < 0 and 0 <= float(row["upright"]) <= 1 for row in rows))
            self.assertGreater((Path(folder) / "learning.png").stat().st_size, 10000)
