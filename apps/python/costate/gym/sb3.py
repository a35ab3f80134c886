"""Environments with the interface of Stable-Baselines3's VecEnv, which need not be installed.

    from costate.gym.sb3 import make_sb3
    model = stable_baselines3.PPO("MlpPolicy", make_sb3("ant", 64))

Without Stable-Baselines3, the class follows its written interface (its documentation, "Vectorized Environments") and
derives from `object`.
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy

from . import make_vec
from .rendering import tiled
from .task import Ranges, Task
from .vector import VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv as _Base
except ImportError:

    class _Base:  # type: ignore[no-redef]
        """What VecEnv sets and adds."""

        def __init__(self, num_envs: int, observation_space: Any, action_space: Any) -> None:
            self.num_envs, self.observation_space, self.action_space = num_envs, observation_space, action_space
            self.render_mode: Optional[str] = None

        def step(self, actions: Any) -> Any:
            self.step_async(actions)
            return self.step_wait()

        def step_async(self, actions: Any) -> None:
            raise NotImplementedError

        def step_wait(self) -> Any:
            raise NotImplementedError

        def get_images(self) -> Any:
            raise NotImplementedError

        def render(self, mode: Optional[str] = None) -> Any:
            """One image of all environments."""
            return tiled(self.get_images())


Indices = Union[None, int, Sequence[int]]


class SB3VecEnv(_Base):  # type: ignore[misc]
    """A `VectorEnv` (with AutoresetMode.SAME_STEP) as a VecEnv: `reset` returns observations alone, and `step`
    (observations, rewards, dones, infos) with a dict for each environment. The last observation of an episode is
    infos[i]["terminal_observation"]; infos[i]["TimeLimit.truncated"] says whether it ended by its length, and
    infos[i]["diverged"] whether a state would not have been finite."""

    def __init__(self, envs: VectorEnv) -> None:
        self.envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self.render_mode, self.metadata = envs.render_mode, envs.metadata
        self._actions: Any = None
        self._seeds: Any = None
        self.reset_infos: List[Dict[str, Any]] = []

    def seed(self, seed: Optional[int] = None) -> List[Optional[int]]:
        """Seeds the next `reset`: environment i with seed + i. Returns the seeds."""
        self._seeds = None if seed is None else [seed + i for i in range(self.num_envs)]
        return [None] * self.num_envs if self._seeds is None else list(self._seeds)

    def reset(self) -> Any:
        observations, _ = self.envs.reset(seed=self._seeds)
        self._seeds, self.reset_infos = None, [{} for _ in range(self.num_envs)]
        return observations

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> Tuple[Any, Any, Any, List[Dict[str, Any]]]:
        observations, rewards, terminated, truncated, given = self.envs.step(self._actions)
        diverged = given.get("diverged", numpy.zeros(self.num_envs, bool))
        infos: List[Dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in numpy.flatnonzero(terminated | truncated):
            infos[i] = {"terminal_observation": given["final_obs"][i], "diverged": bool(diverged[i]),
                        "TimeLimit.truncated": bool(truncated[i] and not terminated[i])}
        return observations, rewards.astype(numpy.float32), terminated | truncated, infos

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> List[Any]:
        """The attribute of the `VectorEnv`, once for each environment."""
        value = getattr(self.envs, attr_name) if hasattr(self.envs, attr_name) else getattr(self.envs.task, attr_name)
        return [value for _ in self._which(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Sets an attribute of the `VectorEnv`, which all environments have in common."""
        if len(self._which(indices)) < self.num_envs:
            raise ValueError(f"{attr_name}: all environments have the same attributes; indices must be None")
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> List[Any]:
        """The result of a method of the `VectorEnv`, called once, for each environment."""
        result = getattr(self.envs, method_name)(*args, **kwargs)
        return [result for _ in self._which(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> List[bool]:
        return [False for _ in self._which(indices)]

    def get_images(self) -> List[Any]:
        """An image of each environment; they must have render_mode "rgb_array"."""
        return list(self.envs.render())

    def _which(self, indices: Indices) -> Sequence[int]:
        if indices is None:
            return range(self.num_envs)
        return [indices] if isinstance(indices, int) else indices


def make_sb3(task: Union[Task, str], num_envs: int, threads: int = 0, dtype: Any = numpy.float32,
             randomize: Optional[Ranges] = None, render_mode: Optional[str] = None) -> SB3VecEnv:
    """A `SB3VecEnv` of a task or its name; the rest as for `make_vec`."""
    return SB3VecEnv(make_vec(task, num_envs, threads, dtype=dtype, randomize=randomize, render_mode=render_mode))
