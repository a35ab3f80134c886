"""Writes apps/site/museum.md from the table of cases. Usage, in tests/apps/python: python3 -m museum.page"""
import textwrap
from pathlib import Path

from .cases import CASES, room

PAGE = Path(__file__).resolve().parents[4] / "apps/site/museum.md"
WIDTH = 115

INTRODUCTION = """\
Gradients of simulators are easy to get wrong, and their users say so in public. This page
collects {n} reports about other engines: wrong, zero, NaN or exploding gradients. Each is
rebuilt as a small scene, and costate's gradient is compared with a truth that does not come
from costate: a formula by hand, or the equations of motion in numpy with complex numbers,
whose derivatives have no step size. All agree within 1e-8 of the largest entry, most within
1e-13.

The engines named here are good ones. Many of the reports are solved, some were made by the developers
themselves, and some concern versions of long ago; the threads tell the rest. The scenes are ours: they have the
structure of the report, not its files. Their code and the truths are in `tests/apps/python/museum/`, from whose
table this page is written, and a test runs them all."""


def filled(text):
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def written():
    parts, last = ["# The museum of wrong gradients", filled_paragraphs(INTRODUCTION.format(n=len(CASES)))], None
    for case in CASES:
        if room(case) != last:
            last = room(case)
            parts.append(f"## {last}")
        there, here = f"[{case.source}]({case.url}): {case.wrong}", f"*Here:* {case.here}"
        parts += [f"### {case.title}", filled(there), filled(here)]
    return "\n\n".join(parts) + "\n"


def filled_paragraphs(text):
    return "\n\n".join(filled(" ".join(paragraph.split())) for paragraph in text.split("\n\n"))


if __name__ == "__main__":
    PAGE.write_text(written())
