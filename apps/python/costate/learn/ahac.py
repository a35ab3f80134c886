"""Adaptive horizon actor-critic (Georgiev, Srinivasan, Xu, Heiden, Garg, Adaptive Horizon Actor-Critic for Policy
Learning in Contact-Rich Differentiable Simulation, ICML 2024).

SHAC whose horizon h adapts to the stiffness of what the robots touch. The policy is to earn most under the constraint
that no step of the horizon has a Jacobian above C. With a multiplier phi_t for each step of the horizon, every epoch
ends with the dual step

    phi_t <- phi_t + rate (|J_t| - C),   h <- h - rate sum_t phi_t,   h within its limits,

where |J_t| is the Frobenius norm, averaged over environments, of the derivatives of a control step by state and
control. Stiff contact shortens the horizon, and smooth motion makes it longer. The policy does not descend |J_t|
itself, which would need second derivatives. The critic is fitted until its loss has settled, and the smaller value of
two critics counts.
"""
from __future__ import annotations

import copy
import dataclasses
from typing import List, Tuple, Union

import torch
from torch import nn

from ..gym.task import Task
from .networks import TwoValues
from .shac import SHAC, SHACSettings


@dataclasses.dataclass(frozen=True)
class AHACSettings(SHACSettings):
    """Settings of AHAC. `horizon` is that of the start."""

    least_horizon: int = 8
    most_horizon: int = 64
    stiffness: float = 500.0  # C, in the units of the model's states and controls
    dual_rate: float = 1e-4
    settled: float = 0.01  # relative decrease of the critic's loss over a pass that ends its fit


class AHAC(SHAC):
    """Adaptive horizon actor-critic."""

    name = "AHAC"
    parts = ("actor", "critic", "target", "normalizer", "dual")

    def __init__(self, task: Union[Task, str], seed: int = 0, settings: AHACSettings = AHACSettings()) -> None:
        super().__init__(task, seed, settings)
        self.ahac = settings
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.critic = TwoValues(self.task.observation_size, settings.critic_hidden)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.critic_adam = torch.optim.Adam(self.critic.parameters(), settings.critic_rate, settings.betas)
        self.dual = Dual(settings.horizon, settings.most_horizon)
        self._norms: List[torch.Tensor] = []  # of the steps of an epoch

    @property
    def horizon(self) -> int:
        return round(float(self.dual.horizon))

    def epoch(self) -> None:
        self._norms = []
        super().epoch()
        self.dual.step(torch.stack(self._norms), self.ahac)

    def act(self, known: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        actions, more = super().act(known)
        self._norms.append(self.envs.squared_jacobian(actions.detach(), self.random).mean().sqrt())
        return actions, more

    def values(self, known: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        value = self.target(known).min(1).values
        return value, value

    def fit(self, known: torch.Tensor, wanted: torch.Tensor) -> None:
        before = float("inf")
        for _ in range(self.ahac.critic_passes):
            now = self.fit_once(known, wanted)
            if now > (1 - self.ahac.settled) * before:
                break
            before = now


class Dual(nn.Module):  # type: ignore[misc]
    """The horizon h, a number that is rounded for use, and the multipliers phi of its steps."""

    horizon: torch.Tensor
    multipliers: torch.Tensor

    def __init__(self, horizon: int, most: int) -> None:
        super().__init__()
        self.register_buffer("horizon", torch.tensor(float(horizon)))
        self.register_buffer("multipliers", torch.zeros(most))

    def step(self, norms: torch.Tensor, settings: AHACSettings) -> None:
        """The dual step, from the norms |J_t| (h) of an epoch."""
        used = self.multipliers[: len(norms)]
        used += settings.dual_rate * (norms - settings.stiffness)
        self.horizon = (self.horizon - settings.dual_rate * used.sum()).clamp(settings.least_horizon,
                                                                             settings.most_horizon)
