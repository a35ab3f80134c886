#!/usr/bin/env python3
"""Breaks lines of adjoints one at a time and runs the operator test of each: sabotage.py BUILD [--sample N] [--seed N] [--file F].

A mutant is a line in the body of some foo_adj with one of: a sign turned, += made =, a statement that adds to a bar or calls
another adjoint dropped. It is compiled with the one test file that checks foo and linked with the unbroken rest. Whoever
survives is listed; the exit code is 1 if any does. BUILD is a Ninja build with compile_commands.json."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["core", "collision", "solvers", "adjoint"]
DEFINITION = re.compile(r"^(?:template\s*<[^{;]*>\s*)?(?!\s*(?:return|else)\b)[\w:<>*&\s,]*?\b(\w+)_adj(?:<[^;(){}]*>)?\s*\(", re.MULTILINE)
ENTRY = re.compile(r"^(OP|PASS)\((\w+)", re.MULTILINE)
CASE = re.compile(r'TEST_CASE\("adjoint: ([\w, ]+)')  # one name, or several
INSTANTIATION = re.compile(r"^ *template (?!<)", re.MULTILINE)  # an explicit one
TIMEOUT = 1800  # s, of a compiler or a test


def sources(folder, *endings):
    return sorted(file for ending in endings for file in (ROOT / folder).rglob(f"*{ending}"))


def blank_comments(text):
    return re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), text)


def bodies(text):
    """(name without _adj, begin, end) of every adjoint defined in a file, by offsets of its outermost braces."""
    code = blank_comments(text)
    for match in DEFINITION.finditer(code):
        depth, i = 0, match.end() - 1
        while i < len(code):  # over the arguments
            depth += {"(": 1, ")": -1}.get(code[i], 0)
            i += 1
            if depth == 0:
                break
        opening = re.compile(r"\s*(?:const\s*)?\{").match(code, i)
        if not opening:
            continue  # a declaration
        begin, depth = opening.end(), 1
        i = begin
        while depth:
            depth += {"{": 1, "}": -1}.get(code[i], 0)
            i += 1
        yield match[1], begin, i - 1


def mutants_of(line):
    """(what is done, the broken line) for all ways to break one line of code, its comment apart."""
    code = line.split("//")[0]
    for match in re.finditer(r"(?<![\w)\]] )([+-])=|(?<=[\w)\]}] )([+-])(?= [\w({])", code):
        other = {"+": "-", "-": "+"}[code[match.start()]]
        yield f"{code[match.start()]} turned", line[: match.start()] + other + line[match.start() + 1:]
    for match in re.finditer(r"([+-])=", code):
        other = {"+": "-", "-": "+"}[match[1]]
        yield f"{match[0]} turned", line[: match.start()] + other + line[match.start() + 1:]
        yield f"{match[0]} made =", line[: match.start()] + line[match.start() + 1:]
    if re.fullmatch(r"\s*[\w.\->\[\]():<>, &*+]*(?:[+-]=|_adj\b|add3\b)[^;{}]*;\s*", code):
        indent = len(code) - len(code.lstrip())
        yield "dropped", code[:indent] + "(void)0;" + "\n" * line.endswith("\n")


def operator_tests():
    """name of a pair -> test file"""
    where = {}
    for source in sources("tests", ".cpp"):
        for names in CASE.findall(source.read_text()):
            where.update((name, source) for name in names.split(", "))
    for folder in FOLDERS:
        for kind, name in ENTRY.findall((ROOT / folder / "operators.inc").read_text()):
            if kind == "OP":
                where[name] = ROOT / "tests" / "core" / "test_operators.cpp"
    return where


def all_mutants(only):
    """(file, line number, what, broken line, names of pairs whose tests must notice)"""
    tests = operator_tests()
    for folder in FOLDERS:
        for file in sources(folder, ".cpp", ".hpp", ".inl"):
            relative = file.relative_to(ROOT)
            if only and str(relative) != only:
                continue
            text = file.read_text()
            lines = text.splitlines(keepends=True)
            header = file.with_suffix(".hpp")
            beside = {name for name in re.findall(r"\b(\w+)_adj\b", header.read_text()) if name in tests} if header.exists() else set()
            for name, begin, end in bodies(text):
                noticed_by = [name] if name in tests else sorted(beside)
                if not noticed_by:
                    continue
                first, last = text.count("\n", 0, begin), text.count("\n", 0, end)
                for number in range(first + (first != last), last + (first == last)):
                    broken = set()
                    for what, line in mutants_of(lines[number]):
                        if line not in broken:
                            broken.add(line)
                            yield relative, number, what, line, noticed_by, tests


def command_for(build, source):
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if pathlib.Path(entry["file"]) == source:
            return [a for a in shlex.split(entry["command"]) if a != "ccache" and not a.endswith("/ccache")], entry["directory"]
    return None, None


def compile_to(build, source, overlay, target, replacement=None):
    command, directory = command_for(build, source)
    drop = {i for i, a in enumerate(command) if a in ("-o", "-c", "-MF", "-MT", "-MD")}
    drop |= {i + 1 for i, a in enumerate(command) if a in ("-o", "-c", "-MF", "-MT")}
    arguments = [a for i, a in enumerate(command) if i not in drop]
    arguments[1:1] = ["-I", str(overlay), "-w"]
    return subprocess.run([*arguments, "-c", str(replacement or source), "-o", str(target)], cwd=directory, capture_output=True,
                          timeout=TIMEOUT, text=True)


def link(build, objects, target):
    text = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "costate_tests"], capture_output=True, text=True, check=True)
    command = shlex.split(text.stdout.strip().splitlines()[-1].replace("&&", " ").lstrip(": "))
    command = [a for a in command if a != ":"]
    out = command.index("-o")
    kept = [a for a in command[:out] + command[out + 2:] if not re.search(r"costate_tests\.dir/(?!main\.cpp)", a)]
    kept[1:1] = map(str, objects)
    return subprocess.run([*kept, "-o", str(target)], cwd=build, capture_output=True, text=True, timeout=TIMEOUT)


def instantiating(relative):
    """The sources beside the test in which a broken file comes to life: itself, or those that include it and instantiate its
    templates. Lanes are left out: other tests hold them to the bits of the scalar code."""
    if relative.suffix == ".cpp":
        return [relative]
    including = [source.relative_to(ROOT) for folder in FOLDERS for source in sources(folder, ".cpp")
                 if f'#include "{relative}"' in source.read_text() and not source.stem.endswith("_of_width")]
    return [source for source in including if relative.suffix == ".inl" or INSTANTIATION.search((ROOT / source).read_text())]


def try_mutant(build, mutant):
    """'caught', 'does not compile' or 'survived'"""
    relative, number, _, line, names, tests = mutant
    lines = (ROOT / relative).read_text().splitlines(keepends=True)
    lines[number] = line
    with tempfile.TemporaryDirectory() as folder:
        overlay = pathlib.Path(folder)
        broken = overlay / relative
        broken.parent.mkdir(parents=True)
        broken.write_text("".join(lines))
        for source in {tests[name] for name in names}:
            objects = [overlay / "test.o"]
            for number, user in enumerate(instantiating(relative)):
                objects.append(overlay / f"broken{number}.o")
                done = compile_to(build, ROOT / user, overlay, objects[-1], broken if user == relative else None)
                if done.returncode:
                    return "does not compile"
            done = compile_to(build, source, overlay, objects[0])
            if done.returncode:
                return "does not compile"
            done = link(build, objects, overlay / "test")
            if done.returncode:
                sys.exit(f"cannot link {source.name}:\n{done.stderr}")
            cases = ",".join(f"adjoint: *{name}*" for name in names if tests[name] == source)
            try:
                if subprocess.run([overlay / "test", f"--test-case={cases}"], cwd=ROOT, capture_output=True, timeout=TIMEOUT).returncode:
                    return "caught"
            except subprocess.TimeoutExpired:
                return "caught"
    return "survived"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--sample", type=int, default=60, help="mutants to try; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", help="only lines of this file, such as core/dynamics/rnea.hpp")
    arguments = parser.parse_args()
    mutants = list(all_mutants(arguments.file))
    if not mutants:
        sys.exit("nothing to break there")
    chosen = random.Random(arguments.seed).sample(mutants, min(arguments.sample or len(mutants), len(mutants)))
    counts = {"caught": 0, "does not compile": 0, "survived": 0}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, outcome in zip(chosen, pool.map(lambda m: try_mutant(arguments.build, m), chosen)):
            counts[outcome] += 1
            if outcome == "survived":
                relative, number, what, _, names, _ = mutant
                original = (ROOT / relative).read_text().splitlines()[number].strip()
                print(f"{relative}:{number + 1}: {what}: {original}    [{', '.join(names)}]", flush=True)
    print(f"{len(chosen)} of {len(mutants)} mutants (seed {arguments.seed}): " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    sys.exit(1 if counts["survived"] else 0)


main()
