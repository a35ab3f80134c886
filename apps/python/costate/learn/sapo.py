"""Soft analytic policy optimization (Xing, Luk, Oh, Stabilizing Reinforcement Learning in Differentiable Multiphysics
Simulation, arXiv:2412.12089, 2024).

SHAC whose policy also gains from its entropy (Haarnoja et al. 2018): in the loss of `costate.learn.shac`, equation 5,
and in the targets of its critics, equation 6, the reward of every step is

    r_t + alpha e_t,   e_t = (-log pi(a_t | s_t) - H) / (2 |H|),

where alpha, a positive number, descends alpha (-log pi(a_t | s_t) - H), so that the entropy comes to H, half a unit
below zero for each action. The standard deviations of the policy depend on the observation. There are two critics and
no target critic: the mean of their values ends the sums of equation 5, the smaller one those of the targets.
"""
from __future__ import annotations

import dataclasses
import time
from typing import List, Tuple, Union

import torch

from ..gym.task import Task
from .networks import TwoValues
from .sac import SquashedActor, Temperature
from .shac import SHAC, SHACSettings


@dataclasses.dataclass(frozen=True)
class SAPOSettings(SHACSettings):
    """Settings of SAPO; `target_kept` is not used."""

    entropy: float = -0.5  # wanted, per action
    temperature_rate: float = 5e-3


class SAPO(SHAC):
    """Soft analytic policy optimization."""

    name = "SAPO"
    parts = ("actor", "critic", "temperature", "normalizer")
    adams = ("adam", "critic_adam", "temperature_adam")

    def __init__(self, task: Union[Task, str], seed: int = 0, settings: SAPOSettings = SAPOSettings()) -> None:
        super().__init__(task, seed, settings)
        self.sapo = settings
        size, actions = self.task.observation_size, self.task.model.nu
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.actor = SquashedActor(size, actions, settings.hidden, settings.log_std, settings.gain)
            self.critic = TwoValues(size, settings.critic_hidden)
        self.temperature = Temperature()
        self.adam = torch.optim.Adam(self.actor.parameters(), settings.rate, settings.betas)
        self.critic_adam = torch.optim.Adam(self.critic.parameters(), settings.critic_rate, settings.betas)
        self.temperature_adam = torch.optim.Adam(self.temperature.parameters(), settings.temperature_rate)
        self.wanted = settings.entropy * actions  # H
        self._entropies: List[torch.Tensor] = []  # -log pi of the actions of an epoch

    def epoch(self) -> None:
        super().epoch()
        start = time.process_time()
        self.temperature_adam.zero_grad()
        (self.temperature() * (torch.stack(self._entropies) - self.wanted).mean()).backward()
        self.temperature_adam.step()
        self.seconds += time.process_time() - start

    def loss(self) -> Tuple[torch.Tensor, torch.Tensor, List[torch.Tensor]]:
        self._entropies = []
        return super().loss()

    def act(self, known: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        actions, log_density = self.actor.sample(known, self.random)
        self._entropies.append(-log_density.detach())
        return actions, self.temperature().detach() * (-log_density - self.wanted) / (2 * abs(self.wanted))

    def values(self, known: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        both = self.critic(known)
        return both.mean(1), both.min(1).values

    def follow(self) -> None:
        """There is no target critic."""
