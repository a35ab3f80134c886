"""An ant learns to run by SHAC, AHAC, SAPO and PPO, with the reward and the masses of dflex.

python3 learn_dflex_ant.py [--learners shac] [--seeds 0 1 2] [--workers 2] [--minutes 9] [--resume] [--view]

Xu et al. (2022) and Georgiev et al. (2024) publish curves of this task. The reward, the start and the end of episodes,
the densities, torques, joints, springs of contact and friction are those of `envs/ant.py` in NVlabs/DiffRL. The lengths
are those of Gymnasium's ant, joint limits yield by the compliance of friction, and actions are not observed.

Friction is viscous up to its limit, as in dflex: a foot that begins to slip is held by 3000 N s/m. `shac-dry` has dry
friction instead, so that a foot sticks until its limit is reached. --help lists more options.
"""
import json
import math
import os
import sys
from functools import partial
from pathlib import Path

import numpy
import torch

import costate
from costate import learn
from costate.torch import TorchTask

SCENES = Path(os.environ.get("COSTATE_SCENES") or Path(__file__).resolve().parents[3] / "scenes/library")
DENSER = 200  # times the density of Gymnasium's ant, 5 kg/m^3
TORQUE = 200.0  # N m
HIP, ANKLE = math.radians(40), (math.radians(30), math.radians(100))
STEP = 1 / 240  # s
SLIP = 3000.0  # N s/m, the resistance of friction to slip below its limit
WORLD = {"time_step": STEP, "solver": {"type": "pgs", "sweeps": 10},
         "ground": {"stiffness": 4e4, "damping": 1e4, "friction": 0.75}}  # N/m, N s/m
FRICTION = {"viscous": {"compliance": 1 / (STEP * SLIP)}, "dry": {}}  # 1/kg, of rows without springs


class DflexAnt(TorchTask):
    """Observed (29): height, orientation, velocity and angular velocity of the torso, joint angles and a tenth of their
    velocities, cosines of the angles of the torso's vertical with the world's and of its front with x."""

    substeps = 4
    height = 0.75  # m, at the start
    least = 0.27  # m

    def __init__(self, friction="viscous"):
        self.friction = friction
        super().__init__()

    def load(self):
        file = SCENES / "ant.json"
        scene = {**json.loads(file.read_text()), **WORLD, "contact": FRICTION[self.friction]}
        scene["models"] = [{"name": "ant", "model": dense(json.loads((SCENES / "models/ant.json").read_text()))}]
        return costate.Model.from_string(scene, name=file)

    def __repr__(self):
        return f"<DflexAnt, {self.friction} friction>"  # without a path, so that runs resume elsewhere

    def start(self, random):
        q, v = self.home
        angle, axis = random.uniform(-math.pi / 24, math.pi / 24), random.uniform(-0.5, 0.5, 3)
        place = numpy.concatenate([random.uniform(-0.1, 0.1, 3), angle * axis / numpy.linalg.norm(axis),
                                   random.uniform(-0.1, 0.1, 8)])
        q = self.model.retract(q, place)
        q[2] += self.height - self.home[0][2]
        return q, v + random.uniform(-0.25, 0.25, len(v))

    def torch_observation(self, x, t):
        velocity = self.v(x)
        return torch.cat([x[:, 2:7], velocity[:, :6], x[:, 7:15], 0.1 * velocity[:, 6:], *cosines(x)], 1)

    def torch_reward(self, x, action, x_next, t):
        up, ahead = cosines(x_next)
        return self.v(x_next)[:, 0] + 0.1 * up[:, 0] + ahead[:, 0] + x_next[:, 2] - self.least

    def terminated(self, x, t):
        return x[:, 2] < self.least


def dense(model):
    """The model with dflex's masses, joints and torques."""
    for body in model["bodies"]:
        body["mass"] *= DENSER
        body["inertia"] = [DENSER * number for number in body["inertia"]]
        joint = body["joint"]
        if "limits" in joint:
            joint["armature"] = 0.05
            sign = 1 if joint["limits"][1] > 0 else -1
            joint["limits"] = [-HIP, HIP] if "hip" in joint["name"] else sorted(sign * angle for angle in ANKLE)
    for actuator in model["actuators"]:
        actuator["gear"] = TORQUE
    return model


def cosines(x):
    """((n, 1), (n, 1)): of the angles between the vertical of the torso and of the world, and between its front and
    x."""
    w, i, j, k = (x[:, 3:7] / x[:, 3:7].norm(dim=1, keepdim=True)).T[:, :, None]
    return 1 - 2 * (i * i + j * j), 1 - 2 * (j * j + k * k)


SIZES = {"epochs": 300, "num_envs": 512, "horizon": 32, "hidden": (128, 64, 32), "critic_hidden": (128, 64)}
BY_GRADIENT = {"rate": 2e-3, "critic_rate": 1e-3, "outliers": 2.0}

EXPERIMENT = learn.Experiment(DflexAnt, {
    "shac": learn.Trial(learn.SHAC, learn.SHACSettings(**BY_GRADIENT, **SIZES), 10),
    "shac-dry": learn.Trial(learn.SHAC, learn.SHACSettings(**BY_GRADIENT, **SIZES), 10, partial(DflexAnt, "dry"),
                            "SHAC, dry friction"),
    "ahac": learn.Trial(learn.AHAC, learn.AHACSettings(**BY_GRADIENT, **SIZES), 10),
    "sapo": learn.Trial(learn.SAPO, learn.SAPOSettings(**BY_GRADIENT, **SIZES), 10),
    "ppo": learn.Trial(learn.PPO, learn.PPOSettings(minibatch=4096, **SIZES), 10),
}, goals=(3000, 5000, 6604))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_dflex_ant"))
