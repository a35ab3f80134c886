"""A Unitree Go1 learns to walk as commanded, by SHAC, which uses the gradients of the simulator, and by PPO.

python3 learn_go1.py [--learners shac ppo] [--seeds 0 1 2] [--minutes 9] [--resume] [--view] [--export]

The policy acts 50 times a second on the targets of the twelve servos. A command is a velocity (forward, left, turn),
drawn twice in an episode of 10 s; one in eight is to stand. Every episode has its own mass of the trunk, friction of
each foot and gains of each servo, within 20 % or 30 % of the model's, and a push, a sudden change of velocity.

The policy does not begin from nothing: its actions are added to a trot in place, by a clock that it observes (as in
Iscen et al., Policies Modulating Trajectory Generators, 2018). In short runs without it, of 0.1 to 0.2 million steps,
SHAC's robots stood and leaned, or lifted their feet little by little, or fell.

The learners are SHAC and PPO on ground with springs at the contacts, and SHAC on rigid ground, `shac-rigid`.

The columns "speed error" and "turn error" are root mean squares over all steps of eight such episodes, pushes and
changes of command included; "lift" is the mean height of the feet in the middle of their swings, and "falls" counts
the episodes that end early. --export writes the policy for apps/c_api/examples/go1_walk.c. --help lists more options.
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
WORLD = {"time_step": 0.005, "solver": {"type": "pgs", "sweeps": 10}}
GROUNDS = {"springs": {"stiffness": 3000, "damping": 150}, "rigid": True}  # N/m, N s/m
HIPS = [[0.1881, -0.04675], [0.1881, 0.04675], [-0.1881, -0.04675], [-0.1881, 0.04675]]  # m: FR, FL, RR, RL
SIDE, LINK, RADIUS = 0.08, 0.213, 0.023  # m: from hip to thigh, of thigh and calf, of a foot
MOST = numpy.array([0.8, 0.4, 1.0])  # m/s forward, m/s left, rad/s left turn: largest commands
PUSH = numpy.array([0.5, 0.5, 0.5])  # m/s, m/s, rad/s
HEIGHT, LIFT = 0.28, 0.06  # m: of the trunk, of a foot in its swing
STEP = numpy.array([0, 0.17, -0.34])  # rad: hip, thigh and calf of a leg whose foot is lifted by LIFT
PERIOD = 25  # control steps of a trot
ENOUGH = 0.15  # m/s, speed error of a robot that walks


class Go1(TorchTask):
    """Carried: two commands, the step at which the second begins, the step and the change of velocity of a push, the
    last action. Observed (50): gravity, velocity and angular velocity in axes of the trunk, joint angles from
    standing, joint velocities, last action, command, clock."""

    substeps = 4
    steps = 500
    noise = 0.05
    scale = 0.5  # rad
    carried = 3 + 3 + 1 + 1 + 3 + 12
    randomize = {
        "bodies/robot/trunk/mass": (0.8, 1.2), "shapes/robot/*_foot/friction": (0.7, 1.3),
        "actuators/*/kp": (0.8, 1.2), "actuators/*/kd": (0.8, 1.2)
    }

    def __init__(self, ground="springs"):
        self.ground = ground
        super().__init__()
        self.offset = self.home[0][7:]

    def load(self):
        file = SCENES / "go1_stand.json"
        return costate.Model.from_string({**json.loads(file.read_text()), **WORLD,
                                         "ground": GROUNDS[self.ground]}, name=file)

    def __repr__(self):
        return f"<Go1, {self.ground}>"  # without a path, so that runs resume elsewhere

    def draw(self, random):
        commands = random.uniform(-MOST, MOST, (2, 3)) * (random.uniform(size=(2, 1)) > 1 / 8)
        times = random.integers([100, 50], [400, 450])
        return numpy.concatenate([*commands, times, random.uniform(-PUSH, PUSH), numpy.zeros(12)])

    def kicks(self, x, t):
        own, kicks = self.own(x), numpy.zeros((len(x), self.model.nv))
        kicks[:, [0, 1, 5]] = numpy.where((own[:, 7] == t)[:, None], own[:, 8:11], 0)
        return kicks

    def feedforward(self, x, t):
        command = self.command(torch.from_numpy(x), torch.as_tensor(t))
        swing = self.swing(command, torch.as_tensor(t)).numpy()
        return (swing[:, :, None] * STEP).reshape(-1, 12)

    def torch_carry(self, x, action, x_next, t):
        return torch.cat([self.own(x)[:, :11], action], 1)

    def command(self, x, t):
        """(n, 3), of the control step that begins t steps after the start."""
        own = self.own(x)
        return torch.where((t < own[:, 6])[:, None], own[:, :3], own[:, 3:6])

    def motion(self, x):
        """(axes of the trunk in the world (n, 3, 3), velocity, angular velocity in these axes (n, 3))."""
        axes = rotation(x[:, 3:7])
        v = self.v(x)
        return axes, (v[:, None, :3] @ axes)[:, 0], v[:, 3:6]

    def feet(self, x, axes):
        """(n, 4, 3): the lowest points of the feet, from the kinematics of a leg, in the world."""
        hip, thigh, calf = x[:, 7:19].reshape(-1, 4, 3).unbind(2)
        side = SIDE * torch.tensor([-1.0, 1, -1, 1], dtype=x.dtype)
        along = -LINK * (thigh.sin() + (thigh + calf).sin())
        down = -LINK * (thigh.cos() + (thigh + calf).cos())
        across, up = side * hip.cos() - down * hip.sin(), side * hip.sin() + down * hip.cos()
        base = torch.tensor(HIPS, dtype=x.dtype)
        place = torch.stack([base[:, 0] + along, base[:, 1] + across, up], 2)
        return x[:, None, :3] + place @ axes.transpose(1, 2) - torch.tensor([0, 0, RADIUS], dtype=x.dtype)

    def clock(self, command, t):
        """(n): sine and cosine of the phase of the trot, 0 where the command is to stand."""
        phase, moves = 2 * math.pi / PERIOD * t, (command != 0).any(1)
        return moves * phase.sin(), moves * phase.cos()

    def swing(self, command, t):
        """(n, 4): the sine of the phase of a foot's swing, 0 in its stance."""
        sine = self.clock(command, t)[0]
        return torch.stack([sine, -sine, -sine, sine], 1).clamp(min=0)

    def torch_observation(self, x, t):
        command, (axes, velocity, turn) = self.command(x, t), self.motion(x)
        joints, speeds = x[:, 7:19] - torch.as_tensor(self.home[0][7:]), self.v(x)[:, 6:]
        clock = torch.stack(self.clock(command, t), 1)
        return torch.cat([-axes[:, 2], velocity, turn, joints, speeds, self.own(x)[:, 11:], command, clock], 1)

    def torch_reward(self, x, action, x_next, t):
        command, (before, _, _), (axes, velocity, turn) = self.command(x, t), self.motion(x), self.motion(x_next)
        feet = self.feet(x_next, axes)
        slip = (feet - self.feet(x, before))[..., :2].square().sum(2) / self.control_step**2
        swing = self.swing(command, t + 1)
        wrong_height = ((feet[..., 2] - LIFT * swing**2) / LIFT).square().sum(1)
        return (2 - 0.6 * excess(velocity[:, :2] - command[:, :2], 0.2)
                - 0.4 * excess(turn[:, 2:] - command[:, 2:], 0.4)
                - 0.2 * wrong_height - 0.03 * ((1 - swing.sqrt()) * slip).sum(1)
                - 20 * (x_next[:, 2] - HEIGHT) ** 2 - 2 * (1 - axes[:, 2, 2]) - 0.3 * velocity[:, 2] ** 2
                - 0.03 * turn[:, :2].square().sum(1) - 0.2 * x_next[:, 7:19:3].square().sum(1)
                - 0.02 * (action - self.own(x)[:, 11:]).square().sum(1) - 0.01 * action.square().sum(1))

    def terminated(self, x, t):
        flat = x[:, 4] ** 2 + x[:, 5] ** 2 > 0.15 * numpy.sum(x[:, 3:7] ** 2, 1)  # tilted by more than 45 degrees
        return flat | (x[:, 2] < 0.16)


