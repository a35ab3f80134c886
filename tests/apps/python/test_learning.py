"""Learners of policies, and the examples that need PyTorch, matplotlib and scipy."""
import contextlib
import csv
import dataclasses
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy
import torch

from costate import gym, learn
from costate.gym import Pendulum
from costate.learn.shac import without_outliers
from costate.torch import TorchTask
from test_examples import EXAMPLES, run
from test_view import program_has_a_viewer

torch.set_num_threads(1)
SMALL = {"num_envs": 16, "hidden": (16,), "critic_hidden": (16,), "reward_scale": 1.0}
SHAC = learn.SHACSettings(epochs=10, horizon=20, rate=1e-2, critic_rate=5e-3, outliers=10.0, **SMALL)
PPO = learn.PPOSettings(epochs=20, horizon=80, minibatch=320, rate=5e-3, **SMALL)
SAC = learn.SACSettings(epochs=10, num_envs=8, horizon=10, batch=64, random_steps=160, rate=5e-3, hidden=(32,),
                        critic_hidden=(32, 32), discount=0.95, target_rate=0.02)
OPTIONS = {"enhance_samples": True, "critic_derivatives": 0.1, "enhance_policy": True}


class Hold(TorchTask):
    """A pendulum is to stay at 0.5 rad above horizontal, from random starts."""

    scene, substeps, steps, noise = "pendulum_1", 20, 40, 0.5

    def torch_observation(self, x, t):
        return x

    def torch_reward(self, x, action, x_next, t):
        return -(x_next[:, 0] - 0.5) ** 2 - 0.01 * x_next[:, 1] ** 2


def in_double_precision(learner):
    """The same learner, computing in float64."""
    for part in (learner.actor, learner.critic, learner.target, learner.normalizer):
        part.double()
    learner.envs.dtype = torch.float64
    return learner


def check_gradient_of_the_loss(test, learner, before):
    """The gradient of the policy of a learner in float64 is that of finite differences of the loss from `before`."""
    parameters, random = list(learner.actor.parameters()), torch.Generator().manual_seed(0)
    along = [torch.randn(p.shape, generator=random, dtype=torch.float64) for p in parameters]
    gradient = sum((p.grad * d).sum() for p, d in zip(parameters, along)).item()

    def loss(size):
        learner.restore(before)
        with torch.no_grad():
            for p, d in zip(parameters, along):
                p.add_(d, alpha=size)
        return learner.loss()[0].item()

    difference = (loss(1e-6) - loss(-1e-6)) / 2e-6
    test.assertGreater(abs(difference), 1e-3)
    test.assertAlmostEqual(gradient / difference, 1, delta=1e-5)


def sac_in_double_precision(**options):
    learner = learn.SAC("pendulum-2", 0, dataclasses.replace(SAC, **options))
    for part in (learner.actor, learner.critic, learner.target, learner.normalizer):
        part.double()
    learner.normalizer.update(torch.randn(1000, 7, generator=learner.random))
    learner.normalizer.double()
    return learner


def observation_jacobian(task, x, t):
    """(n, observation size, ndx) of a task whose parts of x besides q and v are none, by central differences."""
    model, rows = task.model, []
    for d in 1e-6 * numpy.eye(2 * model.nv):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            for i in range(len(x)):
                moved[i, : model.nq] = model.retract(x[i, : model.nq], sign * d[: model.nv])
            moved[:, model.nq :] += sign * d[model.nv :]
            ends.append(task.observation(moved, t))
        rows.append((ends[0] - ends[1]) / 2e-6)
    return numpy.stack(rows, 2)


def loss_of_shac(rewards, values, ends, discount):
    """Equation 5 for (horizon, num_envs), a sum at a time."""
    total = 0.0
    for r, v, over in zip(rewards.T.tolist(), values.T.tolist(), ends.T.tolist()):
        weight = 1.0
        for t in range(len(r)):
            total += weight * (r[t] + discount * v[t] * over[t])
            weight = 1.0 if over[t] else weight * discount
    return -total / rewards.numel()


