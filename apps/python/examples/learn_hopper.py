"""A hopper learns to hop by SHAC and by PPO, with the reward and the episodes of the simulator dflex.

python3 learn_hopper.py [--learners shac ppo] [--seeds 0 1 2] [--workers 2] [--resume] [--view]

Xu et al. (2022) and Georgiev et al. (2024) publish curves of this task, in dflex, whose contacts are springs. The
reward is that of `costate.gym`'s hopper. As there, an episode has 1000 control steps of 1/60 s, and starts are
random within 0.05. The model is Gymnasium's, with rigid contacts, in time steps of 1/240 s. --help lists more
options.
"""
import sys

from costate import gym, learn


class DflexHopper(gym.Hopper):
    substeps = 4
    noise = 0.05

    def load(self):
        model = super().load()
        theta = model.parameters
        theta[model.parameter_names.index("world/time_step")] = 1 / 240
        model.parameters = theta
        return model


def summary(rows):
    """When the curve first passed the returns of interest."""
    goals = {goal: [row for row in rows if row["return"] >= goal] for goal in (3000, 4000, 4742)}
    return "".join(f"; {goal} after {found[0]['environment steps']} steps, {found[0]['processor seconds']:.0f} s"
                   for goal, found in goals.items() if found)


SIZES = {"epochs": 150, "num_envs": 256, "horizon": 32, "hidden": (128, 64, 32), "critic_hidden": (128, 64)}

EXPERIMENT = learn.Experiment(DflexHopper, {
    "shac": (learn.SHAC, learn.SHACSettings(rate=1.5e-3, critic_rate=5e-4, outliers=2.0, **SIZES), 10),
    "ppo": (learn.PPO, learn.PPOSettings(minibatch=1024, **SIZES), 10),
}, None, summary)

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_hopper"))
