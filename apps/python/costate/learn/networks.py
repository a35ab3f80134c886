"""Networks of policies and critics, and the normalization of observations."""
from __future__ import annotations

from typing import List, Sequence, Tuple

import torch
from torch import nn


def perceptron(sizes: Sequence[int], gain: float = 1.0) -> nn.Sequential:
    """Linear layers of these sizes, with ELU and LayerNorm after each hidden one; weights orthogonal, those of
    the last layer times `gain`, biases zero."""
    layers: List[nn.Module] = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        hidden, linear = i < len(sizes) - 2, nn.Linear(a, b)
        nn.init.orthogonal_(linear.weight, 2**0.5 if hidden else gain)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ELU(), nn.LayerNorm(b)] if hidden else [linear]
    return nn.Sequential(*layers)


class TwoValues(nn.Module):  # type: ignore[misc]
    """Two functions V(s) with their own weights."""

    def __init__(self, observations: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.each = nn.ModuleList(perceptron([observations, *hidden, 1]) for _ in range(2))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """(n, 2)"""
        return torch.cat([value(observations) for value in self.each], 1)


class Actor(nn.Module):  # type: ignore[misc]
    """A Gaussian policy: a perceptron is its mean, and its standard deviation does not depend on the
    observation. An action is the tanh of a sample."""

    def __init__(self, observations: int, actions: int, hidden: Sequence[int], log_std: float,
                 gain: float = 1.0) -> None:
        super().__init__()
        self.mean = perceptron([observations, *hidden, actions], gain)
        self.log_std = nn.Parameter(torch.full((actions,), float(log_std)))

    def forward(self, observations: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        """(mean, logarithm of the standard deviation), each (n, actions), of samples before tanh."""
        mean = self.mean(observations)
        return mean, self.log_std.expand_as(mean)

    def sample(self, observations: torch.Tensor, random: torch.Generator) -> torch.Tensor:
        """A sample before tanh, mean + std * noise, differentiable (Kingma and Welling 2014)."""
        mean = self.mean(observations)
        return mean + self.log_std.exp() * torch.randn(mean.shape, generator=random)

    def log_probability(self, observations: torch.Tensor, samples: torch.Tensor) -> torch.Tensor:
        """The logarithm (n) of the density of samples (n, actions) before tanh."""
        normal = torch.distributions.Normal(self.mean(observations), self.log_std.exp())
        return normal.log_prob(samples).sum(-1)


class Normalizer(nn.Module):  # type: ignore[misc]
    """Subtracts the running mean of observations and divides by their running standard deviation (Chan et al.
    1979)."""

    count: torch.Tensor
    mean: torch.Tensor
    variance: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("count", torch.tensor(1e-4, dtype=torch.float64))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.ones(size))

    def update(self, x: torch.Tensor) -> None:
        x = x.detach().reshape(-1, x.shape[-1])
        share, away = len(x) / (self.count + len(x)), x.mean(0) - self.mean
        inside = (1 - share) * self.variance + share * x.var(0, unbiased=False)
        self.variance = inside + share * (1 - share) * away**2
        self.mean, self.count = self.mean + share * away, self.count + len(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ((x - self.mean) / (self.variance + 1e-5).sqrt()).clamp(-10, 10)
