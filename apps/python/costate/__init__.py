"""Simulation of articulated rigid bodies with contact, and its exact derivatives.

    import costate
    model = costate.Model("go1_stand")
    q, v = model.initial_state()
    q_next, v_next = model.step(q, v, numpy.zeros(model.nu))

`costate.Model` has one state at a time, `costate.Batch` many; `costate.gym` has environments, `costate.torch` functions for PyTorch
(both are imported by their names). Arrays are float64, C-contiguous, SI units. nq numbers are a configuration q, quaternions (w x y z)
included; nv a velocity, a joint force, or a tangent vector; nx a whole state x = (q, v), behind which a model with a
warm start keeps impulses, and ndx a tangent vector of it. A free joint has q = (position, quaternion) and v = (velocity of
its origin in world axes, angular velocity in body axes). Gradients by q are tangent vectors (nv), except in
`costate.torch`, where they have the shape of what they are the gradient of.
"""
from .batch import Batch, BatchGradient
from .errors import BadArgument, BadFile, BadHandle, BadVersion, Diverged, Error, Internal, ModelWarning, NoMemory
from .model import Model, StateGradient, StepGradient, StepJacobian

__all__ = ["Model", "Batch", "BatchGradient", "StateGradient", "StepGradient", "StepJacobian", "ModelWarning", "Error",
           "BadArgument", "BadFile", "BadHandle", "BadVersion", "Diverged", "Internal", "NoMemory"]
