"""Short-horizon actor-critic (Xu, Makoviychuk, Narang, Ramos, Matusik, Garg, Macklin, Accelerated Policy Learning
with Parallel Differentiable Simulation, ICLR 2022).

The policy follows the exact gradient, through the simulator, of the next h rewards and of the value at their end,
over N environments:

    L = -1/(N h) sum_i [ sum_{t = t0}^{t0 + h - 1} gamma^(t - t0) r_t + gamma^h V'(s_{t0 + h}) ]              (5)

with V' the target critic. Where an episode ends within the horizon, the sum ends there, with a value of 0 if the
episode terminated, and a new sum begins. States pass on to the next epoch, gradients do not. The critic V descends
(V(s) - target)^2 (7), where the target is the average of all n-step returns with weights (1 - lambda) lambda^n
(6); V' then moves toward V.
"""
from __future__ import annotations

import copy
import dataclasses
import math
import time
from functools import partial
from typing import List, Tuple, Union

import torch
from torch import nn

from ..gym.task import Task
from ..torch import DifferentiableEnv
from .learner import Learner, Settings


@dataclasses.dataclass(frozen=True)
class SHACSettings(Settings):
    """Settings of SHAC. Rates fall linearly to 1e-5 at the last epoch."""

    rate: float = 2e-3  # of the policy's Adam
    critic_rate: float = 2e-3
    betas: Tuple[float, float] = (0.7, 0.95)  # of both
    largest_norm: float = 1.0  # of a gradient
    # the gradient of a state is scaled to at most this multiple of the median norm over environments; the paper
    # has no such limit
    outliers: float = math.inf
    critic_passes: int = 16  # over the states of an epoch
    critic_batches: int = 4  # per pass
    target_kept: float = 0.2  # share of the target critic that stays


class SHAC(Learner):
    """Short-horizon actor-critic."""

    name = "SHAC"
    parts: Tuple[str, ...] = ("actor", "critic", "target", "normalizer")
    adams: Tuple[str, ...] = ("adam", "critic_adam")

    def __init__(self, task: Union[Task, str], seed: int = 0, settings: SHACSettings = SHACSettings()) -> None:
        super().__init__(task, seed, settings)
        self.shac = settings
        self.env = self.envs = DifferentiableEnv(self.task, settings.num_envs, settings.threads)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.adam = torch.optim.Adam(self.actor.parameters(), settings.rate, settings.betas)
        self.critic_adam = torch.optim.Adam(self.critic.parameters(), settings.critic_rate, settings.betas)
        phases = torch.randint(self.task.steps, (settings.num_envs,), generator=self.random)
        self.envs.reset(seed=1_000_000 * (seed + 1), options={"t": phases.numpy()})

    def epoch(self) -> None:
        start, settings = time.process_time(), self.shac
        for adam, rate in ((self.adam, settings.rate), (self.critic_adam, settings.critic_rate)):
            adam.param_groups[0]["lr"] = rate + (1e-5 - rate) * self.epochs / settings.epochs
        loss, seen, (known, rewards, values, ends) = self.loss()
        self.adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), settings.largest_norm)
        self.adam.step()
        self.normalizer.update(seen)
        self.fit(known.flatten(0, 1), self.targets(rewards, values, ends).flatten())
        self.follow()
        self.epochs, self.steps = self.epochs + 1, self.steps + rewards.numel()
        self.seconds += time.process_time() - start

    @property
    def horizon(self) -> int:
        """h, of the next epoch."""
        return self.settings.horizon

    def act(self, known: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        """(actions (n, nu), what the loss counts besides their rewards (n)) for normalized observations."""
        return torch.tanh(self.actor.sample(known, self.random)), torch.zeros(len(known))

    def values(self, known: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        """Values (n) for normalized observations: V' of equation 5, and that of the targets of equation 6."""
        value = self.target(known).squeeze(1)
        return value, value

    def loss(self) -> Tuple[torch.Tensor, torch.Tensor, List[torch.Tensor]]:
        """(the loss of equation 5 over the next steps, with its graph; the observations; the data of the critic:
        normalized observations, rewards, values of the next states, ends of sums), each (horizon, num_envs,
        ...)."""
        horizon, n, gamma = self.horizon, self.settings.num_envs, self.settings.discount
        loss, returns, discount = torch.zeros(()), torch.zeros(n), torch.ones(n)
        observation, seen, rows = self.envs.detach(), [], []
        for t in range(horizon):
            seen.append(observation.detach())
            known = self.normalizer(observation)
            action, more = self.act(known)
            observation, reward, terminated, truncated, infos = self.envs.step(action)
            if self.shac.outliers < math.inf and self.envs.x is not None and self.envs.x.requires_grad:
                self.envs.x.register_hook(partial(without_outliers, outliers=self.shac.outliers))
            reward, reached = self.settings.reward_scale * reward + more, infos.get("final_obs", observation)
            value, following = (torch.where(terminated, 0.0, each) for each in self.values(self.normalizer(reached)))
            over = terminated | truncated
            ends = over if t < horizon - 1 else torch.ones_like(over)
            returns, discount = returns + discount * reward, discount * gamma
            loss = loss - torch.where(ends, returns + discount * value, 0.0).sum()
            returns, discount = torch.where(over, 0.0, returns), torch.where(over, 1.0, discount)
            rows.append((known.detach(), reward.detach(), following.detach(), ends))
        return loss / (horizon * n), torch.stack(seen), [torch.stack(part) for part in zip(*rows)]

    def targets(self, rewards: torch.Tensor, values: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """Equation 6 for (horizon, num_envs), as the recursion from the last step to the first."""
        gamma, trace = self.settings.discount, self.settings.trace
        result, after = torch.zeros_like(rewards), values[-1]
        for t in reversed(range(len(rewards))):
            later = torch.where(ends[t], values[t], (1 - trace) * values[t] + trace * after)
            after = result[t] = rewards[t] + gamma * later
        return result

    def fit(self, known: torch.Tensor, wanted: torch.Tensor) -> None:
        """Descends equation 7 for observations (n, size) and targets (n)."""
        for _ in range(self.shac.critic_passes):
            self.fit_once(known, wanted)

    def fit_once(self, known: torch.Tensor, wanted: torch.Tensor) -> float:
        """One pass over all observations; returns the mean loss, summed over critics if there are several."""
        losses = []
        for batch in torch.randperm(len(wanted), generator=self.random).chunk(self.shac.critic_batches):
            self.critic_adam.zero_grad()
            loss = ((self.critic(known[batch]) - wanted[batch, None]) ** 2).mean(0).sum()
            loss.backward()
            nn.utils.clip_grad_norm_(self.critic.parameters(), self.shac.largest_norm)
            self.critic_adam.step()
            losses.append(float(loss.detach()))
        return sum(losses) / len(losses)

    def follow(self) -> None:
        """Moves the target critic toward the critic."""
        with torch.no_grad():
            for kept, new in zip(self.target.parameters(), self.critic.parameters()):
                kept.lerp_(new, 1 - self.shac.target_kept)


def without_outliers(bar: torch.Tensor, outliers: float) -> torch.Tensor:
    """Gradients (n, nx) of the states of n environments, each scaled to at most `outliers` times the median of
    their norms."""
    norm = bar.norm(dim=1, keepdim=True)
    most = outliers * norm.median()
    return torch.where(norm > most, bar * (most / norm), bar)
