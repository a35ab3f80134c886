"""Environments: Gymnasium's semantics, rewards and observations differentiated against central differences."""
import copy
import os
import pickle
import shutil
import subprocess
import unittest
from functools import partial
from pathlib import Path

import numpy

from costate import gym, viewer
from costate.gym.sb3 import make_sb3

STEP = 1e-6
CART = gym.make_task("cartpole-swing-up")
STEP_SECONDS = CART.model.time_step * CART.substeps


def has_program():
    try:
        return "--run" in subprocess.run([viewer.program(), "view", "--help"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return False


def central(f, x):
    """(n, m) from f of x (n, m) with values (n): the change of each value by the numbers of its row."""
    columns = [(f(x + d) - f(x - d)) / (2 * STEP) for d in STEP * numpy.eye(x.shape[1])]
    return numpy.stack(columns, 1)


class TaskTest(unittest.TestCase):
    def test_every_reward_and_observation_has_its_gradient(self):
        sizes = {
            "pendulum-3": 10, "cartpole-swing-up": 5, "hopper": 11, "half-cheetah": 17, "ant": 27, "quadruped": 35
        }
        for name, size in sizes.items():
            with self.subTest(name):
                task, random, n = gym.make_task(name), numpy.random.default_rng(0), 6
                self.assertEqual(task.observation_size, size)
                x = numpy.array([task.state(*task.start(random))
                                 for _ in range(n)]) + 0.05 * random.normal(size=(n, task.model.nx))
                x_next, action = x + 0.2 * random.normal(size=x.shape), random.uniform(-1, 1, (n, task.model.nu))
                t = numpy.array([0, 1, 2, 3, task.steps - 1, task.steps - 1])
                g = task.reward_gradient(x, action, x_next, t)
                numpy.testing.assert_allclose(g.x, central(lambda z: task.reward(z, action, x_next, t), x),
                                              atol=1e-6)
                numpy.testing.assert_allclose(g.action, central(lambda z: task.reward(x, z, x_next, t), action),
                                              atol=1e-6)
                numpy.testing.assert_allclose(g.x_next, central(lambda z: task.reward(x, action, z, t), x_next),
                                              atol=1e-6)
                bar = random.normal(size=(n, size))
                numpy.testing.assert_allclose(task.observation_vjp(x, t, bar),
                                              central(lambda z: (task.observation(z, t) * bar).sum(1), x),
                                              atol=1e-6)

    def test_a_hopper_has_both_sides_of_its_reward(self):
        task = gym.make_task("hopper")
        x = numpy.repeat(task.state(*task.home)[None], 3, 0)
        x[:, 1] = task.upright + numpy.array([0.2, -0.1, -0.4
                                              ])  # above the clip, below it, and where the leg has sunk
        x[:, 2], action = 0, numpy.zeros((3, 3))
        numpy.testing.assert_allclose(task.reward(x, action, x, numpy.zeros(3)), [1.3, 1.2, 1 - 200 * 0.01],
                                      atol=1e-12)
        numpy.testing.assert_allclose(
            task.reward_gradient(x, action, x, numpy.zeros(3)).x_next[:, 1], [0, 1, 40], atol=1e-9)

    def test_a_pendulum_returns_at_most_half_the_square_of_its_links(self):
        env = gym.make("pendulum-2")
        env.reset(seed=0)
        start = env.task._distance(env.state[None])[0]
        rewards, over = [], False
        while not over:
            _, reward, over, truncated, _ = env.step([0.3, -0.1])
            rewards.append(reward)
        self.assertEqual((len(rewards), truncated), (100, False))
        self.assertAlmostEqual(start[0], 0.5 * 2**2)
        self.assertAlmostEqual(sum(rewards), start[0] - 2 * env.task._distance(env.state[None])[0][0])


class Falling(gym.Task):
    """A cart without a reward of its own, of which tests make tasks with faults."""

    scene = "cartpole"

    def observation(self, x, t):
        return x.copy()


class OwnTaskTest(unittest.TestCase):
    def test_a_missing_method_names_itself(self):
        env = gym.make(Falling())
        env.reset(seed=0)
        with self.assertRaisesRegex(NotImplementedError, r"^Falling must define reward\(x, action, x_next, t\)$"):
            env.step([0])
        Rewarded = type("Rewarded", (Falling,), {"reward": lambda self, x, action, x_next, t: x_next[:, 0]})
        env = gym.make(Rewarded())
        env.reset(seed=0)
        env.step([0])
        with self.assertRaisesRegex(NotImplementedError,
                                    r"^Rewarded must define observation_vjp\(x, t, bar\), or derive from"):
            env.step_with_jacobian([0])
        with self.assertRaisesRegex(NotImplementedError, "Task must define `scene`"):
            gym.Task()
        with self.assertRaisesRegex(NotImplementedError, r"Silent must define observation\(x, t\)"):
            type("Silent", (gym.Task,), {"scene": "cartpole"})()
        with self.assertRaisesRegex(NotImplementedError, "costate.view"):
            env.render()

    def test_results_of_another_shape_are_refused_with_both_shapes(self):
        n = 3

        def stepped(**methods):
            envs = gym.make_vec(type("Own", (Falling,), {"reward": lambda self, x, *_: x[:, 0], **methods})(), n)
            envs.reset(seed=0)
            return envs.step(numpy.zeros((n, 1)))

        self.assertEqual(stepped()[1].shape, (n,))
        for method, result in (("reward", lambda x: x[:, :1]), ("reward", lambda x: x[0, 0]),
                               ("terminated", lambda x: x[:, :1] > 9), ("truncated", lambda x: x[0, 0] > 9)):
            shape = result(numpy.zeros((n, 4))).shape
            with self.assertRaises(ValueError) as caught:
                stepped(**{method: lambda self, x, *_: result(x)})
            self.assertEqual(str(caught.exception), f"Own.{method} must return shape (3,), not {shape}")
        with self.assertRaisesRegex(ValueError, r"Own.observation must return shape \(1, size\), not \(4,\)"):
            stepped(observation=lambda self, x, t: x[0])


class EnvTest(unittest.TestCase):
    def test_an_episode_repeats_itself_from_its_seed(self):
        env = gym.make("ant")
        runs = []
        for _ in range(2):
            observation, info = env.reset(seed=5)
            self.assertIn(observation, env.observation_space)
            self.assertEqual(info, {})
            env.action_space.seed(1)
            runs.append([observation] + [env.step(env.action_space.sample())[0] for _ in range(3)])
        numpy.testing.assert_array_equal(*runs)
        self.assertFalse(numpy.array_equal(env.reset()[0], runs[0][0]))  # no seed: the generator goes on
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        self.assertEqual([type(reward), terminated, truncated, info], [float, False, False, {}])

    def test_reset_takes_a_state_and_refuses_other_options(self):
        env = gym.make("cartpole-swing-up")
        observation, _ = env.reset(options={"x": [0.5, 0, 0, 2]})
        numpy.testing.assert_allclose(observation, [0.5, 0, 1, 0, 2])
        with self.assertRaisesRegex(ValueError, "no option 'state'; there are x"):
            env.reset(options={"state": 0})
        with self.assertRaisesRegex(ValueError, r"actions must have shape \(1, 1\), not \(1, 2\)"):
            env.step([0, 0])
        with self.assertRaisesRegex(RuntimeError, "reset"):
            gym.make("cartpole-swing-up").step([0])
        with self.assertRaisesRegex(ValueError, "no environment 'walker'; there are pendulum-1"):
            gym.make("walker")

    def test_ends_are_told_from_cuts(self):
        env = gym.make("ant")
        home = env.task.state(*env.task.home)
        for height, terminated in ((0.55, False), (1.6, True)):
            home[2] = height
            env.reset(options={"x": home})
            self.assertIs(env.step(numpy.zeros(8))[2], terminated)
        env.task.steps = 2
        home[2] = 0.55
        env.reset(options={"x": home})
        self.assertEqual([env.step(numpy.zeros(8))[2:4] for _ in range(2)], [(False, False), (False, True)])

    def test_a_step_has_its_jacobian(self):
        for name in ("cartpole-swing-up", "quadruped"):
            with self.subTest(name):
                env = gym.make(name)
                env.reset(seed=2)
                model, task, x = env.task.model, env.task, env.state
                action = numpy.random.default_rng(1).uniform(-0.5, 0.5, model.nu)
                *outcome, J = env.step_with_jacobian(action)
                x_next = env.state

                def after(d, a):
                    start = numpy.concatenate(
                        [model.retract(x[:model.nq].copy(), d[:model.nv]), x[model.nq:] + d[model.nv:]])
                    env.reset(options={"x": start})
                    observation, reward, *_ = env.step(a)
                    moved = model.difference(x_next[: model.nq].copy(), env.state[: model.nq].copy())
                    return numpy.concatenate([moved, env.state[model.nq :], observation, [reward]])

                zero = numpy.zeros(2 * model.nv)
                numpy.testing.assert_array_equal(after(zero, action)[2 * model.nv : -1], outcome[0])
                rows = numpy.concatenate([J.state_by_state, J.observation_by_state, J.reward_by_state[None]])
                want = numpy.stack([(after(d, action) - after(-d, action)) / (2 * STEP)
                                    for d in STEP * numpy.eye(2 * model.nv)], 1)
                numpy.testing.assert_allclose(rows, want, atol=1e-5 * numpy.abs(want).max())
                rows = numpy.concatenate([J.state_by_action, J.observation_by_action, J.reward_by_action[None]])
                turns = STEP * numpy.eye(model.nu)
                want = numpy.stack([(after(zero, action + d) - after(zero, action - d)) / (2 * STEP)
                                    for d in turns], 1)
                numpy.testing.assert_allclose(rows, want, atol=1e-5 * max(1, numpy.abs(want).max()))


    def test_observations_may_be_float32(self):
        env, double = gym.make("ant", dtype=numpy.float32), gym.make("ant")
        observation, _ = env.reset(seed=1)
        numpy.testing.assert_array_equal(observation, double.reset(seed=1)[0].astype("f"))
        for space in (env.observation_space, env.action_space):
            self.assertEqual(space.dtype, numpy.float32)
        action = env.action_space.sample()
        self.assertEqual(action.dtype, numpy.float32)
        observation, reward, *_ = env.step(action)
        self.assertIn(observation, env.observation_space)
        self.assertEqual((observation.dtype, reward), (numpy.float32, double.step(action)[1]))
        envs = gym.make_vec("ant", 2, dtype="float32")
        self.assertEqual(envs.reset(seed=1)[0].dtype, numpy.float32)
        envs.reset(options={"x": envs.state * [1, 1, 9, *[1] * 26]})
        observations, rewards, _, _, infos = envs.step(numpy.zeros((2, 8)))
        self.assertEqual([part.dtype for part in (observations, rewards, infos["final_obs"])],
                         ["float32", "float64", "float32"])

    def test_copies_go_on_as_the_original(self):
        for env, action in ((gym.make("hopper"), numpy.full(3, 0.2)), (gym.make_vec("hopper",
                                                                                    2), numpy.full((2, 3), 0.2))):
            env.reset(seed=4)
            env.step(action)
            copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
            want = [env.step(action)[0], env.reset()[0]]
            for other in copies:
                numpy.testing.assert_array_equal([other.step(action)[0], other.reset()[0]], want)

    def test_environments_say_what_they_are(self):
        env = gym.make("ant")
        self.assertEqual(repr(env), "<costate.gym.Env of <Ant on 'ant': 27 observations, 8 actions>>")
        self.assertRegex(repr(gym.make_vec("ant", 3)), "^<costate.gym.VectorEnv: 3 of <Ant .*SAME_STEP>$")
        with env:
            env.reset(seed=0)
        with self.assertRaisesRegex(ValueError, "freed"):
            env.step(numpy.zeros(8))


class RenderingTest(unittest.TestCase):
    def test_modes_are_named(self):
        for env in (gym.make("cartpole-swing-up"), gym.make_vec("cartpole-swing-up", 2), make_sb3("cartpole-swing-up", 2)):
            self.assertEqual(env.metadata["render_modes"], ["rgb_array", "html"])
            self.assertEqual((env.metadata["render_fps"], env.render_mode), (round(1 / STEP_SECONDS), None))
            env.reset()
            with self.assertRaisesRegex(NotImplementedError, "costate.view"):
                env.render()
        with self.assertRaisesRegex(ValueError, "render_mode is 'human', it may be rgb_array or html, or None"):
            gym.make("ant", render_mode="human")

    @unittest.skipUnless(has_program(), "there is no program with a viewer")
    def test_pages_show_the_episode_so_far(self):
        env = gym.make("cartpole-swing-up", render_mode="html")
        for steps in (3, 1):
            env.reset(seed=0)
            for _ in range(steps):
                env.step([0.5])
            self.assertEqual(len(env._rendering.episodes[0]), steps + 1)
            numpy.testing.assert_array_equal(env._rendering.episodes[0][-1], env.state)
        page = env.render()
        self.assertIn("<html", Path(page).read_text())
        self.assertIn("<iframe", page._repr_html_())

    def test_episodes_of_vectors_are_recorded_on_their_own(self):
        for mode, lengths in (("SAME_STEP", [3, 1, 3]), ("NEXT_STEP", [3, 3, 3])):
            envs = gym.make_vec("ant", 3, autoreset_mode=mode, render_mode="html")
            envs.reset(seed=0)
            envs.step(numpy.zeros((3, 8)))
            high = envs.state
            high[1, 2] = 1.7
            envs.reset(options={"x": high, "reset_mask": [False, True, False]})
            self.assertEqual([len(e) for e in envs._rendering.episodes], [3, 1, 3])
            envs.reset(seed=0)
            envs.step(numpy.zeros((3, 8)))
            envs._episodes.start(numpy.array([False, True, False]), high[1])
            envs.step(numpy.zeros((3, 8)))
            self.assertEqual([len(e) for e in envs._rendering.episodes], lengths)
            envs.step(numpy.zeros((3, 8)))
            self.assertEqual(len(envs._rendering.episodes[1]), 2 if mode == "SAME_STEP" else 1)
        self.assertEqual(gym.make_vec("ant", 1)._rendering.episodes, [[]])

    @unittest.skipUnless(has_program() and (shutil.which("chromium") or "COSTATE_CHROMIUM" in os.environ),
                         "there is no program with a viewer, or no Chromium")
    def test_images_show_the_present_state(self):
        env = gym.make("cartpole-swing-up", render_mode="rgb_array")
        env.reset(options={"x": [0, 0, 0, 0]})
        first = env.render()
        self.assertEqual((first.shape, first.dtype), ((480, 640, 3), numpy.uint8))
        env.reset(options={"x": [0, 2, 0, 0]})
        self.assertTrue((env.render() != first).any())
        envs = make_sb3("cartpole-swing-up", 2, render_mode="rgb_array")
        envs.reset()
        self.assertEqual([part.shape for part in envs.get_images()], [(480, 640, 3)] * 2)
        self.assertEqual(envs.render().shape, (480, 1280, 3))


class RandomizationTest(unittest.TestCase):
    RANGES = {"bodies/*/mass": (0.5, 1.5), "joints/*/damping": (2, 3)}

    def test_parameters_are_drawn_at_every_start_from_the_seed(self):
        env = gym.make("ant", randomize=self.RANGES)
        nominal, names = env.task.model.parameters, env.task.model.parameter_names
        draws = []
        for seed in (3, 3, 4, None):
            env.reset(seed=seed)
            draws.append(env.parameters)
        numpy.testing.assert_array_equal(draws[0], draws[1])
        self.assertTrue((draws[1] != draws[2]).any() and (draws[2] != draws[3]).any())
        for name, before, theta in zip(names, nominal, draws[0]):
            factor = theta / before if before != 0 else 1
            mass, damping = name.endswith("/mass"), name.startswith("joints/") and name.endswith("/damping")
            low, high = (0.5, 1.5) if mass else (2, 3) if damping and before != 0 else (1, 1)
            self.assertTrue(low <= factor <= high, name)
            self.assertEqual(factor != 1, (mass or damping) and before != 0, name)

    def test_environments_step_with_their_own_parameters(self):
        n = 3
        envs, singles = gym.make_vec("hopper", n, randomize=self.RANGES), [gym.make("hopper") for _ in range(n)]
        envs.reset(seed=7)
        self.assertEqual(len({theta.tobytes() for theta in envs.parameters}), n)
        action = numpy.full((n, 3), 0.3)
        singles[0].reset(seed=0)
        for single, x, theta in zip(singles, envs.state, envs.parameters):
            single.task.model.parameters = theta
            single.reset(options={"x": x})
        *got, J = envs.step_with_jacobian(action)
        for i, single in enumerate(singles):
            observation, reward, *_, one = single.step_with_jacobian(action[i])
            numpy.testing.assert_array_equal(observation, got[0][i])
            self.assertEqual(reward, got[1][i])
            numpy.testing.assert_allclose(J.state_by_state[i], one.state_by_state, atol=1e-14)

    def test_patterns_and_ranges_are_checked(self):
        with self.assertRaisesRegex(ValueError, "no parameter is named 'bodies/none/mass'"):
            gym.make("ant", randomize={"bodies/none/mass": (1, 2)})
        with self.assertRaisesRegex(ValueError, "the lower end comes first"):
            gym.make("ant", randomize={"bodies/*/mass": (2, 1)})
        with self.assertRaisesRegex(ValueError, "mass must be 0 or more"):
            gym.make("ant", randomize={"bodies/*/mass": (-2, -1)}).reset(seed=0)


class VectorEnvTest(unittest.TestCase):
    def test_it_has_the_bits_of_single_environments(self):
        n = 3
        envs, singles = gym.make_vec("hopper", n, threads=2), [gym.make("hopper") for _ in range(n)]
        observations, _ = envs.reset(seed=10)
        for i, env in enumerate(singles):
            numpy.testing.assert_array_equal(env.reset(seed=10 + i)[0], observations[i])
        actions = numpy.random.default_rng(0).uniform(-1, 1, (5, n, 3))
        for action in actions:
            observations, rewards, *_ = envs.step(action)
            for i, env in enumerate(singles):
                observation, reward, *_ = env.step(action[i])
                self.assertTrue(reward == rewards[i] and numpy.array_equal(observation, observations[i]))

    def test_one_that_ends_starts_anew_in_the_same_step(self):
        self.assertIs(gym.VectorEnv.metadata["autoreset_mode"], gym.AutoresetMode.SAME_STEP)
        envs = gym.make_vec("ant", 3, threads=1)
        envs.reset(seed=0)
        high = envs.state
        high[1, 2] = 1.7
        envs.reset(options={"x": high, "reset_mask": [False, True, False]})
        observations, _, terminated, truncated, infos = envs.step(numpy.zeros((3, 8)))
        self.assertEqual((terminated.tolist(), truncated.any()), ([False, True, False], False))
        self.assertEqual(infos["_final_obs"].tolist(), [False, True, False])
        self.assertGreater(infos["final_obs"][1, 0], 1)
        self.assertLess(observations[1, 0], 0.7)
        numpy.testing.assert_array_equal(infos["final_obs"][0], observations[0])
        self.assertEqual(envs._episodes.t.tolist(), [1, 0, 1])
        self.assertNotIn("final_obs", envs.step(numpy.zeros((3, 8)))[4])

    def test_one_that_diverges_is_over_and_the_others_go_on(self):
        envs = gym.make_vec("cartpole-swing-up", 2, threads=1)
        envs.reset(seed=0)
        x = envs.state
        x[0, 3] = 1e200
        envs.reset(options={"x": x})
        observations, rewards, terminated, _, infos = envs.step(numpy.zeros((2, 1)))
        self.assertEqual((infos["diverged"].tolist(), terminated.tolist(), rewards[0]),
                         ([True, False], [True, False], 0))
        self.assertTrue(numpy.isfinite(observations).all() and rewards[1] < 0)

    def test_episodes_are_cut_off_at_their_own_times(self):
        envs = gym.make_vec("half-cheetah", 3, threads=1)
        envs.reset(seed=0, options={"t": [0, 998, 999]})
        cuts = [envs.step(numpy.zeros((3, 6)))[3].tolist() for _ in range(3)]
        self.assertEqual(cuts, [[False, False, True], [False, True, False], [False, False, False]])

    def test_seeds_are_one_each(self):
        envs = gym.make_vec("hopper", 2, threads=1)
        same, _ = envs.reset(seed=[4, 4])
        numpy.testing.assert_array_equal(same[0], same[1])
        with self.assertRaisesRegex(ValueError, "3 seeds for 2 environments"):
            envs.reset(seed=[1, 2, 3])

    def test_jacobians_come_for_all(self):
        envs, env = gym.make_vec("half-cheetah", 2, threads=1), gym.make("half-cheetah")
        envs.reset(seed=0)
        env.reset(seed=1)
        actions = numpy.full((2, 6), 0.2)
        J = envs.step_with_jacobian(actions)[-1]
        self.assertEqual(J.observation_by_action.shape, (2, 17, 6))
        numpy.testing.assert_array_equal(J.reward_by_action[1],
                                         env.step_with_jacobian(actions[1])[-1].reward_by_action)

    def test_next_step_resets_in_the_step_after_the_end(self):
        same, later = (gym.make_vec("ant", 3, threads=1, autoreset_mode=mode)
                       for mode in ("SAME_STEP", gym.AutoresetMode.NEXT_STEP))
        self.assertIs(later.metadata["autoreset_mode"], gym.AutoresetMode.NEXT_STEP)
        self.assertIs(gym.VectorEnv.metadata["autoreset_mode"], gym.AutoresetMode.SAME_STEP)
        for envs in (same, later):
            envs.reset(seed=0)
            high = envs.state
            high[1, 2] = 1.7
            envs.reset(options={"x": high, "reset_mask": [False, True, False]})
        actions = numpy.full((3, 8), 0.1)
        reset, rewards, *ends, infos = same.step(actions)
        last, same_rewards, *same_ends, no_infos = later.step(actions)
        numpy.testing.assert_array_equal(last, infos["final_obs"])
        numpy.testing.assert_array_equal(same_rewards, rewards)
        numpy.testing.assert_array_equal(same_ends, ends)
        self.assertEqual(no_infos, {})
        fresh, rewards, *ends, infos, J = later.step_with_jacobian(actions)
        numpy.testing.assert_array_equal(fresh[1], reset[1])
        self.assertEqual((rewards[1], numpy.any(ends), infos, later._episodes.t.tolist()),
                         (0, False, {}, [2, 0, 2]))
        self.assertTrue(J.state_by_state[0].any() and not J.state_by_state[1].any())
        numpy.testing.assert_array_equal(same.step(actions)[0][[0, 2]], fresh[[0, 2]])
        numpy.testing.assert_array_equal(later.step(actions)[0][1], same.state[1, 2:])  # its first step
        self.assertEqual(later._episodes.t.tolist(), [3, 1, 3])

    def test_a_snapshot_goes_on_with_the_same_bits(self):
        for mode, randomize in (("SAME_STEP", None), ("NEXT_STEP", {"bodies/*/mass": (0.8, 1.2)})):
            with self.subTest(mode):
                make = partial(gym.make_vec, "hopper", 6, 1, mode, randomize=randomize)
                envs, later = make(), make()
                actions = numpy.random.default_rng(0).uniform(-1, 1, (60, 6, 3))
                for part in (envs, later):
                    part.reset(seed=0, options={"t": 990 + numpy.arange(6)})
                for action in actions[:5]:
                    envs.step(action)
                snapshot = envs.snapshot()
                wanted = [envs.step(action) for action in actions[5:]]
                later.restore(snapshot)
                numpy.testing.assert_array_equal(later.observation(), later.task.observation(later.state, 0))
                for action, (observations, rewards, terminated, truncated, _) in zip(actions[5:], wanted):
                    found = later.step(action)
                    numpy.testing.assert_array_equal(found[0], observations)
                    numpy.testing.assert_array_equal(found[1:4], (rewards, terminated, truncated))
                self.assertTrue(any(step[3].any() for step in wanted))
                numpy.testing.assert_array_equal(later.parameters, envs.parameters)
                with self.assertRaisesRegex(ValueError, "the snapshot is of other environments"):
                    gym.make_vec("hopper", 5, randomize=randomize).restore(snapshot)

    def test_disabled_resets_only_when_asked(self):
        envs = gym.make_vec("ant", 2, autoreset_mode="Disabled")
        envs.reset(seed=0)
        high = envs.state
        high[1, 2] = 1.7
        envs.reset(options={"x": high})
        for _ in range(2):
            observations, _, terminated, _, infos = envs.step(numpy.zeros((2, 8)))
            self.assertEqual((terminated.tolist(), infos), ([False, True], {}))
        observations, _ = envs.reset(options={"reset_mask": terminated})
        self.assertLess(observations[1, 0], 1)
        with self.assertRaisesRegex(ValueError,
                                    "no autoreset mode 'never'; there are NEXT_STEP, SAME_STEP, DISABLED"):
            gym.make_vec("ant", 2, autoreset_mode="never")
