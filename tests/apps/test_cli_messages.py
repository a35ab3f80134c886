#!/usr/bin/env python3
"""What `costate` says beside its results: notes, warnings, help, tables, progress on a terminal. Usage: test_cli_messages.py PROGRAM"""
import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import termios
import unittest

from cli import BAD_INPUT, COMMANDS, Cli, DONE, PROGRAM


class Messages(Cli):
    def messages(self, *arguments, code=DONE):
        """stderr of a run, whose stdout is not looked at."""
        p = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, timeout=300)
        self.assertEqual(p.returncode, code, p.stderr)
        return p.stderr

    def on_terminal(self, *arguments, columns=80, interrupt_at=None, **environment):
        """Exit code, and what a terminal of this width gets from stderr."""
        terminal, stderr = pty.openpty()
        fcntl.ioctl(stderr, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        p = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=stderr, cwd=self.folder,
                             env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **environment})
        shown = b""
        while p.poll() is None or select.select([terminal], [], [], 0.1)[0]:
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 1000)
            if interrupt_at and interrupt_at in shown and p.poll() is None:
                p.send_signal(signal.SIGINT)
                interrupt_at = None
        os.close(terminal)
        os.close(stderr)
        return p.returncode, shown

    def test_a_result_that_is_not_kept(self):
        self.assertRegex(self.messages("optimize", self.scene), r"\Acostate: note: the optimized values are not kept; --out DIR [^\n]+\n\Z")
        for kept in (["--out", "out"], ["--plots", "plots"], ["--json"], ["--quiet"]):
            self.assertEqual(self.messages("optimize", self.scene, *kept), "", kept)

    def test_quiet(self):
        doubled = json.loads((self.folder / "spring.json").read_text())
        doubled["controls"][0]["optimise"] = doubled["controls"][0].pop("optimize")
        self.write("old.json", json.dumps(doubled))
        for command in COMMANDS[:-1]:
            if command == "info":
                continue  # prints warnings to stdout
            said = self.messages(command, "old.json")
            self.assertIn("costate: warning: old.json", said, command)
            self.assertEqual(self.messages(command, "old.json", "-q"), "", command)
        self.assertIn("no scene has this name", self.messages("info", "nothing", "--quiet", code=BAD_INPUT))
        code, shown = self.on_terminal("simulate", "quadruped_stand", "--steps", 100000, "--quiet")
        self.assertEqual((code, shown), (DONE, b""))

    def test_the_width_of_the_terminal(self):
        for columns in (100, 60, 30):
            code, shown = self.on_terminal("simulate", "quadruped_stand", "--steps", 100000, columns=columns)
            lines = [line.replace(b"\x1b[K", b"") for line in shown.split(b"\r")]
            bars = [line for line in lines if b"quadruped" in line]
            self.assertEqual(code, DONE)
            self.assertGreater(len(bars), 1)
            self.assertLess(max(map(len, bars)), columns)
            self.assertRegex(bars[-1], rb"\[#*\.*\] \d+ %, " if columns > 50 else rb"\Asimulate quadruped_stand \[")

    def test_control_c_tells_how_to_go_on(self):
        _, shown = self.on_terminal("gradient", "quadruped_stand", "--steps", 1000000, "--memory", "1M", "--save", "saved", interrupt_at=b"%")
        self.assertRegex(shown, rb"costate:\x1b\[0m interrupted at \d+ %; go on with --resume saved\r\n\Z")
        self.assertTrue((self.folder / "saved").exists())
        _, shown = self.on_terminal("gradient", "quadruped_stand", "--steps", 1000000, "--memory", "1M", interrupt_at=b"%")
        self.assertNotIn(b"--resume", shown)

    def test_colours(self):
        red, yellow = b"\x1b[31mcostate:\x1b[0m ", b"\x1b[33mcostate: warning:\x1b[0m "
        self.assertTrue(self.on_terminal("info", "nothing")[1].startswith(red))
        self.write("table.urdf", "<robot name='t'><link name='t'/></robot>")
        if "TinyXML-2" not in self.messages("info", "table.urdf"):
            self.assertTrue(self.on_terminal("simulate", "table.urdf")[1].startswith(yellow))
        for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertTrue(self.on_terminal("info", "nothing", **plain)[1].startswith(b"costate: nothing"), plain)
        self.assertTrue(self.messages("info", "nothing", code=BAD_INPUT).startswith("costate: nothing"))

    def test_help_ends_with_an_example_that_works(self):
        for command in [*COMMANDS, "convert", "merge", "watch"]:
            text = self.run_costate(command, "--help")
            end = re.search(rf"\n\nExample: (costate {command} [^\n]+)\nExit codes: 0 done, ([^\n]+)\n\Z", text)
            if command in ("view", "watch") and self.without_viewer():
                continue
            self.assertTrue(end, text)
            codes = re.findall(r"(\d) ", "0 done, " + end[2])
            self.assertEqual(codes, sorted(set(codes)))
            self.assertEqual("3" in codes, command not in ("info", "convert", "merge", "plan"), command)
            self.assertEqual("1" in codes, command in ("optimize", "gradcheck"))
            if command in COMMANDS:
                self.messages(*shlex.split(end[1])[1:])
        self.assertNotIn("--steps", self.run_costate("convert", "--help"))
        self.assertIn("--search", self.run_costate("convert", "--help"))
        self.refuse("convert", self.scene, "--steps", 3, because="unknown option '--steps'")
        self.refuse("convert", because="takes a robot: a URDF, MJCF or SDFormat file")

    def test_names_of_files_say_what_is_in_them(self):
        robot = self.robot()
        self.refuse("convert", robot, "-o", "x.urdf", because=r"--out writes JSON, not .*'x.urdf'.*name it 'x.json'")
        if not self.without_viewer():
            self.refuse("view", self.scene, "--png", "x.jpg", because="--png writes PNG, .*name it 'x.png'")

    def test_the_table_of_a_scene(self):
        for scene in ("humanoid", "atlas_stand", "quadruped_ten", "throw"):
            table = self.run_costate("info", scene).split("\n\n", 2)[2]
            self.assertLessEqual(max(map(len, table.splitlines())), 110, scene)
        self.assertRegex(table, r"\n      link3 +joint3 +revolute +2 +3.2286 +motor torque3\n")
        humanoid = self.run_costate("info", "humanoid")
        self.assertRegex(humanoid, r"\n  humanoid/torso +root +free +0-5 +8.90746 +capsule chest, sphere head,\n? +capsule waist\n")
        self.assertRegex(humanoid, r"\n +right_shin +right_knee +revolute +12 +4.52284 +motor +capsule, sphere right_foot\n")
        self.assertNotIn("sites\n", humanoid)  # it has none
        self.assertTrue(self.run_costate("info", self.scene).startswith("spring\n"))


if __name__ == "__main__":
    unittest.main()
