"""Soft actor-critic with automatic temperature (Haarnoja, Zhou, Hartikainen, Tucker, Ha, Tan, Kumar, Zhu, Gupta,
Abbeel, Levine, Soft Actor-Critic Algorithms and Applications, arXiv:1812.05905, 2018), and what derivatives of the
simulator add to it.

From a buffer of all transitions (s, a, r, s') two critics Q descend

    (Q(s, a) - y)^2,   y = r + gamma V(s'),   V(s) = min Q'(s, a~) - alpha log pi(a~ | s),               (5, 3)

with a~ an action of the policy, Q' slow copies of both critics, and V = 0 where the episode terminated. The policy
descends alpha log pi(a~ | s) - min Q(s, a~) (9), and the temperature alpha descends
-alpha (log pi(a~ | s) + H) (18), with H the entropy wanted.

Three options use the Jacobian of each step. The first two are of Qiao, Liang, Koltun, Lin, Efficient
Differentiable Simulation of Articulated Bodies, ICML 2021.

- Sample enhancement (12, 13): a small random displacement (ds, da) of a transition gives another one,
  (s + ds, a + da, r + dr/d(s,a) (ds, da), s' + ds'/d(s,a) (ds, da)), with an error of second order.
- Policy enhancement (14): an action of the policy follows the gradient dr/da + gamma dV/ds' ds'/da at the action
  a0 that was taken, with the weight exp(-|a~ - a0|). The rest of the weight is for dQ/da at a~ (ours).
- A critic with derivatives: the critic also fits dy/d(s,a), along the displacements (Schramm, Perrin-Gilbert,
  Carpentier, First-order Sobolev Reinforcement Learning, arXiv:2511.19165, 2025; JAVE is the same for dV/ds).
"""
from __future__ import annotations

import copy
import dataclasses
import math
import time
from typing import Any, Dict, Sequence, Tuple, Union

import torch
from torch import nn

from ..gym import make_vec
from ..gym.episodes import Jacobian
from ..gym.task import Task
from .buffer import Buffer
from .learner import Learner, Settings
from .networks import perceptron

Batch = Dict[str, torch.Tensor]


@dataclasses.dataclass(frozen=True)
class SACSettings(Settings):
    """Settings of SAC; `trace` and `log_std` have no effect."""

    epochs: int = 100
    num_envs: int = 1
    horizon: int = 1000
    hidden: Tuple[int, ...] = (256, 256)
    critic_hidden: Tuple[int, ...] = (256, 256)
    reward_scale: float = 1.0
    rate: float = 3e-4  # of all three Adams
    falling: bool = False  # the rate falls linearly to 0 after the last epoch
    batch: int = 256
    updates: int = 1  # per step of an environment
    random_steps: int = 1000  # with uniform actions and no updates, at the start
    capacity: int = 100_000  # transitions
    target_rate: float = 0.005  # of the slow copies
    entropy: float = -1.0  # wanted, per action
    displacements: int = 9  # of each transition, if one of the next two options needs them
    perturbation: float = 1e-2  # standard deviation of displacements of the tangent state and the action
    enhance_samples: bool = False
    critic_derivatives: float = 0.0  # weight of the critic's fit of derivatives; the paper's options have none
    enhance_policy: bool = False


