"""An ant learns to walk by soft actor-critic, alone and with derivatives of the simulator's steps.

python3 learn_ant.py [--learners sac enhanced derivatives] [--seeds 0 1 2 3] [--minutes 9] [--resume] [--view]

Figure 5 of Qiao et al. (2021): sample enhancement adds nine displaced transitions to each, with a perturbation of
0.01. The task is the ant of `costate.gym`, with their reward. There are 100 epochs of 1000 steps, with 20 updates
a step as in MBPO, equal for all learners; --set '*.updates=4' takes a fifth of the time. `sac` has no derivatives,
`enhanced` has the displaced transitions, and the critic of `derivatives` is fitted to derivatives along the same
displacements instead.
"""
import sys
from functools import partial

from costate import gym, learn

SIZES = {"epochs": 100, "horizon": 1000, "updates": 20, "displacements": 9, "perturbation": 1e-2}


def sac(label, **options):
    return learn.Trial(learn.SAC, learn.SACSettings(**SIZES, **options), 2, label=label)


EXPERIMENT = learn.Experiment(partial(gym.make_task, "ant"), {
    "sac": sac("SAC"),
    "enhanced": sac("SAC, enhanced samples", enhance_samples=True),
    "derivatives": sac("SAC, critic with derivatives", critic_derivatives=0.1),
}, goals=(1000, 2000), seeds=(0, 1, 2, 3))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_ant"))
