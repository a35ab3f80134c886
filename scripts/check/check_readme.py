#!/usr/bin/env python3
"""Refuses documents that disagree with the tree.

- Every file of tests/readme is shown once in all the documents: after a line <!-- FILE --> stands a block of code,
  or a table, that is FILE to the letter. The tests compile, run or write these files.
- Relative links and images lead to a file or folder, and an anchor to a heading.
- Words in backticks or in shell blocks that look like a path of this tree exist. They are written from the root;
  * and {a,b} may be used. A bare name of a source file exists in some folder.
- README.md has at most 250 lines.

With --fix, the files are copied into their blocks first.
"""
import pathlib
import re
import sys
import tempfile

SHOWN = "tests/readme"
MOST_LINES = 250  # of README.md
BLOCK = re.compile(r"^<!-- (\S+) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- (\S+) -->\n()((?:\|.*\n)+)", re.MULTILINE)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")  # may go on in the next line
PATH = re.compile(r"[\w.{},*/-]+")
BRACES = re.compile(r"\{([^{}]*)\}")
SOURCES = {".cpp", ".hpp", ".inl", ".inc", ".h", ".py", ".sh", ".js", ".mjs", ".cmake", ".md"}


def documents(root):
    """The Markdown files of the tree by their paths, without those that are shown."""
    found = [root / "README.md"]
    for folder in sorted(p for p in root.iterdir() if (p / "CMakeLists.txt").is_file()):
        found += sorted(folder.rglob("*.md"))
    names = [path.relative_to(root).as_posix() for path in found]
    return {name: (root / name).read_text() for name in names if not re.match(rf"{SHOWN}/|.*/node_modules/", name)}


def block_errors(texts, shown):
    """Blocks against the files that they show: `shown` by their paths."""
    errors, places = [], {file: [] for file in shown}
    for name, text in texts.items():
        for file, language, block in BLOCK.findall(text) + TABLE.findall(text):
            if file in shown:
                places[file].append((name, language or "md", block))
            else:
                errors.append(f"{name}: there is no {file} to show")
    for file, text in shown.items():
        if len(places[file]) != 1:
            where = ", ".join(name for name, *_ in places[file])
            errors.append(f"{len(places[file])} blocks after <!-- {file} -->, not one: {where}")
            continue
        name, language, block = places[file][0]
        if language != file.rsplit(".", 1)[-1]:
            errors.append(f"{name}: the block of {file} is marked as {language}")
        if block != text:
            ours, theirs = block.splitlines(), text.splitlines()
            same = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            errors.append(f"{name}: {file}:{same + 1} differs; copy the file into its block")
    return errors


