"""Pendulums of one to seven links learn to swing up: by soft actor-critic, with policy enhancement and without, and by SHAC.

python3 learn_pendulums.py [--learners enhanced-3 plain-3 shac-3] [--seeds 0 1 2 3 4] [--minutes 9] [--resume] [--view]

Table 4 of Qiao et al. (2021): with n links, 100 n epochs of one episode of 100 steps. The return is at most n^2/2.
The table has our returns at the end, medians over seeds, beside those of their method and of MBPO, as published.
`enhanced-N` and `plain-N` are the same learner with policy enhancement and without. Its settings are equal for all
n, but rewards are scaled by 10/n^2. `shac-N` has the gradients of whole episodes of 64 environments, 100 times:
640 000 steps.
"""
import sys
from functools import partial

from costate import gym, learn

PUBLISHED = (0.49, 1.93, 4.28, 7.81, 12.31, 17.78, 24.34)
MBPO = (0.49, 1.90, 4.28, 7.50, 11.13, 15.02, 19.97)


def published(links):
    return {"Qiao et al.": PUBLISHED[links - 1], "MBPO": MBPO[links - 1], "at most": links**2 / 2}


def trial(links, learner, settings, name):
    return learn.Trial(learner, settings, 10, partial(gym.make_task, f"pendulum-{links}"),
                       f"{links} link{'s' if links > 1 else ''}, {name}", published(links))


def sac(links, enhanced):
    settings = learn.SACSettings(epochs=100 * links, horizon=100, reward_scale=10 / links**2, hidden=(128, 128),
                                 critic_hidden=(128, 128), rate=1e-3, falling=True, batch=128, updates=2,
                                 random_steps=500, enhance_policy=enhanced)
    return trial(links, learn.SAC, settings, "enhanced" if enhanced else "plain")


def shac(links):
    settings = learn.SHACSettings(epochs=100, horizon=100, reward_scale=4 / links**2, hidden=(128, 128),
                                  critic_hidden=(128, 128), rate=1e-3, discount=1.0, log_std=-2.5, gain=0.1,
                                  outliers=3.0)
    return trial(links, learn.SHAC, settings, "SHAC")


LEARNERS = {name: each for links in range(1, 8) for name, each in (
    (f"enhanced-{links}", sac(links, True)), (f"plain-{links}", sac(links, False)), (f"shac-{links}", shac(links)))}

EXPERIMENT = learn.Experiment(partial(gym.make_task, "pendulum-1"), LEARNERS, seeds=(0, 1, 2, 3, 4))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_pendulums"))
