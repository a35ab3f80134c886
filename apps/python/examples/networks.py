"""Shared by both learners: networks, normalization of observations, and evaluation of policies."""
import numpy
import torch
from torch import nn

from costate import gym


def perceptron(sizes):
    """ELU and LayerNorm after each hidden layer; weights orthogonal, biases zero."""
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        layers.append(nn.Linear(a, b))
        nn.init.orthogonal_(layers[-1].weight, 2**0.5 if i < len(sizes) - 2 else 1)
        nn.init.zeros_(layers[-1].bias)
        if i < len(sizes) - 2:
            layers += [nn.ELU(), nn.LayerNorm(b)]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    """A Gaussian policy with a perceptron as its mean; the action is the tanh of a sample."""

    def __init__(self, observations, actions, hidden=(64, 64), log_std=-1.0):
        super().__init__()
        self.mean = perceptron([observations, *hidden, actions])
        self.log_std = nn.Parameter(torch.full((actions,), log_std))

    def forward(self, observations):
        return torch.distributions.Normal(self.mean(observations), self.log_std.exp())


class Normaliser:
    """Running mean and variance of observations (Chan et al. 1979)."""

    def __init__(self, size):
        self.count, self.mean, self.variance = 1e-4, torch.zeros(size), torch.ones(size)

    def update(self, x):
        x = x.detach().reshape(-1, x.shape[-1])
        share, away = len(x) / (self.count + len(x)), x.mean(0) - self.mean
        self.variance = (1 - share) * self.variance + share * x.var(0, unbiased=False) + share * (1 - share) * away**2
        self.mean, self.count = self.mean + share * away, self.count + len(x)

    def __call__(self, x):
        return ((x - self.mean) / (self.variance + 1e-5).sqrt()).clamp(-10, 10)


class Judge:
    """Evaluates a policy without noise from the same eight starts."""

    def __init__(self, task, starts=8):
        self.env = gym.make_vec(task, starts, threads=1)

    def __call__(self, policy):
        """(mean return, fraction of starts with the pole upright at the end: within 0.2 rad for the last half second)."""
        observation, _ = self.env.reset(seed=1000)
        task = self.env.task
        returns, away = numpy.zeros(self.env.num_envs), []
        for t in range(task.steps):
            with torch.no_grad():
                action = policy(torch.as_tensor(observation, dtype=torch.float32)).numpy().astype(float)
            observation, reward, _, _, infos = self.env.step(action)
            returns += reward
            last = infos.get("final_obs", observation)
            away.append(numpy.abs(numpy.arctan2(last[:, 3], last[:, 2])))
        upright = (numpy.array(away[-round(0.5 / task.control_step) :]) < 0.2).all(0)
        return returns.mean(), upright.mean()
