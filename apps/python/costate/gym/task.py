"""Tasks of environments: scene, observations, rewards and ends, for n environments at once.

Shapes: states x (n, nx), q (nq) followed by v (nv); actions (n, nu); t (n) control steps since the start. Gradients of states are ambient
(nx).
"""
from typing import NamedTuple

import numpy

from ..model import Model


class RewardGradient(NamedTuple):
    """Gradients of the rewards of all environments."""

    x: numpy.ndarray  # (n, nx)
    action: numpy.ndarray  # (n, nu)
    x_next: numpy.ndarray  # (n, nx)


class Task:
    """Base class of tasks. Actions are in [-1, 1]; limited actuators of the model clip others."""

    scene = None  # name or path
    substeps = 1  # time steps per control step
    steps = 1000  # control steps until an episode is truncated
    noise = 0.0  # noise of the start: uniform in +- noise for every tangent coordinate and velocity
    scale, offset = 1.0, 0.0  # the model's controls are offset + scale * action; numbers or (nu)

    def __init__(self):
        self.model = Model(self.scene)
        parameters = dict(zip(self.model.parameter_names, self.model.parameters))
        self.control_step = self.substeps * parameters["world/time_step"]  # s
        self.home = self.model.initial_state()
        self.observation_size = self.observation(self.state(*self.home)[None], numpy.zeros(1)).shape[1]

    def state(self, q, v):
        """x (nx) from q (nq) and v (nv)."""
        x = numpy.zeros(self.model.nx)
        self.q(x)[:], self.v(x)[:] = q, v
        return x

    def q(self, x):
        """The coordinates (..., nq) in x (..., nx), a view."""
        return x[..., : self.model.nq]

    def v(self, x):
        """The velocities (..., nv) in x (..., nx), a view."""
        return x[..., self.model.nq : self.model.nq + self.model.nv]

    def start(self, random):
        """(q (nq), v (nv)) at the start of an episode, drawn from a numpy.random.Generator."""
        q, v = self.home
        draw = random.uniform(-self.noise, self.noise, 2 * self.model.nv)
        return self.model.retract(q, draw[: self.model.nv]), v + draw[self.model.nv :]

    def control(self, action):
        """The controls u (..., nu) of the model for an action; arrays or tensors."""
        return action * self.scale + self.offset

    def observation(self, x, t):
        """(n, observation_size)"""
        raise NotImplementedError

    def observation_vjp(self, x, t, bar):
        """x_bar (n, nx) from the gradient `bar` with respect to observations."""
        raise NotImplementedError

    def reward(self, x, action, x_next, t):
        """The rewards (n) of the control step from x to x_next, t steps after the start."""
        raise NotImplementedError

    def reward_gradient(self, x, action, x_next, t):
        """A RewardGradient."""
        raise NotImplementedError

    def terminated(self, x, t):
        """(n) bool: True if the episode terminates in a state reached after t steps."""
        return numpy.zeros(len(x), bool)

    def truncated(self, x, t):
        """(n) bool: True if an episode that has not terminated is truncated in a state reached after t steps."""
        return t >= self.steps

    @staticmethod
    def no_gradient(x, action):
        """A RewardGradient of zeros."""
        return RewardGradient(numpy.zeros(x.shape), numpy.zeros(action.shape), numpy.zeros(x.shape))


class Coordinates:
    """Observations of coordinates and velocities, without the first `unseen` coordinates."""

    unseen = 0

    def observation(self, x, t):
        return x[:, self.unseen : self.model.nq + self.model.nv].copy()

    def observation_vjp(self, x, t, bar):
        x_bar = numpy.zeros(x.shape)
        x_bar[:, self.unseen : self.model.nq + self.model.nv] = bar
        return x_bar
