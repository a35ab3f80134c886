"""Simulation of articulated rigid bodies with contact, and its exact derivatives.

    import costate
    model = costate.Model("go1_stand")
    q, v = model.initial_state()
    q_next, v_next = model.step(q, v, numpy.zeros(model.nu))

`costate.Model` computes with one state, `costate.Batch` with many, `costate.Scene` with the objective of a file,
`costate.Controller` with its controls from measured states;
`costate.identify` finds parameters from recordings, `costate.transition` linearizes a step, `costate.view` writes a
page that replays states, `costate.write_trajectory` a file of them; `costate.gym` has environments, `costate.torch` functions for PyTorch, `costate.learn`
learners (import these by name). Results are arrays of float64 in SI units. Arguments may be anything that numpy
converts; arrays of float64 that are C-contiguous are passed without a copy.

nq: numbers of a configuration q, including quaternions (w x y z)
nv: numbers of a velocity, a joint force, or a tangent vector
nx: numbers of a whole state x = (q, v), followed by the impulses that a model with a warm start keeps
ndx: numbers of a tangent vector of x

A free joint has q = (position, quaternion) and v = (velocity of its origin in world axes, angular velocity in body
axes). Gradients with respect to q are tangent vectors (nv), except in `costate.torch`, where a gradient has the
shape of its tensor.
"""
from ._library import VERSION as __version__
from ._batch_runs import Rollout, RunBars, SensorJacobian
from ._identification.instruments import Signal
from ._identification.recordings import Recording
from ._identification.results import Evaluation, Identification
from ._identification.unknowns import Unknown
from ._batch_steps import BatchContacts, BatchJacobian
from .batch import Batch, BatchGradient
from .controller import Controller, Plan
from .errors import (BadArgument, BadFile, BadHandle, BadVersion, Diverged, Error, Internal, Interrupted,
                     ModelWarning, NoMemory)
from .identify import evaluate, identify
from .linear import OutputTransition, Transition, transition
from .model import Keyframe, Limits, Model, ObservationGradient, StateGradient, StepGradient, StepJacobian
from .scene import Feedback, Optimization, Scene, read_controller
from .trajectories import Trajectory, read_trajectory, write_trajectory
from .viewer import Page, view

__all__ = [
    "Model", "Batch", "Scene", "Optimization", "BatchContacts", "BatchGradient", "BatchJacobian", "Keyframe", "Limits", "ObservationGradient",
    "Rollout", "RunBars", "SensorJacobian", "StateGradient", "StepGradient",
    "StepJacobian", "OutputTransition", "Transition", "transition", "view", "Page", "Trajectory", "read_trajectory",
    "write_trajectory", "Feedback", "read_controller", "Controller",
    "Plan", "Recording", "Signal",
    "Unknown", "Identification", "Evaluation", "identify", "evaluate", "ModelWarning", "Error", "BadArgument", "BadFile",
    "BadHandle", "BadVersion", "Diverged", "Internal", "Interrupted", "NoMemory", "__version__"
]
