#!/usr/bin/env python3
"""Tries robot files of others: which load, which run, and why the rest are refused.

    scripts/robots/survey.py build/costate FOLDER... [--out survey.tsv] [--limit 10] [--seconds 2] [-- OPTION...]

Every *.xml, *.urdf, *.sdf and *.world below the folders (or named by itself) whose root element is one of a robot description
goes through `info`, then through `simulate` for two simulated seconds (--seconds 0: only `info`). OPTIONs after --
go to both commands, for example --strict. Files that hold bodies which are not rigid are not counted: those with
<flex>, <flexcomp>, <composite> or <deformable>, in the file or in one that it includes. Results: runs (with
--seconds 0: loads); slow (not done within the limit of processor time); diverged; refused (exit code 2, with the
message); crashed (any other end); incomplete (it runs or loads, but is a part of another file, or a mesh or
a height field is missing in the copy: no engine takes such a file as a whole). The table of kinds joins refusals
that differ only in names and numbers; a second one does so for warnings, by how many files have them; incomplete files
have no part in it. The column `physics` counts the kinds of warnings
that are about the motion: not those about pictures, sensors and the start, nor that nothing moves, that the law of contact
is rigid where that of MuJoCo is soft, or that the integrator is another one.
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = re.compile(r"<(?![?!])([\w:.-]+)")  # the first element, after declarations and comments
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
NOT_RIGID = re.compile(r"<(flex|flexcomp|composite|deformable)[\s/>]")
INCLUDE = re.compile(r"""<include\s[^>]*?file\s*=\s*["']([^"']+)["']""")
ROOTS = {"robot", "mujoco", "mujocoinclude", "sdf"}
SUFFIXES = (".xml", ".urdf", ".sdf", ".world")
COLUMNS = ["file", "result", "seconds", "dof", "shapes", "warnings", "physics", "message"]
NOT_PHYSICS = re.compile(
    r"no body can move|^<material> |constraints are rigid|^integrator=|^flag eulerdamp=|is a sensor that"
    r"|measures a part|has a cutoff"
    r"|at the start|start beyond|collides with the ground|so they fall|which falls|has no colour|^visual mesh|is invisible"
    r"|<skin>|<audio_source>"
    r"|second geometry|in <extension>|as its convex hull, as in MuJoCo|is inactive and is left out|places mocap bodies"
    r"|is in a disabled group|has an empty range|commas between|the full stop after"
    r"|is MuJoCo's estimate|is not UTF-8|a control character|is the second one of its two geoms"
    r"|a quaternion of a keyframe|of SDFormat$|two bodies that do not move relative")
INCOMPLETE = re.compile(r"outside of <worldbody>|there is no file|is of joints that are not in this file")
MORE_THAN_ENOUGH = 60  # s of waiting for each second of processor time, on a loaded machine


def is_robot(file):
    """True if the root element of a file is one of a robot description."""
    text = COMMENT.sub("", file.read_bytes()[:200000].decode("utf-8", "replace"))
    root = ROOT.search(text)
    return root is not None and root.group(1) in ROOTS


def is_rigid(file, seen=()):
    """False if a file, or one that it includes, describes bodies that deform."""
    if file in seen or not file.is_file():
        return True
    text = COMMENT.sub("", file.read_text("utf-8", "replace"))
    return not NOT_RIGID.search(text) and all(
        is_rigid(file.parent / name, (*seen, file)) for name in INCLUDE.findall(text))


def robots_below(paths):
    for path in paths:
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES)
        yield from (file for file in files if is_robot(file))


def run(command, limit):
    """Exit code (None: over the limit of processor time), output, errors, seconds of processor time."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", preexec_fn=bound,
                              timeout=limit * MORE_THAN_ENOUGH)
        code = done.returncode
    except subprocess.TimeoutExpired as late:
        done, code = late, None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if code in (-signal.SIGKILL, -signal.SIGXCPU):
        code = None
    return code, done.stdout or "", done.stderr or "", seconds


def failure(code, errors):
    """Result and message of a command that did not end with 0."""
    messages = [line for line in errors.splitlines()
                if line.startswith("costate: ") and not line.startswith("costate: warning: ")]
    message = messages[-1].removeprefix("costate: ") if messages else f"exit code {code}"
    return {None: "slow", 2: "refused", 3: "diverged"}.get(code, "crashed"), "" if code is None else message


