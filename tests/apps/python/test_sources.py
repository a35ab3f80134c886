"""Where models come from: files, texts and dicts, with options; warnings; copies and pickles."""
import copy
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy

import costate

SCENE = {"models": [{"name": "ball", "position": [0, 0, 1], "model": {"bodies": [{
    "name": "ball", "joint": {"type": "free"}, "mass": 2, "inertia": [1, 1, 1, 0, 0, 0],
    "shapes": [{"type": "sphere", "radius": 0.1}]}]}}], "ground": {}}
LINK = """<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{1}</link>"""
MESH = """<collision><geometry><mesh filename="package://parts/cube.obj"/></geometry></collision>"""
URDF = ("<robot name='arm'>" + LINK.format("base", "") + LINK.format("hand", MESH) +
        "<joint name='wrist' type='continuous'><parent link='base'/><child link='hand'/></joint></robot>")
MJCF = "<mujoco><worldbody><body name='b'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
CUBE = "".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
CUBE += "".join(f"f {face}\n" for face in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))


def with_importers():
    try:
        costate.Model.from_string(MJCF)
    except costate.BadFile as error:
        if "cannot read URDF" in str(error):
            return False
        raise
    return True


def quiet(load, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(*arguments, **options)


class SourceTest(unittest.TestCase):
    def test_a_text_or_a_dict_is_a_model(self):
        for given in (SCENE, json.dumps(SCENE), json.dumps(SCENE).encode()):
            m = costate.Model.from_string(given)
            self.assertEqual((m.nq, m.nv, m.bodies, m.source), (7, 6, ["ball"], "text"))
        self.assertEqual(
            costate.Model.from_string(SCENE, "json", "folder/one ball.json").source, "folder/one ball.json")
        with self.assertRaisesRegex(costate.BadFile, r"one\.json#/models/0/mdel: unknown key"):
            costate.Model.from_string({"models": [{"mdel": 1}]}, name="one.json")
        with self.assertRaisesRegex(costate.BadArgument, "format is \"yaml\", it may be json, urdf, mjcf or sdf"):
            costate.Model.from_string("a: 1", format="yaml")
        with self.assertRaisesRegex(ValueError, "a dict has the format json, not urdf"):
            costate.Model.from_string(SCENE, format="urdf")

    def test_files_of_a_text_are_in_the_folder_of_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            part = SCENE["models"][0]["model"]
            Path(folder, "part.json").write_text(json.dumps(part))
            scene = {**SCENE, "models": [{"name": "b", "position": [0, 0, 1], "file": "part.json"}]}
            self.assertEqual(costate.Model.from_string(scene, name=Path(folder) / "scene.json").nv, 6)
            with self.assertRaisesRegex(costate.BadFile, "part.json"):
                costate.Model.from_string(scene)

    @unittest.skipUnless(with_importers(), "the library is built without the importers of URDF and MJCF")
    def test_robots_are_read_with_options(self):
        load = costate.Model.from_string
        self.assertEqual(quiet(load, URDF).nv, 7)
        self.assertEqual(quiet(load, URDF, "urdf", base="fixed").nv, 1)
        self.assertEqual(load(MJCF, "mjcf").nv, 6)
        with self.assertRaisesRegex(costate.BadFile, "root element <mujoco>"):
            load(URDF, "mjcf")
        with self.assertRaisesRegex(costate.BadFile, "cube.obj"):
            load(URDF, strict=True)
        with self.assertRaisesRegex(costate.BadArgument, "base is \"up\", it may be fixed or floating"):
            load(URDF, base="up")
        with self.assertRaisesRegex(costate.BadArgument, "there is no folder /nowhere"):
            load(URDF, search=["/nowhere"])
        with self.assertRaisesRegex(TypeError, "search must be a list of folders"):
            load(URDF, search="/tmp")
        with self.assertRaisesRegex(costate.BadArgument, "hull_vertices is 3"):
            load(URDF, hull_vertices=3)
        with self.assertRaisesRegex(costate.BadArgument, "decompose is -1"):
            load(URDF, decompose=-1)
        with self.assertRaisesRegex(costate.BadArgument, 'law is "soft"'):
            load(URDF, law="soft")
        self.assertGreater(load(URDF, law="mujoco").nparam, load(URDF).nparam)  # softness is a parameter
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "parts").mkdir()
            Path(folder, "parts", "cube.obj").write_text(CUBE)
            Path(folder, "arm.urdf").write_text(URDF)
            m = load(URDF, search=[folder], strict=True)  # the mesh is found
            self.assertEqual(m.warnings, [])
            m = costate.Model(Path(folder, "arm.urdf"), base="fixed", search=[Path(folder)], strict=True)
            self.assertEqual((m.nv, m.warnings, m.bodies), (1, [], ["arm/base", "arm/hand"]))

    @unittest.skipUnless(with_importers(), "the library is built without the importers of URDF and MJCF")
    def test_warnings_are_python_s_at_the_line_that_loads(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            m = costate.Model.from_string(URDF, name="arm.urdf")
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "arm.urdf").write_text(URDF)
                costate.Model(os.path.join(folder, "arm.urdf"))
        self.assertTrue(m.warnings and "cube.obj" in m.warnings[0] and m.warnings[0].startswith("arm.urdf:1"))
        self.assertEqual([str(one.message) for one in caught[: len(m.warnings)]], m.warnings)
        self.assertEqual(len(caught), 2 * len(m.warnings))
        for one in caught:
            self.assertTrue(one.category is costate.ModelWarning and one.filename == __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error", costate.ModelWarning)
            with self.assertRaisesRegex(costate.ModelWarning, "cube.obj"):
                costate.Model.from_string(URDF)
            copy.copy(m)  # a copy does not warn again

    def test_a_copy_has_the_text_the_options_and_the_parameters(self):
        m = costate.Model.from_string(SCENE)
        m.set_parameter("bodies/ball/mass", 3)
        for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), copy.copy(m)):
            numpy.testing.assert_array_equal(other.parameters, m.parameters)
            self.assertEqual((other.parameter_names, other.bodies), (m.parameter_names, m.bodies))
            other.set_parameter("bodies/ball/mass", 4)  # its own
        self.assertAlmostEqual(m.mass_matrix([0, 0, 0, 1, 0, 0, 0])[0, 0], 3)
        if with_importers():
            fixed = pickle.loads(pickle.dumps(quiet(costate.Model.from_string, URDF, base="fixed")))
            self.assertEqual(fixed.nv, 1)

    def test_a_pickle_outlives_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "ball.json")
            path.write_text(json.dumps(SCENE))
            data = pickle.dumps(costate.Model(path))
        code = "import pickle, sys; m = pickle.load(sys.stdin.buffer); print(m.nv, m.bodies)"
        out = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True)
        self.assertEqual(out.stdout.decode(), "6 ['ball']\n", out.stderr.decode())
        self.assertEqual(pickle.loads(pickle.dumps(costate.Model("ant"))).nq, 15)  # an included scene, by its name

    def test_models_and_batches_are_context_managers(self):
        with costate.Model("cartpole") as m:
            with costate.Batch(m, 2) as batch:
                batch.state()
            with self.assertRaises(costate.BadHandle):
                batch.state()
        with self.assertRaises(costate.BadHandle):
            m.parameters
        self.assertRegex(repr(m), "cartpole.*closed")
        self.assertRegex(repr(batch), "2 of 'cartpole'.*closed")

    def test_the_version_is_that_of_the_library_and_of_the_package(self):
        self.assertRegex(costate.__version__, r"^\d+\.\d+\.\d+$")
        project = Path(__file__).resolve().parents[3] / "CMakeLists.txt"
        self.assertIn(f"project(costate VERSION {costate.__version__} ", project.read_text())
