"""Writes a copy of the sources in which every statement has its mutants beside it, to be chosen when a test runs.

    x += a * b;   becomes   { if (sabotage::mutant(7)) x -= a * b; else if (sabotage::mutant(8)) ; else x += a * b; }

One build therefore holds all mutants. A mutant is a statement with one sign turned, += made =, a floating constant changed
or the statement dropped, or a condition of `if` that is always true or always false."""
import bisect
import dataclasses
import pathlib
import re

FOLDERS = ["core", "collision", "solvers", "adjoint"]
ENDINGS = [".cpp", ".hpp", ".inl"]
COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                               re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r"(\b[\w~]+)\s*(?:<[^;(){}]*>)?\s*$")
DECLARATION = re.compile(r"(?:const )?((?:T|int|double|bool|size_t|Real|[A-Z]\w*<[\w, :]+>)) (\w+) = (?!\{)")
NOT_AN_EXPRESSION = re.compile(r"(?:using|static|static_assert|constexpr|throw|break|continue|goto|delete|struct|class|enum|"
                               r"template|typename|auto|const|default|case|extern|public|private|do|try|else)\b")
SIGN = re.compile(r"(?<=[\w)\]}] )[+-](?= [\w({!*&-])")
COMPOUND = re.compile(r"(?<= )([+-])=(?= )")
NEGATED = re.compile(r"(?:(?<=[(,] )|(?<=\()|(?<= = )|(?<=return ))-(?=[\w(])")
REAL = re.compile(r"(?<![\w.])\d+\.\d*(?:e-?\d+)?(?![\w.])")


@dataclasses.dataclass
class Mutant:
    file: str
    line: int
    what: str
    statement: str
    adjoint: str  # foo for a statement of foo_adj, or empty
    left_out: bool


def blank(text):
    """The text with comments, strings and directives blanked, of the same length."""
    return COMMENT_OR_STRING.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(code, i):
    """The place behind the bracket that closes the one at i."""
    depth = 0
    while i < len(code):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[i], 0)
        i += 1
        if depth == 0:
            return i
    raise ValueError("an open bracket")


def functions(code):
    """(name, begin, end) of the bodies of functions, without those that are constexpr."""
    i, start = 0, 0  # start: of the declaration that is being read
    while i < len(code):
        c = code[i]
        if c == "(":
            opening = i
            i = closing(code, i)
            tail = re.compile(r"\s*(?:const|noexcept|override)*\s*(?=[{:;])").match(code, i)
            if not tail:
                continue
            at = tail.end()
            if code[at] == ":" and code[at + 1] != ":":  # initializers of a constructor
                while code[at] not in ";":
                    if code[at] in "({":
                        at = closing(code, at)
                        if re.match(r"\s*\{", code[at:]):
                            at += len(re.match(r"\s*", code[at:])[0])
                            break
                    else:
                        at += 1
            if code[at] == "{":
                end = closing(code, at)
                name = FUNCTION.search(code, start, opening)
                if name and not re.search(r"\bconst(?:expr|eval)\b(?!\s*\()", code[start:opening]):
                    yield name[1], at + 1, end - 1
                i = start = end
        else:
            i += 1
            if c in ";{}":
                start = i


def statements(code, begin, end):
    """(begin, end, kind) of the statements and of the conditions of `if` between two places; kinds: 'statement' with its ;,
    'condition' without its brackets."""
    i = start = begin
    while i < end:
        c = code[i]
        if c in "([":
            after = closing(code, i)
            head = re.fullmatch(r"\s*(?:else\s+)?(if|for|while|switch)( constexpr)?\s*", code[start:i]) if c == "(" else None
            if head:
                if head[1] == "if" and not head[2]:
                    yield i + 1, after - 1, "condition"
                i = start = after
            elif "{" in code[i:after]:  # a lambda, or braces
                yield from statements_of_lambdas(code, i, after)
                i = after
            else:
                i = after
        elif c == "{":
            after = closing(code, i)
            if re.search(r"[\w>\])=,]\s*$", code[start:i]) and not re.search(r"\b(?:else|do|try)\s*$|\)\s*$", code[start:i]):
                i = after  # an initializer
            elif re.search(r"\]\s*\(.*\)\s*(?:mutable)?\s*(?:->[^{]*)?$", code[start:i], re.DOTALL):
                yield from statements(code, i + 1, after - 1)
                i = after
            else:
                yield from statements(code, i + 1, after - 1)
                i = start = after
        elif c == ";":
            first = start + len(re.match(r"\s*(?:else\b\s*)?", code[start:i])[0])
            yield first, i + 1, "statement"
            i += 1
            start = i
        else:
            i += 1
            if c == ":" and re.fullmatch(r"\s*(?:case [^;{}?]*|default)\s*:", code[start:i]) and ":" not in (code[i], code[i - 2]):
                start = i


def statements_of_lambdas(code, begin, end):
    i = begin + 1
    while i < end - 1:
        if code[i] == "{":
            after = closing(code, i)
            if re.search(r"\)\s*(?:mutable)?\s*$", code[begin:i]):
                yield from statements(code, i + 1, after - 1)
            i = after
        else:
            i += 1


