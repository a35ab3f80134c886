#!/usr/bin/env python3
"""Inputs that promise more than any machine has, by accident or on purpose: each is refused in one line, within about a
second of the processor's time and 1 GB, or handled in them. Usage: test_limits.py PROGRAM"""
import json
import os
import struct
import sys
import tempfile
import unittest

from cli import BAD_INPUT, DONE, PROGRAM, SPRING, Cli, changed

LARGE = 2147483647
BILLION = 1_000_000_000
BATCH = {"environments": 20, "randomize": {"parameters": [{"path": "bodies/m/cart/mass", "factor": [0.5, 2]}]}}
BALL = {"name": "b", "joint": {"type": "free"}, "mass": 1, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.1}]}
MESH_OF_ROBOT = """<robot name="r"><link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="%s"/></geometry></collision></link></robot>"""
DAE = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="n" count="12">0 0 0 10 0 0 0 -20 0 0 0 30</float_array><technique_common><accessor source="#n" count="4" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="c"><input semantic="POSITION" source="#p"/></vertices><triangles count="%d"><input semantic="VERTEX" source="#c" offset="0"/><p>%s</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node id="o"><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
# Each entity is ten of the one before: "ha" 1e11 times
LAUGHS = "<!DOCTYPE r [<!ENTITY a0 'ha'>" + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12)) + "]>"


