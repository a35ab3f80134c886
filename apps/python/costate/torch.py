"""Differentiable steps, rollouts and environments for PyTorch, on the CPU.

States are tensors x (n_env, nx). Their gradients are ambient, as those of any tensor: a quaternion q in x means q/|q|, so the gradient has
no component along q. The `Batch` must be created with ambient=True. It computes in float64; other tensors are converted, and results have
the type of x. Of every step, only the state before it is kept for the backward pass.
"""
import numpy
import torch

from .gym import make_vec

__all__ = ["step", "rollout", "DifferentiableEnv"]


def step(batch, x, u, parameters=None):
    """(x_next (n_env, nx), diverged (n_env) bool) after one control step from x (n_env, nx) under u (n_env, nu).

    parameters: theta (nparam), or (n_env, nparam) if the batch has own_parameters; it stays set in the batch; None: unchanged.
    No gradient passes through the step of a diverged environment."""
    states, completed = rollout(batch, x, u[None], parameters)
    return states[0], completed < 1


def rollout(batch, x, u, parameters=None):
    """(states (n_steps, n_env, nx), completed (n_env) int32): the states after each control step from x (n_env, nx) under u (n_steps,
    n_env, nu), and the number of steps before each environment diverged; parameters as for `step`."""
    if not batch.ambient:
        raise ValueError("gradients of tensors are ambient: create the batch with ambient=True")
    return _Rollout.apply(x, u, parameters, batch)


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, u, parameters, batch):
        ctx.batch = batch
        if parameters is not None:
            batch.set_parameters(_array(parameters))
        states, completed = batch.rollout(_array(x), _array(u))
        ctx.starts = numpy.concatenate([_array(x)[None], states[:-1]])
        ctx.completed = completed
        ctx.save_for_backward(x, u, parameters)
        completed = torch.from_numpy(completed)
        ctx.mark_non_differentiable(completed)
        return torch.from_numpy(states).to(x.dtype), completed

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, states_bar, _):
        x, u, parameters = ctx.saved_tensors
        wanted = [name for name, needed in zip(("x", "u", "parameters"), ctx.needs_input_grad) if needed]
        if parameters is not None:
            ctx.batch.set_parameters(_array(parameters))
        bars = ctx.batch.backward(ctx.starts, _array(u), _array(states_bar), ctx.completed, wanted,
                                  each=parameters is not None and parameters.dim() == 2)
        return *(None if bar is None else torch.from_numpy(bar).to(given.dtype) for bar, given in zip(bars, (x, u, parameters))), None


class _Observation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t, task):
        ctx.t, ctx.task = t, task
        ctx.save_for_backward(x)
        return torch.from_numpy(task.observation(_array(x), t))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, bar):
        return torch.from_numpy(ctx.task.observation_vjp(_array(*ctx.saved_tensors), ctx.t, _array(bar))), None, None


class _Reward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, action, x_next, t, task):
        ctx.t, ctx.task = t, task
        ctx.save_for_backward(x, action, x_next)
        return torch.from_numpy(task.reward(_array(x), _array(action), _array(x_next), t))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, bar):
        gradient = ctx.task.reward_gradient(*map(_array, ctx.saved_tensors), ctx.t)
        return tuple(torch.from_numpy(_array(bar)[:, None] * part) for part in gradient) + (None, None)


class DifferentiableEnv:
    """A `costate.gym.VectorEnv` whose observations and rewards are differentiable with respect to all actions since the last `detach()`.

    task: a `costate.gym.Task` or its name; threads: 0 means one per core. Observations and rewards have type `dtype`, states float64.
    """

    def __init__(self, task, num_envs, threads=0, dtype=torch.float32):
        self.env = make_vec(task, num_envs, threads)  # for its spaces, its seeds, and steps without gradients
        self.task, self.num_envs, self.dtype = self.env.task, num_envs, dtype
        self._episodes = self.env._episodes
        self._scale, self._offset = (torch.as_tensor(number, dtype=torch.float64) for number in (self.task.scale, self.task.offset))
        self.x = None  # (num_envs, nx), part of the graph

    def reset(self, *, seed=None, options=None):
        """(observations, infos), as VectorEnv.reset."""
        _, infos = self.env.reset(seed=seed, options=options)
        self.x = torch.from_numpy(self.env.state)
        return self._observed(self.x), infos

    def detach(self):
        """Cuts the graph at the current state; returns the observations without their graph."""
        self.x = self.x.detach()
        return self._observed(self.x)

    def step(self, actions):
        """(observations, rewards, terminated, truncated, infos) of a control step under actions (num_envs, nu); infos["final_obs"] is part
        of the graph. No gradient passes across the start of an episode."""
        x, t, actions = self.x, self._episodes.t, actions.to(torch.float64)
        x_next, diverged = step(self._episodes.batch, x, actions * self._scale + self._offset)
        rewards = torch.where(diverged, 0.0, _Reward.apply(x, actions, x_next, t, self.task))
        terminated, truncated = self._episodes.arrive(_array(x_next), diverged.numpy())
        observations, over = self._observed(x_next), terminated | truncated
        _, infos = self._episodes.restart(over, diverged.numpy())
        if over.any():
            infos["final_obs"] = observations
            x_next = torch.where(torch.from_numpy(over)[:, None], torch.from_numpy(self.env.state), x_next)
            observations = self._observed(x_next)
        self.x = x_next
        return observations, rewards.to(self.dtype), torch.from_numpy(terminated), torch.from_numpy(truncated), infos

    def _observed(self, x):
        return _Observation.apply(x, self._episodes.t, self.task).to(self.dtype)


def _array(tensor):
    """The tensor as a float64 array, without a copy if it is float64 already."""
    if tensor.device.type != "cpu":
        raise ValueError(f"costate computes on the CPU, but a tensor is on {tensor.device}: call .cpu() on it")
    return tensor.detach().to(torch.float64).contiguous().numpy()
