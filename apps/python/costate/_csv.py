"""Recordings from CSV files with the columns that `costate simulate` writes."""
from __future__ import annotations

import csv
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

import numpy

from ._arrays import Array, suggestion
from ._outputs import Output
from .errors import BadFile
from .model import Model


class Table:
    """The numbers of a CSV file; empty cells are NaN."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                rows = [(reader.line_num, row) for reader in [csv.reader(file)] for row in reader if row]
        except UnicodeDecodeError:
            raise BadFile(f"{path}: is not UTF-8; save it as such") from None
        except OSError as error:
            raise BadFile(f"{path}: cannot be read: {error.strerror}; check the path") from None
        except csv.Error as error:
            raise BadFile(f"{path}: is not CSV: {error}") from None
        if len(rows) < 2:
            raise BadFile(f"{path}: has no rows; write a line of column names, then a line for each sample")
        self.names = [name.strip() for name in rows[0][1]]
        for name in self.names:
            if self.names.count(name) > 1:
                raise BadFile(f"{path}: has two columns {name!r}; remove one of them")
        if "time" not in self.names:
            raise BadFile(f"{path}: has no column 'time', s; add it")
        self.values = numpy.array([self._numbers(line, row) for line, row in rows[1:]])
        self.times = self.column("time")
        wrong = numpy.flatnonzero(~(numpy.diff(self.times, prepend=-numpy.inf) > 0))
        if len(wrong) > 0:
            raise BadFile(f"{path}: line {rows[1 + wrong[0]][0]}: time does not increase; sort the rows and remove "
                          "what is double")

    def _numbers(self, line: int, row: Sequence[str]) -> List[float]:
        if len(row) != len(self.names):
            raise BadFile(f"{self.path}: line {line} has {len(row)} cells, but there are {len(self.names)} columns; "
                          "complete it")
        out = []
        for name, cell in zip(self.names, row):
            try:
                out.append(float(cell) if cell.strip() else numpy.nan)
            except ValueError:
                raise BadFile(f"{self.path}: line {line}: {cell!r} in column {name!r} is not a number; correct it, or "
                              "leave it empty where nothing was measured") from None
        return out

    def column(self, name: str) -> Array:
        found: Array = self.values[:, self.names.index(name)]
        return found

    def of(self, columns: Sequence[Sequence[str]]) -> Optional[Array]:
        """The numbers (rows, n) of n columns, each of which may have several names; NaN for columns that are
        missing, None if all are."""
        found = [next((name for name in names if name in self.names), None) for names in columns]
        if all(name is None for name in found):
            return None
        empty = numpy.full(len(self.values), numpy.nan)
        table: Array = numpy.stack([empty if name is None else self.column(name) for name in found], 1)
        return table


def columns_of(output: Output) -> List[List[str]]:
    """The columns of a signal: for each of its numbers the names that it may have."""
    name, size = output.name, output.rotations.size
    if output.kind == "sensor":
        parts = [""] if size == 1 else [f"[{k}]" for k in range(size)]
        return [[f"{name}{part}", f"sensor({name}){part}"] for part in parts]
    if size == 1:
        return [[name]]
    place, turn = [".x", ".y", ".z"], [".qw", ".qx", ".qy", ".qz"] if output.rotations.starts else [".wx", ".wy", ".wz"]
    parts = {3: turn, 4: turn}.get(size, place + turn)
    if output.kind == "pose":
        return [[f"{name}{part}", f"site({output.frame}){part}"] for part in parts]
    return [[f"{name}{part}"] for part in parts]


def start_of(table: Table, row: int, model: Model) -> Array:
    """The state x (nx) of a row, which needs the columns of all joints and their velocities. Activations without a
    column "act(NAME)" have their initial values."""
    q, v = model.initial_state()
    for joint in model.joints:
        for name, into, where in ((joint, q, 0), (f"d({joint})", v, 1)):
            part = model.joint_slices(joint)[where]
            if part.stop == part.start:
                continue
            values = table.of(columns_of(Output(model, name)))
            if values is None or not numpy.isfinite(values[row]).all():
                raise BadFile(f"{table.path}: a start of \"row\" needs all numbers of {name!r} at "
                              f"{table.times[row]:g} s; add them, or give the start as numbers")
            into[part] = values[row]
    x = model.state(q, v)
    for k, name in enumerate(model.activations):
        values = table.of([[f"act({name})"]])
        if values is not None and numpy.isfinite(values[row, 0]):
            x[model.nq + model.nv + k] = values[row, 0]
    return x


def controls_of(table: Table, begin: float, step: float, n: int, model: Model) -> Optional[Array]:
    """The controls (n, nu) of n control steps from the time `begin`: those of the last row at or before each."""
    if model.nu == 0:
        return None
    missing = [name for name in model.actuators if f"u({name})" not in table.names]
    if missing:
        known = [name for name in table.names if name.startswith("u(")]
        raise BadFile(f"{table.path}: has no column 'u({missing[0]})'{suggestion(f'u({missing[0]})', known)}; add the "
                      "controls of all actuators, or name their file by \"controls\"")
    row = numpy.searchsorted(table.times, begin + step * numpy.arange(n) + 1e-6 * step, "right") - 1
    if row[0] < 0:
        raise BadFile(f"{table.path}: the controls begin at {table.times[0]:g} s, the motion at {begin:g} s; add a row "
                      "for the time before")
    u: Array = numpy.stack([table.column(f"u({name})") for name in model.actuators], 1)[row]
    if not numpy.isfinite(u).all():
        raise BadFile(f"{table.path}: a control is missing between {begin:g} and {begin + step * n:g} s; fill it in")
    return u


def samples_of(table: Table, outputs: Dict[str, Output], begin: float, end: float,
               step: float) -> Tuple[Array, Dict[str, Array]]:
    """Times (n), s after `begin`, of the rows up to `end`, and the signals (n, size) among their columns."""
    rows = (table.times >= begin - 1e-6 * step) & (table.times <= end + 1e-6 * step)
    if not rows.any():
        raise BadFile(f"{table.path}: has no rows between {begin:g} and {end:g} s; it goes from {table.times[0]:g} to "
                      f"{table.times[-1]:g} s")
    signals = {}
    for name, output in outputs.items():
        values = table.of(columns_of(output))
        if values is not None:
            signals[name] = values[rows]
    if not signals:
        first = columns_of(next(iter(outputs.values())))[0][0]
        raise BadFile(f"{table.path}: has no column of any signal in \"noise\", for example {first!r}; it has "
                      f"{', '.join(table.names[:8])}{', ...' if len(table.names) > 8 else ''}")
    return numpy.maximum(table.times[rows] - begin, 0), signals
