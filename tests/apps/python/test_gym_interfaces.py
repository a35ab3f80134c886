"""Environments as other packages want them: Gymnasium and Stable-Baselines3."""
import subprocess
import sys
import unittest

import numpy

from costate import gym
from costate.gym.sb3 import make_sb3


class GymnasiumTest(unittest.TestCase):
    def test_ids_name_the_tasks(self):
        self.assertEqual(gym.IDS["HalfCheetah-v0"], "half-cheetah")
        self.assertEqual(sorted(gym.IDS.values()), sorted(gym.TASKS))
        for name in ("costate/Pendulum1-v0", "Pendulum1-v0", "pendulum-1"):
            self.assertEqual(gym.make_task(name).links, 1)

    def test_gymnasium_makes_them(self):
        code = """if True:
            import gymnasium, numpy, costate.gym
            from gymnasium.utils.env_checker import check_env
            costate.gym.register()
            env = gymnasium.make("costate/Ant-v0", dtype="float32")
            check_env(env.unwrapped)
            observation, _ = env.reset(seed=1)
            assert (observation == costate.gym.make("ant").reset(seed=1)[0].astype("f")).all()
            envs = gymnasium.make_vec("costate/Hopper-v0", num_envs=3, vectorization_mode="vector_entry_point")
            observations, *_ = (envs.reset(seed=0), envs.step(envs.action_space.sample()))[1]
            assert observations.shape == (3, 11) and isinstance(envs.unwrapped, costate.gym.VectorEnv)
            print("made")"""
        try:
            import gymnasium
        except ImportError:
            self.skipTest("gymnasium is not installed")
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(out.stdout, "made\n", out.stderr)

    def test_the_plugin_registers_without_a_namespace(self):
        code = """if True:
            import sys, types
            made = []
            sys.modules["gymnasium"] = types.SimpleNamespace(register=lambda **spec: made.append(spec))
            import costate.gym
            costate.gym._register()
            costate.gym.register()
            names = [spec["id"] for spec in made]
            assert names == [*costate.gym.IDS, *("costate/" + name for name in costate.gym.IDS)], names
            spec = made[0]
            module, function = spec["entry_point"].split(":")
            assert getattr(sys.modules[module], function)(**spec["kwargs"]).task.links == 1
            module, function = spec["vector_entry_point"].split(":")
            assert getattr(sys.modules[module], function)(num_envs=2, **spec["kwargs"]).num_envs == 2
            print("registered")"""
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(out.stdout, "registered\n", out.stderr)


class SB3Test(unittest.TestCase):
    """The rules of Stable-Baselines3's VecEnv, as its documentation states them."""

    def test_steps_and_resets(self):
        n = 3
        env, plain = make_sb3("hopper", n), gym.make_vec("hopper", n, dtype="float32")
        self.assertEqual((env.num_envs, env.observation_space.shape, env.action_space.shape), (n, plain.single_observation_space.shape, (3,)))
        self.assertEqual(env.seed(5), [5, 6, 7])
        first, (wanted, _) = env.reset(), plain.reset(seed=5)
        numpy.testing.assert_array_equal(first, wanted)
        ends = 0
        for t in range(300):
            actions = numpy.random.default_rng(t).uniform(-1, 1, (n, 3)).astype(numpy.float32)
            got, want = env.step(actions), plain.step(actions)
            numpy.testing.assert_array_equal(got[0], want[0])
            self.assertTrue(got[1].dtype == numpy.float32 and got[2].dtype == bool and len(got[3]) == n)
            numpy.testing.assert_array_equal(got[2], want[2] | want[3])
            for i in range(n):
                self.assertEqual("terminal_observation" in got[3][i], bool(got[2][i]))
                if got[2][i]:
                    ends += 1
                    numpy.testing.assert_array_equal(got[3][i]["terminal_observation"], want[4]["final_obs"][i])
                    self.assertEqual(got[3][i]["TimeLimit.truncated"], bool(want[3][i] and not want[2][i]))
        self.assertGreater(ends, 0)
        self.assertEqual(env.get_attr("num_envs", [0, 2]), [n, n])
        self.assertEqual(env.env_is_wrapped(object), [False] * n)
        with self.assertRaisesRegex(ValueError, "the same attributes"):
            env.set_attr("render_mode", None, 0)
        env.close()


if __name__ == "__main__":
    unittest.main()
