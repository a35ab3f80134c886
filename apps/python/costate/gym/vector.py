"""Many environments, stepped together."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy

from .._arrays import Array, ArrayLike, Mask, mask
from .episodes import Episodes, divergence, only, parts
from .rendering import MODES, Rendering
from .spaces import AutoresetMode, Box, VectorEnvBase
from .task import Plant, Ranges, Task

Step = Tuple[Any, Array, Mask, Mask, Dict[str, Any]]


class VectorEnv(VectorEnvBase):
    """num_envs environments of a task with Gymnasium's semantics, stepped by `threads` threads (0: one per core).

    autoreset_mode, of type AutoresetMode or its name, says when an environment whose episode has ended is reset.
    SAME_STEP: in the same `step`, which returns the new observation; the last observation of the episode is in
    infos["final_obs"] (num_envs, observation size), where infos["_final_obs"] is true. NEXT_STEP: in the next
    `step`, which ignores its action and returns the new observation with a reward of 0. DISABLED: never; call
    `reset` with the option "reset_mask".

    Environment i of a VectorEnv with seed s has the same results, bit by bit, as an Env with seed s + i. dtype,
    randomize and render_mode as for `Env`. plant: a `Plant` that steps the environments in place of the model, to see
    how a policy does in another engine; derivatives remain those of the model.
    """

    metadata: Dict[str, Any] = {"render_modes": MODES, "autoreset_mode": AutoresetMode.SAME_STEP}
    render_mode: Optional[str] = None
    spec = None

    def __init__(self, task: Task, num_envs: int, threads: int = 0, autoreset_mode: Any = AutoresetMode.SAME_STEP,
                 dtype: Any = numpy.float64, randomize: Optional[Ranges] = None,
                 render_mode: Optional[str] = None, plant: Optional[Plant] = None) -> None:
        self.task, self.num_envs, self.dtype = task, num_envs, numpy.dtype(dtype)
        self._mode, self.render_mode = _mode(autoreset_mode), render_mode
        self._rendering = Rendering(task, render_mode, num_envs)
        self.metadata = {**self.metadata, "autoreset_mode": self._mode, "render_fps": self._rendering.fps}
        self._episodes = Episodes(task, num_envs, threads, randomize, plant)
        self._over: Mask = numpy.zeros(num_envs, bool)  # which reset in the next step
        shape, kind = (task.observation_size,), self.dtype.type
        self.single_observation_space = Box(-numpy.inf, numpy.inf, shape, kind)
        self.single_action_space = Box(-1.0, 1.0, (task.model.nu,), kind)
        self.observation_space = Box(-numpy.inf, numpy.inf, (num_envs, *shape), kind)
        self.action_space = Box(-1.0, 1.0, (num_envs, task.model.nu), kind)

    @property
    def state(self) -> Array:
        """x (num_envs, nx), a copy."""
        return self._episodes.x.copy()

    @property
    def parameters(self) -> Array:
        """theta (num_envs, nparam) of the present episodes."""
        own = self._episodes.parameters
        return numpy.repeat(self.task.model.parameters[None], self.num_envs, 0) if own is None else own.copy()

    def reset(self, *, seed: Any = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        """(observations, infos) of new episodes. seed: an integer, to which environment i adds i, or a list with
        one seed per environment. options: {"x": initial states (nx) or (num_envs, nx); "t": initial step counts
        (num_envs), so that episodes do not all end at the same time; "reset_mask": (num_envs) bool, the
        environments to reset}."""
        if seed is not None:
            each = [seed + i for i in range(self.num_envs)] if numpy.ndim(seed) == 0 else seed
            seeds: List[Optional[int]] = list(each)
            if len(seeds) != self.num_envs:
                raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
            self._episodes.seed(seeds)
        options = only(options, "x", "t", "reset_mask")
        which = mask("reset_mask", options.get("reset_mask", numpy.ones(self.num_envs, bool)), self.num_envs)
        self._episodes.start(which, options.get("x"), options.get("t", 0))
        self._over = self._over & ~which
        self._rendering.record(self._episodes.x, which)
        return self._cast(self._episodes.observation()), {}

    def step(self, actions: ArrayLike) -> Step:
        """(observations, rewards, terminated, truncated, infos) of a control step under actions (num_envs, nu).

        infos["diverged"] (num_envs), present if any has diverged: its state would not be finite, its reward is 0,
        its episode ends."""
        episodes, fresh = self._episodes, self._over
        if fresh.any():
            episodes.start(fresh)
        x, t = episodes.x, episodes.t
        rewards, terminated, truncated, diverged = episodes.step(actions)
        if fresh.any():  # NEXT_STEP: these have been reset and take no step
            episodes.hold(fresh, x, t)
            rewards = numpy.where(fresh, 0, rewards)
            terminated, truncated, diverged = terminated & ~fresh, truncated & ~fresh, diverged & ~fresh
        over = terminated | truncated
        if self._mode is AutoresetMode.SAME_STEP:
            observations, infos = episodes.restart(over, diverged)
        else:
            observations, infos = episodes.observation(), divergence(diverged)
            self._over = over if self._mode is AutoresetMode.NEXT_STEP else self._over
        self._rendering.record(episodes.x, over if self._mode is AutoresetMode.SAME_STEP else fresh)
        if "final_obs" in infos:
            infos["final_obs"] = self._cast(infos["final_obs"])
        return self._cast(observations), rewards, terminated, truncated, infos

    def step_with_jacobian(self, actions: ArrayLike) -> Tuple[Any, ...]:
        """The results of `step`, and the `Jacobian` of that step with arrays (num_envs, ...), also for episodes
        that end in it; zeros for environments that are only reset."""
        jacobian, fresh = self._episodes.jacobian(actions), self._over
        for part in jacobian:
            part[fresh] = 0
        return (*self.step(actions), jacobian)

    def controls(self, actions: ArrayLike) -> Array:
        """The controls (num_envs, nu) of the model in the next `step` under actions (num_envs, nu)."""
        return self._episodes.controls(self._episodes.actions(actions))

    def observation(self) -> Any:
        """The present observations (num_envs, observation size), as the last `reset` or `step` returned them."""
        return self._cast(self._episodes.observation())

    def observation_jacobian(self) -> Array:
        """The derivatives (num_envs, observation size, ndx) of the present observations by the states, as tangent
        vectors."""
        return self._episodes.observation_jacobian()

    def snapshot(self) -> Dict[str, Any]:
        """All that later steps depend on: states, step counts, parameters and generators of random numbers."""
        return {**self._episodes.snapshot(), "over": self._over.copy()}

    def restore(self, snapshot: Dict[str, Any]) -> None:
        """Goes on from a snapshot of a VectorEnv of the same task and size, with the same bits."""
        (over,) = parts(snapshot, "over")
        self._episodes.restore(snapshot)
        self._over = numpy.array(over, bool)

    def close_extras(self, **_: Any) -> None:
        self._episodes.batch.close()

    def render(self) -> Tuple[Any, ...]:
        """What `Env.render` returns, for each environment. An image takes a second or more."""
        return self._rendering.frames(self._episodes.x)

    def __repr__(self) -> str:
        return f"<costate.gym.VectorEnv: {self.num_envs} of {self.task!r}, {self._mode.name}>"

    def _cast(self, observations: Array) -> Any:
        return observations.astype(self.dtype)


def _mode(given: Any) -> Any:
    """The AutoresetMode of this name or value."""
    for mode in AutoresetMode:
        if given in (mode, mode.name, mode.value):
            return mode
    known = ", ".join(mode.name for mode in AutoresetMode)
    raise ValueError(f"there is no autoreset mode {given!r}; there are {known}")
