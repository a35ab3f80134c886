"""Simulation of articulated rigid bodies with contact, and its exact derivatives.

    import costate
    model = costate.Model("go1_stand")
    q, v = model.initial_state()
    q_next, v_next = model.step(q, v, numpy.zeros(model.nu))

`costate.Model` computes with one state, `costate.Batch` with many; `costate.gym` has environments, `costate.torch` functions for PyTorch
(import both by name). Arrays are float64, C-contiguous, in SI units.

nq: numbers of a configuration q, including quaternions (w x y z)
nv: numbers of a velocity, a joint force, or a tangent vector
nx: numbers of a whole state x = (q, v), followed by the impulses that a model with a warm start keeps
ndx: numbers of a tangent vector of x

A free joint has q = (position, quaternion) and v = (velocity of its origin in world axes, angular velocity in body axes). Gradients with
respect to q are tangent vectors (nv), except in `costate.torch`, where a gradient has the shape of its tensor.
"""
from .batch import Batch, BatchGradient
from .errors import BadArgument, BadFile, BadHandle, BadVersion, Diverged, Error, Internal, ModelWarning, NoMemory
from .model import Model, StateGradient, StepGradient, StepJacobian

__all__ = ["Model", "Batch", "BatchGradient", "StateGradient", "StepGradient", "StepJacobian", "ModelWarning", "Error",
           "BadArgument", "BadFile", "BadHandle", "BadVersion", "Diverged", "Internal", "NoMemory"]
