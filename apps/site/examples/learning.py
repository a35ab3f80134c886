import numpy

from costate import gym

envs = gym.make_vec("hopper", 16, threads=2)
observations, _ = envs.reset(seed=1)
random = numpy.random.default_rng(0)
total = numpy.zeros(16)
for _ in range(50):
    actions = random.uniform(envs.action_space.low, envs.action_space.high)
    observations, rewards, terminated, truncated, _ = envs.step(actions)
    total += rewards
print(f"random actions: {total.mean():.2f} of reward in 50 steps")

# One environment: the reward of a step, and its gradient with respect to the action
env = gym.make("hopper")
env.reset(seed=1)
action = numpy.zeros(env.action_space.shape)
_, reward, *_, jacobian = env.step_with_jacobian(action)
print(f"reward {reward:.4f}, by the action", numpy.round(jacobian.reward_by_action, 4))
