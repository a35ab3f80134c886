"""Differentiable steps, rollouts, poses and environments for PyTorch, on the CPU.

States are tensors x (n_env, nx). Their gradients are ambient, as those of any tensor: a quaternion q in x means
q/|q|, so the gradient has no component along q. The `Batch` must be created with ambient=True. It computes in
float64; other tensors are converted, and results have the type of x. Arrays and lists are taken as constant
tensors. Of every step, only the state before it is kept for the backward pass.
"""
from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, Optional, Tuple, Union

import numpy
import torch

from ._arrays import Array, ArrayLike, check_type
from ._torch_cost import cost
from .batch import Batch
from .gym import make_vec
from .gym.task import Ranges, RewardGradient, Steps, Task

__all__ = ["step", "rollout", "poses", "sensors", "cost", "TorchTask", "DifferentiableEnv"]

Numbers = Union[torch.Tensor, ArrayLike]


def step(batch: Batch, x: Numbers, u: Numbers,
         parameters: Optional[Numbers] = None) -> Tuple[torch.Tensor, torch.Tensor]:
    """(x_next (n_env, nx), diverged (n_env) bool) after one control step from x (n_env, nx) under u (n_env, nu).

    parameters: theta (nparam), or (n_env, nparam) if the batch has own_parameters; it stays set in the batch;
    None: unchanged. No gradient passes through the step of a diverged environment."""
    states, completed = rollout(batch, x, _tensor("u", u)[None], parameters)
    return states[0], completed < 1


def rollout(batch: Batch, x: Numbers, u: Numbers,
            parameters: Optional[Numbers] = None) -> Tuple[torch.Tensor, torch.Tensor]:
    """(states (n_steps, n_env, nx), completed (n_env) int32): the states after each control step from x (n_env,
    nx) under u (n_steps, n_env, nu), and the number of steps before each environment diverged; parameters as for
    `step`."""
    _check_ambient(batch)
    theta = None if parameters is None else _tensor("parameters", parameters)
    states, completed = _Rollout.apply(_tensor("x", x), _tensor("u", u), theta, batch)
    return states, completed


def poses(batch: Batch, x: Numbers, frames: ArrayLike) -> Tuple[torch.Tensor, torch.Tensor]:
    """(poses (n_env, n, 7): origin, m, and quaternion (w >= 0); velocities (n_env, n, 6): of the origin, m/s, and
    angular, rad/s), all in world axes, of frames (n) in states x (n_env, nx). `batch.frames(names)` has the
    indices of frames."""
    _check_ambient(batch)
    where, velocities = _Poses.apply(_tensor("x", x), frames, batch)
    return where, velocities


def sensors(batch: Batch, x: Numbers, u: Numbers, wrenches: Optional[Numbers] = None,
            parameters: Optional[Numbers] = None) -> torch.Tensor:
    """y (n_env, ny): the sensors of states x (n_env, nx) under u (n_env, nu) and external wrenches (n_env, n_bodies,
    6), in the first time step of a control step, as `Batch.sensors`; parameters as for `step`."""
    _check_ambient(batch)
    tensors = (None if given is None else _tensor(name, given)
               for name, given in (("wrenches", wrenches), ("parameters", parameters)))
    y: torch.Tensor = _Sensors.apply(_tensor("x", x), _tensor("u", u), *tensors, batch)
    return y


class _Sensors(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, u: torch.Tensor, wrenches: Optional[torch.Tensor],
                parameters: Optional[torch.Tensor], batch: Batch) -> torch.Tensor:
        ctx.batch = batch
        if parameters is not None:
            batch.set_parameters(_array(parameters))
        ctx.theta = _parameters(batch)
        ctx.save_for_backward(x, u, wrenches, parameters)
        y = batch.sensors(_array(x), _array(u), None if wrenches is None else _array(wrenches))
        return torch.from_numpy(y).to(x.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, y_bar: torch.Tensor) -> Tuple[Optional[torch.Tensor], ...]:
        given = ctx.saved_tensors
        x, u, wrenches, parameters = given
        names = ("x", "u", "wrenches", "parameters")
        wanted = [name for name, needed in zip(names, ctx.needs_input_grad) if needed]
        with _with_parameters(ctx.batch, ctx.theta):
            bars = ctx.batch.sensors_vjp(_array(x), _array(y_bar), _array(u),
                                         None if wrenches is None else _array(wrenches), wanted,
                                         each=parameters is not None and parameters.dim() == 2)
        return *(None if bar is None else torch.from_numpy(bar).to(tensor.dtype)
                 for bar, tensor in zip(bars, given)), None


