#!/usr/bin/env python3
"""Breaks lines of core, collision, solvers and adjoint, one at a time, and lists those whose change no test notices.

All mutants are compiled at once (write_mutants.py); each is then tried with the tests of costate_tests that come by its line: a
statement of foo_adj with that of foo first, and the quickest first, until their times sum to --budget. The exit code is 1 if a
mutant survives."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import write_mutants

ROOT = pathlib.Path(__file__).resolve().parents[3]
POSITION = re.compile(r"tree/([\w/]+\.\w+):(\d+)(?::\d+)?:")


def copy_tree(tree):
    """Copies what is not broken; files of a former tree that are gone are removed."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    names = [name for name in names if (ROOT / name).is_file()]
    kept = {*names, "mutant.hpp", "mutant_count.hpp"}
    for path in tree.rglob("*"):
        if path.is_file() and str(path.relative_to(tree)) not in kept:
            path.unlink()
    for name in names:
        source, target = ROOT / name, tree / name
        if pathlib.Path(name).parts[0] in write_mutants.FOLDERS and source.suffix in write_mutants.ENDINGS:
            continue
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    write_mutants.write_if_new(tree / "mutant.hpp", pathlib.Path(__file__).with_name("mutant.hpp").read_text())


def configure(tree, build):
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_UNITY_BUILD=ON",
                    "-DCMAKE_CXX_FLAGS_DEBUG=-O1", f"-DCMAKE_CXX_FLAGS=-w -fmax-errors=0 -I{tree} -include {tree}/mutant.hpp",
                    "-DCOSTATE_WERROR=OFF"], check=True, stdout=subprocess.DEVNULL)


def culprits(writer, output):
    """(file, line) of the statements that a compiler's output complains of."""
    found, context = set(), []
    for text in output.splitlines():
        position = POSITION.search(text)
        line = writer.source_line(position[1], int(position[2])) if position else None
        if " error: " in text:
            found.update([(position[1], line)] if line else context)
            context = []
        elif line:
            context.append((position[1], line))
    return found


def build_mutants(folder):
    tree, build = folder / "tree", folder / "build"
    remembered = folder / "left_out.json"
    left_out = {tuple(entry) for entry in json.loads(remembered.read_text())} if remembered.exists() else set()
    copy_tree(tree)
    while True:
        writer = write_mutants.write_tree(ROOT, tree, left_out)
        configure(tree, build)
        done = subprocess.run(["ninja", "-C", build, "-k", "0", "costate_tests"], capture_output=True, text=True)
        if done.returncode == 0:
            return writer.mutants, build / "tests" / "costate_tests"
        new = culprits(writer, done.stdout) - left_out
        if not new:
            sys.exit(done.stdout[-5000:])
        left_out |= new
        print(f"{len(new)} statements with a mutant that does not compile are left out", flush=True)
        remembered.write_text(json.dumps(sorted(left_out)))


def run_case(program, case, mutant=0, reached=None, timeout=1800.0):
    """(whether the test case passed, its seconds)"""
    environment = dict(os.environ, COSTATE_MUTANT=str(mutant))
    if reached:
        environment["COSTATE_REACHED"] = str(reached)
    begin = time.monotonic()
    try:
        done = subprocess.run([program, "--test-case=" + case.replace(",", "?"), "--abort-after=1"], cwd=ROOT, env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout)
    except subprocess.TimeoutExpired:
        return False, timeout
    return done.returncode == 0, time.monotonic() - begin


def cases_of(program):
    listed = subprocess.run([program, "--list-test-cases"], capture_output=True, text=True, check=True).stdout.splitlines()
    return list(dict.fromkeys(line for line in listed if line and not line.startswith(("[doctest]", "==="))))


def measure(program, mutants, folder, slowest, pool):
    """case -> (seconds, numbers of the mutants it comes by) of the unbroken program. None of a case that takes more than
    `slowest` seconds."""
    def one(entry):
        number, case = entry
        record = folder / f"reached{number}"
        record.unlink(missing_ok=True)
        passed, seconds = run_case(program, case, reached=record, timeout=slowest)
        if not passed:
            print(f"{case}: {'slow' if seconds == slowest else 'fails without a mutant'}, and judges none", flush=True)
            return case, (seconds, [])
        reached = record.read_bytes()
        numbers = sorted({i % (mutants + 1) for i, byte in enumerate(reached) if byte})
        record.unlink()
        return case, (seconds, numbers)
    return dict(pool.map(one, enumerate(cases_of(program))))


def judges(mutant, number, measured, by_mutant):
    """The test cases that may notice a mutant: those of its adjoint, then the others that come by it, the quickest first."""
    quickest = sorted(by_mutant[number], key=lambda case: measured[case][0])
    own = [case for case in quickest if mutant.adjoint and re.match(rf"adjoint: .*\b{mutant.adjoint}\b", case)]
    return own + [case for case in quickest if case not in own]


def outcome(program, mutant, number, measured, by_mutant, budget):
    spent = 0.0
    for case in judges(mutant, number, measured, by_mutant):
        seconds = measured[case][0]
        if spent and spent + seconds > budget:
            return "survived the budget"
        passed, _ = run_case(program, case, number, timeout=10.0 + 20.0 * seconds)
        if not passed:
            return "caught"
        spent += seconds
    return "survived" if spent else "not reached"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=lambda text: pathlib.Path(text).resolve(), help="for the build and what is measured")
    parser.add_argument("--sample", type=int, default=500, help="mutants to try; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="those whose file, line and adjoint match: 'core/dynamics/aba.hpp', '_adj'")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests for a mutant")
    parser.add_argument("--slowest", type=float, default=60.0, help="seconds of a test that judges")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    mutants, program = build_mutants(arguments.folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        record = arguments.folder / "measured.json"
        if not record.exists() or record.stat().st_mtime < program.stat().st_mtime:
            record.write_text(json.dumps(measure(program, len(mutants), arguments.folder, arguments.slowest, pool)))
        measured = json.loads(record.read_text())
        by_mutant = collections.defaultdict(list)
        for case, (_, numbers) in measured.items():
            for number in numbers:
                by_mutant[number].append(case)
        able = [(n, m) for n, m in enumerate(mutants, 1)
                if not m.left_out and re.search(arguments.only, f"{m.file}:{m.line} {m.adjoint}_adj" if m.adjoint else f"{m.file}:{m.line}")]
        chosen = sorted(random.Random(arguments.seed).sample(able, min(arguments.sample or len(able), len(able))))
        counts = collections.Counter()
        outcomes = pool.map(lambda c: outcome(program, c[1], c[0], measured, by_mutant, arguments.budget), chosen)
        for (number, mutant), what in zip(chosen, outcomes):
            counts[what] += 1
            if what != "caught":
                print(f"{mutant.file}:{mutant.line}: {what} ({number}): {mutant.what}: {mutant.statement}", flush=True)
    print(f"{len(chosen)} of {len(able)} mutants (seed {arguments.seed}): " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    sys.exit(0 if set(counts) <= {"caught"} else 1)


if __name__ == "__main__":
    main()
