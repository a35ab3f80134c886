"""The Go1 that learns to walk: its task, a small training, and the C program that runs its policy."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import torch

import costate
from costate import learn
from test_examples import EXAMPLES, run

sys.path.insert(0, str(EXAMPLES))
import learn_go1  # noqa: E402

torch.set_num_threads(1)
WALK = os.environ.get("COSTATE_C_GO1_WALK", "")
COMMAND = (0.4, 0.1, -0.3)


class OnRigidGround(learn_go1.Go1):
    """The robot of the C program: that of go1_stand, with one command and no pushes."""

    substeps, steps, noise, randomize = 20, 60, 0.0, None

    def load(self):
        return costate.Model("go1_stand")

    def draw(self, random):
        return numpy.concatenate([COMMAND, COMMAND, [0, -1], numpy.zeros(15)])


def trained(epochs):
    """A learner of few environments."""
    sizes = {**learn_go1.SIZES, "epochs": epochs, "num_envs": 64, "hidden": (32,), "critic_hidden": (32,)}
    settings = learn.SHACSettings(**sizes, horizon=16, rate=3e-3, outliers=2.0, critic_passes=4)
    learner = learn.SHAC(learn_go1.Go1(), 0, settings)
    for _ in range(epochs):
        learner.epoch()
    return learner


class Go1Test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.learner = trained(18)
        cls.folder = tempfile.TemporaryDirectory()
        cls.policy = Path(cls.folder.name, "policy.json")
        learn.export(cls.learner, cls.policy)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_feet_are_where_the_model_has_them(self):
        task, random = learn_go1.Go1(), numpy.random.default_rng(0)
        x = numpy.array([task.state(*task.start(random)) for _ in range(3)])
        x[:, 3:7] *= [[1.0], [1.5], [0.5]]
        batch = costate.Batch(task.model, 3, ambient=True)
        calves, _ = batch.poses(x[:, : task.model.nx],
                                batch.frames([f"robot/{leg}_calf" for leg in ("FR", "FL", "RR", "RL")]))
        axes = learn_go1.rotation(torch.from_numpy(calves[..., 3:].reshape(-1, 4))).numpy().reshape(3, 4, 3, 3)
        lowest = calves[..., :3] - learn_go1.LINK * axes[..., 2] - [0, 0, learn_go1.RADIUS]
        states = torch.from_numpy(x)
        numpy.testing.assert_allclose(task.feet(states, task.motion(states)[0]).numpy(), lowest, atol=1e-12)

    def test_a_few_epochs_increase_the_return(self):
        task = learn_go1.Go1()
        found = learn.evaluate(task, self.learner.policy, 4)
        still = learn.evaluate(task, lambda observation: torch.zeros(len(observation), 12), 4)
        self.assertEqual(still.lengths.tolist(), 4 * [task.steps])  # the trot in place alone does not fall
        self.assertGreater(found.returns.mean(), still.returns.mean() + 20)
        measured = [learn_go1.errors(each) for each in (found, still)]
        for error in ("speed error", "turn error"):
            self.assertLess(measured[0][error], measured[1][error])
        self.assertEqual([each["falls"] for each in measured], [0, 0])

    def test_the_exported_policy_is_that_of_the_learner(self):
        policy, observations = json.loads(self.policy.read_text()), torch.randn(7, 50)
        y = numpy.clip((observations.double().numpy() - policy["mean"]) / policy["deviation"], -10, 10)
        for layer in policy["layers"]:
            y = y @ numpy.array(layer["weight"]).T + layer["bias"]
            if "scale" in layer:
                z = numpy.where(y > 0, y, numpy.expm1(numpy.minimum(y, 0)))
                z = (z - z.mean(1, keepdims=True)) / numpy.sqrt(z.var(1, keepdims=True) + 1e-5)
                y = layer["scale"] * z + layer["shift"]
        numpy.testing.assert_allclose(numpy.tanh(y), self.learner.policy(observations).numpy(), atol=2e-5)
        numpy.testing.assert_allclose(learn.read_policy(self.policy)(observations).numpy(), numpy.tanh(y), atol=1e-12)
        self.assertEqual((policy["control_step"], policy["control_scale"]), (0.02, 12 * [0.5]))

    @unittest.skipUnless(os.path.isfile(WALK), "COSTATE_C_GO1_WALK does not name the program")
    def test_a_c_program_walks_by_it(self):
        task = OnRigidGround()
        found = learn.evaluate(task, self.learner.policy, 1)
        run_file = Path(self.folder.name, "run.csv")
        command = [WALK, self.policy, *map(str, COMMAND), str(task.steps * task.control_step), run_file]
        out = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertRegex(out.stdout, r"^at \(.*\) after 1.2 s\nmean velocities .*; commanded 0.4 0.1 -0.3\n$")
        rows = numpy.array([list(map(float, row)) for row in list(csv.reader(run_file.read_text().splitlines()))[1:]])
        numpy.testing.assert_allclose(rows[:, 0], 0.02 * numpy.arange(task.steps + 1), atol=1e-9)
        states, controls = found.states[:, 0], found.controls[:, 0]  # in float32, those of the program in float64
        numpy.testing.assert_allclose(rows[:, 1:20], states[:, :19], atol=1e-3)
        numpy.testing.assert_allclose(rows[:, 20:38], states[:, 19:37], atol=2e-2)
        numpy.testing.assert_allclose(rows[:-1, 38:], controls, atol=1e-3)
        self.assertGreater(numpy.ptp(rows[:, 9]), 0.1)  # it moves its legs

    @unittest.skipUnless(os.path.isfile(WALK), "COSTATE_C_GO1_WALK does not name the program")
    def test_a_c_program_refuses_other_files(self):
        policy = json.loads(self.policy.read_text())
        policy["layers"][0]["weight"].pop()
        for text, message in (("{}", "it has other mean"), (json.dumps(policy), "wrong layers in ")):
            wrong = Path(self.folder.name, "wrong.json")
            wrong.write_text(text)
            out = subprocess.run([WALK, wrong, "0", "0", "0", "1"], capture_output=True, text=True)
            self.assertEqual((out.returncode, out.stdout), (1, ""))
            self.assertRegex(out.stderr, f"^go1_walk: .*{message}")
        missing = subprocess.run([WALK, "nowhere.json", "0", "0", "0", "1"], capture_output=True, text=True)
        self.assertEqual((missing.returncode, missing.stderr), (1, "go1_walk: cannot open nowhere.json\n"))

    def test_the_example_writes_its_policy_and_its_page(self):
        small = ("--learners", "shac", "ppo", "--seeds", 0, "--workers", 1, "--export", "--set", "*.num_envs=4",
                 "*.horizon=4", "*.epochs=1", "*.every=1", "*.hidden=[8]")
        with tempfile.TemporaryDirectory() as folder:
            out = run(EXAMPLES / "learn_go1.py", "--out", folder, *small)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertTrue(re.search(r"shac seed 0: .*; below 0.15 m/s after: never; errors 0\.\d+ m/s", out.stdout),
                            out.stdout)
            for name in ("shac-0.json", "ppo-0.json"):
                policy = json.loads(Path(folder, name).read_text())
                self.assertEqual([len(layer["bias"]) for layer in policy["layers"]], [8, 12])


if __name__ == "__main__":
    unittest.main()
