"""Tasks of environments: scene, observations, rewards and ends, for n environments at once.

Shapes: states x (n, nx), those of the model, q (nq) followed by v (nv), and then `carried` numbers of the task's own;
actions (n, nu); t (n) control steps since the start. Gradients of states are ambient (nx). `costate.torch.TorchTask`
differentiates rewards and observations by itself.
"""
from __future__ import annotations

from typing import Any, Mapping, NamedTuple, NoReturn, Optional, Protocol, Tuple, Union

import numpy
import numpy.typing

from .._arrays import Array, Integers, Mask
from ..model import Model

Steps = numpy.typing.NDArray[numpy.int_]


class Plant(Protocol):
    """What moves as the model says, or nearly so: a `costate.Batch`, another engine, a real robot."""

    def step(self, x: Array, u: Array) -> Tuple[Array, Mask]:
        """(states (n, model.nx) after a control step from x (n, model.nx) under u (n, nu), diverged (n) bool)"""


class RewardGradient(NamedTuple):
    """Gradients of the rewards of all environments."""

    x: Array  # (n, nx)
    action: Array  # (n, nu)
    x_next: Array  # (n, nx)


class Task:
    """Base class of tasks. Actions are in [-1, 1]; limited actuators of the model clip others.

    A task defines `observation` and `reward`, and for derivatives `observation_vjp` and `reward_gradient`.

    A task whose observations or rewards need more than the state of the model, such as a command that is drawn for
    each episode or the last action, has `carried` numbers of its own in x: `draw` makes them at the start of an
    episode, and `carry` after every control step."""

    scene: Any = None  # name or path
    substeps: int = 1  # time steps per control step
    steps: int = 1000  # control steps until an episode is truncated
    noise: float = 0.0  # noise of the start: uniform in +- noise for every tangent coordinate and velocity
    # the model's controls are offset + scale * action; numbers or (nu)
    scale: Union[float, Array] = 1.0
    offset: Union[float, Array] = 0.0
    carried: int = 0  # numbers of the task's own in x, after those of the model
    randomize: Optional[Mapping[str, Tuple[float, float]]] = None  # of environments that are given no other ranges

    def __init__(self) -> None:
        self.model = self.load()
        parameters = dict(zip(self.model.parameter_names, self.model.parameters))
        self.control_step = self.substeps * parameters["world/time_step"]  # s
        self.home = self.model.initial_state()
        first = self.shaped("observation", self.observation(self.state(*self.home)[None], numpy.zeros(1, int)), 1,
                            None)
        self.observation_size: int = first.shape[1]

    def load(self) -> Model:
        """The model; override it to load with options, or from a string."""
        if self.scene is None:
            raise NotImplementedError(f"{type(self).__name__} must define `scene`, the name or path of its model")
        return Model(self.scene)

    @property
    def nx(self) -> int:
        """Numbers of a state x: those of the model, and `carried`."""
        return self.model.nx + self.carried

    def state(self, q: Array, v: Array) -> Array:
        """x (nx) from q (nq) and v (nv), with the initial activations of the model; zeros are carried."""
        x = numpy.zeros(self.nx)
        x[: self.model.nx] = self.model.start()
        self.q(x)[:], self.v(x)[:] = q, v
        return x

    def q(self, x: Any) -> Any:
        """The coordinates (..., nq) in x (..., nx), a view of an array or tensor."""
        return x[..., : self.model.nq]

    def v(self, x: Any) -> Any:
        """The velocities (..., nv) in x (..., nx), a view of an array or tensor."""
        return x[..., self.model.nq : self.model.nq + self.model.nv]

    def own(self, x: Any) -> Any:
        """The carried numbers (..., carried) in x (..., nx), a view of an array or tensor."""
        return x[..., self.model.nx :]

    def start(self, random: numpy.random.Generator) -> Tuple[Array, Array]:
        """(q (nq), v (nv)) at the start of an episode, drawn from a numpy.random.Generator."""
        q, v = self.home
        draw = random.uniform(-self.noise, self.noise, 2 * self.model.nv)
        return self.model.retract(q, draw[: self.model.nv]), v + draw[self.model.nv :]

    def draw(self, random: numpy.random.Generator) -> Array:
        """The carried numbers (carried) at the start of an episode."""
        return numpy.zeros(self.carried)

    def carry(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        """The carried numbers (n, carried) after the control step from x (n, nx) to the model's states x_next (n,
        model.nx), t steps after the start."""
        own: Array = self.own(x)
        return own

    def kicks(self, x: Array, t: Steps) -> Optional[Array]:
        """Sudden changes (n, nv) of the model's velocities before the control step from x, t steps after the start;
        None: there are none. No gradient passes through them to x."""
        return None

    def feedforward(self, x: Array, t: Steps) -> Optional[Array]:
        """Controls (n, nu) that are added to those of the action in the control step from x, t steps after the start;
        None: there are none. No gradient passes through them to x."""
        return None

    def control(self, action: Any) -> Any:
        """The controls u (..., nu) of the model for an action; arrays or tensors."""
        return action * self.scale + self.offset

    def observation(self, x: Array, t: Steps) -> Array:
        """(n, observation_size)"""
        self._missing("observation(x, t)")

    def observation_vjp(self, x: Array, t: Steps, bar: Array) -> Array:
        """x_bar (n, nx) from the gradient `bar` with respect to observations."""
        self._missing("observation_vjp(x, t, bar)")

    def reward(self, x: Array, action: Array, x_next: Array, t: Steps) -> Array:
        """The rewards (n) of the control step from x to x_next, t steps after the start."""
        self._missing("reward(x, action, x_next, t)")

    def reward_gradient(self, x: Array, action: Array, x_next: Array, t: Steps) -> RewardGradient:
        """A RewardGradient."""
        self._missing("reward_gradient(x, action, x_next, t)")

    def terminated(self, x: Array, t: Steps) -> Mask:
        """(n) bool: True if the episode terminates in a state reached after t steps."""
        return numpy.zeros(len(x), bool)

    def truncated(self, x: Array, t: Steps) -> Mask:
        """(n) bool: True if an episode that has not terminated is truncated in a state reached after t steps."""
        return t >= self.steps

    def shaped(self, method: str, result: Any, *shape: Optional[int]) -> Any:
        """What a method of the task has returned, as an array; ValueError if its shape is another one. None: any
        size."""
        array = numpy.asarray(result)
        if array.ndim != len(shape) or any(want not in (None, n) for want, n in zip(shape, array.shape)):
            wanted = ", ".join("size" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
            raise ValueError(f"{type(self).__name__}.{method} must return shape ({wanted}), not {array.shape}")
        return array

    @staticmethod
    def no_gradient(x: Array, action: Array) -> RewardGradient:
        """A RewardGradient of zeros."""
        return RewardGradient(numpy.zeros(x.shape), numpy.zeros(action.shape), numpy.zeros(x.shape))

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} on {self.model.source!r}: {self.observation_size} observations, "
                f"{self.model.nu} actions>")

    def _missing(self, method: str) -> NoReturn:
        hint = ", or derive from costate.torch.TorchTask" if "vjp" in method or "gradient" in method else ""
        raise NotImplementedError(f"{type(self).__name__} must define {method}{hint}")


