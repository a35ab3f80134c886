"""Tables and plots of what compare.py has measured, beside what was published."""
NAMES = {"costate": "costate", "adolc": "ADOL-C", "sacado": "Sacado RAD", "jets": "Ceres Jets", "torch": "libtorch"}
AGREEMENT = 1e-9      # of a gradient with ours on the shortest horizon, relative to its greatest entry; else a row is void
MEASURES = {          # name of a table: (title, number of a run)
    "memory": ("Memory, MB", lambda run: run["memory_bytes"] / 1e6),
    "forward": ("Forward, us a step", lambda run: run["forward_us"]),
    "backward": ("Backward, us a step", lambda run: run["backward_us"]),
}
# Of one robot: Qiao et al. 2021, and their published code on two cores of the kind of machine that this was first run on.
PUBLISHED = [  # row; MB of so many steps; us a step forward, backward
    ("theirs, in the paper [P]", lambda steps: 5.0 if steps == 5000 else None, "200", "1200"),
    ("theirs, the published code [C]", lambda steps: 0.5e-3 * steps, "60 to 110", "300 to 600"),
    ("CppAD, in the published code [C]", lambda steps: 0.94 * steps, "2100", "1300"),
    ("JAX, ADF", lambda steps: None, "", ""),
]
CODE_FORWARD_US, CODE_BACKWARD_US = 60, 300  # the least of the ranges
NOTES = """- Memory is what the process grew by while it differentiated; times are of the processor. Forward is the rollout with all that is
  recorded for the way back, backward the rest: the sweep of a tape or graph; of costate, the steps again and their adjoints.
- Every tool runs the same templated step, 50 sweeps of projected Gauss-Seidel included, and gives the gradient by initial state, controls
  and all parameters; Ceres Jets are forward mode and give the one by initial state alone, with nothing left to do backwards.
- *needs*: not run, since what a step took in the runs before would pass the limit; *stopped*: did pass it.
- [P] of the paper, on its machine. [C] Their code, run on two cores of an AMD EPYC virtual machine: 0.5 KB a step, on CppAD 0.94 MB a
  step; the robot is of the same kind, the contact solver theirs. CppAD, JAX and ADF are no packages of Debian and were not run here."""


def figure(x):
    """Three digits, or all of a whole number's; nothing for 0."""
    return "" if x == 0 else f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def label(run):
    if run["program"] != "costate":
        return NAMES[run["program"]]
    kind, _, number = run["checkpoints"].partition(":")
    return "costate, every state stored" if kind == "every_step" else f"costate, {number} states stored"


def short_label(run):
    """As a legend has room for."""
    return label(run).replace("costate, every state stored", "costate").replace(" states stored", " states")


def by_row(runs):
    """label -> steps -> run"""
    rows = {}
    for run in runs:
        rows.setdefault(label(run), {})[run["steps"]] = run
    return rows


def finished(row):
    return [run for run in row.values() if "stopped" not in run]


def void(row):
    """Why a row does not count, or None: what its shortest rollout's gradient differs by."""
    shortest = min(finished(row), key=lambda run: run["steps"], default=None)
    if shortest and not shortest["relative_error"] <= AGREEMENT:
        return f"void: differs by {shortest['relative_error']:.1e}"
    return None


def valid(runs, **wanted):
    """Runs that came to their end, in rows that count."""
    return [run for row in by_row(runs).values() if not void(row) for run in finished(row)
            if all(run[key] == value for key, value in wanted.items())]