class _Rollout(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, u: torch.Tensor, parameters: Optional[torch.Tensor],
                batch: Batch) -> Tuple[torch.Tensor, torch.Tensor]:
        ctx.batch = batch
        if parameters is not None:
            batch.set_parameters(_array(parameters))
        states, steps = batch.rollout(_array(x), _array(u))
        ctx.starts = numpy.concatenate([_array(x)[None], states[:-1]])
        ctx.completed, ctx.theta = steps, _parameters(batch)
        ctx.save_for_backward(x, u, parameters)
        completed = torch.from_numpy(steps)
        ctx.mark_non_differentiable(completed)
        return torch.from_numpy(states).to(x.dtype), completed

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, states_bar: torch.Tensor, _: torch.Tensor) -> Tuple[Optional[torch.Tensor], ...]:
        x, u, parameters = ctx.saved_tensors
        wanted = [name for name, needed in zip(("x", "u", "parameters"), ctx.needs_input_grad) if needed]
        with _with_parameters(ctx.batch, ctx.theta):
            bars = ctx.batch.backward(ctx.starts, _array(u), _array(states_bar), ctx.completed, wanted,
                                      each=parameters is not None and parameters.dim() == 2)
        return *(None if bar is None else torch.from_numpy(bar).to(given.dtype)
                 for bar, given in zip(bars, (x, u, parameters))), None


class _Poses(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, frames: ArrayLike, batch: Batch) -> Tuple[torch.Tensor, torch.Tensor]:
        ctx.batch, ctx.frames, ctx.theta = batch, frames, _parameters(batch)
        ctx.save_for_backward(x)
        where, velocities = (torch.from_numpy(part).to(x.dtype) for part in batch.poses(_array(x), frames))
        return where, velocities

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, poses_bar: torch.Tensor,
                 velocities_bar: torch.Tensor) -> Tuple[Optional[torch.Tensor], ...]:
        (x,) = ctx.saved_tensors
        with _with_parameters(ctx.batch, ctx.theta):
            bar = ctx.batch.poses_vjp(_array(x), ctx.frames, _array(poses_bar), _array(velocities_bar), ("x",)).x
        return torch.from_numpy(bar).to(x.dtype), None, None


