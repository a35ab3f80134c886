"""A humanoid learns to run by SHAC, AHAC, SAPO and PPO, with the reward, torques and contacts of dflex.

python3 learn_dflex_humanoid.py [--learners shac] [--seeds 0 1 2] [--workers 2] [--minutes 9] [--resume] [--view]

The reward, the start, the end of episodes, torques, friction and the springs of contacts and joints are those of
`envs/humanoid.py` in NVlabs/DiffRL (Xu et al. 2022). The model is Gymnasium's humanoid, which stands on spheres and has
no ankles; theirs is the one of dm_control. Actions are not observed. --help lists more options.
"""
import sys

import torch

from costate import learn
from learn_dflex_ant import DflexRunner, trials

TORQUES = {"abdomen": 200, "hip_x": 200, "hip_z": 200, "hip_y": 600, "knee": 400, "shoulder": 100, "elbow": 200}  # N m
SCALE = 0.35  # of the torques


class DflexHumanoid(DflexRunner):
    robot = "humanoid"
    height, least, turn = 1.35, 0.74, 0.2
    # dflex's damping is 5 kN s/m^2 times the depth, which is 10 mm where the humanoid stands.
    ground = {"stiffness": 2e4, "damping": 25.0, "friction": 0.75}
    slip = 1000.0

    def change(self, model):
        for actuator in model["actuators"]:
            actuator["gear"] = SCALE * next(t for part, t in TORQUES.items() if part in actuator["joint"])
            actuator["control_limits"] = [-1, 1]

    def height_reward(self, z):
        lift = torch.clip(z - self.least - 0.1, -1, 0.1)
        return torch.where(lift < 0, -200 * lift**2, 10 * lift)

    def torch_reward(self, x, action, x_next, t):
        return super().torch_reward(x, action, x_next, t) - 0.002 * (action**2).sum(1)


SIZES = {"epochs": 1500, "num_envs": 128, "horizon": 32, "hidden": (256, 128), "critic_hidden": (128, 128)}
BY_GRADIENT = {"rate": 1e-3, "critic_rate": 5e-4, "outliers": 2.0}

EXPERIMENT = learn.Experiment(DflexHumanoid, trials(SIZES, BY_GRADIENT, 20), goals=(2000, 4000, 6000))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_dflex_humanoid"))
