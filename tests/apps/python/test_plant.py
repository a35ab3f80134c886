"""Environments that something else than the model of their task steps."""
import tempfile
import unittest
from pathlib import Path

import numpy
import torch

import costate
from costate import gym, learn


class Heavier:
    """The hopper with links of twice their masses."""

    def __init__(self, task):
        model = costate.Model("hopper")
        masses = [name.endswith("/mass") for name in model.parameter_names]
        model.parameters = numpy.where(masses, 2.0, 1.0) * model.parameters
        self.batch = costate.Batch(model, 3, substeps=task.substeps)

    def step(self, x, u):
        return self.batch.step(x, u)


class Stuck:
    """Nothing moves, and the first environment diverges."""

    def step(self, x, u):
        return x.copy(), numpy.arange(len(x)) == 0


def run(plant, randomize=None):
    env = gym.make_vec("hopper", 3, 1, "DISABLED", randomize=randomize, plant=plant)
    env.reset(seed=4)
    results = [env.step(numpy.full((3, 3), action)) for action in (0.3, -0.5, 0.2)]
    return env.state, results


class PlantTest(unittest.TestCase):
    def test_the_plant_steps_and_the_task_judges(self):
        task = gym.make_task("hopper")
        alone, _ = run(None)
        same, _ = run(costate.Batch(task.model, 3, substeps=task.substeps))
        numpy.testing.assert_array_equal(same, alone)
        other, results = run(Heavier(task))
        self.assertGreater(numpy.abs(other - alone).max(), 1e-3)
        before = gym.make_vec("hopper", 3, plant=Heavier(task))
        before.reset(seed=4)
        x, actions = before.state, numpy.full((3, 3), 0.3)
        before.step(actions)
        numpy.testing.assert_array_equal(results[0][1], task.reward(x, actions, before.state, numpy.zeros(3, int)))

    def test_an_environment_of_the_plant_may_diverge(self):
        _, results = run(Stuck())
        _, rewards, terminated, _, infos = results[0]
        self.assertEqual((rewards[0], terminated[0], list(infos["diverged"])), (0, True, [True, False, False]))

    def test_a_plant_has_its_own_parameters(self):
        with self.assertRaisesRegex(ValueError, "^a plant has parameters of its own, .* give randomize={}$"):
            run(Stuck(), {"bodies/*/mass": (0.8, 1.2)})

    def test_a_policy_is_evaluated_on_a_plant(self):
        task = gym.make_task("hopper")
        found = [learn.evaluate(task, lambda observation: torch.zeros(len(observation), 3), 3, plant=plant)
                 for plant in (None, Heavier(task))]
        self.assertNotEqual(found[0].returns.tolist(), found[1].returns.tolist())
        numpy.testing.assert_array_equal(found[0].states[0], found[1].states[0])


class ReadPolicyTest(unittest.TestCase):
    def test_other_files_are_refused_in_one_line(self):
        for text in ("", "[]", "{}", '{"mean": [0], "deviation": [1], "layers": 3}',
                     '{"mean": [0], "deviation": ["a"], "layers": []}'):
            with tempfile.TemporaryDirectory() as folder, self.subTest(text):
                file = Path(folder, "wrong.json")
                file.write_text(text)
                with self.assertRaisesRegex(costate.BadFile, "wrong.json: no policy that costate.learn.export has"):
                    learn.read_policy(file)


if __name__ == "__main__":
    unittest.main()