class SAC(Learner):
    """Soft actor-critic."""

    name = "SAC"
    parts = ("actor", "critic", "target", "temperature", "normalizer", "buffer")
    adams = ("adam", "critic_adam", "temperature_adam")

    def __init__(self, task: Union[Task, str], seed: int = 0, settings: SACSettings = SACSettings()) -> None:
        super().__init__(task, seed, settings)
        self.sac = settings
        self.env = self.envs = make_vec(self.task, settings.num_envs, settings.threads)
        size, actions = self.task.observation_size, self.task.model.nu
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.actor = SquashedActor(size, actions, settings.hidden)
            self.critic = Critics(size, actions, settings.critic_hidden)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.temperature = Temperature()
        self.adam = torch.optim.Adam(self.actor.parameters(), settings.rate)
        self.critic_adam = torch.optim.Adam(self.critic.parameters(), settings.rate)
        self.temperature_adam = torch.optim.Adam(self.temperature.parameters(), settings.rate)
        displaced = settings.enhance_samples or settings.critic_derivatives > 0
        self.displacements = settings.displacements if displaced else 0
        self.buffer = Buffer(settings.capacity, self._shapes(size, actions))
        self.envs.reset(seed=1_000_000 * (seed + 1))

    def _shapes(self, size: int, actions: int) -> Dict[str, Tuple[int, ...]]:
        """Of the parts of a transition: s, a, r, s', and whether an episode goes on (1) or has terminated (0); the
        displacements of the first four; the derivatives of r and s' by the action."""
        shapes: Dict[str, Tuple[int, ...]] = {"s": (size,), "a": (actions,), "r": (), "s'": (size,), "on": ()}
        if self.displacements:
            shapes.update({f"d{name}": (self.displacements, *shapes[name]) for name in ("s", "a", "r", "s'")})
        if self.sac.enhance_policy:
            shapes.update({"dr/da": (actions,), "ds'/da": (size, actions)})
        return shapes

    def epoch(self) -> None:
        start, settings = time.process_time(), self.sac
        for adam in (self.adam, self.critic_adam, self.temperature_adam):
            left = 1 - self.epochs / settings.epochs if settings.falling else 1.0
            adam.param_groups[0]["lr"] = settings.rate * left
        for _ in range(settings.horizon):
            self.buffer.add(self.collect())
            if self.buffer.added > settings.random_steps:
                for _ in range(settings.updates * settings.num_envs):
                    self._update(self.buffer.sample(settings.batch, self.random))
        self.epochs, self.steps = self.epochs + 1, self.steps + settings.horizon * settings.num_envs
        self.seconds += time.process_time() - start

    # ---- Experience ---------------------------------------------------------------------------------------------

    @torch.no_grad()  # type: ignore[misc]
    def collect(self) -> Batch:
        """The transitions of one step of all environments, with the parts of the buffer, each (num_envs, ...)."""
        before = torch.from_numpy(self.envs.observation())
        self.normalizer.update(before.float())
        if self.buffer.added < self.sac.random_steps:
            action = 2 * torch.rand((len(before), self.task.model.nu), generator=self.random) - 1
        else:
            action, _ = self.actor.sample(self.normalizer(before.float()), self.random)
        action, jacobian = action.double(), None
        if self.displacements or self.sac.enhance_policy:
            by_state = torch.from_numpy(self.envs.observation_jacobian())
            after, reward, terminated, _, infos, jacobian = self.envs.step_with_jacobian(action.numpy())
        else:
            after, reward, terminated, _, infos = self.envs.step(action.numpy())
        transitions = {"s": before, "a": action, "r": self.sac.reward_scale * torch.from_numpy(reward),
                       "s'": torch.from_numpy(infos.get("final_obs", after)),
                       "on": 1 - torch.from_numpy(terminated).double()}
        if jacobian is not None:
            transitions.update(self._derivatives(action, by_state, Jacobian(*map(torch.from_numpy, jacobian))))
        return transitions

    def _derivatives(self, action: torch.Tensor, by_state: torch.Tensor, jacobian: Any) -> Batch:
        """What the options need, from d(observation before)/d(state) and the Jacobian of the step."""
        scale, parts = self.sac.reward_scale, {}
        if self.displacements:
            # kept impulses stay
            n, k, m = len(action), self.displacements, 2 * self.task.model.nv + len(self.task.model.activations)
            ds = torch.zeros(n, k, by_state.shape[2], dtype=torch.float64)
            ds[..., :m] = self.sac.perturbation * torch.randn((n, k, m), generator=self.random)
            da = self.sac.perturbation * torch.randn((n, k, action.shape[1]), generator=self.random).double()
            da = (action[:, None] + da).clamp(-1, 1) - action[:, None]
            parts = {"ds": ds @ by_state.mT, "da": da,
                     "dr": scale * (ds @ jacobian.reward_by_state[..., None]
                                    + da @ jacobian.reward_by_action[..., None])[..., 0],
                     "ds'": ds @ jacobian.observation_by_state.mT + da @ jacobian.observation_by_action.mT}
        if self.sac.enhance_policy:
            parts.update({"dr/da": scale * jacobian.reward_by_action, "ds'/da": jacobian.observation_by_action})
        return parts

    def displaced(self, batch: Batch) -> Batch:
        """The batch with each transition replaced by itself or one of its displaced ones, all equally likely
        (equations 12 and 13 of Qiao et al.)."""
        n = len(batch["r"])
        which = torch.randint(self.displacements + 1, (n,), generator=self.random)
        rows, use = torch.arange(n), which > 0
        moved = {name: part + torch.where(use.view(-1, *[1] * (part.dim() - 1)),
                                          batch[f"d{name}"][rows, which - 1], 0.0)
                 for name, part in batch.items() if name in ("s", "a", "r", "s'")}
        return {**batch, **moved}

    # ---- Learning -----------------------------------------------------------------------------------------------

    def _update(self, batch: Batch) -> None:
        if self.sac.enhance_samples:
            batch = self.displaced(batch)
        self.critic_adam.zero_grad()
        self._critic_loss(batch).backward()
        self.critic_adam.step()

        self.critic.requires_grad_(False)
        action, log_probability = self.actor.sample(self.normalizer(batch["s"]), self.random)
        self.adam.zero_grad()
        (self.temperature().detach() * log_probability - self._gain(batch, action)).mean().backward()
        self.adam.step()
        self.critic.requires_grad_(True)

        self.temperature_adam.zero_grad()
        wanted = self.sac.entropy * action.shape[1]
        (-self.temperature() * (log_probability.detach() + wanted).mean()).backward()
        self.temperature_adam.step()
        with torch.no_grad():
            for slow, new in zip(self.target.parameters(), self.critic.parameters()):
                slow.lerp_(new, self.sac.target_rate)

    def _value(self, s: torch.Tensor) -> torch.Tensor:
        """V (n), equation 3."""
        known = self.normalizer(s)
        action, log_probability = self.actor.sample(known, self.random)
        value: torch.Tensor = self.target(known, action).min(0).values
        return value - self.temperature().detach() * log_probability

    def _value_gradient(self, s: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        """V (n) and dV/ds (n, observation_size)."""
        leaf = s.detach().requires_grad_(True)
        value = self._value(leaf)
        (by_s,) = torch.autograd.grad(value.sum(), leaf)
        return value.detach(), by_s

    def _critic_loss(self, batch: Batch) -> torch.Tensor:
        """Equation 5 for both critics, and the squared error of derivatives along a displacement of each
        transition, in units of the perturbation."""
        discount = self.sac.discount * batch["on"]
        if self.sac.critic_derivatives == 0:
            with torch.no_grad():
                y = batch["r"] + discount * self._value(batch["s'"])
            found: torch.Tensor = self.critic(self.normalizer(batch["s"]), batch["a"])
            return ((found - y) ** 2).mean(1).sum()
        value, by_next = self._value_gradient(batch["s'"])
        rows = torch.arange(len(value))
        which = torch.randint(self.displacements, (len(value),), generator=self.random)
        ds, da, dr, ds_next = (batch[f"d{name}"][rows, which] / self.sac.perturbation
                               for name in ("s", "a", "r", "s'"))
        y, dy = batch["r"] + discount * value, dr + discount * (by_next * ds_next).sum(1)
        s, a = (batch[name].detach().requires_grad_(True) for name in ("s", "a"))
        found = self.critic(self.normalizer(s), a)
        slopes = []
        for q in found:
            by_s, by_a = torch.autograd.grad(q.sum(), (s, a), create_graph=True)
            slopes.append((by_s * ds).sum(1) + (by_a * da).sum(1))
        miss = ((torch.stack(slopes) - dy) ** 2).mean(1).sum()
        return ((found - y) ** 2).mean(1).sum() + self.sac.critic_derivatives * miss

    def _gain(self, batch: Batch, action: torch.Tensor) -> torch.Tensor:
        """min Q (n) of actions of the policy; with policy enhancement, a number with the mixed gradient."""
        q: torch.Tensor = self.critic(self.normalizer(batch["s"]), action).min(0).values
        if not self.sac.enhance_policy:
            return q
        _, by_next = self._value_gradient(batch["s'"])
        by_next = self.sac.discount * batch["on"][:, None] * by_next
        by_action = batch["dr/da"] + (by_next[:, None] @ batch["ds'/da"])[:, 0]
        weight = torch.exp(-(action.detach() - batch["a"]).norm(dim=1))
        return weight * (by_action * action).sum(1) + (1 - weight) * q


class SquashedActor(nn.Module):  # type: ignore[misc]
    """A policy whose actions are the tanh of Gaussian samples; mean and standard deviation depend on the
    observation."""

    def __init__(self, observations: int, actions: int, hidden: Sequence[int], log_std: float = 0.0,
                 gain: float = 0.1) -> None:
        super().__init__()
        # with a small gain, actions are nearly equal everywhere at the start
        self.both = perceptron([observations, *hidden, 2 * actions], gain)
        with torch.no_grad():
            self.both[-1].bias[actions:] = log_std

    def forward(self, observations: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        """(mean, logarithm of the standard deviation), each (n, actions), of samples before tanh."""
        mean, log_std = self.both(observations).chunk(2, 1)
        return mean, log_std.clamp(-5, 2)

    def sample(self, observations: torch.Tensor, random: torch.Generator) -> Tuple[torch.Tensor, torch.Tensor]:
        """(actions (n, actions) in (-1, 1), logarithms (n) of their densities), differentiable; the density has
        the factor 1/(1 - tanh^2) (equation 26)."""
        mean, log_std = self(observations)
        draws = torch.randn(mean.shape, generator=random, dtype=mean.dtype)
        sample = mean + log_std.exp() * draws
        normal = -0.5 * draws**2 - log_std - 0.5 * math.log(2 * math.pi)
        squash = 2 * (math.log(2) - sample - nn.functional.softplus(-2 * sample))  # log(1 - tanh^2)
        return torch.tanh(sample), (normal - squash).sum(1)


class Critics(nn.Module):  # type: ignore[misc]
    """Two functions Q(s, a)."""

    def __init__(self, observations: int, actions: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.each = nn.ModuleList(perceptron([observations + actions, *hidden, 1]) for _ in range(2))

    def forward(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """(2, n)"""
        both = torch.cat([observations, actions], 1)
        return torch.stack([q(both).squeeze(1) for q in self.each])


class Temperature(nn.Module):  # type: ignore[misc]
    """alpha, a positive number that starts at 1/10."""

    def __init__(self) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor(math.log(0.1)))

    def forward(self) -> torch.Tensor:
        return self.log.exp()
