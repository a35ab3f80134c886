"""A cart learns to swing up its pole: SHAC, which uses the gradients of the simulator, and PPO, which does not.

python3 learn_cartpole.py [--seeds 0 1 2] [--workers 2] [--resume] [--view]

Writes learning.csv, with a row for each time that a policy was judged, learning.svg and learning.png into --out,
out/learning if not given, and prints what each seed reached. --help lists more options.
"""
import sys
from functools import partial

import numpy

from costate import gym, learn

LAST = 25  # control steps: half a second
ENOUGH = 7 / 8  # of the starts


def upright(evaluation):
    """The fraction of starts with the pole upright at the end: within 0.2 rad for the last half second."""
    angle = evaluation.states[-LAST:, :, 1]
    away = numpy.abs(numpy.arctan2(numpy.sin(angle), numpy.cos(angle)))
    return {"upright": float((away < 0.2).all(0).mean())}


def summary(rows):
    reached = [row for row in rows if row["upright"] >= ENOUGH]
    when = f"after {reached[0]['environment steps']} steps" if reached else "never"
    return f"; upright from {8 * rows[-1]['upright']:.0f} of 8 starts, from 7 {when}"


EXPERIMENT = learn.Experiment(partial(gym.make_task, "cartpole-swing-up"), {
    "shac": learn.Trial(learn.SHAC, learn.SHACSettings(), 5),
    "ppo": learn.Trial(learn.PPO, learn.PPOSettings(), 1),
}, upright, summary)

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learning"))
