"""Included models in scenes with random settings, by tests/robots/random_settings.py."""
import pathlib
import sys
import unittest
import warnings

import costate

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "robots"))

import random_settings  # noqa: E402

MODELS = sorted((TESTS.parent / "scenes/library/models").glob("*.json"))
SEEDS = range(1, 301)


class RandomSettingsTest(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", costate.ModelWarning)

    def test_batches_are_single_steps_and_derivatives_are_derivatives(self):
        checked = 0
        for seed in SEEDS:
            faults, scene = random_settings.check(MODELS[seed % len(MODELS)], seed)
            checked += faults is not None
            self.assertFalse(faults, f"seed {seed}: {scene}")
        self.assertGreater(checked, 0.9 * len(SEEDS))

    def test_a_wrong_gradient_is_found(self):
        right = costate.Model.observe_vjp

        def wrong(self, *arguments, **options):
            g = right(self, *arguments, **options)
            return g._replace(x=1.001 * g.x)

        costate.Model.observe_vjp = wrong
        try:
            faults = [random_settings.check(MODELS[0], seed)[0] for seed in range(1, 11)]
        finally:
            costate.Model.observe_vjp = right
        self.assertTrue(any("forward and reverse mode" in fault for found in faults for fault in found or ()))


if __name__ == "__main__":
    unittest.main()
