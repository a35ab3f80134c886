"""The command line of experiments: which learners learn a task, with which seeds, and what is written."""
from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import importlib.util
import json
import math
import os
import statistics
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import torch

from ..gym.task import Task
from .export import export
from .learner import Learner, Settings
from .processes import processes
from .runs import Evaluation, Row, evaluate, replay, train, write_curve
from .table import markdown, summarize, write_table


class Trial(NamedTuple):
    """A learner with its settings."""

    learner: Callable[..., Learner]
    settings: Settings
    every: int  # epochs between evaluations
    task: Optional[Callable[[], Task]] = None  # another one than that of the experiment
    label: Optional[str] = None  # in curves; None: the learner's name
    published: Mapping[str, float] = {}  # columns of the table with the results of others


class Experiment(NamedTuple):
    """Learners of a task, or of variants of one. Its functions must be importable by name, so that trainings may
    run in processes."""

    task: Callable[[], Task]
    learners: Dict[str, Trial]  # by the names of the command line
    measure: Optional[Callable[[Evaluation], Dict[str, float]]] = None  # more columns of the curve
    summary: Optional[Callable[[List[Row]], str]] = None  # the end of the line that is printed about a curve
    probe: Optional[Callable[[Learner], Dict[str, float]]] = None  # more columns, from the learner
    goals: Tuple[float, ...] = ()  # returns; the table says when they were reached
    seeds: Tuple[int, ...] = (0, 1, 2)  # if the command line has no others


def command(experiment: Experiment, description: str, out: str, arguments: Optional[Sequence[str]] = None) -> int:
    """Runs an experiment with the options of a command line; `--help` lists them. Returns the exit status: 1 if a
    training in another process has failed, which does not end the others."""
    options = _parser(experiment, description, out).parse_args(arguments)
    options.deadline = math.inf if options.minutes is None else time.time() + 60 * options.minutes
    experiment = experiment._replace(learners=dict(experiment.learners))
    for setting in options.set:
        _override(experiment, setting)
    folder = options.out
    folder.mkdir(parents=True, exist_ok=True)
    trials = [(name, seed) for seed in options.seeds for name in options.learners]
    curves, failed = {}, 0
    for (name, seed), rows in _finished(experiment, trials, options):
        failed += rows is None
        if rows:
            curves[name, seed] = rows
            more = experiment.summary(rows) if experiment.summary else ""
            print(f"{name} seed {seed}: {_sentence(rows[-1])}{more}", flush=True)
    rows = [row for name in options.learners for seed in options.seeds for row in curves.get((name, seed), [])]
    if rows:
        write_curve(folder / "learning.csv", rows)
        lines = summarize(rows, experiment.goals, [column for column in rows[0] if column not in _COLUMNS])
        published = {curve[0]["learner"]: experiment.learners[name].published
                     for (name, _), curve in curves.items()}
        lines = [{**line, **published[line["learner"]]} for line in lines]
        print(markdown(lines), end="")
        written = ["learning.csv", *write_table(lines, folder)]
        if importlib.util.find_spec("matplotlib"):
            written += plot(rows, folder)
        print(f"wrote {folder}/{', '.join(written)}")
    done = {key: curves[key][-1]["epoch"] if key in curves else 0 for key in trials}
    wanted = {name: _last(experiment.learners[name], options.until) for name in options.learners}
    open_ones = sum(int(done[name, seed]) < wanted[name] for name, seed in trials)
    if open_ones:
        print(f"{open_ones} of {len(trials)} trainings have not reached their end; --resume goes on")
    return int(failed > 0)


def _last(trial: Trial, until: Optional[int]) -> int:
    """The epoch at which a training ends."""
    return trial.settings.epochs if until is None else min(until, trial.settings.epochs)


def _finished(experiment: Experiment, trials: List[Tuple[str, int]],
              options: Any) -> Iterator[Tuple[Tuple[str, int], Optional[List[Row]]]]:
    """Trials and their curves, as they finish: in this process, or in several. None for one that has failed."""
    workers = min(options.workers, len(trials))
    if workers == 1:
        for trial in trials:
            yield trial, _learn(experiment, *trial, options)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # of the processes that start now
    with processes(workers) as pool:
        jobs = {pool.submit(_learn, experiment, *trial, options): trial for trial in trials}
        for job in concurrent.futures.as_completed(jobs):
            error = job.exception()
            if error is not None:
                print(f"{jobs[job][0]} seed {jobs[job][1]} has failed:", file=sys.stderr)
                traceback.print_exception(type(error), error, error.__traceback__)
            yield jobs[job], job.result() if error is None else None


_COLUMNS = {"learner", "seed", "epoch", "environment steps", "processor seconds", "return", "spread", "length"}