class Coordinates:
    """Observations of coordinates and velocities, without the first `unseen` coordinates."""

    unseen = 0
    model: Model

    def observation(self, x: Array, t: Steps) -> Array:
        return x[:, self.unseen : self.model.nq + self.model.nv].copy()

    def observation_vjp(self, x: Array, t: Steps, bar: Array) -> Array:
        x_bar = numpy.zeros(x.shape)
        x_bar[:, self.unseen : self.model.nq + self.model.nv] = bar
        return x_bar


Ranges = Mapping[str, Tuple[float, float]]


class Randomization:
    """Parameters of environments: those of the model times factors drawn at the start of every episode.

    ranges: for each pattern of parameter names, in which * stands for any characters, the least and the largest
    factor. Every number that a pattern matches has its own factor, uniform in this range."""

    def __init__(self, model: Model, ranges: Ranges) -> None:
        self.nominal = model.parameters
        self._at: Integers = numpy.zeros(0, numpy.int32)
        self._low, self._high = numpy.zeros(0), numpy.zeros(0)
        for pattern, (low, high) in ranges.items():
            found = [i for i, name in enumerate(model.parameter_names) if _matches(pattern, name)]
            if not found:
                raise ValueError(
                    f"randomize: no parameter is named {pattern!r}, for example {model.parameter_names[0]!r}")
            if not low <= high:
                raise ValueError(
                    f"randomize: {pattern!r} has the range ({low}, {high}); the lower end comes first")
            self._at = numpy.concatenate([self._at, numpy.array(found, numpy.int32)])
            self._low = numpy.concatenate([self._low, numpy.full(len(found), low, float)])
            self._high = numpy.concatenate([self._high, numpy.full(len(found), high, float)])

    def draw(self, random: numpy.random.Generator) -> Array:
        """theta (nparam)"""
        theta = self.nominal.copy()
        theta[self._at] *= random.uniform(self._low, self._high)
        return theta


def _matches(pattern: str, name: str) -> bool:
    """As in scenes: * stands for any characters, and brackets for themselves."""
    parts, at = pattern.split("*"), 0
    if len(parts) == 1:
        return pattern == name
    if not name.startswith(parts[0]) or not name.endswith(parts[-1]) or len(name) < len(parts[0]) + len(parts[-1]):
        return False
    end = len(name) - len(parts[-1])
    at = len(parts[0])
    for part in parts[1:-1]:
        at = name.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
