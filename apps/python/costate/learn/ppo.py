"""Proximal policy optimization (Schulman, Wolski, Dhariwal, Radford, Klimov, arXiv:1707.06347, 2017).

It uses rewards, not gradients of the simulator, and is the baseline of learners that do. An epoch samples the
policy, estimates advantages A (equation 11) by

    A_t = delta_t + gamma lambda A_{t+1},   delta_t = r_t + gamma V(s_{t+1}) - V(s_t)                        (12)

(Schulman et al., arXiv:1506.02438, 2016), and ascends, for some passes over the samples in minibatches,

    min(rho A, clip(rho, 1 - epsilon, 1 + epsilon) A),   rho = pi(a | s) / pi_old(a | s)                      (7)

while the critic V descends (V(s_t) - (A_t + V_old(s_t)))^2 (9). The policy acts by the tanh of a Gaussian sample;
densities are those of the sample, in whose ratio tanh cancels.
"""
from __future__ import annotations

import dataclasses
import time
from typing import List, Tuple, Union

import torch
from torch import nn

from ..gym import make_vec
from ..gym.task import Task
from .learner import Learner, Settings


@dataclasses.dataclass(frozen=True)
class PPOSettings(Settings):
    """Settings of PPO."""

    epochs: int = 40
    num_envs: int = 128
    horizon: int = 240
    reward_scale: float = 0.01
    rate: float = 3e-4  # of Adam
    clip: float = 0.2  # epsilon
    passes: int = 10  # over the samples of an epoch
    minibatch: int = 3840
    largest_norm: float = 0.5  # of a gradient


class PPO(Learner):
    """Proximal policy optimization."""

    name = "PPO"
    adams = ("adam",)

    def __init__(self, task: Union[Task, str], seed: int = 0, settings: PPOSettings = PPOSettings()) -> None:
        super().__init__(task, seed, settings)
        self.ppo = settings
        self.env = self.envs = make_vec(self.task, settings.num_envs, settings.threads)
        self.parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.adam = torch.optim.Adam(self.parameters, settings.rate, eps=1e-5)
        self.envs.reset(seed=1_000_000 * (seed + 1))

    def epoch(self) -> None:
        start, settings = time.process_time(), self.ppo
        data, reached = self._experience()
        for _ in range(settings.passes):
            for batch in torch.randperm(len(data[0]), generator=self.random).split(settings.minibatch):
                self.adam.zero_grad()
                self._loss(*(part[batch] for part in data)).backward()
                nn.utils.clip_grad_norm_(self.parameters, settings.largest_norm)
                self.adam.step()
        self.normalizer.update(reached)
        self.epochs, self.steps = self.epochs + 1, self.steps + settings.horizon * settings.num_envs
        self.seconds += time.process_time() - start

    @torch.no_grad()  # type: ignore[misc]
    def _experience(self) -> Tuple[List[torch.Tensor], torch.Tensor]:
        """(normalized observations, samples before tanh, their log-probabilities, advantages, targets of the
        critic) of one epoch, each (samples, ...); and all observations reached."""
        rows, scale = [], self.settings.reward_scale
        observation = torch.from_numpy(self.envs.observation()).float()
        for _ in range(self.settings.horizon):
            known = self.normalizer(observation)
            sample = self.actor.sample(known, self.random)
            after, reward, terminated, truncated, infos = self.envs.step(torch.tanh(sample).double().numpy())
            observation = torch.from_numpy(after).float()
            reached = torch.from_numpy(infos.get("final_obs", after)).float()
            value = self.critic(self.normalizer(reached)).squeeze(1)
            rows.append((known, sample, self.actor.log_probability(known, sample),
                         scale * torch.from_numpy(reward).float(), self.critic(known).squeeze(1),
                         torch.where(torch.from_numpy(terminated), 0.0, value),
                         torch.from_numpy(terminated | truncated), reached))
        known, samples, before, rewards, values, following, over, reached = map(torch.stack, zip(*rows))
        gain = self.advantages(rewards, values, following, over)
        data = [part.flatten(0, 1) for part in (known, samples, before, gain, gain + values)]
        return data, reached

    def advantages(self, rewards: torch.Tensor, values: torch.Tensor, following: torch.Tensor,
                   over: torch.Tensor) -> torch.Tensor:
        """Equation 12, for (horizon, num_envs). following: values of the next states, 0 where an episode
        terminated; over: True where an episode ended."""
        gamma, trace = self.settings.discount, self.settings.trace
        result, after = torch.zeros_like(rewards), torch.zeros(rewards.shape[1])
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + gamma * following[t] - values[t]
            after = result[t] = delta + gamma * trace * torch.where(over[t], 0.0, after)
        return result

    def _loss(self, known: torch.Tensor, samples: torch.Tensor, before: torch.Tensor, advantage: torch.Tensor,
              wanted: torch.Tensor) -> torch.Tensor:
        """Equation 9, with the advantages of the minibatch normalized."""
        clip = self.ppo.clip
        ratio = (self.actor.log_probability(known, samples) - before).exp()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gained = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()
        loss: torch.Tensor = nn.functional.mse_loss(self.critic(known).squeeze(1), wanted) - gained
        return loss
