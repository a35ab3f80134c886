"""One table of many curves: a line per learner, with medians and ranges over seeds."""
from __future__ import annotations

import csv
import math
import statistics
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple, Union

from .runs import Row

Line = Dict[str, Union[str, int, float]]


def summarize(rows: List[Row], goals: Sequence[float] = (), more: Sequence[str] = ()) -> List[Line]:
    """A line per learner of the rows of curves, in the order of the rows. Each has the number of seeds, and over
    seeds: the return at the end of the curve (median, least, most), the best return, the environment steps and
    processor seconds of the curve. For each goal: the number of seeds whose return reached it, and medians of the
    environment steps and processor seconds until then, inf if not even half of the seeds have reached it. For each
    column in `more`: its median over the rows of all seeds."""
    lines = []
    for name in dict.fromkeys(row["learner"] for row in rows):
        mine = [row for row in rows if row["learner"] == name]
        seeds = dict.fromkeys(row["seed"] for row in mine)
        curves = [[row for row in mine if row["seed"] == seed] for seed in seeds]
        last = [float(curve[-1]["return"]) for curve in curves]
        line: Line = {
            "learner": name, "seeds": len(seeds),
            "return": statistics.median(last), "least": min(last), "most": max(last),
            "best": statistics.median([max(float(row["return"]) for row in curve) for curve in curves]),
            "environment steps": statistics.median([float(curve[-1]["environment steps"]) for curve in curves]),
            "processor seconds": statistics.median([float(curve[-1]["processor seconds"]) for curve in curves])
        }
        for goal in goals:
            found = [_reached(curve, goal) for curve in curves]
            line[f"seeds to {goal:g}"] = sum(steps < math.inf for steps, _ in found)
            line[f"steps to {goal:g}"] = statistics.median_high([steps for steps, _ in found])
            line[f"seconds to {goal:g}"] = statistics.median_high([seconds for _, seconds in found])
        for column in more:
            line[column] = statistics.median([float(row[column]) for row in mine])
        lines.append(line)
    return lines


def _reached(curve: List[Row], goal: float) -> Tuple[float, float]:
    """(environment steps, processor seconds) of the first row with at least this return; inf if there is none."""
    for row in curve:
        if float(row["return"]) >= goal:
            return float(row["environment steps"]), float(row["processor seconds"])
    return math.inf, math.inf


def markdown(lines: List[Line]) -> str:
    """The lines as a table. Numbers have three digits, return is "median (least to most)"; a goal that fewer than
    half of the seeds have reached is "-"."""
    heads = [head for head in lines[0] if head not in ("least", "most")]
    rows = [["return (range)" if head == "return" else head for head in heads], ["---" for _ in heads]]
    rows += [[_cell(line, head) for head in heads] for line in lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(line: Line, head: str) -> str:
    if head == "return":
        return f"{_number(line[head])} ({_number(line['least'])} to {_number(line['most'])})"
    return _number(line[head])


def _number(value: Optional[Union[str, int, float]]) -> str:
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write_table(lines: List[Line], folder: Path) -> List[str]:
    """Writes table.csv, with all digits, and table.md; returns their names."""
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    (folder / "table.md").write_text(markdown(lines))
    return ["table.csv", "table.md"]
