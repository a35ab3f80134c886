"""Proximal policy optimization (Schulman et al. 2017), the baseline: it uses rewards, not gradients of the simulator."""
import time

import torch
from torch import nn

from costate import gym
from networks import Actor, Judge, Normaliser, perceptron

GAMMA, LAMBDA, CLIP, EPOCHS, MINIBATCH, LARGEST_NORM = 0.99, 0.95, 0.2, 10, 3840, 0.5


def advantages(rewards, values, following, over):
    """Generalized advantage estimates (Schulman et al. 2016), arrays (steps, environments). `following`: values of the next states, 0
    where an episode terminated; `over`: True where an episode ended."""
    result, after = torch.zeros_like(rewards), torch.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        after = rewards[t] + GAMMA * following[t] - values[t] + GAMMA * LAMBDA * torch.where(over[t], 0.0, after)
        result[t] = after
    return result


def collect(envs, observation, actor, critic, normaliser, steps):
    """Samples of the policy: normalized observations, actions before tanh, their log-probabilities, rewards, values, values of the next
    states, ends, and the final observations."""
    rows = []
    for _ in range(steps):
        known = normaliser(observation)
        normal = actor(known)
        action = normal.sample()
        observation, reward, terminated, truncated, infos = envs.step(torch.tanh(action).numpy().astype(float))
        reached, observation, reward, terminated, truncated = (
            torch.as_tensor(part) for part in (infos.get("final_obs", observation), observation, reward, terminated, truncated))
        following = torch.where(terminated, 0.0, critic(normaliser(reached.float())).squeeze(1))
        observation = observation.float()
        rows.append((known, action, normal.log_prob(action).sum(1), reward.float(), critic(known).squeeze(1), following,
                     terminated | truncated, reached.float()))
    return observation, [torch.stack(part) for part in zip(*rows)]


def train(task, seed, iterations=40, num_envs=128, steps=240, rate=3e-4, reward_scale=0.01, threads=1, report=lambda row: None):
    """Rows (environment steps, seconds, mean return, fraction upright), one per iteration."""
    torch.manual_seed(seed)
    envs, judge = gym.make_vec(task, num_envs, threads), Judge(task)
    size = envs.task.observation_size
    actor, critic, normaliser = Actor(size, envs.task.model.nu), perceptron([size, 64, 64, 1]), Normaliser(size)
    parameters = [*actor.parameters(), *critic.parameters()]
    adam = torch.optim.Adam(parameters, rate, eps=1e-5)
    rows, start = [], time.monotonic()
    observation = torch.as_tensor(envs.reset(seed=1_000_000 * (seed + 1))[0]).float()
    for iteration in range(iterations):
        with torch.no_grad():
            observation, (known, actions, log_probabilities, rewards, values, following, over, reached) = collect(
                envs, observation, actor, critic, normaliser, steps)
            gain = advantages(reward_scale * rewards, values, following, over)
            data = [part.flatten(0, 1) for part in (known, actions, log_probabilities, gain, gain + values)]
        for _ in range(EPOCHS):
            for batch in torch.randperm(steps * num_envs).split(MINIBATCH):
                x, action, before, advantage, wanted = (part[batch] for part in data)
                normal = actor(x)
                ratio = (normal.log_prob(action).sum(1) - before).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                gained = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
                loss = nn.functional.mse_loss(critic(x).squeeze(1), wanted) - gained
                adam.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, LARGEST_NORM)
                adam.step()
        normaliser.update(reached)
        quality = judge(lambda observation: torch.tanh(actor.mean(normaliser(observation))))
        rows.append(((iteration + 1) * steps * num_envs, time.monotonic() - start, *quality))
        report(rows[-1])
    return rows
