"""What the library and the program link: nothing that they do not use, no optimizers of others behind the library, and
nothing that apps/LICENSES.md does not list. The library names no file of the tree in which it was built."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

LIBRARY, PROGRAM, READELF, SOURCE = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1), Path(sys.argv.pop(1))
TABLE = (SOURCE / "apps/LICENSES.md").read_text()
OTHERS = re.compile(r"pagmo|nlopt|boost|tbb|ipopt|httplib|libssl|libcrypto|brotli")


def needed(file):
    text = subprocess.run([READELF, "-d", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def all_linked(file):
    """Also what the linked libraries link."""
    text = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s*(\S+) =>", text, re.MULTILINE)


def row(name):
    """The row of the table with this library: libBulletCollision-float64.so.3.24 as `libBulletCollision`."""
    words = re.findall(r"`(lib[\w+-]+|ld-linux)`", TABLE)
    best = [w for w in words if re.match(re.escape(w) + r"(?![a-z])", name)]
    return next((line for line in TABLE.splitlines() if best and f"`{best[0]}`" in line), None)


class LinkingTest(unittest.TestCase):
    def test_the_library_links_no_optimizers_nor_their_libraries(self):
        self.assertTrue(any("libstdc++" in name for name in needed(LIBRARY)))
        for name in needed(LIBRARY) + all_linked(LIBRARY):
            self.assertIsNone(OTHERS.search(name), name)

    def test_nothing_is_linked_that_is_not_used(self):
        unused = subprocess.run(["ldd", "-u", LIBRARY], capture_output=True, text=True).stdout
        unused = [name for name in unused.split() if name.startswith("/") and "libm.so" not in name]
        self.assertEqual(unused, [])

    def test_the_table_of_licenses_names_what_is_linked(self):
        for file, column in ((LIBRARY, 3), (PROGRAM, 4)):
            if not Path(file).is_file():
                continue
            for name in needed(file):
                line = row(name)
                self.assertIsNotNone(line, f"apps/LICENSES.md does not list {name}")
                self.assertEqual(line.split("|")[column].strip(), "linked", name)

    def test_the_library_holds_no_path_of_the_source_tree(self):
        for file in (LIBRARY, PROGRAM):
            if Path(file).is_file():
                path = re.escape(str(SOURCE / "scenes").encode())  # not as the end of another path, "share/costate/scenes"
                self.assertFalse(re.search(rb"(?<![\w.-])" + path, Path(file).read_bytes()), f"{file} holds {SOURCE}/scenes")


if __name__ == "__main__":
    unittest.main()
