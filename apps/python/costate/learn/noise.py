"""The noise of policy gradients over environments, for a fixed policy."""
from __future__ import annotations

import math
from functools import partial
from typing import List, Union

import numpy
import torch

from .._arrays import ArrayLike
from ..gym.task import Task
from ..torch import DifferentiableEnv
from .learner import Learner
from .shac import without_outliers


def gradient_noise(learner: Learner, task: Union[Task, str], x: ArrayLike, t: ArrayLike, *,
                   outliers: float = math.inf, seed: int = 0) -> float:
    """The variance over environments of the gradient of the loss of SHAC (its equation 5, with the learner's
    critic as V'), divided by the squared norm of its mean:

        sum_i |g_i - m|^2 / (n - 1) / |m|^2,   m = sum_i g_i / n,

    where g_i is the gradient, with respect to all parameters of the policy, of the horizon of environment i. A
    batch of B environments estimates the gradient with a relative squared error of about noise / B, so it
    estimates nothing at all where the noise reaches B; from n environments no noise far above n is found.

    task: where the policy acts, with the observations and actions of the learner's, for example the same robot
    with another law of contact. x (n, nx), t (n): the states of the n environments and their steps since the start
    of an episode. outliers: as of SHACSettings. seed: of the policy's noise. The learner does not change."""
    settings, actor = learner.settings, learner.actor
    n = len(numpy.asarray(x))
    env, random = DifferentiableEnv(task, n, settings.threads), torch.Generator().manual_seed(seed)
    observation, _ = env.reset(seed=seed, options={"x": x, "t": t})
    known, samples, draws = [], [], []
    loss, discount = torch.zeros(n), torch.ones(n)
    for step in range(settings.horizon):
        known.append(learner.normalizer(observation))
        mean, log_std = actor(known[-1])
        draws.append(torch.randn(mean.shape, generator=random))
        samples.append(mean + log_std.exp() * draws[-1])
        observation, reward, terminated, truncated, infos = env.step(torch.tanh(samples[-1]))
        if outliers < math.inf and env.x is not None and env.x.requires_grad:
            env.x.register_hook(partial(without_outliers, outliers=outliers))
        over = terminated | truncated
        ends = over if step < settings.horizon - 1 else torch.ones_like(over)
        reached = learner.normalizer(infos.get("final_obs", observation))
        value = torch.where(terminated, 0.0, learner.critic(reached).mean(1))
        gain = settings.reward_scale * reward + torch.where(ends, settings.discount * value, 0.0)
        loss, discount = loss - discount * gain, torch.where(over, 1.0, discount * settings.discount)
    # environments are independent: the gradient of the sum by an action is that of its own environment
    bars = torch.stack(torch.autograd.grad(loss.sum(), samples))
    env.close()
    inputs = torch.stack(known).detach()
    gradients = torch.stack([_parameters_bar(learner, inputs[:, i], torch.stack(draws)[:, i], bars[:, i])
                             for i in range(n)])
    mean = gradients.mean(0)
    return float(((gradients - mean) ** 2).sum() / (n - 1) / (mean**2).sum())


def _parameters_bar(learner: Learner, known: torch.Tensor, draws: torch.Tensor,
                    bars: torch.Tensor) -> torch.Tensor:
    """The gradient by all parameters, flat and in float64, from the gradients `bars` (horizon, actions) by the
    samples of one environment."""
    mean, log_std = learner.actor(known)
    sample = mean + log_std.exp() * draws
    parts: List[torch.Tensor] = list(torch.autograd.grad((sample * bars).sum(), list(learner.actor.parameters())))
    return torch.cat([part.flatten().double() for part in parts])
