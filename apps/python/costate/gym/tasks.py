"""The included tasks. Each docstring describes observations and rewards, and their source."""
from __future__ import annotations

import math
from typing import Tuple

import numpy

from .._arrays import Array, Mask
from .task import Coordinates, RewardGradient, Steps, Task


class Pendulum(Task):
    """A pendulum of n links with a motor of 10 N m at every joint, swung up from horizontal in 100 steps of 1/60 s
    (Qiao et al. 2021).

    With D the squared distance of the tip from upright, the reward is D before less D now, and D less once more at
    the end; no return is above n^2/2. The end is part of the task, so observations hold the time that is left, and
    episodes terminate. Observed (3 n + 1): cosines and sines of the joints' angles, their velocities, the share of
    the time that is left.
    """

    substeps = 40
    steps = 100
    length = 0.5  # m, of a link

    def __init__(self, links: int) -> None:
        self.links = links
        self.scene = f"pendulum_{links}"
        super().__init__()

    def observation(self, x: Array, t: Steps) -> Array:
        q = self.q(x)
        return numpy.concatenate([numpy.cos(q), numpy.sin(q), self.v(x), 1 - t[:, None] / self.steps], 1)

    def observation_vjp(self, x: Array, t: Steps, bar: Array) -> Array:
        cos_bar, sin_bar, v_bar, _ = numpy.split(bar, self.links * numpy.arange(1, 4), 1)
        x_bar, q = numpy.zeros(x.shape), self.q(x)
        self.q(x_bar)[:], self.v(x_bar)[:] = numpy.cos(q) * sin_bar - numpy.sin(q) * cos_bar, v_bar
        return x_bar

    def _distance(self, x: Array) -> Tuple[Array, Array]:
        """D (n), and its gradient with respect to q (n, links)."""
        angle = numpy.cumsum(self.q(x), 1)
        along = self.length * numpy.stack([numpy.cos(angle), numpy.sin(angle)])  # links, their x and z
        miss_x, miss_z = along[0].sum(1), along[1].sum(1) - self.length * self.links
        by_angle = 2 * (miss_z[:, None] * along[0] - miss_x[:, None] * along[1])
        return miss_x**2 + miss_z**2, numpy.cumsum(by_angle[:, ::-1], 1)[:, ::-1]

    def _weight(self, t: Steps) -> Array:
        return numpy.where(t + 1 >= self.steps, 2.0, 1.0)

    def reward(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        return self._distance(x)[0] - self._weight(t) * self._distance(x_next)[0]

    def reward_gradient(self, x: Array, action: Array, x_next: Array, t: Steps) -> RewardGradient:
        g = self.no_gradient(x, action)
        self.q(g.x)[:] = self._distance(x)[1]
        self.q(g.x_next)[:] = -self._weight(t)[:, None] * self._distance(x_next)[1]
        return g

    def terminated(self, x: Array, t: Steps) -> Mask:
        return t >= self.steps


class CartpoleSwingUp(Task):
    """A cart on a rail of 2 m to either side swings up its pole and balances it, 240 steps of 1/50 s (Le Lidec et
    al. 2024; the force of 30 N and the springs at the rail's ends are ours).

    Reward: -(a^2 + 0.1 a'^2 + 0.05 x^2 + 0.01 x'^2), a in [-pi, pi] the pole's angle from upright. It starts near
    hanging, and never terminates. Observed (5): x, x', cosine and sine of a, a'.
    """

    scene = "cartpole_rail"
    substeps = 2
    steps = 240
    weights = numpy.array([0.05, 1, 0.01, 0.1])  # of x, a, x', a'
    scale = 30.0  # N

    def start(self, random: numpy.random.Generator) -> Tuple[Array, Array]:
        draw = random.uniform(-1, 1, 4)
        return numpy.array([0, math.pi]) + [0.1, 0.3] * draw[:2], 0.1 * draw[2:]

    def observation(self, x: Array, t: Steps) -> Array:
        return numpy.stack([x[:, 0], x[:, 2], numpy.cos(x[:, 1]), numpy.sin(x[:, 1]), x[:, 3]], 1)

    def observation_vjp(self, x: Array, t: Steps, bar: Array) -> Array:
        x_bar = numpy.zeros(x.shape)
        x_bar[:, [0, 2, 3]] = bar[:, [0, 1, 4]]
        x_bar[:, 1] = numpy.cos(x[:, 1]) * bar[:, 3] - numpy.sin(x[:, 1]) * bar[:, 2]
        return x_bar

    @staticmethod
    def _from_upright(x: Array) -> Array:
        away = x[:, :4].copy()
        away[:, 1] = wrapped(away[:, 1])
        return away

    def reward(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        result: Array = -(self._from_upright(x_next) ** 2) @ self.weights
        return result

    def reward_gradient(self, x: Array, action: Array, x_next: Array, t: Steps) -> RewardGradient:
        g = self.no_gradient(x, action)
        g.x_next[:, :4] = -2 * self.weights * self._from_upright(x_next)
        return g


class Hopper(Coordinates, Task):
    """A leg that hops in a plane, 1000 steps of 0.016 s (reward of Le Lidec et al. 2024; h is the height of the
    torso above that of the upright leg, 1.21 m).

    Reward: forward speed + height + posture - 0.1 |action|^2; with D = h + 0.3 clipped to [-1, 0.3], height is D,
    or -200 D^2 where D < 0; posture is 1 - (pitch/30 degrees)^2. Terminates at h < -0.45. Observed (11):
    coordinates without x, velocities.
    """

    scene = "hopper"
    substeps = 8
    unseen = 1
    noise = 5e-3
    upright = 1.21  # m
    lean = math.radians(30)

    def _lift(self, x: Array) -> Array:
        return numpy.clip(x[:, 1] - self.upright + 0.3, -1, 0.3)

    def reward(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        lift = self._lift(x_next)
        height = numpy.where(lift < 0, -200 * lift**2, lift)
        posture = 1 - (x_next[:, 2] / self.lean) ** 2
        result: Array = self.v(x_next)[:, 0] + height + posture - 0.1 * numpy.sum(action**2, 1)
        return result

    def reward_gradient(self, x: Array, action: Array, x_next: Array, t: Steps) -> RewardGradient:
        g = self.no_gradient(x, action)
        lift = self._lift(x_next)
        self.v(g.x_next)[:, 0] = 1
        g.x_next[:, 1] = numpy.where((lift <= -1) | (lift >= 0.3), 0, numpy.where(lift < 0, -400 * lift, 1))
        g.x_next[:, 2] = -2 * x_next[:, 2] / self.lean**2
        g.action[:] = -0.2 * action
        return g

    def terminated(self, x: Array, t: Steps) -> Mask:
        return x[:, 1] < self.upright - 0.45


class Runner(Coordinates, Task):
    """Reward: mean forward speed over the control step - cost |action|^2 + alive. Coordinate 0 is x."""

    cost = 0.0
    alive = 0.0

    def reward(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        speed = (x_next[:, 0] - x[:, 0]) / self.control_step
        result: Array = speed - self.cost * numpy.sum(action**2, 1) + self.alive
        return result

    def reward_gradient(self, x: Array, action: Array, x_next: Array, t: Steps) -> RewardGradient:
        g = self.no_gradient(x, action)
        g.x[:, 0] = -1 / self.control_step
        g.x_next[:, 0] = 1 / self.control_step
        g.action[:] = -2 * self.cost * action
        return g


class HalfCheetah(Runner):
    """Half a cheetah runs in a plane, 1000 steps of 0.05 s (Gymnasium's reward: forward speed - 0.1 |action|^2).
    Never terminates.

    Observed (17): coordinates without x, velocities.
    """

    scene = "half_cheetah"
    substeps = 10
    unseen = 1
    noise = 0.1
    cost = 0.1


class Ant(Runner):
    """An ant walks, 1000 steps of 0.05 s, torques 150 N m (reward of Qiao et al. 2021: forward speed - 0.5
    |action|^2 + 1).

    Terminates where the torso is below 0.2 or above 1 m. Observed (27): coordinates without x and y, velocities.
    """

    scene = "ant"
    substeps = 10
    unseen = 2
    noise = 0.1
    cost = 0.5
    alive = 1.0

    def terminated(self, x: Array, t: Steps) -> Mask:
        return (x[:, 2] < 0.2) | (x[:, 2] > 1)


class Quadruped(Coordinates, Task):
    """A quadruped walks forward at 0.5 m/s, 500 steps of 0.02 s; actions turn the targets of its servos by up to
    0.4 rad from standing.

    Reward (ours): 1 - 4 |(x', y') - (0.5, 0)|^2 - 2 (1 - cosine of the trunk's tilt) - 0.05 |action|^2, velocities
    in the world. Terminates where the trunk is below 0.25 m. Observed (35): coordinates without x and y,
    velocities.
    """

    scene = "quadruped_stand"
    substeps = 20
    steps = 500
    unseen = 2
    noise = 0.02
    speed = numpy.array([0.5, 0])  # m/s
    scale = 0.4  # rad

    def __init__(self) -> None:
        super().__init__()
        self.offset = self.home[0][7:]

    def reward(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        slip = numpy.sum((self.v(x_next)[:, :2] - self.speed) ** 2, 1)
        result: Array = 1 - 4 * slip - 4 * _tilt(x_next) - 0.05 * numpy.sum(action**2, 1)
        return result

    def reward_gradient(self, x: Array, action: Array, x_next: Array, t: Steps) -> RewardGradient:
        g = self.no_gradient(x, action)
        self.v(g.x_next)[:, :2] = -8 * (self.v(x_next)[:, :2] - self.speed)
        quaternion = x_next[:, 3:7]
        by_tilt = -_tilt(x_next)[:, None] * quaternion
        by_tilt[:, 1:3] += quaternion[:, 1:3]
        g.x_next[:, 3:7] = -8 * by_tilt / numpy.sum(quaternion**2, 1, keepdims=True)
        g.action[:] = -0.1 * action
        return g

    def terminated(self, x: Array, t: Steps) -> Mask:
        return x[:, 2] < 0.25


def _tilt(x: Array) -> Array:
    """(n) half of 1 - cosine of the angle between the vertical axes of a free body and of the world."""
    result: Array = numpy.sum(x[:, 4:6] ** 2, 1) / numpy.sum(x[:, 3:7] ** 2, 1)
    return result


def wrapped(angle: Array) -> Array:
    """The same angle in [-pi, pi)."""
    return (angle + math.pi) % (2 * math.pi) - math.pi
