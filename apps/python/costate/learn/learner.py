"""What all learners have: settings, a policy with its critic and environments, and snapshots to go on from."""
from __future__ import annotations

import copy
import dataclasses
from typing import Any, Dict, NoReturn, Tuple, Union

import numpy
import torch

from ..gym import VectorEnv, make_task
from ..gym.task import Task
from ..torch import DifferentiableEnv
from .networks import Actor, Normalizer, perceptron


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings that all learners have."""

    epochs: int = 200
    num_envs: int = 64
    horizon: int = 32  # control steps of every environment per epoch
    hidden: Tuple[int, ...] = (64, 64)  # sizes of the policy's hidden layers
    critic_hidden: Tuple[int, ...] = (64, 64)
    log_std: float = -1.0  # of the policy's noise, at the start
    gain: float = 1.0  # of the policy's last layer, at the start; small numbers let it begin with actions near 0
    discount: float = 0.99  # gamma
    trace: float = 0.95  # lambda
    reward_scale: float = 0.1
    threads: int = 1  # of the simulator; 0: one per core


class Learner:
    """A policy that learns a task, an epoch at a time.

    The same task, seed and settings give the same bits, also for a learner that goes on from a snapshot. The
    learner has its own generator of random numbers. Subclasses define `epoch`, and name their `parts` and `adams`.
    """

    name = ""
    settings: Settings
    env: Union[VectorEnv, DifferentiableEnv]
    parts: Tuple[str, ...] = ("actor", "critic", "normalizer")  # attributes that learn
    adams: Tuple[str, ...] = ()  # attributes that are optimizers

    def __init__(self, task: Union[Task, str], seed: int, settings: Settings) -> None:
        self.task = make_task(task) if isinstance(task, str) else task
        self.seed, self.settings = seed, settings
        self.epochs = 0  # so far
        self.steps = 0  # of environments, so far
        self.seconds = 0.0  # processor time of the epochs so far
        size, actions = self.task.observation_size, self.task.model.nu
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.actor = Actor(size, actions, settings.hidden, settings.log_std, settings.gain)
            self.critic = perceptron([size, *settings.critic_hidden, 1])
            self.random = torch.Generator()
            self.random.set_state(torch.get_rng_state())
        self.normalizer = Normalizer(size)

    def __repr__(self) -> str:
        return f"<costate.learn.{type(self).__name__}: {self.epochs} epochs of {self.task!r}>"

    def epoch(self) -> None:
        """Collects experience and learns from it once; counts `epochs` and `steps`."""
        self._missing("epoch()")

    def policy(self, observations: torch.Tensor) -> torch.Tensor:
        """Actions (n, nu) without noise for observations (n, observation_size)."""
        with torch.no_grad():
            actions: torch.Tensor = torch.tanh(self.actor(self.normalizer(observations))[0])
        return actions

    def snapshot(self) -> Dict[str, Any]:
        """All that later epochs depend on: tensors, numbers, and dictionaries of them."""
        return {
            "kind": self._kind(), "epochs": self.epochs, "steps": self.steps, "seconds": self.seconds,
            "random": self.random.get_state(), "env": _plain(self.env.snapshot()),
            **{name: copy.deepcopy(getattr(self, name).state_dict()) for name in (*self.parts, *self.adams)}
        }

    def restore(self, snapshot: Dict[str, Any]) -> None:
        """Goes on from a snapshot of the same learner; ValueError if task, seed or settings are others."""
        for key, own in self._kind().items():
            if snapshot["kind"].get(key) != own:
                raise ValueError(f"the snapshot has {key} = {snapshot['kind'].get(key)!r}, this learner {own!r}")
        self.epochs, self.steps, self.seconds = (snapshot[key] for key in ("epochs", "steps", "seconds"))
        self.random.set_state(snapshot["random"])
        self.env.restore(_arrays(snapshot["env"]))
        for name in (*self.parts, *self.adams):
            getattr(self, name).load_state_dict(snapshot[name])

    def _kind(self) -> Dict[str, Any]:
        settings = {key: value for key, value in dataclasses.asdict(self.settings).items() if key != "threads"}
        return {"learner": self.name, "task": repr(self.task), "seed": self.seed, **settings}

    def _missing(self, method: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} must define {method}")


def _plain(state: Any) -> Any:
    """The same with tensors in place of arrays, which PyTorch loads without running code."""
    if isinstance(state, dict):
        return {key: _plain(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [_plain(value) for value in state]
    return torch.from_numpy(state.copy()) if isinstance(state, numpy.ndarray) else state


def _arrays(state: Any) -> Any:
    """The same with arrays in place of tensors."""
    if isinstance(state, dict):
        return {key: _arrays(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_arrays(value) for value in state]
    return state.numpy().copy() if isinstance(state, torch.Tensor) else state
