"""The gallery of experiments, by its quickest one. Usage: test_gallery.py PROGRAM EXPERIMENTS.PY; exits with 77 where the program
was built without CMA-ES or the viewer."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM, SCRIPT = sys.argv[1:3]


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, "--program", PROGRAM, *map(str, arguments)], capture_output=True, text=True)


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


if "no CMA-ES" in program("optimize", "racecar_friction", "--method", "cmaes", "--iterations", "0").stderr or "--png" not in program("view", "--help").stdout:
    print("skipped: the program has no CMA-ES or no viewer")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    out = Path(folder) / "gallery"
    bad = run("--out", out, "racecar")
    assert bad.returncode == 2 and "there is no experiment 'racecar'" in bad.stderr, bad
    assert not out.exists()
    missing = subprocess.run([sys.executable, SCRIPT, "--program", "/nowhere", "throw"], capture_output=True, text=True)
    assert missing.returncode == 2 and "build first" in missing.stderr, missing

    good = run("--out", out, "racecar_friction")
    assert good.returncode == 0, good.stderr
    page = (out / "index.html").read_text()
    links = re.findall(r'(?:href|src)="([^"#:]+)"', page)
    assert len(links) > 10 and all((out / link).is_file() for link in links), links
    assert not re.search(r"https?://", page.replace("http://www.w3.org", ""))  # nothing from a network
    (row,) = json.loads((out / "table.json").read_text())
    assert all(cell in page for cell in row)

    # The table says what the results say, and those are right: 0.2/(4.9 * 1.001), from x = v t - mu g h^2 n (n + 1)/2.
    ours, cmaes = (json.loads((out / "racecar_friction" / who / "result.json").read_text()) for who in ("ours", "cmaes"))
    found = [r["parameters"]["shapes/ground/friction"] for r in (ours, cmaes)]
    assert all(abs(mu - 0.0407755) < 1e-4 for mu in found), found
    soon = next(k for k, loss in enumerate(ours["losses"]) if loss < 1e-3)
    assert 1 <= soon <= 10 and row[2].startswith(f"{soon} iterations, "), row
    assert cmaes["gradient_evaluations"] == 0 and cmaes["loss_evaluations"] > ours["loss_evaluations"]
    curves = (out / "racecar_friction/plots/loss.csv").read_text()
    assert len(re.findall('"gauss_newton"', curves)) == len(ours["losses"]) and len(re.findall('"cmaes"', curves)) == len(cmaes["losses"])
    landscape = [tuple(map(float, line.split(","))) for line in (out / "racecar_friction/plots/landscape.csv").read_text().splitlines()[1:]]
    best = min(landscape, key=lambda point: point[1])
    assert abs(best[0] - 0.0407755) < 2e-3, best
