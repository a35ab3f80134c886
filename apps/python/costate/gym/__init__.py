"""Environments for reinforcement learning with the semantics of Gymnasium, which need not be installed.

    from costate import gym
    env = gym.make("hopper")                      # one environment
    envs = gym.make_vec("ant", 64, threads=2)     # 64, stepped together

Names: "pendulum-1" to "pendulum-7", "cartpole-swing-up", "hopper", "half-cheetah", "ant", "quadruped"; or your own
`Task`. An installed package registers them with Gymnasium as "costate/Pendulum1-v0", "costate/HalfCheetah-v0" and
so on; from the source tree, `costate.gym.register()` does. `step_with_jacobian` returns the derivatives of a step;
`costate.torch.DifferentiableEnv` differentiates many steps with PyTorch.
"""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, Optional, Union

import numpy

from .env import Env
from .episodes import Jacobian
from .spaces import AutoresetMode
from .task import Plant, Ranges, RewardGradient, Task
from .tasks import Ant, CartpoleSwingUp, HalfCheetah, Hopper, Pendulum, Quadruped
from .vector import VectorEnv

__all__ = ["make", "make_vec", "make_task", "register", "Env", "VectorEnv", "Task", "Plant", "Jacobian",
           "RewardGradient", "AutoresetMode", "TASKS", "IDS"]

TASKS: Dict[str, Callable[[], Task]] = {f"pendulum-{n}": partial(Pendulum, n) for n in range(1, 8)}
TASKS.update({"cartpole-swing-up": CartpoleSwingUp, "hopper": Hopper, "half-cheetah": HalfCheetah, "ant": Ant,
              "quadruped": Quadruped})

# Gymnasium's id, without the namespace "costate" -> name of the task
IDS: Dict[str, str] = {"".join(part.capitalize() for part in name.split("-")) + "-v0": name for name in TASKS}


def make_task(name: str) -> Task:
    """The `Task` of this name, or of Gymnasium's id such as "costate/Ant-v0"."""
    known = IDS.get(name[len("costate/") :] if name.startswith("costate/") else name, name)
    if known not in TASKS:
        raise ValueError(f"there is no environment {name!r}; there are {', '.join(TASKS)}")
    return TASKS[known]()


def make(task: Union[Task, str], dtype: Any = numpy.float64, randomize: Optional[Ranges] = None,
         render_mode: Optional[str] = None) -> Env:
    """An `Env` of a task or its name; dtype, randomize and render_mode as for `Env`."""
    return Env(make_task(task) if isinstance(task, str) else task, dtype, randomize, render_mode)


def make_vec(task: Union[Task, str], num_envs: int, threads: int = 0,
             autoreset_mode: Any = AutoresetMode.SAME_STEP, dtype: Any = numpy.float64,
             randomize: Optional[Ranges] = None, render_mode: Optional[str] = None,
             plant: Optional[Plant] = None) -> VectorEnv:
    """A `VectorEnv` of a task or its name; threads: 0 means one per core; the rest as for `VectorEnv`."""
    chosen = make_task(task) if isinstance(task, str) else task
    return VectorEnv(chosen, num_envs, threads, autoreset_mode, dtype, randomize, render_mode, plant)


def register() -> None:
    """Registers all tasks with Gymnasium, whose `make` and `make_vec` then know them as "costate/Ant-v0" and so
    on."""
    _register("costate/")


def _register(namespace: str = "") -> None:
    """The entry point of Gymnasium's plugins, which adds the namespace by itself."""
    import gymnasium

    for identifier, name in IDS.items():
        gymnasium.register(id=namespace + identifier, entry_point="costate.gym:make",
                           vector_entry_point="costate.gym:make_vec", kwargs={"task": name})
