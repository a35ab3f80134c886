"""The comparison with automatic differentiation on a few steps. Usage: test_compare.py BUILD COMPARE.PY"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD, SCRIPT = sys.argv[1:3]
STEPS = 6


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, "--build", BUILD, *map(str, arguments)], capture_output=True, text=True)


def program(*arguments):
    return subprocess.run([f"{BUILD}/costate-compare-costate", *map(str, arguments)], capture_output=True, text=True)


def runs(out, part):
    return json.loads((out / f"{part}.json").read_text())["runs"]


BAD = [  # arguments, what is said of them
    (["quadruped_stand", "--checkpoints", "every_kth:0"], "restart:K or binomial:SLOTS, not 'every_kth:0'"),
    (["no_such"], "no_such"),
    ([], "which scene?"),
    (["quadruped_stand", "--steps", "0"], "numbers from 1"),
    (["drone_takeoff"], "takes pgs alone"),
]
for bad, line in BAD:
    done = program(*bad)
    assert done.returncode == 2 and line in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, (bad, done)

with tempfile.TemporaryDirectory() as folder:
    out = Path(folder) / "compare"
    assert (bad := run("--out", out, "two")).returncode == 2 and "there is no part 'two'" in bad.stderr, bad
    assert (bad := run("--out", out, "--tools", "pencil")).returncode == 2 and "there is no tool 'pencil'" in bad.stderr, bad
    assert not out.exists()
    for parts in (["one", "checkpoints"], ["--tools", "adolc,sacado", "ten"]):
        good = run("--out", out, "--steps", STEPS, *parts)
        assert good.returncode == 0, good.stderr

    # Every gradient is ours, of all kinds of variables but for Jets; every schedule gives the same bits.
    for part in ("one", "ten"):
        for r in runs(out, part):
            assert r["relative_error"] < 1e-12 and r["forward_us"] > 0, r
            assert len(r["errors"]) == (2 if r["program"] == "jets" else 4), r
    schedules = runs(out, "checkpoints")
    assert all(r["relative_error"] == 0 for r in schedules)
    restart = {r["checkpoints"]: r["forward_evaluations"] for r in schedules if r["schedule"] == "restart"}
    assert restart == {"restart:1": STEPS + 6, "restart:2": STEPS + 9, "restart:5": STEPS + 16}, restart

    text = (out / "compare.md").read_text()
    assert all(f"Figure {n}" in text for n in (3, 8)) and "Tables 1 to 3" in text and "CppAD, in the published code" in text
    for name in ("one_memory", "one_forward", "one_backward", "ten_memory", "checkpoints"):
        assert "</svg>" in (out / f"{name}.svg").read_text(), name
    drawn = (out / "checkpoints.svg").read_text()
    assert all(f">{name}<" in drawn for name in ("every state", "every k-th, restarted (paper)", "every k-th", "binomial")), drawn
    assert drawn.count("<circle") == len(schedules), drawn
    assert "restart:2" in (out / "checkpoints.csv").read_text()

    # A gradient that differs makes its row void.
    tools = [r["program"] for r in runs(out, "one") if r["program"] != "costate"]
    if tools:
        figures = json.loads((out / "one.json").read_text())
        figures["runs"][-1]["relative_error"] = 1e-6
        (out / "one.json").write_text(json.dumps(figures))
        assert run("--out", out, "tables").returncode == 0
        assert "void: differs by 1.0e-06" in (out / "compare.md").read_text() and "void" not in text

    # What passes the limit of memory is stopped, and said to be.
    limited = run("--out", out, "--steps", 5000, "--memory-limit", 0.02, "one", "--tools", "adolc")
    assert limited.returncode == 0, limited.stderr
    assert all("stopped" in r for r in runs(out, "one") if r["steps"] == 5000), runs(out, "one")
    assert "| stopped at 0.0 GB |" in (out / "compare.md").read_text()
print("compared:", ", ".join(tools))
