"""The examples, as far as they are quick."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "apps/python/examples"
TOSSES = Path(os.environ.get("COSTATE_REFERENCE_DIR", "")) / "recordings/cube_tosses/tosses.csv.gz"


def run(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True)


class ExampleTest(unittest.TestCase):
    def test_the_readme_has_gradients_of_a_batch(self):
        out = run(ROOT / "tests/readme/readme_example.py")
        self.assertRegex(out.stdout, r"^upward speed 1\.\d+ m/s .*\n-0\.0\d+ m/s per kg .*\n[01]\.\d+ m/s per rad", out.stderr)

    def test_a_long_gradient_has_the_same_bits_within_a_budget(self):
        example, small = EXAMPLES / "long_gradient.py", ("--ants", 4, "--steps", 40, "--substeps", 2)
        sums = [run(example, *small, "--megabytes", budget) for budget in (0, 0.01)]
        lines = [out.stdout.splitlines()[1:] for out in sums]
        self.assertEqual(lines[0], lines[1], sums[1].stderr)
        self.assertRegex(lines[0][0], r"largest gradient by a control [0-9.e-]+ m, checksum [0-9a-f]{8}")
        self.assertNotEqual(run(example, *small, "--limit", 1).returncode, 0)

    def test_a_long_gradient_takes_no_more_memory_than_its_budget(self):
        peaks = []
        for budget in (0, 1):  # of 24 MB
            out = run(EXAMPLES / "long_gradient.py", "--ants", 512, "--steps", 200, "--substeps", 1, "--megabytes", budget)
            self.assertRegex(out.stdout, r"peak \d+ MB, of which controls and their gradient 13 MB", out.stderr)
            peaks.append(int(re.search(r"peak (\d+) MB", out.stdout)[1]))
        self.assertLess(peaks[1], 100)
        self.assertGreater(peaks[0] - peaks[1], 16)

    def test_the_friction_of_the_cube_is_found_from_four_tosses(self):
        if not TOSSES.is_file():
            self.skipTest("the tosses are missing: set COSTATE_REFERENCE_DIR")
        with tempfile.TemporaryDirectory() as folder:
            command = (EXAMPLES / "cube_tosses.py", "--out", folder, "--laws", "box", "--tosses", 0, 4, "--test", 8)
            out = run(*command)
            rows = json.loads((Path(folder) / "rows.json").read_text())
            self.assertEqual([(row["law"], row["tosses"]) for row in rows], [("box", 0), ("box", 4)], out.stderr)
            self.assertLess(rows[1]["misfit"], 1)
            self.assertLess(abs(dict(zip(rows[1]["names"], rows[1]["values"]))["shapes/ground/friction"] - 0.12), 0.02)
            again = run(*command)  # nothing is left to do
            self.assertEqual((again.returncode, again.stdout), (0, ""), again.stderr)

    def test_the_cube_is_fitted_without_derivatives(self):
        if not TOSSES.is_file():
            self.skipTest("the tosses are missing: set COSTATE_REFERENCE_DIR")
        with tempfile.TemporaryDirectory() as folder:
            command = (EXAMPLES / "cube_tosses.py", "--out", folder, "--laws", "cone", "--tosses", 4, "--test", 4,
                       "--search", 96)
            out = run(*command)
            row, = json.loads((Path(folder) / "rows.json").read_text())
            self.assertEqual((row["law"], row["tosses"]), ("cone, CMA-ES", 4), out.stderr)
            self.assertLess(abs(row["friction"] - 0.18), 0.1)
            again = run(*command)  # nothing is left to do
            self.assertEqual((again.returncode, again.stdout), (0, ""), again.stderr)

    def test_many_parameters_of_a_humanoid_are_found_with_few_passes(self):
        out = run(EXAMPLES / "humanoid_parameters.py", "--seconds", 0.4, "--iterations", 1)
        self.assertRegex(out.stdout, r"^240 unknowns from 2 windows, 0.4 s, on average 0.0 contacts; ", out.stderr)
        self.assertIn("and 2 passes with derivatives; central differences would need 1144 rollouts", out.stdout)

    def test_parameters_of_a_humanoid_on_a_mat_are_found(self):
        out = run(EXAMPLES / "humanoid_parameters.py", "--seconds", 0.3, "--iterations", 12, "--ground", "soft")
        self.assertRegex(out.stdout, "^260 unknowns from 6 windows, 0.3 s, on average 0.8 contacts", out.stderr)
        self.assertLess(float(out.stdout.split("misfit ")[1].split()[0]), 1.2)

    def test_the_cube_needs_its_recordings(self):
        out = subprocess.run([sys.executable, str(EXAMPLES / "cube_tosses.py")], capture_output=True, text=True,
                             env={**os.environ, "COSTATE_REFERENCE_DIR": "nowhere"})
        self.assertEqual(out.returncode, 1)
        self.assertRegex(out.stderr, "^the tosses are missing: set COSTATE_REFERENCE_DIR to the folder with ")
