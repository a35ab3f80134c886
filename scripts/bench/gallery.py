"""The page of the gallery: a table of what was published and what was measured, and of every scene its picture and curves."""
import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

STYLE = """
body { max-width: 70rem; margin: 0 auto; padding: 0 1rem 3rem; color: #22272b; font: 15px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 14px 4px 0; border-bottom: 1px solid #dfe3e6; text-align: left; vertical-align: top; }
img { max-width: 100%; height: auto; }
figure { margin: 0.5rem 0; }
figcaption { color: #4a5258; font-size: 13px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 10px; }
"""


@dataclass
class Section:
    name: str
    title: str
    text: str
    scenes: list
    rows: list  # (measure, paper, ours, baseline)


def machine():
    """The processor and how many cores of it there are."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = "an unknown processor"
    return f"{model}, {os.cpu_count()} cores, one of them used"


def table(rows):
    head = "".join(f"<th>{cell}</th>" for cell in ("what", "paper", "costate", "CMA-ES here"))
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"


def figure(folder, scene, name):
    """A plot, with links to its other forms."""
    base = f"{scene}/plots/{name}"
    links = ", ".join(f'<a href="{base}.{kind}">{kind.upper()}</a>' for kind in ("svg", "png", "csv") if (folder / f"{base}.{kind}").is_file())
    return f'<figure><img src="{base}.svg" alt="{escape(name)} of {escape(scene)}"><figcaption>{links}</figcaption></figure>\n'


def of_scene(folder, scene):
    out = f'<h3>{escape(scene)}</h3>\n'
    if (folder / scene / "picture.png").is_file():
        out += f'<p><a href="{scene}/replay.html"><img src="{scene}/picture.png" alt="moments of {escape(scene)}"></a></p>\n'
    out += (f'<p><a href="{scene}/replay.html">replay in 3-D, CMA-ES and ours</a> | <a href="{scene}/report.html">report</a> | '
            f'result.json: <a href="{scene}/ours/result.json">ours</a>, <a href="{scene}/cmaes/result.json">CMA-ES</a></p>\n')
    plots = [name for name in ("loss", "loss_seconds", "landscape") if (folder / scene / "plots" / f"{name}.svg").is_file()]
    return out + '<div class="plots">\n' + "".join(figure(folder, scene, name) for name in plots) + "</div>\n"


def page(sections, source, folder, version):
    rows = [row for section in sections for row in section.rows]
    out = ('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f'<link rel="icon" href="data:,">\n<title>Experiments</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Experiments</h1>\n'
           f"<p>After {escape(source)}. Figures of the paper are the paper's; the others were measured by {escape(version)} on {escape(machine())}. "
           "CMA-ES is pagmo's, from the same start with the same variables where nothing else is said; an iteration of it is a generation, and its first standard deviation in throw and golf is the "
           "best of three that were tried.</p>\n" + table(rows))
    for section in sections:
        out += f'<h2 id="{section.name}">{escape(section.title)}</h2>\n<p>{escape(section.text)}</p>\n'
        out += "".join(of_scene(folder, scene) for scene in section.scenes)
    return out + "</body>\n</html>\n"