def _parser(experiment: Experiment, description: str, out: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    names = list(experiment.learners)
    parser.add_argument("--out", type=Path, default=Path(out), help="folder of what is written")
    parser.add_argument("--learners", nargs="+", choices=names, default=names)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(experiment.seeds))
    parser.add_argument("--until", type=int, help="stop after this many epochs")
    parser.add_argument("--minutes", type=float, metavar="M",
                        help="stop every training at its first evaluation after M minutes of this command, and "
                        "begin no others; 0: only write the curves and the table of what is saved")
    parser.add_argument("--save", action="store_true", help="write OUT/LEARNER-SEED.pt at every evaluation")
    parser.add_argument("--resume", action="store_true", help="go on from these files; implies --save")
    parser.add_argument("--view", action="store_true", help="write a page of each learned policy by costate.view")
    parser.add_argument("--export", action="store_true", help="write each policy as OUT/LEARNER-SEED.json")
    parser.add_argument("--workers", type=int, default=_processors(),
                        help="number of parallel trainings")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="LEARNER.NAME=VALUE",
                        help="other settings, as JSON; the learner * means all that have this setting")
    return parser


def _processors() -> int:
    """How many processors this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _override(experiment: Experiment, setting: str) -> None:
    """Replaces one setting of one learner, or of all, from a text such as shac.epochs=5."""
    key, _, value = setting.partition("=")
    name, _, field = key.partition(".")
    if name != "*" and name not in experiment.learners:
        known = ", ".join(experiment.learners)
        raise SystemExit(f"--set {setting}: there is no learner {name!r}; there are {known}")
    chosen = {name: trial for name, trial in experiment.learners.items() if key.startswith(("*.", f"{name}."))}
    fields = {name: ["every", *(each.name for each in dataclasses.fields(trial.settings))]
              for name, trial in chosen.items()}
    if not any(field in known for known in fields.values()):
        known = ", ".join(dict.fromkeys(each for known in fields.values() for each in known))
        raise SystemExit(f"--set {setting}: {name} has no setting {field!r}; there are {known}")
    number = json.loads(value)
    new = tuple(number) if isinstance(number, list) else number
    for each, trial in chosen.items():
        if field == "every":
            experiment.learners[each] = trial._replace(every=int(new))
        elif field in fields[each]:
            settings = dataclasses.replace(trial.settings, **{field: new})
            experiment.learners[each] = trial._replace(settings=settings)


def _learn(experiment: Experiment, name: str, seed: int, options: Any) -> List[Row]:
    """The curve of one training, on one thread."""
    torch.set_num_threads(1)
    folder, trial = options.out, experiment.learners[name]
    learner = trial.learner((trial.task or experiment.task)(), seed, trial.settings)

    def report(row: Row) -> None:
        print(f"{name} seed {seed}: {_sentence(row)}", file=sys.stderr, flush=True)

    kept = folder / f"{name}-{seed}.pt"
    rows = train(learner, trial.every, until=options.until, save=kept if options.save or options.resume else None,
                 resume=options.resume, curve=folder / f"{name}-{seed}.csv", measure=experiment.measure,
                 probe=experiment.probe, label=trial.label, deadline=options.deadline, report=report)
    if options.view and rows:
        replay(learner.task, evaluate(learner.task, learner.policy), folder / f"{name}-{seed}.html")
    if options.export and rows:
        export(learner, folder / f"{name}-{seed}.json")
    return rows


def _sentence(row: Row) -> str:
    return (f"return {row['return']:.4g} +- {row['spread']:.2g} after {row['environment steps']} steps, "
            f"{row['processor seconds']:.0f} s of processor time")


def plot(rows: List[Row], folder: Path) -> List[str]:
    """Writes learning.svg and learning.png: the return, and the columns that an experiment adds, by environment
    steps; thick lines are medians over seeds at equal epochs, as far as all seeds have come. Returns their names."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = ["return", *(column for column in rows[0] if column not in _COLUMNS)]
    wide = min(len(columns), 3)
    high = math.ceil(len(columns) / wide)
    figure, grid = pyplot.subplots(high, wide, figsize=(4.5 * wide, 3.6 * high), layout="constrained",
                                   squeeze=False)
    axes = list(grid.flat)
    for axis in axes[len(columns) :]:
        axis.remove()
    for axis, column in zip(axes, columns):
        for i, name in enumerate(dict.fromkeys(row["learner"] for row in rows)):
            mine = [row for row in rows if row["learner"] == name]
            curves = [[row for row in mine if row["seed"] == seed] for seed in sorted({row["seed"] for row in mine})]
            for curve in curves:
                axis.plot(*_medians([curve], column), color=f"C{i}", alpha=0.3, linewidth=1)
            axis.plot(*_medians(curves, column), color=f"C{i}", linewidth=2, label=f"{name}, median of seeds")
        axis.set(xlabel="environment steps", ylabel=column, xscale="log")
        values = [float(row[column]) for row in rows]
        if min(values) > 0 and max(values) > 100 * min(values):
            axis.set_yscale("log")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize="small")
    for name in ("learning.svg", "learning.png"):
        figure.savefig(folder / name, dpi=150)
    pyplot.close(figure)
    return ["learning.svg", "learning.png"]


def _medians(curves: List[List[Row]], column: str) -> Tuple[List[float], List[float]]:
    """(environment steps, numbers of the column): medians over curves of each evaluation that all of them have."""
    rows = list(zip(*curves))
    steps, numbers = ([statistics.median([float(row[name]) for row in each]) for each in rows]
                      for name in ("environment steps", column))
    return steps, numbers
