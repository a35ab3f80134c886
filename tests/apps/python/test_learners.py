"""The learners that follow gradients of the simulator otherwise than SHAC: AHAC and SAPO."""
import dataclasses
import tempfile
import unittest
from pathlib import Path

import torch

from costate import learn
from costate.learn.ahac import Dual
from costate.torch import DifferentiableEnv
from test_learning import SHAC, Hold, check_gradient_of_the_loss, in_double_precision

OWN = dataclasses.asdict(SHAC)
AHAC = learn.AHACSettings(**OWN, stiffness=1.0, dual_rate=0.02, least_horizon=12)
SAPO = learn.SAPOSettings(**OWN)


class LearnersTest(unittest.TestCase):
    def test_they_learn_to_hold_a_pendulum(self):
        for kind, settings, seeds in ((learn.AHAC, AHAC, (0, 1)), (learn.SAPO, SAPO, (1, 2))):
            for seed in seeds:
                with self.subTest(kind.name, seed=seed):
                    learner = kind(Hold(), seed, settings)
                    start = learn.evaluate(learner.task, learner.policy).returns.mean()
                    row = learn.train(learner, every=settings.epochs)[-1]
                    self.assertLess(start, -40)
                    self.assertGreater(row["return"], -20)

    def test_a_run_that_resumes_gives_the_same_bits(self):
        for kind, settings in ((learn.AHAC, AHAC), (learn.SAPO, SAPO)):
            with self.subTest(kind.name), tempfile.TemporaryDirectory() as folder:
                save = Path(folder, "run.pt")
                whole = kind("cartpole-swing-up", 5, settings)
                wanted = learn.train(whole, every=1, until=3)
                learn.train(kind("cartpole-swing-up", 5, settings), every=1, until=2, save=save)
                later = kind("cartpole-swing-up", 5, settings)
                rows = learn.train(later, every=1, until=3, save=save, resume=True)
                for mine, theirs in zip(later.actor.parameters(), whole.actor.parameters()):
                    self.assertTrue(torch.equal(mine, theirs))
                self.assertEqual([row["return"] for row in rows], [row["return"] for row in wanted])

    def test_the_horizon_shrinks_at_stiff_steps_and_grows_at_smooth_ones(self):
        for stiffness, end in ((0.1, AHAC.least_horizon), (100.0, AHAC.most_horizon)):
            settings = dataclasses.replace(AHAC, stiffness=stiffness, dual_rate=0.2)
            learner = learn.AHAC(Hold(), 0, settings)
            for _ in range(5):
                before, steps = learner.horizon, learner.steps
                learner.epoch()
                self.assertEqual(learner.steps - steps, before * settings.num_envs)
            self.assertEqual(learner.horizon, end)

    def test_the_dual_step_is_that_of_the_formula(self):
        dual = Dual(10, 20)
        settings = dataclasses.replace(AHAC, stiffness=3.0, dual_rate=0.5)
        dual.step(torch.tensor([5.0, 1.0, 4.0]), settings)
        self.assertEqual(dual.multipliers.tolist(), [1.0, -1.0, 0.5] + 17 * [0.0])
        self.assertEqual(float(dual.horizon), max(10 - 0.5 * 0.5, settings.least_horizon))
        dual.step(torch.tensor([1.0, 1.0]), settings)
        self.assertEqual(dual.multipliers.tolist()[:3], [0.0, -2.0, 0.5])
        self.assertEqual(float(dual.horizon), settings.least_horizon + 1.0)  # - 0.5 (0 - 2)

    def test_the_norm_of_the_jacobian_is_that_of_the_batch(self):
        env = DifferentiableEnv("hopper", 2, threads=1, dtype=torch.float64)
        env.reset(seed=0)
        for _ in range(30):
            env.step(torch.zeros(2, 3))  # onto its foot
        actions, random = torch.full((2, 3), 0.2), torch.Generator().manual_seed(0)
        jacobian = env._episodes.batch.jacobian(env.x.numpy(), env.env.controls(actions.numpy()))
        exact = torch.from_numpy((jacobian.by_state**2).sum((1, 2)) + (jacobian.by_control**2).sum((1, 2)))
        found = torch.stack([env.squared_jacobian(actions, random) for _ in range(4000)])
        error = found.std(0) / 4000**0.5
        self.assertTrue(((found.mean(0) - exact).abs() < 4 * error).all())
        self.assertTrue((error < 0.1 * exact).all())

    def test_the_gradient_of_the_loss_of_sapo_is_that_of_finite_differences(self):
        learner = learn.SAPO("hopper", 3, learn.SAPOSettings(num_envs=4, horizon=5, hidden=(8,), critic_hidden=(8,)))
        in_double_precision(learner)
        learner.envs.reset(seed=0)
        before = learner.snapshot()
        learner.loss()[0].backward()
        check_gradient_of_the_loss(self, learner, before)

    def test_the_temperature_brings_the_entropy_to_what_is_wanted(self):
        for entropy, rises in ((5.0, True), (-5.0, False)):
            learner = learn.SAPO(Hold(), 0, dataclasses.replace(SAPO, entropy=entropy))
            before = float(learner.temperature().detach())
            learner.epoch()
            self.assertEqual(float(learner.temperature().detach()) > before, rises)

    def test_rewards_of_sapo_have_the_entropy_of_their_actions(self):
        learner = in_double_precision(learn.SAPO(Hold(), 0, SAPO))
        known = torch.zeros(3, 2, dtype=torch.float64)
        state = learner.random.get_state()
        actions, more = learner.act(known)
        learner.random.set_state(state)
        mean, log_std = learner.actor(known)
        normal = torch.distributions.Normal(mean, log_std.exp())
        density = torch.distributions.TransformedDistribution(normal, torch.distributions.TanhTransform())
        entropy = -density.log_prob(actions).sum(1)
        wanted = learner.temperature() * (entropy + 0.5) / (2 * 0.5)
        self.assertTrue(torch.allclose(more, wanted, atol=1e-9))


if __name__ == "__main__":
    unittest.main()
