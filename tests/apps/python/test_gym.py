"""Environments: Gymnasium's semantics, rewards and observations differentiated against central differences."""
import unittest

import numpy

from costate import gym

STEP = 1e-6


def central(f, x):
    """(n, m) from f of x (n, m) with values (n): the change of each value by the numbers of its row."""
    columns = [(f(x + d) - f(x - d)) / (2 * STEP) for d in STEP * numpy.eye(x.shape[1])]
    return numpy.stack(columns, 1)


class TaskTest(unittest.TestCase):
    def test_every_reward_and_observation_has_its_gradient(self):
        sizes = {"pendulum-3": 10, "cartpole-swing-up": 5, "hopper": 11, "half-cheetah": 17, "ant": 27, "quadruped": 35}
        for name, size in sizes.items():
            with self.subTest(name):
                task, random, n = gym.make_task(name), numpy.random.default_rng(0), 6
                self.assertEqual(task.observation_size, size)
                x = numpy.array([task.state(*task.start(random)) for _ in range(n)]) + 0.05 * random.normal(size=(n, task.model.nx))
                x_next, action = x + 0.2 * random.normal(size=x.shape), random.uniform(-1, 1, (n, task.model.nu))
                t = numpy.array([0, 1, 2, 3, task.steps - 1, task.steps - 1])
                g = task.reward_gradient(x, action, x_next, t)
                numpy.testing.assert_allclose(g.x, central(lambda z: task.reward(z, action, x_next, t), x), atol=1e-6)
                numpy.testing.assert_allclose(g.action, central(lambda z: task.reward(x, z, x_next, t), action), atol=1e-6)
                numpy.testing.assert_allclose(g.x_next, central(lambda z: task.reward(x, action, z, t), x_next), atol=1e-6)
                bar = random.normal(size=(n, size))
                numpy.testing.assert_allclose(task.observation_vjp(x, t, bar),
                                              central(lambda z: (task.observation(z, t) * bar).sum(1), x), atol=1e-6)

    def test_a_hopper_has_both_sides_of_its_reward(self):
        task = gym.make_task("hopper")
        x = numpy.repeat(task.state(*task.home)[None], 3, 0)
        x[:, 1] = task.upright + numpy.array([0.2, -0.1, -0.4])  # above the clip, below it, and where the leg has sunk
        x[:, 2], action = 0, numpy.zeros((3, 3))
        numpy.testing.assert_allclose(task.reward(x, action, x, numpy.zeros(3)), [1.3, 1.2, 1 - 200 * 0.01], atol=1e-12)
        numpy.testing.assert_allclose(task.reward_gradient(x, action, x, numpy.zeros(3)).x_next[:, 1], [0, 1, 40], atol=1e-9)

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
                    start = numpy.concatenate([model.retract(x[: model.nq].copy(), d[: model.nv]), x[model.nq :] + d[model.nv :]])
                    env.reset(options={"x": start})
                    observation, reward, *_ = env.step(a)
                    moved = model.difference(x_next[: model.nq].copy(), env.state[: model.nq].copy())
                    return numpy.concatenate([moved, env.state[model.nq :], observation, [reward]])

                zero = numpy.zeros(2 * model.nv)
                numpy.testing.assert_array_equal(after(zero, action)[2 * model.nv : -1], outcome[0])
                rows = numpy.concatenate([J.state_by_state, J.observation_by_state, J.reward_by_state[None]])
                want = numpy.stack([(after(d, action) - after(-d, action)) / (2 * STEP) for d in STEP * numpy.eye(2 * model.nv)], 1)
                numpy.testing.assert_allclose(rows, want, atol=1e-5 * numpy.abs(want).max())
                rows = numpy.concatenate([J.state_by_action, J.observation_by_action, J.reward_by_action[None]])
                turns = STEP * numpy.eye(model.nu)
                want = numpy.stack([(after(zero, action + d) - after(zero, action - d)) / (2 * STEP) for d in turns], 1)
                numpy.testing.assert_allclose(rows, want, atol=1e-5 * max(1, numpy.abs(want).max()))


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
        self.assertEqual((infos["diverged"].tolist(), terminated.tolist(), rewards[0]), ([True, False], [True, False], 0))
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
        numpy.testing.assert_array_equal(J.reward_by_action[1], env.step_with_jacobian(actions[1])[-1].reward_by_action)