class TorchTask(Task):
    """A task whose observations and rewards are functions of tensors, which need no derivatives by hand.

    A subclass defines `torch_observation` and `torch_reward`. It works in `costate.gym` too, also
    `step_with_jacobian`. In a `DifferentiableEnv` both functions become part of the graph, so networks in them are
    trained as well; so does `torch_carry` of a task that has `carried` numbers of its own."""

    def torch_observation(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        """(n, observation_size) of states x (n, nx) float64, t (n) steps after the start."""
        self._missing("torch_observation(x, t)")

    def torch_reward(self, x: torch.Tensor, action: torch.Tensor, x_next: torch.Tensor,
                     t: torch.Tensor) -> torch.Tensor:
        """The rewards (n) of the control step from x to x_next (n, nx) float64 under action (n, nu)."""
        self._missing("torch_reward(x, action, x_next, t)")

    def torch_carry(self, x: torch.Tensor, action: torch.Tensor, x_next: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        """The carried numbers (n, carried) float64 after the control step from x (n, nx) to the model's states
        x_next (n, model.nx)."""
        own: torch.Tensor = self.own(x)
        return own

    def carry(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        with torch.no_grad():
            own: Array = self.torch_carry(torch.from_numpy(x), torch.from_numpy(action), torch.from_numpy(x_next),
                                          torch.as_tensor(t)).numpy()
        return own

    def observation(self, x: Array, t: Steps) -> Array:
        with torch.no_grad():
            observed: Array = self.torch_observation(torch.from_numpy(x),
                                                     torch.as_tensor(t)).to(torch.float64).numpy()
        return observed

    def observation_vjp(self, x: Array, t: Steps, bar: Array) -> Array:
        leaf = torch.tensor(x, requires_grad=True)
        observed = self.torch_observation(leaf, torch.as_tensor(t))
        (x_bar,) = _gradients((observed * torch.tensor(bar)).sum(), leaf)
        return x_bar

    def reward(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        with torch.no_grad():
            rewards = self.torch_reward(torch.from_numpy(x), torch.from_numpy(action), torch.from_numpy(x_next),
                                        torch.as_tensor(t))
            numbers: Array = rewards.to(torch.float64).numpy()
        return numbers

    def reward_gradient(self, x: Array, action: Array, x_next: Array, t: Steps) -> RewardGradient:
        before, taken, after = (torch.tensor(part, requires_grad=True) for part in (x, action, x_next))
        rewards = self.torch_reward(before, taken, after, torch.as_tensor(t))
        return RewardGradient(*_gradients(rewards.sum(), before, taken, after))


def _gradients(value: torch.Tensor, *leaves: torch.Tensor) -> Tuple[Array, ...]:
    """The gradients of a number with respect to leaves; zeros for those that it does not depend on."""
    if not value.requires_grad:
        return tuple(numpy.zeros(leaf.shape) for leaf in leaves)
    bars = torch.autograd.grad(value, leaves, allow_unused=True)
    return tuple(numpy.zeros(leaf.shape) if bar is None else bar.numpy() for bar, leaf in zip(bars, leaves))


class _Observation(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, t: Steps, task: Task) -> torch.Tensor:
        ctx.t, ctx.task = t, task
        ctx.save_for_backward(x)
        return torch.from_numpy(
            task.shaped("observation", task.observation(_array(x), t), len(t), task.observation_size))

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, bar: torch.Tensor) -> Tuple[Optional[torch.Tensor], ...]:
        (x,) = ctx.saved_tensors
        return torch.from_numpy(ctx.task.observation_vjp(_array(x), ctx.t, _array(bar))), None, None


class _Reward(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, action: torch.Tensor, x_next: torch.Tensor, t: Steps,
                task: Task) -> torch.Tensor:
        ctx.t, ctx.task = t, task
        ctx.save_for_backward(x, action, x_next)
        return torch.from_numpy(
            task.shaped("reward", task.reward(_array(x), _array(action), _array(x_next), t), len(t)))

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, bar: torch.Tensor) -> Tuple[Optional[torch.Tensor], ...]:
        gradient = ctx.task.reward_gradient(*map(_array, ctx.saved_tensors), ctx.t)
        return tuple(torch.from_numpy(_array(bar)[:, None] * part) for part in gradient) + (None, None)


class DifferentiableEnv:
    """A `costate.gym.VectorEnv` whose observations and rewards are differentiable with respect to all actions
    since the last `detach()`.

    task: a `costate.gym.Task` or its name, for your own one most easily a `TorchTask`; threads: 0 means one per
    core. Observations and rewards have type `dtype`, states float64. randomize as for `costate.gym.Env`.
    """

    def __init__(self, task: Union[Task, str], num_envs: int, threads: int = 0, dtype: torch.dtype = torch.float32,
                 randomize: Optional[Ranges] = None) -> None:
        # for its spaces, its seeds, and steps without gradients
        self.env = make_vec(task, num_envs, threads, randomize=randomize)
        self.task, self.num_envs, self.dtype = self.env.task, num_envs, dtype
        if self.task.carried and not isinstance(self.task, TorchTask):
            raise ValueError(f"{type(self.task).__name__} carries numbers of its own in x, whose derivatives are not "
                             "known: derive it from costate.torch.TorchTask")
        self._episodes = self.env._episodes
        self._scale, self._offset = (torch.as_tensor(number, dtype=torch.float64)
                                     for number in (self.task.scale, self.task.offset))
        self.x: Optional[torch.Tensor] = None  # (num_envs, nx), part of the graph

    def __repr__(self) -> str:
        return f"<costate.torch.DifferentiableEnv: {self.num_envs} of {self.task!r}>"

    def close(self) -> None:
        self.env.close()

    def reset(self, *, seed: Any = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[torch.Tensor, Dict[str, Any]]:
        """(observations, infos), as VectorEnv.reset."""
        _, infos = self.env.reset(seed=seed, options=options)
        self.x = torch.from_numpy(self.env.state)
        return self._observed(self.x), infos

    def detach(self) -> torch.Tensor:
        """Cuts the graph at the current state; returns the observations without their graph."""
        self.x = self._started().detach()
        return self._observed(self.x)

    def snapshot(self) -> Dict[str, Any]:
        """All that later steps depend on, without their graph, as VectorEnv.snapshot."""
        return self.env.snapshot()

    def restore(self, snapshot: Dict[str, Any]) -> None:
        """Goes on from a snapshot of an environment of the same task and size; the graph is cut."""
        self.env.restore(snapshot)
        self.x = torch.from_numpy(self.env.state)

    def step(
            self, actions: torch.Tensor
    ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, Dict[str, Any]]:
        """(observations, rewards, terminated, truncated, infos) of a control step under actions (num_envs, nu);
        infos["final_obs"] is part of the graph. No gradient passes across the start of an episode."""
        x, t, actions = self._started(), self._episodes.t, _tensor("actions", actions).to(torch.float64)
        u, more = actions * self._scale + self._offset, self.task.feedforward(_array(x), t)
        u = u if more is None else u + torch.from_numpy(more)
        x_next, diverged = step(self._episodes.batch, self._kicked(x, t), u)
        if isinstance(self.task, TorchTask) and self.task.carried:
            own = self.task.torch_carry(x, actions, x_next, torch.as_tensor(t))
            x_next = torch.cat([x_next, _shaped(self.task, "torch_carry", own, len(t), self.task.carried)], 1)
        rewards = torch.where(diverged, 0.0, self._rewarded(x, actions, x_next, t))
        terminated, truncated = self._episodes.arrive(_array(x_next), diverged.numpy())
        observations, over = self._observed(x_next), terminated | truncated
        _, infos = self._episodes.restart(over, diverged.numpy())
        if over.any():
            infos["final_obs"] = observations
            x_next = torch.where(torch.from_numpy(over)[:, None], torch.from_numpy(self.env.state), x_next)
            observations = self._observed(x_next)
        self.x = x_next
        return observations, rewards.to(
            self.dtype), torch.from_numpy(terminated), torch.from_numpy(truncated), infos

    def squared_jacobian(self, actions: torch.Tensor, random: torch.Generator) -> torch.Tensor:
        """Estimates (num_envs) of the squared Frobenius norm of the derivatives of the next control step, under
        actions (num_envs, nu), by the model's state and controls: |J^T w|^2 for a normal w, whose mean it is
        (Hutchinson 1989). Does not advance the environments."""
        x = self._kicked(self._started().detach(), self._episodes.t)
        w = torch.randn(x.shape, generator=random, dtype=torch.float64)
        u = self.env.controls(_array(actions))
        bars = self._episodes.batch.backward(x[None].numpy(), u[None], w[None].numpy(), None, ("x", "u"))
        assert bars.x is not None and bars.u is not None
        return torch.from_numpy((bars.x**2).sum(1) + (bars.u[0]**2).sum(1)).to(self.dtype)

    def _started(self) -> torch.Tensor:
        if self.x is None:
            raise RuntimeError("call reset() before step()")
        return self.x

    def _kicked(self, x: torch.Tensor, t: Steps) -> torch.Tensor:
        """The model's states (num_envs, model.nx) from which a control step starts."""
        model, kicks = self.task.model, self.task.kicks(_array(x), t)
        states = x[:, : model.nx]
        if kicks is None:
            return states
        change = numpy.zeros(states.shape)
        self.task.v(change)[:] = kicks
        return states + torch.from_numpy(change)

    def _observed(self, x: torch.Tensor) -> torch.Tensor:
        task, t = self.task, self._episodes.t
        if isinstance(task, TorchTask):
            return _shaped(task, "torch_observation", task.torch_observation(x, torch.as_tensor(t)), len(t),
                           task.observation_size).to(self.dtype)
        return _Observation.apply(x, t, task).to(self.dtype)

    def _rewarded(self, x: torch.Tensor, actions: torch.Tensor, x_next: torch.Tensor, t: Steps) -> torch.Tensor:
        task = self.task
        if isinstance(task, TorchTask):
            return _shaped(task, "torch_reward", task.torch_reward(x, actions, x_next, torch.as_tensor(t)), len(t))
        return _Reward.apply(x, actions, x_next, t, task)


def _shaped(task: Task, method: str, result: torch.Tensor, *shape: int) -> torch.Tensor:
    task.shaped(method, result.detach(), *shape)
    return result


def _check_ambient(batch: Batch) -> None:
    check_type("batch", batch, Batch, "costate.Batch(model, n_env, ambient=True) makes one")
    if not batch.ambient:
        raise ValueError("gradients of tensors are ambient: create the batch with ambient=True")


def _tensor(name: str, given: Numbers) -> torch.Tensor:
    """The tensor, or a constant tensor of numbers."""
    if isinstance(given, torch.Tensor):
        return given
    try:
        return torch.as_tensor(numpy.asarray(given, float))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} must be a tensor or an array of numbers, not {type(given).__name__}: {error}") from None


def _parameters(batch: Batch) -> Optional[Array]:
    """The parameters with which the batch computes now: its own, or those of its model. None if the model has been
    closed, so that they cannot change."""
    if batch._parameters is None and batch.model._finalizer.alive:
        return batch.model.parameters
    return batch._parameters


@contextlib.contextmanager
def _with_parameters(batch: Batch, theta: Optional[Array]) -> Iterator[None]:
    """Gives the batch parameters of an earlier call, and then those that it has now again."""
    now, present = batch._parameters, _parameters(batch)
    if theta is None or present is not None and numpy.array_equal(theta, present):
        yield
        return
    batch.set_parameters(theta)
    try:
        yield
    finally:
        batch.set_parameters(now)


def _array(tensor: torch.Tensor) -> Array:
    """The tensor as a float64 array, without a copy if it is float64 already."""
    if tensor.device.type != "cpu":
        raise ValueError(f"costate computes on the CPU, but a tensor is on {tensor.device}: call .cpu() on it")
    array: Array = tensor.detach().to(torch.float64).contiguous().numpy()
    return array
