"""Tasks that carry numbers of their own, kick their robot and add to its controls."""
import unittest

import numpy
import torch

from costate import Batch, gym
from costate.torch import DifferentiableEnv, TorchTask

KICKED = 2  # the step before which the cart is kicked


class Push(TorchTask):
    """A cart with a pole carries a target, drawn at the start, and its last action."""

    scene, substeps, steps, noise, carried = "cartpole", 3, 5, 0.3, 2
    randomize = {"bodies/*/pole/mass": (0.5, 1.5)}

    def draw(self, random):
        return numpy.array([random.uniform(1, 2), 0])

    def kicks(self, x, t):
        kicks = numpy.zeros((len(x), self.model.nv))
        kicks[:, 0] = (t == KICKED) * self.own(x)[:, 0]
        return kicks

    def feedforward(self, x, t):
        return 0.1 * t[:, None]

    def torch_carry(self, x, action, x_next, t):
        return torch.cat([self.own(x)[:, :1], action * action], 1)

    def torch_observation(self, x, t):
        return x

    def torch_reward(self, x, action, x_next, t):
        target, last = self.own(x).unbind(1)
        return -(x_next[:, 0] - target) ** 2 - (action[:, 0] - last) ** 2 - self.own(x_next)[:, 1]


class CarriedTest(unittest.TestCase):
    def test_rewards_of_several_steps_pass_gradcheck(self):
        actions = torch.rand((4, 2, 1), dtype=torch.float64, generator=torch.Generator().manual_seed(0))

        def rewards(actions):
            env = DifferentiableEnv(Push(), 2, threads=1, dtype=torch.float64)
            env.reset(seed=3)
            return torch.stack([env.step(action)[1] for action in actions])

        self.assertTrue(torch.autograd.gradcheck(rewards, actions.requires_grad_()))

    def test_all_environments_take_the_same_steps(self):
        task, actions = Push(), numpy.random.default_rng(0).uniform(-1, 1, (8, 2, 1))
        one, many, tensors = gym.make(task), gym.make_vec(task, 2, 1), DifferentiableEnv(task, 2, 1, torch.float64)
        one.reset(seed=8)
        many.reset(seed=7)
        tensors.reset(seed=7)
        numpy.testing.assert_array_equal(one.parameters, many.parameters[1])
        self.assertNotEqual(many.parameters[0].tolist(), many.parameters[1].tolist())
        for action in actions:  # into a second episode
            found, other = many.step(action), tensors.step(torch.from_numpy(action))
            numpy.testing.assert_array_equal(found[0], other[0].numpy())
            numpy.testing.assert_array_equal(found[1], other[1].numpy())
            if not found[3].any():
                alone = one.step(action[1])
                numpy.testing.assert_array_equal(alone[0], found[0][1])
                self.assertEqual(alone[1], found[1][1])
            else:
                self.assertNotEqual(found[0][0, 4], found[4]["final_obs"][0, 4])  # another target
                self.assertEqual(found[0][0, 5], 0)
                one.reset()

    def test_a_kick_changes_velocities_before_its_step(self):
        task = Push()
        env, batch = gym.make_vec(task, 1, 1, randomize={}), Batch(task.model, 1, threads=1, substeps=3, ambient=True)
        env.reset(seed=1)
        for t in range(4):
            x, action = env.state, numpy.array([[0.3]])
            numpy.testing.assert_array_equal(env.controls(action), action + 0.1 * t)
            env.step(action)
            x[0, task.model.nq] += (t == KICKED) * x[0, 4]
            numpy.testing.assert_array_equal(env.state[:, :4], batch.step(x[:, :4], action + 0.1 * t)[0])
            self.assertAlmostEqual(env.state[0, 5], 0.09, 15)

    def test_a_snapshot_has_what_is_carried(self):
        envs = [gym.make_vec(Push(), 3, 1) for _ in range(2)]
        envs[0].reset(seed=5)
        envs[0].step(numpy.ones((3, 1)))
        envs[1].reset(seed=6)
        envs[1].restore(envs[0].snapshot())
        for _ in range(6):
            found = [env.step(numpy.full((3, 1), 0.5)) for env in envs]
            numpy.testing.assert_array_equal(found[0][0], found[1][0])

    def test_what_is_not_differentiable_is_refused(self):
        class Plain(gym.Task):
            scene, carried = "cartpole", 1

            def observation(self, x, t):
                return x

        with self.assertRaisesRegex(ValueError, "Plain carries numbers .* derive it from costate.torch.TorchTask"):
            DifferentiableEnv(Plain(), 1)
        env = gym.make(Push())
        env.reset(seed=0)
        with self.assertRaisesRegex(NotImplementedError, "Push carries numbers"):
            env.step_with_jacobian([0.0])


if __name__ == "__main__":
    unittest.main()
