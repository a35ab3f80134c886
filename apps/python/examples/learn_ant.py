"""An ant learns to walk by soft actor-critic, alone and with derivatives of the simulator's steps, and by SHAC.

python3 learn_ant.py [--learners sac enhanced derivatives shac shac-mujoco] [--seeds 0 1 2 3] [--minutes 9]
    [--resume] [--export]

The task is the ant of `costate.gym`, with the reward of Qiao et al. (2021). SAC has 100 epochs of 1000 steps, with
20 updates a step as in MBPO, equal for all; --set '*.updates=4' takes a fifth of the time. `sac` has no
derivatives. `enhanced` is sample enhancement, their figure 5: nine displaced transitions are added to each, with a
perturbation of 0.01. The critic of `derivatives` is fitted to derivatives along the same displacements instead.

`shac` learns from gradients of 8 steps of 128 ants. `shac-mujoco` does so by MuJoCo's law of contact, with the
settings of Gymnasium's ant.xml, so that its policy walks in MuJoCo, too (their table 5):
policies_beside_mujoco.py costate_mujoco_plant ant.xml learn_ant.py:MuJoCoAnt out/learn_ant/shac-mujoco-0.json
--controls 6 7 0 1 2 3 4 5 makes a table, after --export. --help lists more options.
"""
import sys
from functools import partial

from learn_dflex_ant import library_scene, load_scene

from costate import gym, learn
from costate.gym.tasks import Ant

SIZES = {"epochs": 100, "horizon": 1000, "updates": 20, "displacements": 9, "perturbation": 1e-2}


class MuJoCoAnt(Ant):
    """The ant with contacts, margins and time steps as in Gymnasium's ant.xml."""

    substeps = 5

    def load(self):
        scene, model = library_scene("ant")
        scene |= {"time_step": 0.01, "solver": {"integrator": "mujoco_rk4"},
                  "contact": {"law": "mujoco", "cone": "pyramidal"}}
        for body in model["bodies"]:
            for shape in body["shapes"]:
                shape["margin"] = 0.01
        return load_scene("ant", scene, model)

    def __repr__(self):
        return "<MuJoCoAnt>"  # without a path, so that runs resume elsewhere


def sac(label, **options):
    return learn.Trial(learn.SAC, learn.SACSettings(**SIZES, **options), 2, label=label)


def shac(label, task=None):
    settings = learn.SHACSettings(epochs=800, num_envs=128, horizon=8, hidden=(128, 64, 32),
                                  critic_hidden=(128, 64), rate=1e-3, critic_rate=1e-3, outliers=2.0)
    return learn.Trial(learn.SHAC, settings, 40, task, label)


EXPERIMENT = learn.Experiment(partial(gym.make_task, "ant"), {
    "sac": sac("SAC"),
    "enhanced": sac("SAC, enhanced samples", enhance_samples=True),
    "derivatives": sac("SAC, critic with derivatives", critic_derivatives=0.1),
    "shac": shac("SHAC"),
    "shac-mujoco": shac("SHAC, MuJoCo's law", MuJoCoAnt),
}, goals=(1000, 2000), seeds=(0, 1, 2, 3))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_ant"))