class LearnerTest(unittest.TestCase):
    def test_both_learn_to_hold_a_pendulum(self):
        for kind, settings, enough in ((learn.SHAC, SHAC, -20), (learn.PPO, PPO, -36)):
            for seed in (0, 1):
                with self.subTest(kind.name, seed=seed):
                    learner = kind(Hold(), seed, settings)
                    start = learn.evaluate(learner.task, learner.policy).returns.mean()
                    row = learn.train(learner, every=settings.epochs)[-1]
                    self.assertLess(start, -45)
                    self.assertGreater(row["return"], enough)
                    self.assertEqual((row["epoch"], row["length"]), (settings.epochs, 40))

    def test_the_gradient_of_the_loss_of_shac_is_that_of_finite_differences(self):
        for task, horizon, t in (("pendulum-2", 12, [0, 92, 94, 96]), ("hopper", 5, 0)):  # some episodes end
            with self.subTest(task):
                learner = in_double_precision(
                    learn.SHAC(task, 3, learn.SHACSettings(num_envs=4, horizon=horizon, hidden=(8,),
                                                           critic_hidden=(8,))))
                learner.envs.reset(seed=0, options={"t": t})
                before = learner.snapshot()
                value, _, (_, rewards, values, ends) = learner.loss()
                self.assertAlmostEqual(value.item(), loss_of_shac(rewards, values, ends, 0.99), places=6)
                self.assertEqual(ends[:-1].sum(), 3 if task == "pendulum-2" else 0)
                value.backward()
                check_gradient_of_the_loss(self, learner, before)

    def test_a_run_that_resumes_gives_the_same_bits(self):
        # its buffer is filled
        sac = dataclasses.replace(SAC, num_envs=3, horizon=20, displacements=2, random_steps=30, capacity=100,
                                  **OPTIONS)
        for kind, settings in ((learn.SHAC, SHAC), (learn.PPO, PPO), (learn.SAC, sac)):
            with self.subTest(kind.name), tempfile.TemporaryDirectory() as folder:
                save, curve = Path(folder, "run.pt"), Path(folder, "curve.csv")
                whole = kind("cartpole-swing-up", 5, settings)
                wanted = learn.train(whole, every=1, until=3)
                learn.train(kind("cartpole-swing-up", 5, settings), every=1, until=2, save=save, curve=curve)
                later = kind("cartpole-swing-up", 5, settings)
                rows = learn.train(later, every=1, until=3, save=save, resume=True, curve=curve)
                for mine, theirs in zip(later.actor.parameters(), whole.actor.parameters()):
                    self.assertTrue(torch.equal(mine, theirs))
                seconds = [{**row, "processor seconds": 0} for row in rows]
                self.assertEqual(seconds, [{**row, "processor seconds": 0} for row in wanted])
                lines = list(csv.DictReader(curve.read_text().splitlines()))
                self.assertEqual([line["return"] for line in lines], [repr(row["return"]) for row in rows])
                with self.assertRaisesRegex(ValueError, "the snapshot has seed = 5, this learner 6"):
                    learn.load(kind("cartpole-swing-up", 6, settings), save)

    def test_sac_learns_to_hold_a_pendulum_with_derivatives_and_without(self):
        for options in ({}, {"displacements": 2, **OPTIONS}):
            with self.subTest(**options):
                learner = learn.SAC(Hold(), 0, dataclasses.replace(SAC, **options))
                start = learn.evaluate(learner.task, learner.policy).returns.mean()
                row = learn.train(learner, every=10)[-1]
                self.assertLess(start, -40)
                self.assertGreater(row["return"], -22)
                self.assertEqual((row["environment steps"], learner.buffer.added), (800, 800))

    def test_displaced_transitions_are_those_of_the_simulator_to_second_order(self):
        for task in ("pendulum-3", "quadruped"):  # the quadruped stands on its feet and has a quaternion
            misses = []
            for perturbation in (1e-5, 1e-6):
                settings = dataclasses.replace(SAC, num_envs=2, displacements=3, perturbation=perturbation,
                                               enhance_samples=True, random_steps=100)
                learner = learn.SAC(task, 4, settings)
                envs, model = learner.envs, learner.task.model
                for _ in range(20):  # until the feet carry the weight
                    envs.step(numpy.zeros((2, model.nu)))
                state, t = envs.state, envs.snapshot()["t"]
                made = learner.collect()
                self.assertGreater(made["ds"].abs().max(), perturbation)
                jacobian = observation_jacobian(learner.task, state, t)
                miss = []
                for i, k in numpy.ndindex(2, 3):
                    moved = {name: (made[name][i] + made[f"d{name}"][i, k]).numpy()
                             for name in ("s", "a", "r", "s'")}
                    # the tangent vector whose displaced observation this is
                    tangent = numpy.linalg.lstsq(jacobian[i], made["ds"][i, k].numpy(), rcond=None)[0]
                    x = state[i].copy()
                    x[: model.nq] = model.retract(x[: model.nq], tangent[: model.nv])
                    x[model.nq :] += tangent[model.nv :]
                    single = gym.make_vec(learner.task, 1, 1)
                    single.reset(options={"x": x, "t": t[i : i + 1]})
                    s = single.observation()[0]
                    s_next, reward, _, _, _ = single.step(moved["a"][None])
                    miss.append([numpy.abs(s - moved["s"]).max(), abs(reward[0] - moved["r"]),
                                 numpy.abs(s_next[0] - moved["s'"]).max()])
                misses.append(numpy.max(miss, 0))
            with self.subTest(task):
                self.assertTrue((misses[1] < 0.03 * misses[0] + 1e-12).all(), misses)
                self.assertGreater(misses[0].max(), 1e-11)

    def test_minibatches_have_displaced_transitions_as_often_as_others(self):
        settings = dataclasses.replace(SAC, num_envs=1, displacements=3, enhance_samples=True)
        learner = learn.SAC("pendulum-1", 0, settings)
        learner.buffer.add(learner.collect())
        batch = learner.buffer.sample(4000, learner.random)
        moved = learner.displaced(batch)
        choices = torch.cat([torch.zeros(4000, 1, 1), batch["da"]], 1) + batch["a"][:, None]
        counts = (choices[..., 0] == moved["a"]).sum(0)
        self.assertEqual(counts.sum(), 4000)
        self.assertTrue(((counts - 1000).abs() < 150).all(), counts)
        which = (choices[..., 0] == moved["a"]).int().argmax(1)
        for name in ("s", "r", "s'"):  # all parts have the same displacement
            none = torch.zeros_like(batch[f"d{name}"][:, :1])
            wanted = batch[name] + torch.cat([none, batch[f"d{name}"]], 1)[torch.arange(4000), which]
            self.assertTrue(torch.equal(moved[name], wanted), name)

    def test_the_enhanced_gradient_of_a_policy_is_that_of_reward_and_value_by_the_action(self):
        learner = sac_in_double_precision(enhance_policy=True, num_envs=1)
        x, t = learner.envs.state, numpy.zeros(1, int)
        batch = learner.collect()
        seed = learner.random.get_state()

        def worth(action):  # r + gamma V(s') with the same random numbers
            learner.envs.reset(options={"x": x, "t": t})
            after, reward, _, _, _ = learner.envs.step(action.numpy())
            learner.random.set_state(seed)
            return reward[0] + 0.95 * learner._value(torch.from_numpy(after)).item()

        for distance in (0.0, 0.7):
            action = (batch["a"] + distance * torch.tensor([[0.6, 0.8]])).requires_grad_(True)
            (by_critic,) = torch.autograd.grad(
                learner.critic(learner.normalizer(batch["s"]), action).min(0).values.sum(), action)
            learner.random.set_state(seed)
            (found,) = torch.autograd.grad(learner._gain(batch, action).sum(), action)
            steps = 1e-5 * torch.eye(2, dtype=torch.float64)
            physics = torch.tensor([(worth(batch["a"] + d) - worth(batch["a"] - d)) / 2e-5 for d in steps])
            weight = numpy.exp(-distance)
            wanted = weight * physics + (1 - weight) * by_critic[0]
            self.assertTrue(torch.allclose(found[0], wanted, rtol=1e-5, atol=1e-7), (found, wanted))

    def test_the_loss_of_a_critic_with_derivatives_has_the_errors_of_values_and_slopes(self):
        learner = sac_in_double_precision(critic_derivatives=0.3, displacements=1, num_envs=3, perturbation=0.1)
        batch, seed = learner.collect(), learner.random.get_state()
        batch["on"] = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64)

        def along(k):  # both Q and its target, k displacements away
            moved = {name: batch[name] + k / 0.1 * batch[f"d{name}"][:, 0] for name in ("s", "a", "r", "s'")}
            learner.random.set_state(seed)
            with torch.no_grad():
                target = moved["r"] + 0.95 * batch["on"] * learner._value(moved["s'"])
                return learner.critic(learner.normalizer(moved["s"]), moved["a"]), target

        (q, y), (ahead, y_ahead), (behind, y_behind) = along(0), along(1e-5), along(-1e-5)
        slope = ((ahead - behind) - (y_ahead - y_behind)) / 2e-5
        wanted = (((q - y) ** 2).mean(1) + 0.3 * (slope**2).mean(1)).sum().item()
        learner.random.set_state(seed)
        self.assertAlmostEqual(learner._critic_loss(batch).item() / wanted, 1, places=5)
        self.assertGreater((slope**2).mean(), 0.01)

    def test_gradients_of_states_are_limited_to_a_multiple_of_their_median(self):
        bar = torch.tensor([[3.0, 4.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, -2.0]])
        limited = without_outliers(bar, 2.0)
        numpy.testing.assert_allclose(limited[0], [1.2, 1.6], rtol=1e-6)
        self.assertTrue(torch.equal(limited[1:], bar[1:]))

    def test_the_noise_of_gradients_is_their_variance_over_environments(self):
        def learner(n):  # the noise of the policy is off
            settings = learn.SHACSettings(num_envs=n, horizon=8, hidden=(4,), critic_hidden=(4,), log_std=-30.0)
            return in_double_precision(learn.SHAC("pendulum-2", 1, settings))

        t, x = numpy.array([0, 95, 50]), numpy.random.default_rng(0).normal(size=(3, 4))  # one episode ends
        gradients = []
        for i in range(3):
            single = learner(1)
            single.envs.reset(options={"x": x[i], "t": t[i : i + 1]})
            single.loss()[0].backward()
            gradients.append(torch.cat([p.grad.flatten() for p in single.actor.parameters()]).numpy())
        mean = numpy.mean(gradients, 0)
        wanted = sum(((g - mean) ** 2).sum() for g in gradients) / 2 / (mean**2).sum()
        whole = learner(3)
        before = whole.snapshot()
        self.assertAlmostEqual(learn.gradient_noise(whole, whole.task, x, t) / wanted, 1, places=4)
        self.assertGreater(abs(learn.gradient_noise(whole, whole.task, x, t, outliers=0.5) / wanted - 1), 0.01)
        self.assertTrue(torch.equal(whole.snapshot()["random"], before["random"]))

    def test_a_table_has_medians_over_seeds_and_when_goals_were_reached(self):
        def row(name, seed, steps, value):
            return {"learner": name, "seed": seed, "environment steps": steps, "processor seconds": steps / 10,
                    "return": value, "noise": 2.0 * steps}

        rows = [row("A", 0, 10, 1.0), row("A", 0, 20, 8.0), row("A", 1, 10, 6.0), row("A", 1, 20, 3.0),
                row("A", 2, 10, 2.0), row("B", 0, 10, 1.0)]
        a, b = learn.summarize(rows, (5.0, 7.0), ("noise",))
        self.assertEqual((a["seeds"], a["return"], a["least"], a["most"], a["best"]), (3, 3.0, 2.0, 8.0, 6.0))
        self.assertEqual((a["seeds to 5"], a["steps to 5"], a["seconds to 5"]), (2, 20, 2))
        self.assertEqual((a["seeds to 7"], a["steps to 7"], a["noise"]), (1, numpy.inf, 20))
        self.assertEqual((b["learner"], b["seeds"], b["steps to 5"]), ("B", 1, numpy.inf))
        lines = learn.markdown([a, b]).splitlines()
        self.assertTrue(lines[2].startswith("| A | 3 | 3 (2 to 8) | 6 |"), lines[2])
        self.assertIn("| - |", lines[3])

    def test_targets_are_averages_of_the_returns_of_n_steps(self):
        settings = learn.SHACSettings(num_envs=1, horizon=3, discount=0.9, trace=0.8)
        learner = learn.SHAC("pendulum-1", 0, settings)
        r, v = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[5.0], [7.0], [11.0]])
        end = torch.tensor([[False], [False], [True]])
        one, two, three = 1 + 0.9 * 5, 1 + 0.9 * 2 + 0.81 * 7, 1 + 0.9 * 2 + 0.81 * 3 + 0.729 * 11
        wanted = 0.2 * one + 0.16 * two + 0.64 * three
        self.assertAlmostEqual(learner.targets(r, v, end)[0].item(), wanted, places=5)
        ended = torch.tensor([[True], [False], [True]])
        self.assertAlmostEqual(learner.targets(r, v, ended)[0].item(), one, places=5)

    def test_advantages_are_averages_of_the_gains_of_n_steps(self):
        learner = learn.PPO("pendulum-1", 0, learn.PPOSettings(num_envs=1, horizon=2, discount=0.9, trace=0.8))
        r, v, next_v = (torch.tensor(part) for part in ([[1.0], [2.0]], [[4.0], [5.0]], [[5.0], [7.0]]))
        first, second = 1 + 0.9 * 5 - 4, 2 + 0.9 * 7 - 5
        for over, wanted in ((False, first + 0.72 * second), (True, first)):
            found = learner.advantages(r, v, next_v, torch.tensor([[over], [False]]))
            numpy.testing.assert_allclose(found.flatten(), [wanted, second], rtol=1e-6)

    def test_observations_are_normalized_by_their_running_mean_and_variance(self):
        x = 3 + 2 * torch.randn(100, 7, 2, generator=torch.Generator().manual_seed(0))
        normalizer = learn.Normalizer(2)
        for part in x.split(30):
            normalizer.update(part)
        known = normalizer(x).flatten(0, 1)
        numpy.testing.assert_allclose(known.mean(0), [0, 0], atol=1e-5)
        numpy.testing.assert_allclose(known.std(0, unbiased=False), [1, 1], atol=1e-4)

    def test_an_episode_counts_until_its_end(self):
        class Early(Pendulum):
            def terminated(self, x, t):
                return t >= 5 + 5 * (numpy.arange(len(x)) % 2)

        found = learn.evaluate(Early(1), lambda observations: torch.zeros(len(observations), 1), starts=2)
        self.assertEqual(found.lengths.tolist(), [5, 10])
        self.assertEqual((found.states.shape, found.controls.shape), ((11, 2, 2), (10, 2, 1)))
        task, t = Early(1), numpy.zeros(1, int)
        sums = [sum(task.reward(found.states[k, i : i + 1], None, found.states[k + 1, i : i + 1], t)[0]
                    for k in range(n)) for i, n in enumerate(found.lengths)]
        numpy.testing.assert_allclose(found.returns, sums, rtol=1e-12)


    @unittest.skipUnless(program_has_a_viewer(), "there is no program with a viewer")
    def test_an_episode_becomes_a_page(self):
        learner = learn.SHAC("hopper", 0, SHAC)
        found = learn.evaluate(learner.task, learner.policy, starts=2)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(learn.replay(learner.task, found, Path(folder, "page.html"), start=1))
            self.assertIn("<html", page.read_text())


