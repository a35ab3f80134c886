"""Random robots as URDF, MJCF and SDFormat, by tests/robots/random_formats.py."""
import pathlib
import sys
import tempfile
import unittest
import warnings

import costate

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "robots"))

import random_formats  # noqa: E402

SEEDS = range(1, 121)


class RandomFormatsTest(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", costate.ModelWarning)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_robot_moves_alike_in_all_formats(self):
        compared = 0
        for seed in SEEDS:
            faults, steps = random_formats.check(seed, self.folder)
            compared += steps
            self.assertFalse(faults, f"seed {seed}")
        self.assertGreater(compared, 0.8 * random_formats.STEPS * len(SEEDS))
        if not random_formats.reads_sdf():
            self.skipTest("costate is built without libsdformat: SDFormat was not compared")

    def test_a_wrong_moment_of_inertia_is_found(self):
        right = random_formats.urdf

        def wrong(links):
            links[1].I = links[1].I * 1.001
            text = right(links)
            links[1].I = links[1].I / 1.001
            return text

        random_formats.urdf = wrong
        try:
            found = [bool(random_formats.check(seed, self.folder)[0]) for seed in range(1, 11)]
        finally:
            random_formats.urdf = right
        self.assertGreater(sum(found), 5)


if __name__ == "__main__":
    unittest.main()
