#!/usr/bin/env python3
"""One gradient over a million environments, and the memory it takes: million.py PROGRAM [STEPS]

Runs the mean gradient of `quadruped_stand` over random starts, masses and joint velocities for 16 thousand environments and 64 times as
many, in one process, and then as shards of 1024 blocks that are added up from files. Prints the peak memory of each process and checks
that the bits of both sums are the same."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from ranks import BLOCK, scene

AT_A_TIME = 1024 * BLOCK
SHARDS = 64


def run(command):
    """The report of a command, its peak memory, MB, and its processor time, s."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, used = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(command)} ended with {status}")
        out.seek(0)
        return json.loads(out.read()), used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    steps = sys.argv[2] if len(sys.argv) > 2 else "2"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [program, "gradient", scene(folder), "--steps", steps, "--json"]
        print(f"{steps} steps each, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        print("| environments | processes | processor time, s | peak memory of a process, MB |\n|---|---|---|---|", flush=True)
        for environments in (AT_A_TIME, SHARDS * AT_A_TIME):
            _, memory, seconds = run([*command, "--environments", str(environments), "--out", str(folder / "one.json")])
            print(f"| {environments} | 1 | {seconds:.0f} | {memory:.1f} |", flush=True)
        shards = [str(folder / f"shard{i}") for i in range(1, SHARDS + 1)]
        memory = seconds = 0
        for i, shard in enumerate(shards, 1):
            _, its_memory, its_seconds = run([*command, "--environments", str(SHARDS * AT_A_TIME), "--shard", f"{i}/{SHARDS}", "--out", shard])
            memory, seconds = max(memory, its_memory), seconds + its_seconds
        _, merge_memory, merge_seconds = run([program, "merge", *shards, "--out", str(folder / "merged.json"), "--json"])
        print(f"| {SHARDS * AT_A_TIME} | {SHARDS} shards and their sum | {seconds + merge_seconds:.0f} | {max(memory, merge_memory):.1f} |")
        same = (folder / "one.json").read_bytes() == (folder / "merged.json").read_bytes()
        print(f"\nThe sums have {'the same' if same else 'DIFFERENT'} bits.")
        sys.exit(not same)


if __name__ == "__main__":
    main()