def descendants(pid):
    """The processes that a process has started, and those that they have."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == pid:
                found += [int(path.parent.name), *descendants(int(path.parent.name))]
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class ExampleTest(unittest.TestCase):
    def test_the_table_of_pendulums_has_the_published_numbers_beside_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            out = run(EXAMPLES / "learn_pendulums.py", "--out", folder, "--learners", "enhanced-2", "plain-2",
                      "shac-2", "--seeds", 3, "--workers", 1, "--set", "*.epochs=1", "*.every=1", "*.random_steps=90",
                      "*.batch=8", "*.log_std=-1")
            self.assertEqual(out.returncode, 0, out.stderr)
            lines = list(csv.DictReader(Path(folder, "table.csv").read_text().splitlines()))
            self.assertEqual([line["learner"] for line in lines],
                             ["2 links, enhanced", "2 links, plain", "2 links, SHAC"])
            for line in lines:
                self.assertEqual((line["Qiao et al."], line["MBPO"], line["at most"]), ("1.93", "1.9", "2.0"))
                self.assertLessEqual(float(line["return"]), 2.0)
            self.assertNotEqual(lines[0]["return"], lines[1]["return"])

    def test_soft_actor_critic_runs_with_all_its_options(self):
        small = ("--seeds", 0, "--workers", 1, "--set", "*.epochs=1", "*.horizon=20", "*.every=1", "*.batch=8",
                 "*.random_steps=10", "*.updates=1", "*.hidden=[8]", "*.critic_hidden=[8]")
        with tempfile.TemporaryDirectory() as folder:
            out = run(EXAMPLES / "learn_ant.py", "--out", folder, *small)
            self.assertEqual(out.returncode, 0, out.stderr)
            for name in ("SAC", "SAC, enhanced samples", "SAC, critic with derivatives", "SHAC",
                         "SHAC, MuJoCo's law"):
                self.assertIn(f"| {name} | 1 |", out.stdout)

    def test_a_pendulum_is_swung_up_by_the_gradient_of_its_rollout(self):
        out = run(EXAMPLES / "trajectory_optimization.py")
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        self.assertIn("upright to 0.0", out.stdout)

    def test_learners_write_curves_and_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            out = run(EXAMPLES / "learn_cartpole.py", "--out", folder, "--seeds", 0, "--until", 5, "--workers", 2,
                      "--set", "ppo.epochs=1")
            self.assertEqual(out.returncode, 0, out.stderr)
            rows = list(csv.DictReader(Path(folder, "learning.csv").read_text().splitlines()))
            self.assertEqual([(row["learner"], row["environment steps"]) for row in rows],
                             [("SHAC", "10240"), ("PPO", "30720")])
            self.assertTrue(all(-9000 < float(row["return"]) < 0 and 0 <= float(row["upright"]) <= 1
                                for row in rows))
            self.assertGreater((Path(folder) / "learning.png").stat().st_size, 10000)
            self.assertIn("upright from", out.stdout)

    def test_a_training_that_fails_does_not_end_the_others(self):
        small = ("--seeds", 0, "--workers", 2, "--save", "--set", "*.epochs=1", "*.every=1", "*.num_envs=4",
                 "*.horizon=4")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "shac-0.pt").mkdir()  # where a file should be
            out = run(EXAMPLES / "learn_cartpole.py", "--out", folder, *small)
            self.assertEqual(out.returncode, 1, out.stderr)
            self.assertIn("shac seed 0 has failed:", out.stderr)
            self.assertIn("IsADirectoryError", out.stderr)
            self.assertIn("| PPO | 1 |", out.stdout)

    def test_no_process_outlives_a_run_that_is_killed(self):
        """Killed after both trainings have begun; the processes end, and SIGTERM leaves no semaphores behind."""
        for end in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(end.name), tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, EXAMPLES / "learn_cartpole.py", "--out", folder, "--seeds", "0", "--workers",
                           "2", "--set", "*.epochs=100000", "*.every=1", "*.num_envs=4", "*.horizon=4"]
                run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
                begun = set()
                while len(begun) < 2:
                    line = run.stderr.readline()
                    self.assertTrue(line, "the run has ended")
                    begun.update(line.split()[:1])  # lines of two processes may run into each other
                children = descendants(run.pid)
                self.assertGreaterEqual(len(children), 2)
                run.send_signal(end)
                rest = run.communicate(timeout=60)[1]
                self.assertEqual(run.returncode, 143 if end == signal.SIGTERM else -signal.SIGKILL)
                if end == signal.SIGTERM:
                    self.assertNotIn("semaphore", rest)
                until = time.monotonic() + 20
                while any(map(is_running, children)) and time.monotonic() < until:
                    time.sleep(0.1)
                self.assertFalse([pid for pid in children if is_running(pid)])

    def test_a_hopper_learns_and_its_run_resumes(self):
        small = ("--learners", "shac", "sapo-stiffness", "--workers", 1, "--seeds", 0, "--set", "*.num_envs=8",
                 "*.horizon=8", "*.every=1")
        with tempfile.TemporaryDirectory() as folder:
            for more, epochs in ((("--until", 1, "--minutes", 0, "--save"), 0), (("--until", 1, "--resume"), 1),
                                 (("--until", 3, "--minutes", 0, "--resume"), 0),
                                 (("--until", 2, "--resume"), 1)):  # the first epoch is not repeated
                out = run(EXAMPLES / "learn_hopper.py", "--out", folder, *small, *more)
                self.assertEqual(out.returncode, 0, out.stderr)
                self.assertEqual(out.stderr.count("seed 0: return"), 2 * epochs)
                self.assertEqual("2 of 2 trainings have not reached their end" in out.stdout, epochs == 0)
            rows = list(csv.DictReader(Path(folder, "learning.csv").read_text().splitlines()))
            self.assertEqual([row["environment steps"] for row in rows], 2 * ["64", "128"])
            self.assertTrue(all(float(row["noise pgs"]) > 0 for row in rows))
            self.assertIn("| SHAC ncp | 1 |", Path(folder, "table.md").read_text())


if __name__ == "__main__":
    unittest.main()
