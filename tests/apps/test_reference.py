#!/usr/bin/env python3
"""The manual page and the completions name every command and option. Usage: test_reference.py PROGRAM"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def options_of(command):
    return set(re.findall(r"(?m)^ +(?:-\w, )?(--[a-z][a-z-]*)", run(PROGRAM, command, "--help")))


COMMANDS = re.findall(r"(?m)^  ([a-z]+) +\w", run(PROGRAM, "--help").split("SCENE is")[0])
COMMANDS = [c for c in COMMANDS if c != "costate"]


class ReferenceTest(unittest.TestCase):
    def test_there_are_commands_and_options(self):
        self.assertGreaterEqual(len(COMMANDS), 10)
        self.assertLessEqual({"--out", "--method", "--json", "--hull-vertices"}, options_of("optimize"))

    def test_the_manual_page(self):
        page = run(PROGRAM, "--man")
        for command in COMMANDS:
            section = page.split(f".SS costate {command} ")[1].split("\n.S")[0]
            every = page.split(".SH OPTIONS OF ALL COMMANDS")[1]
            for option in options_of(command):
                self.assertIn(option.replace("-", "\\-"), section + every, f"{command} {option}")
        if shutil.which("man") and shutil.which("nroff"):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "costate.1"
                file.write_text(page)
                shown = subprocess.run(["man", "--warnings=w", "-l", file], capture_output=True, text=True,
                                       env={"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertIn("costate optimize SCENE", shown.stdout)

    def complete_bash(self, *words):
        script = 'source /dev/stdin; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _costate; printf "%s\\n" "${COMPREPLY[@]}"'
        out = run("bash", "-c", script, "bash", *words, input=run(PROGRAM, "--completion", "bash"),
                  env={"PATH": f"{PROGRAM.parent}:/usr/bin:/bin"})
        return set(out.split())

    def test_bash(self):
        self.assertEqual(self.complete_bash("costate", ""), {*COMMANDS, "--help", "--version"})
        self.assertEqual(self.complete_bash("costate", "op"), {"optimize"})
        for command in COMMANDS:
            self.assertEqual(self.complete_bash("costate", command, "--"), options_of(command), command)
        self.assertEqual(self.complete_bash("costate", "info", "--base", ""), {"fixed", "floating"})
        self.assertEqual(self.complete_bash("costate", "info", "go1_s"), {"go1_stand"})
        self.assertEqual(self.complete_bash("costate", "optimize", "--iterations", ""), set())
        self.assertEqual(self.complete_bash("costate", "view", "--run", "/etc/pass") & {"/etc/passwd"}, {"/etc/passwd"})

    def test_zsh(self):
        text = run(PROGRAM, "--completion", "zsh")
        self.assertTrue(text.startswith("#compdef costate\n"))
        for command in COMMANDS:
            part = re.search(rf"(?ms)^        {command}\)$(.*?)\) ;;", text)[1]
            self.assertEqual(set(re.findall(r"(?:^ +'|,)(--[a-z][a-z-]*)", part, re.MULTILINE)), options_of(command), command)
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed: its completion is not run")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "_costate").write_text(text)
            self.assertEqual(subprocess.run(["zsh", "-n", f"{folder}/_costate"]).returncode, 0)
            # _arguments and _describe print what they are given, in place of a terminal
            script = f"""
                _describe() {{ print -l -- $commands }}
                _arguments() {{ print -l -- $options; print -- scenes $scenes }}
                words=(costate); CURRENT=2; source {folder}/_costate
                words=(costate optimize x); CURRENT=3; source {folder}/_costate"""
            out = run("zsh", "-f", "-c", script, env={"PATH": f"{PROGRAM.parent}:/usr/bin:/bin"})
        for command in COMMANDS:
            self.assertRegex(out, rf"(?m)^{command}:\w")
        self.assertRegex(out, r"(?m)^(?:\(.*\))?--out\[.*\]:DIR:_files$")
        self.assertRegex(out, r"(?m)^--steps\[number of time steps, instead of the scene's\]:N:$")
        self.assertRegex(out, r"(?m)^scenes .*\bgo1_stand\b")


if __name__ == "__main__":
    unittest.main()
