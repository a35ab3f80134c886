"""The examples, as far as they are quick."""
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "apps/python/examples"


def run(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True)


class ExampleTest(unittest.TestCase):
    def test_the_readme_has_gradients_of_a_batch(self):
        out = run(ROOT / "tests/readme/readme_example.py")
        self.assertRegex(out.stdout, r"^upward speed 1\.\d+ m/s .*\n-0\.0\d+ m/s per kg .*\n[01]\.\d+ m/s per rad", out.stderr)

    def test_a_long_gradient_has_the_same_bits_within_a_budget(self):
        example, small = EXAMPLES / "long_gradient.py", ("--ants", 4, "--steps", 40)
        sums = [run(example, *small, "--megabytes", budget) for budget in (0, 0.01)]
        lines = [out.stdout.splitlines()[1:] for out in sums]
        self.assertEqual(lines[0], lines[1], sums[1].stderr)
        self.assertRegex(lines[0][0], r"largest gradient by a control [0-9.e-]+ m, checksum [0-9a-f]{8}")
        self.assertNotEqual(run(example, *small, "--limit", 1).returncode, 0)
