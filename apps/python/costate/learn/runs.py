"""Runs of learners: evaluation of policies, curves, files to go on from, and pages."""
from __future__ import annotations

import csv
import math
import os
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Union

import numpy
import torch

from .._arrays import Array, Integers
from ..gym import make_task, make_vec
from ..gym.task import Plant, Ranges, Task
from ..model import PathLike
from ..viewer import view
from .learner import Learner

Policy = Callable[[torch.Tensor], torch.Tensor]
Row = Dict[str, Union[str, int, float]]


class Evaluation(NamedTuple):
    """Episodes of a policy from n starts."""

    returns: Array  # (n) sums of rewards until the episode ended
    lengths: Integers  # (n) control steps until then
    states: Array  # (steps + 1, n, nx), with the numbers that the task carries
    controls: Array  # (steps, n, nu) of the model


def evaluate(task: Union[Task, str], policy: Policy, starts: int = 8, seed: int = 1000, threads: int = 1,
             randomize: Optional[Ranges] = None, plant: Optional[Plant] = None) -> Evaluation:
    """Episodes of a policy, a function from observations (n, observation_size) to actions (n, nu), from the same
    starts for the same seed; randomize and plant as of `costate.gym.VectorEnv`."""
    chosen = make_task(task) if isinstance(task, str) else task
    env = make_vec(chosen, starts, threads, autoreset_mode="DISABLED", randomize=randomize, plant=plant)
    observation, _ = env.reset(seed=seed)
    returns, lengths = numpy.zeros(starts), numpy.zeros(starts, numpy.int32)
    alive, states, controls = numpy.ones(starts, bool), [env.state], []
    while alive.any():
        with torch.no_grad():
            action = policy(torch.as_tensor(observation, dtype=torch.float32)).double().numpy()
        controls.append(env.controls(action))
        observation, reward, terminated, truncated, _ = env.step(action)
        returns, lengths = returns + numpy.where(alive, reward, 0), lengths + alive
        alive &= ~(terminated | truncated)
        states.append(env.state)
    env.close()
    return Evaluation(returns, lengths, numpy.array(states), numpy.array(controls))


def replay(task: Task, evaluation: Evaluation, out: PathLike, start: int = 0) -> str:
    """Writes a page by `costate.view` of the episode from one of the starts; returns its path."""
    n = evaluation.lengths[start]
    return view(task.model, evaluation.states[: n + 1, start, : task.model.nx], evaluation.controls[:n, start],
                time_step=task.control_step, out=out)


def train(learner: Learner, every: int, *, until: Optional[int] = None, save: Optional[PathLike] = None,
          resume: bool = False, curve: Optional[PathLike] = None, starts: int = 8,
          measure: Optional[Callable[[Evaluation], Dict[str, float]]] = None,
          probe: Optional[Callable[[Learner], Dict[str, float]]] = None, label: Optional[str] = None,
          deadline: float = math.inf, report: Callable[[Row], None] = lambda row: None) -> List[Row]:
    """Trains until `until` epochs, or the number in the learner's settings; returns the curve, with a row every
    `every` epochs: learner, seed, epoch, environment steps, processor seconds of learning, mean and standard
    deviation of the returns of `evaluate`, mean length of episodes, and what `measure` of the evaluation and
    `probe` of the learner add.

    save: a file that every evaluation replaces; with `resume`, the run goes on from it if it exists, and gives the
    same numbers as without interruption. curve: a CSV file of all rows. label: the learner in the curve; None: its
    name. deadline: a time as of time.time(); the run ends with the first evaluation after it. report: called with
    every new row."""
    rows: List[Row] = []
    if resume and save is not None and os.path.isfile(save):
        rows = load(learner, save)
    last = learner.settings.epochs if until is None else min(until, learner.settings.epochs)
    while learner.epochs < last and (time.time() < deadline or learner.epochs % every != 0):
        learner.epoch()
        if learner.epochs % every == 0 or learner.epochs == learner.settings.epochs:
            found = evaluate(learner.task, learner.policy, starts)
            row: Row = {
                "learner": learner.name if label is None else label, "seed": learner.seed, "epoch": learner.epochs,
                "environment steps": learner.steps, "processor seconds": round(learner.seconds, 2),
                "return": float(found.returns.mean()), "spread": float(found.returns.std()),
                "length": float(found.lengths.mean())
            }
            for more in (measure(found) if measure else {}, probe(learner) if probe else {}):
                row.update({column: float(value) for column, value in more.items()})
            rows.append(row)
            report(row)
            if save is not None:
                store(learner, save, rows)
            if curve is not None:
                write_curve(curve, rows)
    return rows


def store(learner: Learner, path: PathLike, rows: List[Row]) -> None:
    """Writes a learner and its curve; the file at `path` is always a whole one."""
    part = f"{os.fspath(path)}.part"
    torch.save({"learner": learner.snapshot(), "rows": rows}, part)
    os.replace(part, path)


def load(learner: Learner, path: PathLike) -> List[Row]:
    """Restores a learner from a file of `store`; returns its curve."""
    stored: Dict[str, Any] = torch.load(path)
    learner.restore(stored["learner"])
    rows: List[Row] = stored["rows"]
    return rows


def write_curve(path: PathLike, rows: List[Row]) -> None:
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
