"""Environments for reinforcement learning with the semantics of Gymnasium, which need not be installed.

    from costate import gym
    env = gym.make("hopper")                      # one environment
    envs = gym.make_vec("ant", 64, threads=2)     # 64, stepped together

Names: "pendulum-1" to "pendulum-7", "cartpole-swing-up", "hopper", "half-cheetah", "ant", "quadruped"; or your own `Task`.
`step_with_jacobian` returns the derivatives of a step; `costate.torch.DifferentiableEnv` differentiates many steps with PyTorch.
"""
from .env import Env
from .episodes import Jacobian
from .spaces import AutoresetMode
from .task import RewardGradient, Task
from .tasks import Ant, CartpoleSwingUp, HalfCheetah, Hopper, Pendulum, Quadruped
from .vector import VectorEnv

__all__ = ["make", "make_vec", "make_task", "Env", "VectorEnv", "Task", "Jacobian", "RewardGradient", "AutoresetMode", "TASKS"]

TASKS = {f"pendulum-{n}": lambda n=n: Pendulum(n) for n in range(1, 8)}
TASKS.update({"cartpole-swing-up": CartpoleSwingUp, "hopper": Hopper, "half-cheetah": HalfCheetah, "ant": Ant, "quadruped": Quadruped})


def make_task(name):
    """The `Task` of this name."""
    if name not in TASKS:
        raise ValueError(f"there is no environment {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]()


def make(task):
    """An `Env` of a task or its name."""
    return Env(make_task(task) if isinstance(task, str) else task)


def make_vec(task, num_envs, threads=0):
    """A `VectorEnv` of a task or its name; threads: 0 means one per core."""
    return VectorEnv(make_task(task) if isinstance(task, str) else task, num_envs, threads)
