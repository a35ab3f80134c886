"""A hopper learns to hop by SHAC, with several laws of contact, and by PPO: does hard contact spoil the gradient?

python3 learn_hopper.py [--learners shac ppo] [--seeds 0 1 2] [--workers 2] [--minutes 9] [--resume] [--view]

Xu et al. (2022) and Georgiev et al. (2024) publish curves of this task, in dflex, whose contacts are springs. The
reward is that of `costate.gym`'s hopper. As there, an episode has 1000 control steps of 1/60 s, and starts are
random within 0.05. The model is Gymnasium's, in time steps of 1/240 s. --help lists more options.

The learners are SHAC with contacts that are rigid, by the solvers ncp (`shac`), lcp and pgs, or springs
(`shac-stiffness`), each also without the limit of outliers of the gradient (`-free`), SHAC with rigid contacts by
ncp that the gradient feels from a distance (`shac-distant`), and PPO. The table has medians over seeds. Its columns
"noise" have, for each learner, the `gradient_noise` of its policies at every evaluation: in states of 64 of its
environments, the same policy acts under each law of contact. A noise near 64 means that nothing but noise is left.
"ncp limited" limits outliers as the learner does.
"""
import json
import math
import os
import sys
from functools import partial
from pathlib import Path

import costate
from costate import gym, learn

SCENES = Path(os.environ.get("COSTATE_SCENES") or Path(__file__).resolve().parents[3] / "scenes/library")
CONTACTS = {
    "ncp": {"solver": {"type": "ncp"}},
    "lcp": {"solver": {"type": "lcp"}},
    "pgs": {"solver": {"type": "pgs"}},
    # N/m, as in dflex, and N s/m; dflex has 1 kN s/m^2 times the depth, which is 2 mm where the hopper stands
    "stiffness": {"ground": {"stiffness": 2e4, "damping": 1e3}},
    "distant": {"solver": {"type": "ncp", "distant_contacts": {"distance": 0.02, "stiffness": 2e4}}},  # m and N/m
}
LIMIT = 2.0  # of outliers of the gradient, in medians
PROBED = 64  # environments


class DflexHopper(gym.Hopper):
    substeps = 4
    noise = 0.05

    def __init__(self, contact="ncp"):
        self.contact = contact
        super().__init__()

    def load(self):
        file = SCENES / "hopper.json"
        scene = {**json.loads(file.read_text()), "time_step": 1 / 240, **CONTACTS[self.contact]}
        return costate.Model.from_string(scene, name=file)

    def __repr__(self):
        return f"<DflexHopper, {self.contact}>"  # without a path, so that runs resume elsewhere


def noise(learner):
    """The noise of the gradient of this policy under each law of contact."""
    now = learner.env.snapshot()
    where = now["x"][:PROBED], now["t"][:PROBED]
    cases = [(contact, contact, math.inf) for contact in CONTACTS] + [("ncp limited", "ncp", LIMIT)]
    return {f"noise {name}": learn.gradient_noise(learner, DflexHopper(contact), *where, outliers=limit,
                                                   seed=learner.epochs) for name, contact, limit in cases}


def summary(rows):
    """When the curve first passed the returns of interest."""
    goals = {goal: [row for row in rows if row["return"] >= goal] for goal in (3000, 4000, 4742)}
    return "".join(f"; {goal} after {found[0]['environment steps']} steps, {found[0]['processor seconds']:.0f} s"
                   for goal, found in goals.items() if found)


SIZES = {"epochs": 150, "num_envs": 256, "horizon": 32, "hidden": (128, 64, 32), "critic_hidden": (128, 64)}


RATES = {"rate": 1.5e-3, "critic_rate": 5e-4}


def shac(contact, outliers, label):
    settings = learn.SHACSettings(outliers=outliers, **RATES, **SIZES)
    return learn.Trial(learn.SHAC, settings, 10, partial(DflexHopper, contact), label)


def on_springs(learner, settings, label):
    return learn.Trial(learner, settings, 10, partial(DflexHopper, "stiffness"), label)


LEARNERS = {
    "shac": shac("ncp", LIMIT, "SHAC ncp"),
    "shac-lcp": shac("lcp", LIMIT, "SHAC lcp"),
    "shac-pgs": shac("pgs", LIMIT, "SHAC pgs"),
    "shac-stiffness": shac("stiffness", LIMIT, "SHAC stiffness"),
    "shac-distant": shac("distant", LIMIT, "SHAC distant"),
    "ahac-stiffness": on_springs(learn.AHAC, learn.AHACSettings(outliers=LIMIT, **RATES, **SIZES), "AHAC stiffness"),
    "sapo-stiffness": on_springs(learn.SAPO, learn.SAPOSettings(outliers=LIMIT, **RATES, **SIZES), "SAPO stiffness"),
    "ppo-stiffness": on_springs(learn.PPO, learn.PPOSettings(minibatch=1024, **SIZES), "PPO stiffness"),
    "ppo": learn.Trial(learn.PPO, learn.PPOSettings(minibatch=1024, **SIZES), 10),
    "shac-free": shac("ncp", math.inf, "SHAC ncp unlimited"),
    "shac-lcp-free": shac("lcp", math.inf, "SHAC lcp unlimited"),
    "shac-pgs-free": shac("pgs", math.inf, "SHAC pgs unlimited"),
    "shac-stiffness-free": shac("stiffness", math.inf, "SHAC stiffness unlimited"),
}

EXPERIMENT = learn.Experiment(DflexHopper, LEARNERS, None, summary, noise, (3000, 4742))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_hopper"))
