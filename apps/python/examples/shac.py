"""Short-horizon actor-critic (Xu et al., Accelerated Policy Learning with Parallel Differentiable Simulation, ICLR 2022): the policy
follows the gradient of the next 32 rewards, through the simulator, and of a critic's value at their end."""
import copy
import time

import torch
from torch import nn

from costate.torch import DifferentiableEnv
from networks import Actor, Judge, Normaliser, perceptron

HORIZON, GAMMA, LAMBDA = 32, 0.99, 0.95
REWARD_SCALE = 0.1
BETAS, LARGEST_NORM = (0.7, 0.95), 1.0
CRITIC_ITERATIONS, CRITIC_BATCHES, TARGET_KEPT = 16, 4, 0.2


def segment_loss(env, observation, actor, target, normaliser):
    """The loss of the policy over a horizon, and the data of the critic: observations, rewards, values of the next states, ends."""
    steps, loss, returns, discount = [], 0.0, torch.zeros(env.num_envs), torch.ones(env.num_envs)
    seen = []
    for t in range(HORIZON):
        seen.append(observation)
        action = torch.tanh(actor(normaliser(observation)).rsample())
        known = normaliser(observation).detach()
        observation, reward, terminated, truncated, infos = env.step(action)
        reward = REWARD_SCALE * reward
        reached = infos.get("final_obs", observation)
        value = torch.where(terminated, 0.0, target(normaliser(reached)).squeeze(1))
        over = terminated | truncated
        returns, discount = returns + discount * reward, discount * GAMMA
        ends = over if t < HORIZON - 1 else torch.ones_like(over)
        loss = loss - torch.where(ends, returns + discount * value, 0.0).sum()
        returns, discount = torch.where(over, 0.0, returns), torch.where(over, 1.0, discount)
        steps.append((known, reward.detach(), value.detach(), ends))
    normaliser.update(torch.stack(seen))
    return loss / (HORIZON * env.num_envs), [torch.stack(part) for part in zip(*steps)]


def td_lambda(rewards, values, ends):
    """The targets of the critic at each step: exponential averages of all n-step returns."""
    result, after = [], values[-1]
    for reward, value, end in zip(reversed(rewards), reversed(values), reversed(ends)):
        after = reward + GAMMA * torch.where(end, value, (1 - LAMBDA) * value + LAMBDA * after)
        result.insert(0, after)
    return torch.stack(result)


def train(task, seed, epochs=200, num_envs=64, actor_rate=2e-3, critic_rate=2e-3, threads=1, report=lambda row: None):
    """Rows (environment steps, seconds, mean return, fraction upright), one per five epochs."""
    torch.manual_seed(seed)
    env, judge = DifferentiableEnv(task, num_envs, threads), Judge(task)
    size = env.task.observation_size
    actor, critic, normaliser = Actor(size, env.task.model.nu), perceptron([size, 64, 64, 1]), Normaliser(size)
    target = copy.deepcopy(critic).requires_grad_(False)
    actor_adam = torch.optim.Adam(actor.parameters(), actor_rate, BETAS)
    critic_adam = torch.optim.Adam(critic.parameters(), critic_rate, BETAS)
    rows, start = [], time.monotonic()
    phases = torch.randint(env.task.steps, (num_envs,)).numpy()
    env.reset(seed=1_000_000 * (seed + 1), options={"t": phases})
    for epoch in range(epochs):
        for adam, rate in ((actor_adam, actor_rate), (critic_adam, critic_rate)):
            adam.param_groups[0]["lr"] = rate + (1e-5 - rate) * epoch / epochs
        loss, (known, rewards, values, ends) = segment_loss(env, env.detach(), actor, target, normaliser)
        actor_adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(actor.parameters(), LARGEST_NORM)
        actor_adam.step()

        wanted, known = td_lambda(rewards, values, ends).flatten(), known.flatten(0, 1)
        for _ in range(CRITIC_ITERATIONS):
            for batch in torch.randperm(len(wanted)).chunk(CRITIC_BATCHES):
                critic_adam.zero_grad()
                nn.functional.mse_loss(critic(known[batch]).squeeze(1), wanted[batch]).backward()
                nn.utils.clip_grad_norm_(critic.parameters(), LARGEST_NORM)
                critic_adam.step()
        with torch.no_grad():
            for kept, new in zip(target.parameters(), critic.parameters()):
                kept.lerp_(new, 1 - TARGET_KEPT)
        if (epoch + 1) % 5 == 0:
            quality = judge(lambda observation: torch.tanh(actor.mean(normaliser(observation))))
            rows.append(((epoch + 1) * HORIZON * num_envs, time.monotonic() - start, *quality))
            report(rows[-1])
    return rows