def survey(program, file, options):
    row = {"file": str(file)}
    code, out, errors, seconds = run([program, "info", str(file), "--json", *options.command], options.limit)
    if code == 0:
        facts = json.loads(out)
        row["dof"], row["shapes"] = facts["nv"], facts["shapes"]
        kinds = {kind(warning) for warning in facts["warnings"]}
        row["warnings"], row["kinds"] = len(kinds), kinds
        row["physics"] = sum(not NOT_PHYSICS.search(each) for each in kinds)
    if code == 0 and options.seconds > 0:
        steps = max(1, round(options.seconds / facts["time_step"]))
        code, out, errors, seconds = run(
            [program, "simulate", str(file), "--json", "--steps", str(steps), *options.command], options.limit)
    row["seconds"] = f"{seconds:.2f}"
    done = "runs" if options.seconds > 0 else "loads"
    row["result"], row["message"] = (done, "") if code == 0 else failure(code, errors)
    if code == 0 and any(INCOMPLETE.search(each) and not NOT_PHYSICS.search(each) for each in row["kinds"]):
        row["result"] = "incomplete"
    return row


def kind(message):
    """A refusal or a warning without file, line, names, numbers and remedy."""
    text = re.sub(r"^(\S+?(:\d+|#\S*)|[^:\"]*): ", "", message).split("; ")[0]
    text = re.sub(r'"[^"]*"?', '"..."', text)
    text = re.sub(r"(\s*/\S+)+\s", " FILE ", text)
    return re.sub(r"-?\d[\d.e+-]*", "N", text)[:100]


def is_loaded(row):
    """True of a file that is read as a whole."""
    return "kinds" in row and row["result"] != "incomplete"


def shares(name, rows):
    results = collections.Counter(row["result"] for row in rows)
    loaded = [row for row in rows if is_loaded(row)]
    return (f"{name}: {len(rows)} files, " + ", ".join(f"{results[result]} {result}" for result in sorted(results))
            + f"; {sum(row['physics'] == 0 for row in loaded)} of {len(loaded)} that load without a warning about physics")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("program")
    arguments.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments.add_argument("--out", default="survey.tsv", help="the rows (default survey.tsv)")
    arguments.add_argument("--limit", type=int, default=10, help="processor time of a command, s (default 10)")
    arguments.add_argument("--seconds", type=float, default=2, help="simulated time, s (default 2; 0: only info)")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    options = arguments.parse_args(given[:cut])
    options.command = given[cut + 1:]

    started, rows = time.monotonic(), []
    options.program = str(pathlib.Path(options.program).resolve())
    options.folders = [folder.absolute() for folder in options.folders]
    found = list(robots_below(options.folders))
    files = [file for file in found if is_rigid(file)]
    with open(options.out, "w", newline="") as out, tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # where the program leaves the last states of a run that diverges
        writer = csv.DictWriter(out, COLUMNS, delimiter="\t", restval="", extrasaction="ignore")
        writer.writeheader()
        for file in files:
            rows.append(survey(options.program, file, options))
            writer.writerow(rows[-1])
            out.flush()
    if len(files) < len(found):
        print(f"{len(found) - len(files)} files are not counted: they hold bodies that are not rigid")
    results = collections.Counter(row["result"] for row in rows)
    print(f"{len(rows)} files in {time.monotonic() - started:.0f} s: "
          + ", ".join(f"{count} {result}" for result, count in results.most_common()))
    kinds = collections.Counter((row["result"], kind(row["message"])) for row in rows if row["message"])
    for (result, what), count in kinds.most_common():
        print(f"{count:5}  {result:9} {what}")
    for folder in options.folders:
        print(shares(folder.name, [row for row in rows
                                   if pathlib.Path(row["file"]).is_relative_to(folder)]))
    print(shares("all", rows))
    loaded = [row for row in rows if is_loaded(row)]
    warnings = collections.Counter(what for row in loaded for what in row["kinds"] if not NOT_PHYSICS.search(what))
    for what, count in warnings.most_common():
        print(f"{count:5}  warning   {what}")


if __name__ == "__main__":
    main()
