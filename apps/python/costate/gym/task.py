"""What an environment is for: its scene, observations, rewards and ends, for n environments at once.

Shapes: states x (n, nx), which are q (nq) and then v (nv); actions (n, nu); t (n) control steps since the start. Gradients by states are
by their numbers (nx).
"""
from typing import NamedTuple

import numpy

from ..model import Model


class RewardGradient(NamedTuple):
    """Of every environment's reward by what it depends on."""

    x: numpy.ndarray  # (n, nx)
    action: numpy.ndarray  # (n, nu)
    x_next: numpy.ndarray  # (n, nx)


class Task:
    """Base of the tasks. Actions are in [-1, 1]; those outside are for the model to clip, where its actuators are limited."""

    scene = None  # name or path
    substeps = 1  # time steps of the scene in a control step
    steps = 1000  # control steps until an episode is cut off
    noise = 0.0  # of the start: uniform in +- noise on every tangent coordinate and velocity
    scale, offset = 1.0, 0.0  # of the model's controls, offset + scale * action; numbers or (nu)

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
        """(q (nq), v (nv)) of an episode's start, drawn from a numpy.random.Generator."""
        q, v = self.home
        draw = random.uniform(-self.noise, self.noise, 2 * self.model.nv)
        return self.model.retract(q, draw[: self.model.nv]), v + draw[self.model.nv :]

    def control(self, action):
        """u (..., nu) of the model; arrays or tensors."""
        return action * self.scale + self.offset

    def observation(self, x, t):
        """(n, observation_size)"""
        raise NotImplementedError

    def observation_vjp(self, x, t, bar):
        """x_bar (n, nx) from the gradient `bar` by observations."""
        raise NotImplementedError

    def reward(self, x, action, x_next, t):
        """(n) of the control step from x to x_next, t steps after the start."""
        raise NotImplementedError

    def reward_gradient(self, x, action, x_next, t):
        """A RewardGradient."""
        raise NotImplementedError

    def terminated(self, x, t):
        """(n) bool: whether the episode is over at a state reached after t steps."""
        return numpy.zeros(len(x), bool)

    def truncated(self, x, t):
        """(n) bool: whether an episode that goes on is cut off at a state reached after t steps."""
        return t >= self.steps

    @staticmethod
    def no_gradient(x, action):
        """Zeros, to be filled in."""
        return RewardGradient(numpy.zeros(x.shape), numpy.zeros(action.shape), numpy.zeros(x.shape))


class Coordinates:
    """Observations that are coordinates and velocities, the first `unseen` coordinates left out."""

    unseen = 0

    def observation(self, x, t):
        return x[:, self.unseen : self.model.nq + self.model.nv].copy()

    def observation_vjp(self, x, t, bar):
        x_bar = numpy.zeros(x.shape)
        x_bar[:, self.unseen : self.model.nq + self.model.nv] = bar
        return x_bar
