"""One environment."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy

from .._arrays import Array, ArrayLike
from .episodes import Episodes, Jacobian, only
from .rendering import MODES, Rendering
from .spaces import Box, EnvBase
from .task import Ranges, Task


class Env(EnvBase):
    """A task as an environment with Gymnasium's semantics. Actions are in [-1, 1].

    dtype: type of observations and actions in the spaces, float64 or float32; states and rewards are float64.
    randomize: ranges of factors of the model's parameters, drawn at the start of every episode, for example
        {"bodies/*/mass": (0.8, 1.2)}; `parameters` has those of the present episode.
    render_mode: "rgb_array" or "html" for `render`, or None.
    """

    metadata: Dict[str, Any] = {"render_modes": MODES}
    render_mode: Optional[str] = None

    def __init__(self, task: Task, dtype: Any = numpy.float64, randomize: Optional[Ranges] = None,
                 render_mode: Optional[str] = None) -> None:
        self.task, self.dtype, self.render_mode = task, numpy.dtype(dtype), render_mode
        self._rendering = Rendering(task, render_mode, 1)
        self.metadata = {**self.metadata, "render_fps": self._rendering.fps}
        self._episodes = Episodes(task, 1, threads=1, randomize=randomize)
        self.observation_space = Box(-numpy.inf, numpy.inf, (task.observation_size,), self.dtype.type)
        self.action_space = Box(-1.0, 1.0, (task.model.nu,), self.dtype.type)
        self._np_random, self._np_random_seed = self._episodes.randoms[0], None

    @property
    def state(self) -> Array:
        """x (nx), a copy."""
        x: Array = self._episodes.x[0].copy()
        return x

    @property
    def parameters(self) -> Array:
        """theta (nparam) of the present episode."""
        own = self._episodes.parameters
        theta: Array = self.task.model.parameters if own is None else own[0].copy()
        return theta

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        """(observation, info) of a new episode. options: {"x": the state (nx) to start in}."""
        self._episodes.seed([seed])
        self._np_random, self._np_random_seed = self._episodes.randoms[0], seed
        self._episodes.start(numpy.ones(1, bool), only(options, "x").get("x"))
        self._rendering.record(self._episodes.x, numpy.ones(1, bool))
        return self._observation(), {}

    def step(self, action: ArrayLike) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """(observation, reward, terminated, truncated, info) of a control step. info["diverged"]: the next state
        would not be finite; the state does not change, the reward is 0 and the episode terminates."""
        reward, terminated, truncated, diverged = (part[0].item()
                                                   for part in self._episodes.step(self._actions(action)))
        self._rendering.record(self._episodes.x, numpy.zeros(1, bool))
        return self._observation(), reward, terminated, truncated, {"diverged": True} if diverged else {}

    def step_with_jacobian(self, action: ArrayLike) -> Tuple[Any, float, bool, bool, Dict[str, Any], Jacobian]:
        """The results of `step`, and the `Jacobian` of that step."""
        jacobian = self._episodes.jacobian(self._actions(action))
        return (*self.step(action), Jacobian(*(part[0] for part in jacobian)))

    def close(self) -> None:
        self._episodes.batch.close()

    def render(self) -> Any:
        """With render_mode "rgb_array" an image (480, 640, 3) of the present state, by Chromium; with "html" the
        `costate.Page` of the episode so far, which a notebook shows. The program `costate` makes both. Without a
        render_mode: NotImplementedError."""
        return self._rendering.frames(self._episodes.x)[0]

    def __repr__(self) -> str:
        return f"<costate.gym.Env of {self.task!r}>"

    __str__ = __repr__

    def _actions(self, action: ArrayLike) -> Array:
        return numpy.asarray(action, float)[None]

    def _observation(self) -> Any:
        return self._episodes.observation()[0].astype(self.dtype)
