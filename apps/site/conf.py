"""The documentation site. Its source folder is that of the whole tree, so that the documents beside the code are pages
of the site and links between them work in both places. scripts/package/site.sh builds it."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "apps/python"))

project = "costate"
author = "the costate authors"
copyright = "2026, the costate authors"
release = re.search(r"project\(costate VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
root_doc = "apps/site/index"
include_patterns = ["*.md", "core/README.md", "collision/README.md", "solvers/README.md", "adjoint/README.md", "scenes/README.md",
                    "tests/README.md", "apps/*.md", "apps/*/README.md", "apps/c_api/*.md", "apps/site/*.md"]
# Sphinx walks all folders and follows links: those of a Debian that scripts/package made in out/ lead through the whole machine
exclude_patterns = ["out", "build*", ".git"]
myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
myst_update_mathjax = False

breathe_projects = {"c": os.environ.get("COSTATE_DOXYGEN_C", ""), "cpp": os.environ.get("COSTATE_DOXYGEN_CPP", "")}
breathe_default_project = "c"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("Array", "ArrayLike", "Integers", "Mask", "PathLike", "Ranges")}
autodoc_member_order = "bysource"
autodoc_mock_imports = ["jax", "torch", "gymnasium"]

html_theme = "sphinx_rtd_theme"
html_show_sourcelink = False
html_title = f"costate {release}"
html_static_path = ["static"]
html_css_files = ["width.css"]


def text_of(line):
    """A line of a docstring: plain text, in which `names` are code."""
    parts = line.split("`")
    return "".join(f"``{part}``" if i % 2 else re.sub(r"([*|\\])", r"\\\1", part) for i, part in enumerate(parts))


def process_docstring(app, what, name, thing, options, lines):
    """Docstrings are plain text: an indented paragraph is an example; lines such as "out: ..." are items of a list, with
    indented continuations."""
    out = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        rows = paragraph.split("\n")
        if rows[0].startswith("    "):
            out += ["::", "", *rows, ""]
            continue
        in_list = False
        for row in rows:
            item = re.match(r"(\w[\w, ]{0,30}): (.*)", row)
            if item and (in_list or row is rows[0]):
                out.append(f"- *{item[1]}*: {text_of(item[2])}")
                in_list = True
            else:
                out.append(("  " if in_list else "") + text_of(row.strip()))
        out.append("")
    lines[:] = out


def setup(app):
    from pygments.lexers.html import XmlLexer

    app.add_lexer("urdf", XmlLexer)
    app.connect("autodoc-process-docstring", process_docstring)
