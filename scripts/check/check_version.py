#!/usr/bin/env python3
"""The version is that of `project` in CMakeLists.txt. Refuses files that repeat another one."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPEATED = {  # files that cannot read it, with the version as a number (10000 major + 100 minor + patch) or as text
    "apps/c_api/costate.h": r"#define COSTATE_VERSION (\d+)",
    "apps/python/costate/_library.py": r"^HEADER = (\d+)",
    "CITATION.cff": r"^version: (\S+)",
    "CHANGELOG.md": r"^## (\d\S+)",
    "scripts/package/debian/changelog": r"^costate \(([\d.]+)",
}


def errors(texts):
    """Of texts by the names of their files."""
    version = re.search(r"project\(costate VERSION (\d+)\.(\d+)\.(\d+)", texts["CMakeLists.txt"])
    major, minor, patch = map(int, version.groups())
    right = {f"{major}.{minor}.{patch}", str(10000 * major + 100 * minor + patch)}
    for name, pattern in REPEATED.items():
        found = re.search(pattern, texts[name], re.MULTILINE)
        if not found:
            yield f"{name}: there is no version"
        elif found[1] not in right:
            yield f"{name}: the version is {found[1]}, not that of CMakeLists.txt, {major}.{minor}.{patch}"


def self_test(texts):
    assert not list(errors(texts))
    for name in REPEATED:
        number = re.search(REPEATED[name], texts[name], re.MULTILINE)
        wrong = texts[name][: number.start(1)] + "9" + texts[name][number.end(1):]
        assert len(list(errors({**texts, name: wrong}))) == 1, name
        assert len(list(errors({**texts, name: ""}))) == 1, name


if __name__ == "__main__":
    everything = {name: (ROOT / name).read_text() for name in ("CMakeLists.txt", *REPEATED)}
    if "--self-test" in sys.argv:
        self_test(everything)
    else:
        sys.exit("\n".join(errors(everything)) or 0)
