"""Autograd through steps, rollouts and environments, against central differences."""
import unittest

import numpy
import torch

import costate
from costate import torch as differentiable

SUBSTEPS, N, T = 2, 2, 3


def case(name):
    """(batch, x (N, nx), u (T, N, nu)) with feet in the ground, and quaternions that are not of length 1."""
    model, random = costate.Model(name), numpy.random.default_rng(4)
    q, v = model.initial_state()
    rows = []
    for _ in range(N):
        moved = model.retract(q, 0.05 * random.normal(size=model.nv))
        if model.nq > model.nv:
            moved[2] = q[2] - 0.01
            moved[3:7] *= 1.2
        rows.append(numpy.concatenate([moved, v + 0.1 * random.normal(size=model.nv)]))
    x, u = torch.tensor(numpy.array(rows)), torch.tensor(0.1 * random.normal(size=(T, N, model.nu)))
    if model.nq > model.nv:
        u += torch.from_numpy(q[7:])
    return costate.Batch(model, N, substeps=SUBSTEPS, ambient=True), x.requires_grad_(), u.requires_grad_()


class TorchTest(unittest.TestCase):
    def test_a_step_and_a_rollout_pass_gradcheck(self):
        for name in ("cartpole", "quadruped_stand"):
            with self.subTest(name):
                batch, x, u = case(name)
                first = u[0].detach().requires_grad_()
                self.assertTrue(
                    torch.autograd.gradcheck(lambda x, u: differentiable.step(batch, x, u)[0], (x, first)))
                self.assertTrue(
                    torch.autograd.gradcheck(lambda x, u: differentiable.rollout(batch, x, u)[0], (x, u)))

    def test_parameters_have_gradients_for_all_and_for_each(self):
        model = costate.Model("cartpole")
        batch = costate.Batch(model, N, substeps=SUBSTEPS, own_parameters=True, ambient=True)
        x, u = torch.tensor([[0, 0.5, 0, 0.1], [0.1, 2, 0.3, 0]],
                            dtype=torch.float64), torch.ones(T, N, 1, dtype=torch.float64)
        theta = torch.tensor(model.parameters)
        mass = model.parameter_names.index("bodies/cartpole/pole/mass")

        def of_mass(m):  # (1) or (N, 1)
            moved = torch.zeros(m.shape[:-1] + (model.nparam,), dtype=torch.float64) + theta
            return differentiable.rollout(batch, x, u, torch.cat([moved[..., :mass], m, moved[..., mass + 1:]],
                                                                 -1))[0]

        self.assertTrue(
            torch.autograd.gradcheck(of_mass, torch.tensor([0.2], dtype=torch.float64, requires_grad=True)))
        self.assertTrue(
            torch.autograd.gradcheck(of_mass, torch.tensor([[0.2], [0.3]], dtype=torch.float64,
                                                           requires_grad=True)))

    def test_a_gradient_is_that_of_the_parameters_at_the_time_of_the_rollout(self):
        batch, x, u = case("cartpole")
        model, mass = batch.model, batch.model.parameter_names.index("bodies/cartpole/pole/mass")
        light, heavy = model.parameters, model.parameters
        heavy[mass] *= 2

        def gradient(change):
            states, _ = differentiable.rollout(batch, x, u)
            change()
            return torch.autograd.grad(states.sum(), u)[0].numpy()

        want = gradient(lambda: None)
        for change in (lambda: setattr(model, "parameters", heavy), lambda: batch.set_parameters(heavy)):
            numpy.testing.assert_array_equal(gradient(change), want)
            self.assertFalse(numpy.array_equal(gradient(lambda: None), want))  # the change stays
            model.parameters = light
            batch.set_parameters(None)
        numpy.testing.assert_array_equal(gradient(model.close), want)
        numpy.testing.assert_array_equal(gradient(lambda: None), want)  # the batch goes on

    def test_float32_agrees_with_float64(self):
        batch, x, u = case("quadruped_stand")

        def gradients(dtype):
            inputs = [part.detach().to(dtype).requires_grad_() for part in (x, u)]
            states, _ = differentiable.rollout(batch, *inputs)
            self.assertIs(states.dtype, dtype)
            (states * torch.linspace(-1, 1, states.numel()).reshape(states.shape).to(dtype)).sum().backward()
            self.assertTrue(all(part.grad.dtype is dtype for part in inputs))
            return states, *(part.grad for part in inputs)

        for single, double in zip(gradients(torch.float32), gradients(torch.float64)):
            self.assertLess((single - double).abs().max(), 1e-4 * double.abs().max())

    def test_an_array_that_is_overwritten_is_an_error_and_no_wrong_gradient(self):
        batch, x, u = case("cartpole")
        controls = u * 1
        states, _ = differentiable.rollout(batch, x, controls)
        with torch.no_grad():
            controls.mul_(2)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            states.sum().backward()
        states, _ = differentiable.rollout(batch, x, u)
        (want,) = torch.autograd.grad(states.sum(), u, retain_graph=True)
        states.data.zero_()  # what came out is the caller's
        numpy.testing.assert_array_equal(torch.autograd.grad(states.sum(), u)[0], want)

    def test_one_that_diverges_has_no_gradient(self):
        batch, x, u = case("cartpole")
        x = x.detach().clone()
        x[0, 2:] = 1e200
        u.grad = None
        states, completed = differentiable.rollout(batch, x, u)
        self.assertEqual(completed.tolist(), [0, T])
        states.sum().backward()
        self.assertTrue((u.grad[:, 0] == 0).all() and (u.grad[:, 1] != 0).all())

    def test_a_batch_that_is_not_ambient_is_refused(self):
        batch = costate.Batch(costate.Model("cartpole"), 1)
        with self.assertRaisesRegex(ValueError, "ambient=True"):
            differentiable.step(batch, torch.zeros(1, 4), torch.zeros(1, 1))

    def test_arrays_and_lists_are_constant_tensors(self):
        batch, x, u = case("cartpole")
        want, _ = differentiable.rollout(batch, x, u)
        (gradient,) = torch.autograd.grad(want.sum(), u)
        for states in (x.detach().numpy(), x.tolist()):
            got, _ = differentiable.rollout(batch, states, u)
            numpy.testing.assert_array_equal(got.detach(), want.detach())
            numpy.testing.assert_array_equal(torch.autograd.grad(got.sum(), u)[0], gradient)
        got, diverged = differentiable.step(batch, x.tolist(), u[0].tolist())
        self.assertFalse(got.requires_grad or diverged.any())
        numpy.testing.assert_array_equal(got, want[0].detach())
        with self.assertRaisesRegex(TypeError, "x must be a tensor or an array of numbers, not str"):
            differentiable.rollout(batch, "x", u)
        with self.assertRaisesRegex(TypeError, "batch must be a costate.Batch, not Model"):
            differentiable.rollout(batch.model, x, u)
        # and the other way round: tensors where numbers are wanted, arrays where tensors are
        numpy.testing.assert_array_equal(
            batch.rollout(x.detach(),
                          u.detach().float().double())[0][0].shape, want[0].shape)
        self.assertIsInstance(torch.from_dlpack(batch.rollout(x.detach(), u.detach())[0]), torch.Tensor)
        with self.assertRaisesRegex(TypeError, "x is a Tensor that numpy cannot convert: .*requires grad"):
            batch.step(x, u[0].detach())

    def test_poses_pass_gradcheck(self):
        batch, x, _ = case("quadruped_stand")
        frames = batch.frames([batch.model.bodies[0], batch.model.bodies[-1]])
        poses, velocities = differentiable.poses(batch, x, frames)
        numpy.testing.assert_array_equal(poses.detach(), batch.poses(x.detach(), frames)[0])
        self.assertTrue(torch.autograd.gradcheck(lambda x: differentiable.poses(batch, x, frames), (x,),
                                                 atol=1e-6))
        self.assertIs(differentiable.poses(batch, x.float(), frames)[1].dtype, torch.float32)

    def test_a_task_of_torch_functions_needs_no_derivatives(self):
        class Written(differentiable.TorchTask, type(costate.gym.make_task("cartpole-swing-up"))):
            """The cart that swings up, its functions written again for tensors."""

            def torch_observation(self, x, t):
                return torch.stack([x[:, 0], x[:, 2], torch.cos(x[:, 1]), torch.sin(x[:, 1]), x[:, 3]], 1)

            def torch_reward(self, x, action, x_next, t):
                angle = (x_next[:, 1] + numpy.pi) % (2 * numpy.pi) - numpy.pi
                away = torch.stack([x_next[:, 0], angle, x_next[:, 2], x_next[:, 3]], 1)
                return -(away**2) @ torch.tensor(self.weights)

        ours, theirs = Written(), costate.gym.make_task("cartpole-swing-up")
        self.assertEqual(ours.observation_size, theirs.observation_size)
        actions = torch.tensor(numpy.random.default_rng(1).uniform(-1, 1, (3, N, 1)), requires_grad=True)
        results = []
        for task in (ours, theirs):
            env = differentiable.DifferentiableEnv(task, N, threads=1, dtype=torch.float64)
            env.reset(seed=0)
            total = 0
            for action in actions:
                observations, rewards, *_ = env.step(action)
                total = total + rewards.sum() + (observations**2).sum()
            results.append((total.detach().numpy(), torch.autograd.grad(total, actions)[0].numpy()))
        for a, b in zip(*results):
            numpy.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        plain = [costate.gym.make(task) for task in (ours, theirs)]
        for env in plain:
            env.reset(seed=0)
        for a, b in zip(*(env.step_with_jacobian([0.3])[-1] for env in plain)):
            numpy.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)

    def test_a_network_in_a_reward_is_trained_and_faults_are_named(self):
        class Learned(differentiable.TorchTask):
            scene = "cartpole"
            layer = torch.nn.Linear(4, 1).double()

            def torch_observation(self, x, t):
                return x

            def torch_reward(self, x, action, x_next, t):
                return self.layer(x_next)

        env = differentiable.DifferentiableEnv(Learned(), N)
        env.reset(seed=0)
        with self.assertRaisesRegex(ValueError, r"Learned.torch_reward must return shape \(2,\), not \(2, 1\)"):
            env.step(torch.zeros(N, 1))
        Learned.torch_reward = lambda self, x, action, x_next, t: self.layer(x_next)[:, 0]
        env.reset(seed=0)
        env.step(torch.zeros(N, 1))[1].sum().backward()
        self.assertTrue((Learned.layer.weight.grad != 0).any())
        self.assertRegex(repr(env), "DifferentiableEnv: 2 of <Learned")
        del Learned.torch_reward
        with self.assertRaisesRegex(NotImplementedError, "Learned must define torch_reward"):
            env.step(torch.zeros(N, 1))

    def test_environments_carry_gradients_across_steps_and_not_across_episodes(self):
        heavier = {"bodies/*/mass": (1.5, 3)}
        for name, randomize in (("cartpole-swing-up", None), ("ant", None), ("cartpole-swing-up", heavier)):
            with self.subTest(name, randomize=randomize):
                env = differentiable.DifferentiableEnv(name, N, 1, torch.float64, randomize)
                env.task.steps = 3

                def total(actions):
                    env.reset(seed=0)
                    result = 0
                    for action in actions:
                        observations, rewards, _, truncated, infos = env.step(action)
                        result = result + rewards.sum() + 0.1 * (observations**2).sum()
                        if truncated.any():
                            result = result + infos["final_obs"].sum()
                    return result

                actions = torch.tensor(
                    numpy.random.default_rng(0).uniform(-1, 1, (4, N, env.task.model.nu)), requires_grad=True)
                self.assertTrue(torch.autograd.gradcheck(total, actions, atol=1e-4))
                env.reset(seed=0)
                for action in actions[:3]:
                    observations, *_ = env.step(action)
                self.assertTrue((torch.autograd.grad(observations.sum(), actions)[0] == 0).all())

    def test_its_steps_are_those_of_a_vector_environment(self):
        env, plain = differentiable.DifferentiableEnv("ant", N,
                                                      dtype=torch.float64), costate.gym.make_vec("ant", N)
        numpy.testing.assert_array_equal(env.reset(seed=3)[0], plain.reset(seed=3)[0])
        action = numpy.full((N, 8), 0.3)
        for ours, theirs in zip(env.step(torch.tensor(action))[:4], plain.step(action)[:4]):
            numpy.testing.assert_array_equal(ours.numpy(), theirs)
        self.assertIsNone(env.detach().grad_fn)