def rotation(quaternion):
    """(n, 3, 3) of quaternions (n, 4) of any length."""
    w, x, y, z = (quaternion / quaternion.norm(dim=1, keepdim=True)).unbind(1)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return torch.stack(rows, 1).reshape(-1, 3, 3)


def excess(error, scale):
    """(n): quadratic for errors (n, k) far below `scale`, linear in their length far above."""
    return (1 + (error / scale).square().sum(1)).sqrt() - 1


def errors(evaluation):
    """Tracking errors and the number of falls."""
    task, states, lengths = Go1(), torch.from_numpy(evaluation.states), evaluation.lengths
    speed, turn, lift = [], [], []
    for i, n in enumerate(lengths):
        x, t = states[:n, i], torch.arange(int(n))
        command, (axes, velocity, rate) = task.command(x, t), task.motion(states[1 : n + 1, i])
        lift.append(task.feet(states[1 : n + 1, i], axes)[..., 2][task.swing(command, t + 1) > 0.95])
        speed.append((velocity[:, :2] - command[:, :2]).square().sum(1))
        turn.append((rate[:, 2] - command[:, 2]).square())
    return {"speed error": torch.cat(speed).mean().sqrt().item(), "turn error": torch.cat(turn).mean().sqrt().item(),
            "lift": torch.cat(lift).mean().item(), "falls": float((lengths < task.steps).sum())}


def summary(rows):
    last, walks = rows[-1], [row for row in rows if row["speed error"] < ENOUGH and row["falls"] == 0]
    when = f"{walks[0]['environment steps']} steps, {walks[0]['processor seconds']:.0f} s" if walks else "never"
    return (f"; below {ENOUGH} m/s after: {when}; errors {last['speed error']:.2f} m/s, "
            f"{last['turn error']:.2f} rad/s; {last['falls']:.0f} of 8 fell")


SIZES = {"epochs": 120, "num_envs": 256, "hidden": (128, 64), "critic_hidden": (128, 64), "log_std": -2.0, "gain": 0.05,
         "discount": 0.98}


def shac(ground, label):
    settings = learn.SHACSettings(horizon=16, rate=1e-3, critic_rate=1e-3, outliers=2.0, critic_passes=4, **SIZES)
    return learn.Trial(learn.SHAC, settings, 10, partial(Go1, ground), label)


EXPERIMENT = learn.Experiment(Go1, {
    "shac": shac("springs", "SHAC"),
    "ppo": learn.Trial(learn.PPO, learn.PPOSettings(horizon=32, minibatch=2048, passes=5, reward_scale=0.1, rate=1e-3,
                                                    **SIZES), 10),
    "shac-rigid": shac("rigid", "SHAC rigid"),
}, errors, summary, goals=(800,))

if __name__ == "__main__":
    sys.exit(learn.command(EXPERIMENT, __doc__.split("\n")[0], "out/learn_go1"))