class Limits(Cli):
    def measured(self, *arguments):
        """Exit code, stderr, seconds of the processor and kB of memory of a run, its children included."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            p = os.posix_spawn(PROGRAM, [PROGRAM, *map(str, arguments)], {**os.environ},
                               file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, err.fileno(), 2)])
            _, status, use = os.wait4(p, 0)
            err.seek(0)
            return os.waitstatus_to_exitcode(status), err.read().decode(), use.ru_utime + use.ru_stime, use.ru_maxrss

    def setUp(self):
        super().setUp()
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        _, _, seconds, memory = self.measured("info", "spring.json")  # more on slow machines and under sanitizers
        self.seconds, self.memory = max(1, 50 * seconds), max(1_000_000, 15 * memory)

    def expect(self, code, because, *arguments):
        with self.subTest(arguments):
            before = self.files()
            got, err, seconds, memory = self.measured(*arguments)
            self.assertEqual(got, code, err)
            self.assertRegex(err, r"\Acostate: [^\n]*" + because + r"[^\n]*\n\Z" if code != DONE else r"\A\Z")
            self.assertLess(seconds, self.seconds)
            self.assertLess(memory, self.memory)
            if code != DONE:
                self.assertEqual(self.files(), before)

    def refuse_each(self, because, *arguments):
        self.expect(BAD_INPUT, because, *arguments)

    def test_nested_json(self):
        for name, text in [("arrays.json", "[" * 1_000_000), ("objects.json", '{"a":' * 1_000_000)]:
            self.write(name, text)
            for arguments in [("info", name), ("simulate", "spring.json", "--controls", name), ("simulate", "--from", name), ("optimize", "spring.json", "--from", name)]:
                self.refuse_each("nested deeper than 64", *arguments)
            self.refuse_each("is not a result.json", "optimize", "spring.json", "--compare", name, "--out", "o")
            if not self.without_viewer():
                self.refuse_each("nested deeper than 64", "view", "spring.json", "--run", name, "--out", "x.html")

    def test_xml(self):
        self.robot()  # skips the test where such files are not read
        for name, text in [("deep.urdf", "<robot name='r'>" + "<link>" * 200_000), ("deep.xml", "<mujoco><worldbody>" + "<body>" * 200_000)]:
            self.write(name, text)
            self.refuse_each("nested deeper than", "info", name)
        for name, text in [("laugh.urdf", "<robot name='&a11;'><link name='l'/></robot>"), ("laugh.xml", "<mujoco model='&a11;'><worldbody/></mujoco>")]:
            self.write(name, LAUGHS + text)
            self.refuse_each("DOCTYPE", "info", name)

    def test_a_billion_bodies(self):
        for count, because in [(BILLION, "use a whole number from 1 to 100000"), (100_000, "makes more than 10000 shapes")]:
            model = {"name": "m", "copies": {"count": count, "offset": [1, 0, 0]}, "model": {"bodies": [BALL]}}
            self.write("copies.json", json.dumps({"name": "c", "time_step": 0.01, "steps": 2, "models": [model]}))
            self.refuse_each(because, "info", "copies.json")
        self.robot()
        body = "<body><freejoint/><geom size='0.1'/></body>"
        thousand = "<replicate count='1000' offset='1 0 0'>"
        for inside, because in [(f"<replicate count='{BILLION}'>{body}</replicate>", "use a whole number from 1 to 10000"),
                                (thousand * 3 + body + "</replicate>" * 3, "exceeds 10000 repetitions")]:
            self.write("many.xml", f"<mujoco><worldbody>{inside}</worldbody></mujoco>")
            self.refuse_each(because, "info", "many.xml")

    def test_meshes_of_ten_million_triangles(self):
        self.robot()
        ten = 10_000_000

        def sparse(name, header, size):
            with open(name, "wb") as file:
                file.write(header)
                file.truncate(size)

        (self.folder / "promised.stl").write_bytes(b" " * 80 + struct.pack("<I", ten) + bytes(5000))
        sparse("ten.stl", b" " * 80 + struct.pack("<I", ten), 84 + 50 * ten)
        sparse("five.stl", b" " * 80 + struct.pack("<I", ten // 2), 84 + 50 * (ten // 2))
        self.write("ascii.stl", "solid x\n" + "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n" * 1_500_000 + "endsolid x\n")
        (self.folder / "promised.msh").write_bytes(struct.pack("<4i", ten, 0, 0, ten) + bytes(100))
        sparse("ten.msh", struct.pack("<4i", 3, 0, 0, ten) + bytes(36), 16 + 36 + 12 * ten)
        self.write("ten.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" + "f 1 2 3\n" * ten)
        self.write("points.obj", "v 0 0 0\n" * ten)
        self.write("ten.dae", DAE % (ten, "0 1 2 " * ten))
        for name, because in [("promised.stl", "promised.stl"), ("ten.stl", "larger than 256 MiB"), ("five.stl", "more than 1000000 triangles"),
                              ("ascii.stl", "more than 1000000 triangles"), ("promised.msh", "the size that it states"), ("ten.msh", "more than 1000000 triangles"),
                              ("ten.obj", "more than 1000000 triangles"), ("points.obj", "more than 3000000 vertices"), ("ten.dae", "more than 1000000 triangles")]:
            self.write("robot.urdf", MESH_OF_ROBOT % name)
            self.refuse_each(because + "[^\n]*; ", "info", "robot.urdf")

    def test_tiny_time_steps(self):
        per_step = [{"actuators": ["m/push"], "optimize": "per_step"}]
        self.write("long.json", json.dumps(SPRING | {"time_step": 1e-9, "steps": BILLION}))
        for command in ["info", "plan"]:
            self.expect(DONE, "", command, "long.json")
        self.write("variables.json", json.dumps(SPRING | {"time_step": 1e-9, "steps": BILLION, "controls": per_step}))
        self.refuse_each("decision variables are more than", "info", "variables.json")
        for time_step in [1e-300, 5e-324]:
            self.write("tiny.json", changed(["time_step"], time_step))
            self.expect(DONE, "", "simulate", "tiny.json")

    def test_large_numbers(self):
        self.write("batch.json", json.dumps(SPRING | {"batch": BATCH}))
        for arguments in [("info", "spring.json", "--steps"), ("plan", "spring.json", "--slots", 3, "--steps"), ("gradient", "spring.json", "--keep"),
                          ("gradient", "batch.json", "--environments"), ("gradient", "batch.json", "--threads"), ("bench", "spring.json", "--batch"),
                          ("bench", "spring.json", "--repeat"), ("bench", "spring.json", "--batch", 4, "--threads"), ("optimize", "spring.json", "--knots"),
                          ("optimize", "spring.json", "--landscape"), ("simulate", "batch.json", "--environment")]:
            self.refuse_each(str(LARGE) + "|from [0-9]+ to [0-9]+", *arguments, LARGE)
        self.refuse_each("at most as many shards", "gradient", "batch.json", "--out", "g", "--shard", f"{LARGE}/{LARGE}")
        for arguments in [("gradient", "spring.json", "--slots"), ("gradient", "spring.json", "--horizon")]:
            self.expect(DONE, "", *arguments, LARGE)
        for optimize, because in [({"method": "receding_horizon", "horizon": BILLION}, "horizon"), ({"method": "cmaes", "population": BILLION}, "population")]:
            self.write("large.json", json.dumps(SPRING | {"optimize": optimize}))
            self.refuse_each(because, "optimize", "large.json")
        self.write("many.json", json.dumps(SPRING | {"batch": BATCH | {"environments": 10 * BILLION}}))
        self.refuse_each("environments", "gradient", "many.json")


if __name__ == "__main__":
    sys.exit(unittest.main())
