#!/usr/bin/env python3
"""A header with its comments as Doxygen wants them: those before a declaration and those to the right of one. Angle
brackets, at signs and backslashes of the text are escaped."""
import re
import sys


def escaped(text):
    text = re.sub(r"([<>@\\#&])", r"\\\1", text)
    return re.sub(r"`([^`]+)`", r"<tt>\1</tt>", text)


def converted(text):
    text = re.sub(r"typedef struct (\w+) \{(.*?)\n\} \1;", r"struct \1 {\2\n};", text, flags=re.DOTALL)
    out = []
    for line in text.splitlines():
        comment = re.match(r"^(\s*)// ?(.*)$", line)
        right = re.match(r"^(.*\S)\s+// (.*)$", line)
        if comment:
            line = f"{comment[1]}/// {escaped(comment[2])}"
        elif right and '"' not in right[1]:
            line = f"{right[1]}  ///< {escaped(right[2])}"
        out.append(line)
    text = "\n".join(out) + "\n"

    def block(match):  # /* of C; to the right of code if that ends before it on the same line
        code = text[: match.start()].rsplit("\n", 1)[-1].strip()
        if match.start() == 0:  # of the file, with a list of sizes
            return "/** @file\n" + re.sub(r"(?m)^ \* (\w+: )", r" * - \1", escaped(match[1])) + "*/"
        return ("/**<" if code else "/**") + escaped(match[1]) + "*/"

    return re.sub(r"/\*(.*?)\*/", block, text, flags=re.DOTALL)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        sys.stdout.write(converted(file.read()))
