"""Learners of policies, each in one short file with its paper and equations. Needs PyTorch.

    from costate import learn
    learner = learn.SHAC("cartpole-swing-up", seed=0)
    rows = learn.train(learner, every=5, save="swing.pt", resume=True, curve="swing.csv")
    learn.evaluate(learner.task, learner.policy).returns

`SHAC`, `AHAC` and `SAPO` follow gradients of the simulator through many steps. `PPO` and `SAC` are baselines that
use rewards only; options of `SAC` add the Jacobian of each step. A task is a name of `costate.gym`, a
`costate.gym.Task`, or, with observation and reward as functions of tensors, a `costate.torch.TorchTask`. One call of
the library steps all environments.
"""
from .ahac import AHAC, AHACSettings
from .command import Experiment, Trial, command
from .export import export, read_policy
from .learner import Learner, Settings
from .networks import Actor, Normalizer, perceptron
from .noise import gradient_noise
from .ppo import PPO, PPOSettings
from .runs import Evaluation, evaluate, load, replay, store, train, write_curve
from .sac import SAC, SACSettings
from .sapo import SAPO, SAPOSettings
from .shac import SHAC, SHACSettings
from .table import markdown, summarize, write_table

__all__ = ["Learner", "Settings", "PPO", "PPOSettings", "SAC", "SACSettings", "SHAC", "SHACSettings", "AHAC",
           "AHACSettings", "SAPO", "SAPOSettings", "Actor", "Normalizer", "perceptron", "Evaluation", "evaluate",
           "replay", "train", "store", "load", "write_curve", "export", "read_policy", "Experiment", "Trial", "command",
           "gradient_noise", "summarize", "markdown", "write_table"]
