#!/usr/bin/env python3
"""Refuses a README that shows other text than the files which the tests compile, run or write: after a line <!-- FILE --> stands a
block of code, or a table, that is FILE to the letter. With --fix, copies the files into their blocks."""
import pathlib
import re
import sys

EXAMPLES = ["tests/readme/readme_example.cpp", "tests/readme/readme_example.c", "tests/readme/readme_example.py", "tests/readme/readme_scene.json",
            "tests/readme/robot.urdf", "tests/readme/kick.json"]
TABLES = ["tests/readme/pair_table.md", "tests/readme/parameter_table.md", "tests/readme/zoo_table.md"]
BLOCK = re.compile(r"^<!-- (\S+) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- (\S+) -->\n()((?:\|.*\n)+)", re.MULTILINE)


def check(readme, texts):
    """What is wrong with a README, by the texts of the files that it has to show."""
    errors = []
    blocks = [(name, language or "md", block) for name, language, block in BLOCK.findall(readme) + TABLE.findall(readme)]
    for file, text in texts.items():
        shown = [(language, block) for name, language, block in blocks if name == file]
        if len(shown) != 1:
            errors.append(f"README.md: {len(shown)} blocks after <!-- {file} -->, not one")
            continue
        language, block = shown[0]
        if language != file.rsplit(".", 1)[-1]:
            errors.append(f"README.md: the block of {file} is marked as {language}")
        if block != text:
            ours, theirs = block.splitlines(), text.splitlines()
            same = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            errors.append(f"README.md: {file}:{same + 1} reads otherwise; copy the file into its block")
    return errors


def self_test():
    file = "tests/a.cpp"
    good = f"text\n\n<!-- {file} -->\n```cpp\nint a;\n\nint b;\n```\n\ntext\n"
    cases = [  # README, what is complained of
        (good, None),
        (good.replace("int b", "int c"), "a.cpp:3"),
        (good.replace("int b;\n", ""), "a.cpp:3"),
        (good.replace("int b;", "int b;\nint c;"), "a.cpp:4"),
        (good.replace("int b;\n", "int b;\n\n"), "a.cpp:4"),
        (good.replace("```cpp", "```c"), "marked as c"),
        (good.replace("a.cpp", "b.cpp"), "0 blocks"),
        (good.replace("-->\n", "-->\n\n"), "0 blocks"),
        (good + good, "2 blocks"),
    ]
    for readme, complaint in cases:
        errors = check(readme, {file: "int a;\n\nint b;\n"})
        assert any(complaint in error for error in errors) if complaint else not errors, (readme, complaint, errors)


def fixed(readme, texts):
    """The README with every block as its file is."""
    code = lambda m: f"<!-- {m[1]} -->\n```{m[2]}\n{texts.get(m[1], m[3])}```"
    table = lambda m: f"<!-- {m[1]} -->\n{texts.get(m[1], m[3])}"
    return TABLE.sub(table, BLOCK.sub(code, readme))


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
    else:
        root = pathlib.Path(__file__).resolve().parents[2]
        texts = {file: (root / file).read_text() for file in EXAMPLES + TABLES}
        readme = root / "README.md"
        if "--fix" in sys.argv:
            readme.write_text(fixed(readme.read_text(), texts))
        sys.exit("\n".join(check(readme.read_text(), texts)) or 0)