def markdown(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def measured(runs, columns, measure):
    _, number = MEASURES[measure]
    rows = []
    for name, row in by_row(runs).items():
        if reason := void(row):
            rows.append([name, reason] + [""] * (len(columns) - 1))
            continue
        cells = [row.get(steps) for steps in columns]
        rows.append([name] + ["" if run is None else run.get("stopped") or figure(number(run)) for run in cells])
    return rows


def published(columns, measure):
    rows = []
    for name, memory, forward, backward in PUBLISHED:
        if measure == "memory":
            cells = ["" if memory(steps) is None else figure(memory(steps)) for steps in columns]
        else:
            cells = [forward if measure == "forward" else backward] + [""] * (len(columns) - 1)
        rows.append([name] + (cells if any(cells) else ["not run"] + [""] * (len(columns) - 1)))
    return rows


def total(run):
    return run["forward_us"] + run["backward_us"]


def times(theirs, mine):
    return f"{theirs / mine:.0f}" if theirs / mine >= 10 else f"{theirs / mine:.1f}"


def beside(mine, tools):
    """The best of the tools beside a run of ours, in sentences."""
    whole = [run for run in tools if run["program"] != "jets"]
    lines = []
    if whole:
        fastest, leanest = min(whole, key=total), min(whole, key=lambda run: run["memory_bytes"])
        lines.append(f"{label(fastest)}, the fastest that gives the whole gradient, takes {figure(total(fastest))} us a step, "
                     f"{times(total(fastest), total(mine))} times as long.")
        lines.append(f"{label(leanest)}, the smallest of those, holds {figure(leanest['memory_bytes'] / 1e6)} MB, "
                     f"{times(leanest['memory_bytes'], mine['memory_bytes'])} times as much.")
    lines += [f"Ceres Jets take {figure(total(run))} us, {times(total(run), total(mine))} times as long, for the initial state alone."
              for run in tools if run["program"] == "jets"]
    return lines


def summary(runs):
    """The longest rollout that a tool came to the end of, beside ours of the same length."""
    done = [run for run in valid(runs) if run["program"] != "costate"]
    steps = max((run["steps"] for run in done), default=0)
    lines = []
    for mine in valid(runs, program="costate", steps=steps):
        lines.append(f"\n{label(mine)}, {steps} steps: {total(mine):.1f} us a step, {mine['memory_bytes'] / 1e6:.2f} MB.")
        lines += beside(mine, [run for run in done if run["steps"] == steps])
        lines.append(f"The published code's least figures, {CODE_FORWARD_US} us forward and {CODE_BACKWARD_US} us backward, are "
                     f"{times(CODE_FORWARD_US, mine['forward_us'])} and {times(CODE_BACKWARD_US, mine['backward_us'])} times as long.")
    if done:
        lines.append(f"\nAt most {max(run['relative_error'] for run in done):.1e} of its greatest entry is between a tool's gradient and ours.")
    return "\n".join(lines).lstrip() + "\n"


def one_robot(runs):
    columns = sorted({run["steps"] for run in runs})
    out = "## One robot, quadruped_stand (Tables 1 to 3)\n\n"
    for measure, (title, _) in MEASURES.items():
        rows = measured(runs, columns, measure) + published(columns, measure)
        out += f"{title}, by steps:\n\n" + markdown([""] + [str(steps) for steps in columns], rows) + "\n"
    return out + summary(runs) + "\n"


def ten_robots(runs):
    columns = sorted({run["steps"] for run in runs})
    out = "## Ten robots, quadruped_ten (Figure 3)\n\n"
    for measure, (title, _) in MEASURES.items():
        rows = measured(runs, columns, measure)
        out += f"{title}, by steps:\n\n" + markdown([""] + [str(steps) for steps in columns], rows) + "\n"
    return out + "The paper has 5 KB a step; the published code took 1000 to 1300 us forward and 5000 to 7000 us backward a step [C].\n\n"


def checkpoints(runs):
    runs = [run for run in runs if "stopped" not in run]
    rows = [[run["checkpoints"].replace(":", ", "), f"{run['checkpoint_bytes'] / 1e6:.4g}", f"{run['forward_evaluations'] / run['steps']:.2f}",
             f"{total(run):.0f}", f"{run['relative_error']:.0e}"] for run in runs]
    if not runs:
        return ""
    return (f"## Memory against time, ten robots, {runs[0]['steps']} steps (Figure 8)\n\n" +
            markdown(["states stored", "checkpoints, MB", "evaluations a step", "us a step in all", "differs by"], rows) +
            "\n*restart, k* is the paper's schedule: every k-th state is stored, and every step backwards starts from the one before it. "
            "*every_kth, k* stores the states within a segment too while it is reversed. *binomial, s* is the fewest evaluations that s states "
            "allow.\n\n")


def document(parts):
    sections = {"one": one_robot, "ten": ten_robots, "checkpoints": checkpoints}
    out = "# The same rollout by adjoints and by automatic differentiation\n\n"
    for part in parts.values():
        versions = sorted({f"{NAMES[run['program']]} {run['version']}" for run in part["runs"] if "version" in run})
        out_of = f" Not installed: {', '.join(NAMES[tool] for tool in part['absent'])}." if part["absent"] else ""
        part["about"] = (f"{part['machine']}; load {part['load']:.1f} before; at most {part['memory_limit_bytes'] / 1e9:.0f} GB a process. "
                         f"{', '.join(versions)}.{out_of}")
    for name, section in sections.items():
        if name in parts:
            out += section(parts[name]["runs"]) + f"Measured on {parts[name]['about']}\n\n"
    return out + NOTES + "\n"


def curves(runs, number, x=lambda run: run["steps"], name=short_label):
    found = {}
    for run in runs:
        found.setdefault(name(run), []).append((x(run), number(run)))
    return [{"label": key, "x": [p[0] for p in sorted(points)], "y": [p[1] for p in sorted(points)]} for key, points in found.items()]


def plots(parts):
    """name -> what costate-compare-plot draws"""
    out = {}
    for part, robots in (("one", "one robot"), ("ten", "ten robots")):
        if part not in parts:
            continue
        for measure, (title, number) in MEASURES.items():
            runs = [run for run in valid(parts[part]["runs"]) if measure != "backward" or run["program"] != "jets"]
            out[f"{part}_{measure}"] = {"title": f"{title.split(',')[0]}, {robots}", "x_label": "steps", "y_label": title, "log_x": True,
                                        "curves": curves(runs, number)}
    if "checkpoints" in parts:
        titles = {"every_step": "every state", "restart": "every k-th, restarted (paper)", "every_kth": "every k-th", "binomial": "binomial"}
        runs = [run for run in parts["checkpoints"]["runs"] if "stopped" not in run]
        out["checkpoints"] = {
            "title": "Memory against time, ten robots", "x_label": "checkpoints, MB",
            "y_label": "us a step, forward and backward", "log_x": True,
            "curves": curves(runs, total, x=lambda run: run["checkpoint_bytes"] / 1e6, name=lambda run: titles[run["schedule"]])}
    return out
