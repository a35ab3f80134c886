"""Half a cheetah learns to run by SHAC, AHAC, SAPO and PPO, with the reward, torques and contacts of dflex.

python3 learn_dflex_cheetah.py [--learners shac] [--seeds 0 1 2] [--workers 2] [--minutes 9] [--resume] [--view]

The control step, torques, friction and the springs of contacts and joints are those of `envs/cheetah.py` in
NVlabs/DiffRL (Xu et al. 2022), whose reward is that of `costate.gym`'s half cheetah. The model is Gymnasium's, and
actions are not observed. --help lists more options.
"""
import sys

from costate import gym, learn
from learn_dflex_ant import dflex_scene, load_scene, trials

TORQUE = 200.0  # N m
ARMATURE = 0.1  # kg m^2
SLIP = 1000.0  # N s/m, the resistance of friction to slip below its limit
# dflex's damping is 1 kN s/m^2 times the depth, a few mm.
GROUND = {"stiffness": 2e4, "damping": 5.0, "friction": 1.0}


class DflexCheetah(gym.HalfCheetah):
    substeps = 4

    def load(self):
        scene, model = dflex_scene(self.scene, GROUND, SLIP)
        for body in model["bodies"]:
            if "limits" in body.get("joint", {}):
                body["joint"]["armature"] = ARMATURE
        for actuator in model["actuators"]:
            actuator["gear"] = TORQUE
        return load_scene(self.scene, scene, model)

    def __repr__(self):
        return "<DflexCheetah>"  # without a path, so that runs resume elsewhere


SIZES = {"epochs": 1500, "num_envs": 128, "horizon": 32, "hidden": (128, 64, 32), "critic_hidden": (128, 64)}
BY_GRADIENT = {"rate": 1e-3, "critic_rate": 1e-3, "outliers": 2.0}

EXPERIMENT = learn.Experiment(DflexCheetah, trials(SIZES, BY_GRADIENT, 20), goals=(3000, 6000, 9000))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_dflex_cheetah"))