def innermost(spans):
    """Those that hold no other: a statement with a lambda is broken inside the lambda alone."""
    kept = []
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        while kept and span[1] <= kept[-1][1]:
            kept.pop()
        kept.append(span)
    return kept


def broken_expressions(text):
    """(what was done, the broken text) of an expression or statement"""
    for match in SIGN.finditer(text):
        yield f"{match[0]} turned", text[: match.start()] + {"+": "-", "-": "+"}[match[0]] + text[match.end():]
    for match in NEGATED.finditer(text):
        yield "- dropped", text[: match.start()] + text[match.end():]
    for match in COMPOUND.finditer(text):
        yield f"{match[0]} turned", text[: match.start()] + {"+": "-", "-": "+"}[match[1]] + "=" + text[match.end():]
        yield f"{match[0]} made =", text[: match.start()] + "=" + text[match.end():]
    for match in REAL.finditer(text):
        yield f"{match[0]} changed", text[: match.start()] + f"({match[0]} + 1.0)" + text[match.end():]


class Writer:
    """Numbers mutants and writes the files that hold them. `left_out` has (file, first line) of statements that do not
    compile: their mutants have numbers, so that no other number changes, and are not written."""

    def __init__(self, left_out):
        self.left_out = left_out
        self.mutants = []
        self.places = {}  # file -> [(first line of what was written, last line, first line in the source)]

    def number(self, *about):
        self.mutants.append(Mutant(*about))
        return len(self.mutants)

    def condition(self, text, about):
        if ";" in text or re.search(r"(?<![=!<>])=(?!=)", text):
            return None
        true = self.number(*about[:2], "always true", *about[2:])
        false = self.number(*about[:2], "always false", *about[2:])
        return f"sabotage::mutant({true}) || (!sabotage::mutant({false}) && ({text}))"

    def statement(self, text, about):
        declaration = DECLARATION.match(text)
        returned = re.match(r"return\s+(?!\{)(?=\S)", text)
        if declaration or returned:
            head = (declaration or returned).end()
            expression = text[head:-1]
            if not one_variable(expression):
                return None
            broken = [(self.number(*about[:2], what, *about[2:]), other) for what, other in broken_expressions(expression)
                      if not re.match(r"[+-]\s", other)]
            if not broken:
                return None
            if returned:
                return "{ " + "".join(f"if (sabotage::mutant({n})) return {other}; " for n, other in broken) + text + " }"
            kind = declaration[1]
            return (text[:head] + "".join(f"sabotage::mutant({n}) ? {kind}({other}) : " for n, other in broken)
                    + f"{kind}({expression});")
        if NOT_AN_EXPRESSION.match(text) or not re.search(r"=|[\w>]\(", text) or "return" in text:
            return None
        if re.match(r"(?:const )?[\w:]+(?:<[^;=]*>)?(?:\s*[&*]+\s*(?:(?:const|__restrict)\s+)?|\s+)\w+\s*[=({;,\[]", text):
            return None  # another declaration
        broken = [(self.number(*about[:2], what, *about[2:]), other) for what, other in broken_expressions(text)]
        broken.append((self.number(*about[:2], "dropped", *about[2:]), ";"))
        return "{ " + "".join(f"if (sabotage::mutant({n})) {{ {other} }} else " for n, other in broken) + f"{{ {text} }} }}"

    def file(self, name, text):
        code = blank(text)
        lines = [m.start() for m in re.finditer("\n", text)]
        changes = []
        for function, begin, end in functions(code):
            adjoint = function[:-4] if function.endswith("_adj") else ""
            for first, last, kind in innermost(statements(code, begin, end)):
                original = text[first:last]
                line = bisect.bisect_left(lines, first) + 1
                if "#" in original or not original.strip(" ;\n"):
                    continue
                about = (name, line, " ".join(code[first:last].split()), adjoint, (name, line) in self.left_out)
                new = getattr(self, kind)(re.sub(r"//[^\n]*", "", original), about)
                if new and (name, line) not in self.left_out:
                    changes.append((first, last, new, line))
        written, at, places = [], 0, []
        row = 1
        for first, last, new, line in changes:
            row += text.count("\n", at, first)
            places.append((row, row + new.count("\n"), line))
            row += new.count("\n")
            written += [text[at:first], new]
            at = last
        self.places[name] = places
        return "".join(written) + text[at:]

    def source_line(self, name, row):
        """The first line in the source of the statement that is at a row of the written file, or None."""
        return next((line for first, last, line in self.places.get(name, []) if first <= row <= last), None)


def one_variable(expression):
    """Whether what follows `T x = ` initialises x alone: no comma outside brackets."""
    depth = 0
    for c in re.sub(r"<[\w:, ]+>", "", expression):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(c, 0)
        if c == "," and depth == 0:
            return False
    return True


def write_if_new(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write_tree(root, tree, left_out):
    """Writes the sources of `root` with their mutants to `tree`, which is a copy of it. Returns the Writer."""
    writer = Writer(left_out)
    for folder in FOLDERS:
        for path in sorted(p for ending in ENDINGS for p in (pathlib.Path(root) / folder).rglob(f"*{ending}")):
            name = str(path.relative_to(root))
            write_if_new(tree / name, writer.file(name, path.read_text()))
    write_if_new(tree / "mutant_count.hpp", f"constexpr int mutant_count = {len(writer.mutants)};\n")
    return writer
