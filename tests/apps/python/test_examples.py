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