def anchors(text):
    """The anchors that GitHub gives to the headings of a document."""
    headings = HEADING.findall(FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_errors(root, texts):
    errors = []
    for name, text in texts.items():
        for match in LINK.finditer(FENCE.sub("", text)):
            link = match[1] or match[2]
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (root / name).parent / path if path else root / name
            if not target.exists():
                errors.append(f"{name}: the link to {link} leads nowhere")
            elif anchor and anchor not in anchors(target.read_text()):
                errors.append(f"{name}: {link} has no such heading")
    return errors


def expanded(word):
    """`a.{b,c}` as `a.b` and `a.c`."""
    braces = BRACES.search(word)
    if not braces:
        return [word]
    before, after = word[: braces.start()], word[braces.end():]
    return [each for choice in braces[1].split(",") for each in expanded(before + choice + after)]


def path_errors(root, texts):
    folders = {p.name for p in root.iterdir() if p.is_dir() and not re.match(r"build|out$|\.git$", p.name)}
    names = {p.name for folder in folders for p in (root / folder).rglob("*")} | {p.name for p in root.iterdir()}
    errors = []
    for name, text in texts.items():
        blocks = [block for language, block in FENCE.findall(text) if language == "sh"]
        for word in " ".join(CODE.findall(FENCE.sub("", text)) + blocks).split():
            if not PATH.fullmatch(word):
                continue
            for path in expanded(word):
                in_tree = path.split("/")[0] in folders and "/" in path
                bare = "/" not in path and "*" not in path and pathlib.PurePath(path).suffix in SOURCES
                if (in_tree and not any(root.glob(path.rstrip("/")))) or (bare and path not in names):
                    errors.append(f"{name}: there is no {path}")
    return errors


def check(root):
    texts = documents(root)
    shown = {f"{SHOWN}/{p.name}": p.read_text() for p in sorted((root / SHOWN).iterdir())}
    errors = block_errors(texts, shown) + link_errors(root, texts) + path_errors(root, texts)
    lines = texts["README.md"].count("\n")
    return errors + ([f"README.md: {lines} lines, more than {MOST_LINES}"] if lines > MOST_LINES else [])


def self_test():
    file = f"{SHOWN}/a.cpp"
    good = f"# A title, or `two`\n\n<!-- {file} -->\n```cpp\nint a;\n\nint b;\n```\n\ntext\n"
    table = f"<!-- {SHOWN}/t.md -->\n| a |\n|---|\n"
    cases = [  # README.md, core/README.md, the complaint
        (good, table, None),
        (table, good, None),
        (good.replace("int b", "int c"), table, "README.md: tests/readme/a.cpp:3"),
        (good.replace("int b;\n", ""), table, "a.cpp:3"),
        (good.replace("int b;", "int b;\nint c;"), table, "a.cpp:4"),
        (good.replace("int b;\n", "int b;\n\n"), table, "a.cpp:4"),
        (good.replace("```cpp", "```c"), table, "marked as c"),
        (good.replace("a.cpp", "b.cpp"), table, "0 blocks"),
        (good.replace("a.cpp", "b.cpp"), table, "no tests/readme/b.cpp"),
        (good.replace("-->\n", "-->\n\n"), table, "0 blocks"),
        (good + good, table, "2 blocks"),
        (good, table + good, "2 blocks"),
        (good, table.replace("| a |", "| b |"), "core/README.md: tests/readme/t.md:1"),
        (good + "[a](core/README.md) [b](https://a.b/c) [d](#a-title-or-two)\n", table, None),
        (good + "[a](core/NONE.md)\n", table, "link to core/NONE.md"),
        (good + '<img src="core/none.png">\n', table, "link to core/none.png"),
        (good, table + "[a](../README.md#a-title-or-two)\n", None),
        (good, table + "[a](../README.md#none)\n", "no such heading"),
        (good + "`core/x.{hpp,cpp}` `core/*.hpp` `core/` `joints/*/axis`\n", table, None),
        (good + "`run.csv` `x.cpp` `core/<x>` `foo.bar`\n", table, None),
        (good + "`core/y.hpp`\n", table, "no core/y.hpp"),
        (good + "`core/x.{hpp,inl}`\n", table, "no core/x.inl"),
        (good + "`core/*.inc`\n", table, "no core/*.inc"),
        (good + "`y.hpp --all`\n", table, "no y.hpp"),
        (good + "`run the\nprogram` and `core/y.hpp`\n", table, "no core/y.hpp"),
        (good + "```sh\ncore/run.sh all\n```\n", table, "no core/run.sh"),
        (good + "```text\ncore/run.sh all\n```\n", table, None),
        (good + "\n" * MOST_LINES, table, "lines, more than"),
    ]
    for readme, other, complaint in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / SHOWN).mkdir(parents=True), (root / "core").mkdir()
            files = {file: "int a;\n\nint b;\n", f"{SHOWN}/t.md": "| a |\n|---|\n", "README.md": readme,
                     "core/README.md": other, "core/CMakeLists.txt": "", "core/x.hpp": "", "core/x.cpp": ""}
            for path, text in files.items():
                (root / path).write_text(text)
            errors = check(root)
        right = any(complaint in error for error in errors) if complaint else not errors
        assert right, (readme, other, complaint, errors)


def fix(root):
    def block(m):
        file = root / m[1]
        text = file.read_text() if file.is_file() else m[3]
        return f"<!-- {m[1]} -->\n" + (f"```{m[2]}\n{text}```" if m[2] else text)

    for name, text in documents(root).items():
        (root / name).write_text(TABLE.sub(block, BLOCK.sub(block, text)))


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
    else:
        root = pathlib.Path(__file__).resolve().parents[2]
        if "--fix" in sys.argv:
            fix(root)
        sys.exit("\n".join(check(root)) or 0)
