"""The states of n environments of a task: start, steps and end of episodes."""
from typing import NamedTuple

import numpy

from ..batch import Batch


class Jacobian(NamedTuple):
    """Derivatives of one control step with respect to the state before it, a tangent vector (2 nv) of (q, v), and to the action (nu)."""

    state_by_state: numpy.ndarray  # (2 nv, 2 nv)
    state_by_action: numpy.ndarray  # (2 nv, nu)
    observation_by_state: numpy.ndarray  # (observation size, 2 nv), for the observation after the step
    observation_by_action: numpy.ndarray  # (observation size, nu)
    reward_by_state: numpy.ndarray  # (2 nv)
    reward_by_action: numpy.ndarray  # (nu)


class Episodes:
    """States x (n, nx) and numbers of control steps since the start, t (n); both arrays are replaced, never modified."""

    def __init__(self, task, n, threads):
        self.task, self.n = task, n
        self.batch = Batch(task.model, n, threads=threads, substeps=task.substeps, ambient=True)
        self.x, self.t = None, None
        self.randoms = [numpy.random.default_rng() for _ in range(n)]

    def seed(self, seeds):
        """Seeds the n generators; None leaves a generator unchanged."""
        for i, seed in enumerate(seeds):
            if seed is not None:
                self.randoms[i] = numpy.random.default_rng(seed)

    def start(self, which, states=None, t=0):
        """Restarts the environments `which` (n, bool), in states (nx or (n, nx)) if given, with t (a number or n) as their step count."""
        x = numpy.empty((self.n, self.task.model.nx)) if self.x is None else self.x.copy()
        if self.x is None and not which.all():
            raise ValueError("the first reset must include all environments")
        if states is not None:
            x[which] = numpy.broadcast_to(numpy.asarray(states, float), x.shape)[which]
        else:
            for i in numpy.flatnonzero(which):
                x[i] = self.task.state(*self.task.start(self.randoms[i]))
        self.x, self.t = x, numpy.where(which, t, 0 if self.t is None else self.t)

    def actions(self, actions):
        """As (n, nu) float64."""
        if self.x is None:
            raise RuntimeError("call reset() before step()")
        actions = numpy.ascontiguousarray(actions, float)
        if actions.shape != (self.n, self.task.model.nu):
            raise ValueError(f"actions must have shape {(self.n, self.task.model.nu)}, not {actions.shape}")
        return actions

    def step(self, actions):
        """(rewards, terminated, truncated, diverged), each (n), of a control step."""
        actions, x, t = self.actions(actions), self.x, self.t
        x_next, diverged = self.batch.step(x, self.task.control(actions))
        with numpy.errstate(over="ignore", invalid="ignore"):  # rewards of diverged environments
            rewards = numpy.where(diverged, 0, self.task.reward(x, actions, x_next, t))
        return (rewards, *self.arrive(x_next, diverged), diverged)

    def arrive(self, x, diverged):
        """(terminated, truncated) at the states after a control step. A diverged environment is terminated."""
        self.x, self.t = x, self.t + 1
        terminated = diverged | self.task.terminated(x, self.t)
        return terminated, ~terminated & self.task.truncated(x, self.t)

    def restart(self, over, diverged):
        """(observations, infos) after a restart of the environments `over` (n)."""
        observations, infos = self.observation(), {}
        if diverged.any():
            infos.update(diverged=diverged, _diverged=diverged)
        if over.any():
            infos.update(final_obs=observations, _final_obs=over, final_info=dict(infos), _final_info=over)
            self.start(over)
            observations = numpy.where(over[:, None], self.observation(), observations)
        return observations, infos

    def observation(self):
        return self.task.observation(self.x, self.t)

    def jacobian(self, i, actions):
        """The Jacobian of the next control step of environment i under actions (n, nu), without advancing it."""
        task, model = self.task, self.task.model
        x, t, actions = self.x[i : i + 1], self.t[i : i + 1], actions[i : i + 1]
        u = task.control(actions)[0]
        q, v = task.q(x[0]).copy(), task.v(x[0]).copy()
        start = _tangent_basis(model, q)
        by_x, by_u = numpy.eye(2 * model.nv), numpy.zeros((2 * model.nv, model.nu))
        for _ in range(task.substeps):
            J = model.step_jacobian(q, v, u)
            by_x, by_u = J.by_state @ by_x, J.by_state @ by_u + J.by_control
            q, v = model.step(q, v, u)
        by_action = by_u * task.scale
        x_next, end = task.state(q, v)[None], _tangent_basis(model, q)

        rows = numpy.eye(task.observation_size)
        state = numpy.repeat(x_next, len(rows), 0), numpy.repeat(t + 1, len(rows))
        observation = _to_tangent(task, task.observation_vjp(*state, rows), end)
        reward = task.reward_gradient(x, actions, x_next, t)
        by_next = _to_tangent(task, reward.x_next, end)[0]
        return Jacobian(by_x, by_action, observation @ by_x, observation @ by_action,
                        _to_tangent(task, reward.x, start)[0] + by_next @ by_x, reward.action[0] + by_next @ by_action)


def _tangent_basis(model, q):
    """The derivative (nq, nv) of the numbers of q with respect to tangent vectors."""
    return numpy.stack([model.gradient_to_tangent(q, row) for row in numpy.eye(model.nq)])


def _to_tangent(task, ambient, basis):
    """Tangent gradients (..., 2 nv) from ambient gradients (..., nx)."""
    return numpy.concatenate([task.q(ambient) @ basis, task.v(ambient)], -1)
