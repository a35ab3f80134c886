#!/usr/bin/env python3
"""What a gradient over many ranks costs beside its rollouts, here and by a model elsewhere: ranks.py PROGRAM [RANKS...]

Runs the mean gradient of 4096 environments of quadruped_stand over 20 steps by mpirun, checks that its bits are those of one process,
and prints for each number of ranks their processor time, with what they spend on starting and waiting, the efficiency that follows, and
how rank 0 spent its call: computing, waiting for the slowest rank, and the sum. Then it measures what a
block of 16 environments takes, how much blocks differ, and prints the time of a call by the model of apps/ranks/README.md."""
import json
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENTS, STEPS, BLOCK, SHARDS = 4096, 20, 16, 32
LATENCY, BANDWIDTH = 5e-6, 5e9  # assumed of a cluster's network: s for a message, bytes/s
os.environ["PMIX_MCA_gds"] = "hash"  # apps/README.md says why
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-q", "-n"]
RANDOMIZE = {"joints": {"robot/*_thigh": 0.1, "robot/*_calf": 0.1}, "velocities": {"robot/*_thigh": 0.5},
             "parameters": [{"path": "bodies/*/mass", "factor": [0.9, 1.1]}]}


def scene(folder):
    """The file of the scene; models lie beside it."""
    library = ROOT / "scenes/library"
    text = json.loads((library / "quadruped_stand.json").read_text())
    text["batch"] = {"environments": ENVIRONMENTS, "randomize": RANDOMIZE}
    shutil.copytree(library / "models", folder / "models")
    file = folder / "quadruped_batch.json"
    file.write_text(json.dumps(text))
    return str(file)


def run(command):
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def processor_time(command):
    """Of a command and its children, s, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    report = run(command)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, report


def model(ranks, block_seconds, spread, vector_bytes):
    """Seconds of computing, of waiting, and of the sum. The slowest of P ranks is later by about sqrt(2 ln P) standard deviations."""
    blocks = ENVIRONMENTS * 256 / BLOCK
    share = math.ceil(blocks / ranks)
    compute = share * block_seconds
    wait = math.sqrt(share) * spread * math.sqrt(2 * math.log(max(ranks, 2))) if ranks > 1 else 0.0
    rounds, vectors = math.ceil(math.log2(ranks)) if ranks > 1 else 0, 2 * math.log2(max(2, share))
    return compute, wait, 2 * rounds * (LATENCY + vectors * vector_bytes / BANDWIDTH)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    counts = [int(n) for n in sys.argv[2:]] or [1, 2, 3, 4, 7, 8, 16]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [program, "gradient", scene(folder), "--steps", str(STEPS), "--json"]
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        print("| ranks | processor time, s | efficiency | computing | waiting | sum | bits |\n|---|---|---|---|---|---|---|")
        expected = alone = None
        for n in counts:
            out = folder / "g.json"
            seconds, r = processor_time([*MPIRUN, str(n), *command, "--threads", "1", "--out", str(out)])
            alone = alone or seconds
            expected = expected or out.read_bytes()
            total = r["compute_seconds"] + r["wait_seconds"] + r["reduce_seconds"]
            parts = " | ".join(f"{100 * r[key] / total:.2f} %" for key in ("compute_seconds", "wait_seconds", "reduce_seconds"))
            print(f"| {n} | {seconds:.2f} | {100 * alone / seconds:.0f} % | {parts} | {'same' if out.read_bytes() == expected else 'DIFFERENT'} |")
        gradient = json.loads(expected)
        numbers = 1 + sum(len(c["values"]) for c in gradient["controls"].values()) + len(gradient["parameters"])
        vector_bytes = 8 * (numbers + sum(len(part) for part in gradient["initial_state"].values()))
        shard = folder / "shard"
        start, _ = processor_time([*command, "--environments", "1"])
        seconds = [processor_time([*command, "--threads", "1", "--shard", f"{i}/{SHARDS}", "--out", str(shard)])[0] - start
                   for i in range(1, SHARDS + 1)]
        blocks = ENVIRONMENTS / BLOCK / SHARDS
        block_seconds, spread = statistics.mean(seconds) / blocks, statistics.stdev(seconds) / math.sqrt(blocks)
        print(f"\nA block takes {1e3 * block_seconds:.2f} ms of processor time, with a standard deviation of {1e3 * spread:.2f} ms; a vector has "
              f"{vector_bytes} bytes.\nBy the model, for {ENVIRONMENTS * 256} environments, {1e6 * LATENCY:.0f} us for a message and "
              f"{BANDWIDTH / 1e9:.0f} GB/s:\n")
        print("| ranks | computing, s | waiting, s | sum, ms | efficiency |\n|---|---|---|---|---|")
        one = sum(model(1, block_seconds, spread, vector_bytes))
        for n in (1, 64, 1024, 10000):
            compute, wait, add = model(n, block_seconds, spread, vector_bytes)
            print(f"| {n} | {compute:.4g} | {wait:.2g} | {1e3 * add:.2g} | {100 * one / (n * (compute + wait + add)):.0f} % |")


if __name__ == "__main__":
    main()
