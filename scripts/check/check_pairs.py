#!/usr/bin/env python3
"""Refuses an adjoint without a test: every foo_adj in a .hpp or .inl stands within 40 lines of its foo and is named in
the folder's operators.inc: as OP(foo), as PASS(foo, Adaptor) with check_pass<Adaptor> in tests/, or as
PART(foo, whole) if it is local to an .inl and tested through `whole`, another entry."""
import pathlib
import re
import sys
import tempfile

FOLDERS = ["core", "collision", "solvers", "adjoint"]
SCREEN = 40  # lines

# A name after a type is a declaration; after an operator, a bracket or a keyword it is a call.
DECLARATION = re.compile(r"(?<![\w:])(?!return\b|else\b|do\b|case\b|throw\b|new\b)[\w:]*\w[>&*]*\s+(\w+)(?:<[^;(){}]*>)?\s*\(")
ENTRY = re.compile(r"^[ \t]*(OP|PASS|PART)\(\s*(\w+)\s*(?:,\s*([\w:]+)\s*)?\)", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def code_of(path):
    """The text of a file without its comments, on the same lines."""
    return COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), path.read_text())


def declarations(folder):
    """(header, name) -> the lines on which the header declares the function."""
    found = {}
    for header in sorted([*folder.rglob("*.hpp"), *folder.rglob("*.inl")]):
        code = code_of(header)
        for match in DECLARATION.finditer(code):
            found.setdefault((header, match[1]), []).append(code.count("\n", 0, match.start(1)) + 1)
    return found


def check_folder(folder, tests):
    errors = []
    declared = declarations(folder)
    listing = folder / "operators.inc"
    entries = ENTRY.findall(code_of(listing)) if listing.exists() else []
    listed = [name for _, name, _ in entries]
    where = f"{folder.name}/operators.inc"

    for (header, name), lines in declared.items():
        foo = name.removesuffix("_adj")
        if foo == name:
            continue
        place = f"{folder.name}/{header.relative_to(folder)}:{lines[0]}: {name}"
        if foo not in listed:
            errors.append(f"{place} is not listed in {where}")
        forward = declared.get((header, foo), [])
        if header.suffix == ".inl" and (header.with_suffix(".hpp"), name) in declared:
            continue  # the definition of what the header declares
        if not any(abs(a - b) <= SCREEN for a in lines for b in forward):
            errors.append(f"{place} has no {foo} within {SCREEN} lines")

    names = {name for _, name in declared}
    for kind, name, adaptor in entries:
        for missing in {name, name + "_adj"} - names:
            errors.append(f"{where}: {kind}({name}): no header here declares {missing}")
        if listed.count(name) > 1:
            errors.append(f"{where}: {name} is listed twice")
        if (kind != "OP") != bool(adaptor):
            errors.append(f"{where}: an entry is OP(foo), PASS(foo, Adaptor) or PART(foo, whole), not {kind} of {name}")
        if kind == "PART" and adaptor not in listed:
            errors.append(f"{where}: PART({name}, {adaptor}): {adaptor} is not listed")
        if kind == "PASS" and not re.search(rf"\bcheck_pass<\s*(\w+::)*{adaptor}\b", tests):
            errors.append(f"{where}: PASS({name}, {adaptor}): no check_pass<{adaptor}> in tests/")
    return errors


def check(root):
    tests = "\n".join(code_of(path) for path in sorted((root / "tests").rglob("*.[ch]pp")))
    return [error for folder in FOLDERS for error in check_folder(root / folder, tests)]


def self_test():
    pair = "template <class T> T foo(const T& x) {\n    return x;\n}\ntemplate <class T>\nvoid foo_adj(const T& x) {}\n"
    far = pair.replace("}\n", "}\n" + "\n" * SCREEN, 1)
    call = "inline void bar() {\n    other_adj(1);\n    return other_adj(2), a * other_adj(3);\n}\n"
    cases = [  # header, operators.inc, a file of tests, what is complained of
        (pair, "OP(foo)", "", None),
        (pair + call, "OP(foo)  // note", "", None),
        (pair, "PASS(foo, Foo)", "check_pass<test::Foo>(1e-12);", None),
        (pair, "", "", "not listed"),
        (pair, "// OP(foo)", "", "not listed"),
        (pair, "OP(foo)\nOP(foo)", "", "listed twice"),
        (far, "OP(foo)", "", "within"),
        (pair.replace("T foo(", "T fo("), "OP(foo)", "", "within"),
        (pair, "OP(foo)\nOP(gone)", "", "declares gone"),
        (pair, "PASS(foo, Foo)", "// check_pass<Foo>(1e-12);", "no check_pass<Foo>"),
        (pair, "PASS(foo, Foo)", "check_pass<Foot>(1e-12);", "no check_pass<Foo>"),
        (pair, "PASS(foo)", "", "an entry is"),
        (pair, "PART(foo, gone)", "", "gone is not listed"),
    ]
    for header, listing, test, complaint in cases:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for file, text in {"core/a.hpp": header, "core/operators.inc": listing, "tests/a.cpp": test}.items():
                (root / file).parent.mkdir(exist_ok=True)
                (root / file).write_text(text)
            errors = check(root)
            assert any(complaint in error for error in errors) if complaint else not errors, (listing, complaint, errors)


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
    else:
        sys.exit("\n".join(check(pathlib.Path(__file__).resolve().parents[2])) or 0)
