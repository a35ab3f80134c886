"""An ant learns to run by SHAC, AHAC, SAPO and PPO, with the reward and the masses of dflex.

python3 learn_dflex_ant.py [--learners shac] [--seeds 0 1 2] [--workers 2] [--minutes 9] [--resume] [--view]

Xu et al. (2022) and Georgiev et al. (2024) publish curves of this task. The reward, the start and the end of episodes,
the densities, torques, joints, springs of contact and friction are those of `envs/ant.py` in NVlabs/DiffRL. The lengths
are those of Gymnasium's ant, and actions are not observed. The damping of contacts is constant, while dflex's grows
with the depth and acts against approach alone.

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
LIMIT, ALWAYS = 1000.0, 10.0  # N m/rad beyond an end of a joint's range; N m s/rad, everywhere
STEP = 1 / 240  # s


def library_scene(name):
    """(scene, model) of the library."""
    return tuple(json.loads((SCENES / f"{file}.json").read_text()) for file in (name, f"models/{name}"))


def dflex_scene(name, ground, slip):
    """(scene, model) of the library, with contacts and joints as in dflex. ground: stiffness N/m, damping N s/m and
    friction; slip: N s/m, the resistance of friction below its limit."""
    scene, model = library_scene(name)
    scene |= {"time_step": STEP, "solver": {"type": "pgs", "sweeps": 10}, "ground": ground,
              "contact": {"compliance": 1 / (STEP * slip)} if math.isfinite(slip) else {}}
    for body in model["bodies"]:
        joint = body.get("joint", {})
        if "limits" in joint:
            joint["damping"] = joint.get("damping", 0) + ALWAYS
            joint["limit_stiffness"] = LIMIT
    return scene, model


def load_scene(name, scene, model):
    """The scene with this model in the place of its own."""
    scene = {**scene, "models": [{"name": name, "model": model}]}
    return costate.Model.from_string(scene, name=SCENES / f"{name}.json")


def trials(sizes, by_gradient, every):
    """Trainings of a task by all learners. sizes: settings of all of them; by_gradient: of those that use gradients."""
    return {
        "shac": learn.Trial(learn.SHAC, learn.SHACSettings(**by_gradient, **sizes), every),
        "ahac": learn.Trial(learn.AHAC, learn.AHACSettings(**by_gradient, **sizes), every),
        "sapo": learn.Trial(learn.SAPO, learn.SAPOSettings(**by_gradient, **sizes), every),
        "ppo": learn.Trial(learn.PPO, learn.PPOSettings(minibatch=4096, **sizes), every),
    }


class DflexRunner(TorchTask):
    """A robot runs along x. Reward: forward velocity + 0.1 cosine of the torso's vertical with the world's + cosine
    of its front with x + reward of the torso's height. An episode ends where the torso is lower than `least`.

    Observed: height, orientation, velocity and angular velocity of the torso, joint angles and a tenth of their
    velocities, and both cosines."""

    substeps = 4
    robot: str  # scene of the library, and its model
    height: float  # m, of the torso at the start
    least: float  # m
    turn: float  # rad, at the start joints are turned by up to this
    ground: dict[str, float]  # stiffness N/m, damping N s/m, friction
    slip: float  # N s/m, the resistance of friction to slip below its limit

    def __init__(self, friction="viscous"):
        self.friction = friction
        super().__init__()

    def load(self):
        scene, model = dflex_scene(self.robot, self.ground, self.slip if self.friction == "viscous" else math.inf)
        self.change(model)
        return load_scene(self.robot, scene, model)

    def change(self, model):
        """Gives the model dflex's masses, joints and torques."""
        raise NotImplementedError

    def height_reward(self, z):
        raise NotImplementedError

    def __repr__(self):
        return f"<{type(self).__name__}, {self.friction} friction>"  # without a path, so that runs resume elsewhere

    def start(self, random):
        q, v = self.home
        angle, axis = random.uniform(-math.pi / 24, math.pi / 24), random.uniform(-0.5, 0.5, 3)
        place = numpy.concatenate([random.uniform(-0.1, 0.1, 3), angle * axis / numpy.linalg.norm(axis),
                                   random.uniform(-self.turn, self.turn, len(v) - 6)])
        q = self.model.retract(q, place)
        q[2] += self.height - self.home[0][2]
        return q, v + random.uniform(-0.25, 0.25, len(v))

    def torch_observation(self, x, t):
        q, v = x[:, :self.model.nq], self.v(x)
        return torch.cat([q[:, 2:7], v[:, :6], q[:, 7:], 0.1 * v[:, 6:], *cosines(x)], 1)

    def torch_reward(self, x, action, x_next, t):
        up, ahead = cosines(x_next)
        return self.v(x_next)[:, 0] + 0.1 * up[:, 0] + ahead[:, 0] + self.height_reward(x_next[:, 2])

    def terminated(self, x, t):
        return x[:, 2] < self.least


def cosines(x):
    """((n, 1), (n, 1)): of the angles between the vertical of the torso and of the world, and between its front and
    x."""
    w, i, j, k = (x[:, 3:7] / x[:, 3:7].norm(dim=1, keepdim=True)).T[:, :, None]
    return 1 - 2 * (i * i + j * j), 1 - 2 * (j * j + k * k)


class DflexAnt(DflexRunner):
    robot = "ant"
    height, least, turn = 0.75, 0.27, 0.1
    # dflex's damping is 10 kN s/m^2 times the depth, which is 11 mm where the ant stands on four feet.
    ground = {"stiffness": 4e4, "damping": 100.0, "friction": 0.75}
    slip = 3000.0

    def change(self, model):
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

    def height_reward(self, z):
        return z - self.least


SIZES = {"epochs": 1500, "num_envs": 128, "horizon": 32, "hidden": (128, 64, 32), "critic_hidden": (128, 64)}
BY_GRADIENT = {"rate": 1e-3, "critic_rate": 1e-3, "outliers": 2.0}

EXPERIMENT = learn.Experiment(DflexAnt, {
    **trials(SIZES, BY_GRADIENT, 10),
    "shac-dry": learn.Trial(learn.SHAC, learn.SHACSettings(**BY_GRADIENT, **SIZES), 10, partial(DflexAnt, "dry"),
                            "SHAC, dry friction"),
}, goals=(3000, 5000, 6604))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_dflex_ant"))
