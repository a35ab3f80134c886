"""The states of n environments of a task: start, steps and end of episodes."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy
import numpy.typing

from .._arrays import Array, ArrayLike, Mask, integers, numbers
from ..batch import Batch
from ..errors import BadArgument
from .task import Plant, Randomization, Ranges, Steps, Task

Infos = Dict[str, Any]


class Jacobian(NamedTuple):
    """Derivatives of one control step with respect to the state before it, a tangent vector (ndx), and to the
    action (nu). Those of a VectorEnv have the environment first."""

    state_by_state: Array  # (ndx, ndx)
    state_by_action: Array  # (ndx, nu)
    observation_by_state: Array  # (observation size, ndx), for the observation after the step
    observation_by_action: Array  # (observation size, nu)
    reward_by_state: Array  # (ndx)
    reward_by_action: Array  # (nu)


class Episodes:
    """States x (n, nx) and numbers of control steps since the start, t (n); both arrays are replaced, never
    modified.

    randomize: ranges of factors of parameters, as of Randomization, instead of those of the task; each environment
    then has its own parameters (n, nparam), drawn at the start of every episode. plant: steps the environments in
    place of the model."""

    def __init__(self, task: Task, n: int, threads: int, randomize: Optional[Ranges] = None,
                 plant: Optional[Plant] = None) -> None:
        self.task, self.n = task, n
        ranges = task.randomize if randomize is None else randomize
        if plant is not None and ranges:
            raise ValueError("a plant has parameters of its own, which cannot be randomized: give randomize={}")
        self._randomization = Randomization(task.model, ranges) if ranges else None
        self.batch = Batch(task.model, n, threads=threads, substeps=task.substeps, ambient=True,
                           own_parameters=self._randomization is not None)
        self._plant: Plant = self.batch if plant is None else plant
        self.parameters: Optional[Array] = None
        if self._randomization is not None:
            self.parameters = numpy.repeat(self._randomization.nominal[None], n, 0)
        self._x: Optional[Array] = None
        self.t: Steps = numpy.zeros(n, int)
        self.randoms = [numpy.random.default_rng() for _ in range(n)]

    @property
    def x(self) -> Array:
        if self._x is None:
            raise RuntimeError("call reset() before step()")
        return self._x

    def seed(self, seeds: Sequence[Optional[int]]) -> None:
        """Seeds the n generators; None leaves a generator unchanged."""
        for i, seed in enumerate(seeds):
            if seed is not None:
                self.randoms[i] = numpy.random.default_rng(seed)

    def start(self, which: Mask, states: Optional[ArrayLike] = None, t: Union[int, ArrayLike] = 0) -> None:
        """Restarts the environments `which` (n, bool), in states (nx or (n, nx)) if given, with t (a number or n)
        as their step count."""
        x = numpy.empty((self.n, self.task.nx)) if self._x is None else self._x.copy()
        if self._x is None and not which.all():
            raise ValueError("the first reset must include all environments")
        given = None
        if states is not None:
            given = numbers("x", states, x.shape[1:] if numpy.ndim(states) == 1 else x.shape)
        if given is not None and not numpy.isfinite(given).all():
            raise BadArgument("x has a number that is not finite")
        t = integers("t", t, (self.n,) if numpy.ndim(t) > 0 else (), int)
        self._draw_parameters(which)
        if given is not None:
            x[which] = numpy.broadcast_to(given, x.shape)[which]
        else:
            for i in numpy.flatnonzero(which):
                x[i] = self.task.state(*self.task.start(self.randoms[i]))
                self.task.own(x)[i] = self.task.draw(self.randoms[i])
        self._x, self.t = x, numpy.where(which, t, self.t)

    def snapshot(self) -> Dict[str, Any]:
        """All that later steps depend on."""
        return {"x": self.x.copy(), "t": self.t.copy(), "randoms": [r.bit_generator.state for r in self.randoms],
                "parameters": None if self.parameters is None else self.parameters.copy()}

    def restore(self, snapshot: Dict[str, Any]) -> None:
        """Goes on from a snapshot of as many environments of the same task."""
        x, t, randoms, parameters = parts(snapshot, "x", "t", "randoms", "parameters")
        x, t, own = numpy.array(x, float), numpy.array(t, int), parameters is not None
        if x.shape != (self.n, self.task.nx) or own != (self.parameters is not None):
            raise ValueError(f"the snapshot is of other environments: it has states {x.shape}")
        self._x, self.t = x, t
        for random, state in zip(self.randoms, randoms):
            random.bit_generator.state = state
        if self.parameters is not None:
            self.parameters = numpy.array(parameters, float)
            self.batch.set_parameters(self.parameters)

    def _draw_parameters(self, which: Mask) -> None:
        if self._randomization is None or self.parameters is None:
            return
        self.parameters = self.parameters.copy()
        for i in numpy.flatnonzero(which):
            self.parameters[i] = self._randomization.draw(self.randoms[i])
        self.batch.set_parameters(self.parameters)

    def actions(self, actions: ArrayLike) -> Array:
        """As (n, nu) float64."""
        given = numpy.ascontiguousarray(actions, float)
        if given.shape != (self.n, self.task.model.nu):
            raise ValueError(f"actions must have shape {(self.n, self.task.model.nu)}, not {given.shape}")
        return given

    def step(self, given: ArrayLike) -> Tuple[Array, Mask, Mask, Mask]:
        """(rewards, terminated, truncated, diverged), each (n), of a control step."""
        x, t, actions = self.x, self.t, self.actions(given)
        x_next, diverged = self._plant.step(self.kicked(x, t), self.controls(actions))
        if self.task.carried:
            x_next = numpy.concatenate([x_next, self.task.carry(x, actions, x_next, t)], 1)
        with numpy.errstate(over="ignore", invalid="ignore"):  # rewards of diverged environments
            rewards = self.task.shaped("reward", self.task.reward(x, actions, x_next, t), self.n)
        return (numpy.where(diverged, 0, rewards), *self.arrive(x_next, diverged), diverged)

    def controls(self, actions: Array) -> Array:
        """The controls (n, nu) of the model in the next control step under actions (n, nu)."""
        u: Array = self.task.control(actions)
        more = self.task.feedforward(self.x, self.t)
        return u if more is None else u + more

    def kicked(self, x: Array, t: Steps) -> Array:
        """The model's states (n, model.nx) from which a control step starts."""
        model, kicks = self.task.model, self.task.kicks(x, t)
        states: Array = numpy.ascontiguousarray(x[:, : model.nx])
        if kicks is not None:
            states = states.copy()
            self.task.v(states)[:] += kicks
        return states

    def arrive(self, x: Array, diverged: Mask) -> Tuple[Mask, Mask]:
        """(terminated, truncated) at the states after a control step. A diverged environment is terminated."""
        self._x, self.t = x, self.t + 1
        terminated: Mask = diverged | self.task.shaped("terminated", self.task.terminated(x, self.t), self.n)
        return terminated, ~terminated & self.task.shaped("truncated", self.task.truncated(x, self.t), self.n)

    def hold(self, which: Mask, x: Array, t: Steps) -> None:
        """Takes environments back to states x (n, nx) and step counts t (n)."""
        self._x, self.t = numpy.where(which[:, None], x, self.x), numpy.where(which, t, self.t)

    def restart(self, over: Mask, diverged: Mask) -> Tuple[Array, Infos]:
        """(observations, infos) after a restart of the environments `over` (n)."""
        observations, infos = self.observation(), divergence(diverged)
        if over.any():
            infos.update(final_obs=observations, _final_obs=over, final_info=dict(infos), _final_info=over)
            self.start(over)
            observations = numpy.where(over[:, None], self.observation(), observations)
        return observations, infos

    def observation(self) -> Array:
        observed: Array = self.task.shaped("observation", self.task.observation(self.x, self.t), self.n,
                                           self.task.observation_size)
        return observed

    def jacobian(self, given: ArrayLike) -> Jacobian:
        """The Jacobian, with arrays (n, ...), of the next control step, without advancing it."""
        task, actions = self.task, self.actions(given)
        if task.carried:
            raise NotImplementedError(f"{type(task).__name__} carries numbers of its own in x, of which a Jacobian "
                                      "knows nothing; costate.torch.DifferentiableEnv differentiates them")
        u = self.controls(actions)
        J = self.batch.jacobian(self.x, u)
        by_x, by_action = J.by_state, J.by_control * task.scale
        x_next, _ = self.batch.step(self.x, u)
        start, end = self._tangent_basis(self.x), self._tangent_basis(x_next)
        observation = self._observation_jacobian(x_next, self.t + 1, end)
        reward = task.reward_gradient(self.x, actions, x_next, self.t)
        by_next = self._to_tangent(reward.x_next, end)[:, None]
        return Jacobian(by_x, by_action, observation @ by_x, observation @ by_action,
                        self._to_tangent(reward.x, start) + (by_next @ by_x)[:, 0],
                        reward.action + (by_next @ by_action)[:, 0])

    def observation_jacobian(self) -> Array:
        """The derivatives (n, observation size, ndx) of the present observations by the states."""
        return self._observation_jacobian(self.x, self.t, self._tangent_basis(self.x))

    def _observation_jacobian(self, x: Array, t: Steps, basis: Array) -> Array:
        m = self.task.observation_size
        rows = [self.task.observation_vjp(x, t, numpy.broadcast_to(row, (self.n, m))) for row in numpy.eye(m)]
        return numpy.stack([self._to_tangent(row, basis) for row in rows], 1)

    def _tangent_basis(self, x: Array) -> Array:
        """The derivatives (n, nq, nv) of the numbers of q with respect to tangent vectors."""
        model = self.task.model
        return numpy.array([[model.gradient_to_tangent(q, row) for row in numpy.eye(model.nq)]
                            for q in self.task.q(x)])

    def _to_tangent(self, ambient: Array, basis: Array) -> Array:
        """Tangent gradients (n, ndx) from ambient gradients (n, nx)."""
        q_bar = (self.task.q(ambient)[:, None] @ basis)[:, 0]
        return numpy.concatenate([q_bar, ambient[:, self.task.model.nq :]], 1)


def divergence(diverged: Mask) -> Infos:
    """The infos about environments that have diverged."""
    return {"diverged": diverged, "_diverged": diverged} if diverged.any() else {}


def only(options: Optional[Dict[str, Any]], *known: str) -> Dict[str, Any]:
    """The options of a reset, of which no others are known."""
    options = options or {}
    for key in options:
        if key not in known:
            raise ValueError(f"reset() has no option {key!r}; there are {', '.join(known)}")
    return options


def parts(snapshot: Dict[str, Any], *names: str) -> List[Any]:
    """The parts of a snapshot with these names."""
    for name in names:
        if name not in snapshot:
            raise BadArgument(f"the snapshot has no {name!r}; give what snapshot() returned")
    return [snapshot[name] for name in names]
