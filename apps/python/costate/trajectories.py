"""Trajectories in CSV files with the columns of `costate simulate --out`."""
from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import List, NamedTuple, Optional, Tuple

import numpy

from ._arrays import Array, ArrayLike, check_type, numbers, suggestion
from ._csv import Table, columns_of
from ._loaded_model import PathLike
from ._outputs import Output
from .errors import BadFile
from .model import Model

_REMEDY = "costate.Model(file or name) loads one"


class Trajectory(NamedTuple):
    """States in time, and the controls of the steps that start in them."""

    times: Array  # (n), s
    states: Array  # (n, nx), without kept impulses
    controls: Optional[Array]  # (n, nu), that of the last state without effect; None if the file has none


def write_trajectory(file: PathLike, model: Model, states: ArrayLike, controls: Optional[ArrayLike] = None, *,
                     time_step: Optional[float] = None) -> None:
    """Writes states of a model as CSV, with the columns that `costate simulate --out` writes: time, s, coordinates
    and velocities of all joints, and controls "u(actuator)" if they are given. `costate view --run`,
    `costate simulate --controls` and `costate.identify` read such files. Every number is read back as it was.

    states: (n, nx), or without kept impulses, in time; of a rollout of a batch, states[:, i] is environment i.
    controls: (n, nu) or (n - 1, nu), those of the step from each state; a missing last row repeats the one before.
    time_step: seconds between two states; None: that of the model."""
    check_type("model", model, Model, _REMEDY)
    x, u = trajectory_rows(model, states, controls)
    step = model.time_step if time_step is None else float(time_step)
    if not (numpy.isfinite(step) and step > 0):
        raise ValueError(f"time_step is {step}, it must be positive")
    names = ["time", *state_columns(model)] + ([] if u is None else control_columns(model))
    rows = x if u is None else numpy.concatenate([x, u], 1)
    try:
        with open(os.fspath(file), "w", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([repr(i * step), *map(repr, row)] for i, row in enumerate(rows.tolist()))
    except OSError as error:
        raise BadFile(f"{os.fspath(file)}: cannot be written: {error.strerror}; check the path") from None


def read_trajectory(file: PathLike, model: Model) -> Trajectory:
    """The Trajectory of a CSV file with the columns of all joints of a model, in any order, and of all its controls
    or none; other columns, such as those of sensors, are left out. Raises BadFile for a file that is not such."""
    check_type("model", model, Model, _REMEDY)
    table = Table(Path(file))
    states = numpy.zeros((len(table.values), model.nx))
    names = state_columns(model)
    states[:, : len(names)] = _columns(table, names)
    inputs = control_columns(model)
    if not any(name in table.names for name in inputs):
        return Trajectory(table.times, states, None if inputs else numpy.zeros((len(states), 0)))
    return Trajectory(table.times, states, _columns(table, inputs))


def _columns(table: Table, names: List[str]) -> Array:
    """(rows, n) of columns that must be there and complete."""
    for name in names:
        if name not in table.names:
            raise BadFile(f"{table.path}: has no column {name!r}{suggestion(name, table.names)}; add it, or give the "
                          "model of this trajectory")
        if not numpy.isfinite(table.column(name)).all():
            raise BadFile(f"{table.path}: column {name!r} has a cell that is empty or not finite; fill it in")
    found: Array = numpy.stack([table.column(name) for name in names], 1)
    return found


def state_columns(model: Model) -> List[str]:
    """The names of the columns of q, then of v, then of the activations."""
    moving = [joint for joint in model.joints if _moves(model, joint)]
    outputs = [Output(model, joint) for joint in moving] + [Output(model, f"d({joint})") for joint in moving]
    return [names[0] for output in outputs for names in columns_of(output)] + [f"act({name})" for name in model.activations]


def control_columns(model: Model) -> List[str]:
    return [f"u({actuator})" for actuator in model.actuators]


def _moves(model: Model, joint: str) -> bool:
    v = model.joint_slices(joint)[1]
    return bool(v.stop > v.start)


def trajectory_rows(model: Model, states: ArrayLike,
                    controls: Optional[ArrayLike]) -> Tuple[Array, Optional[Array]]:
    """States without kept impulses, and controls (n, nu) if there are any."""
    x = numpy.asarray(states)
    own = model.nq + model.nv + len(model.activations)
    if x.ndim != 2 or x.shape[1] not in (model.nx, own) or len(x) == 0:
        raise ValueError(f"states must have shape (n, {model.nx}), not {x.shape}")
    x = numbers("states", x, x.shape)[:, :own]
    if controls is None:
        return x, None if model.nu > 0 else numpy.zeros((len(x), 0))
    u = numbers("controls", controls, (None, model.nu))
    if len(u) == len(x) - 1:
        u = numpy.concatenate([u, u[-1:] if len(u) > 0 else numpy.zeros((1, model.nu))])
    if len(u) != len(x):
        raise ValueError(f"controls must have {len(x)} or {len(x) - 1} rows, not {len(u)}")
    return x, u
