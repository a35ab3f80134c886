"""The gradient of 1000 control steps of 512 ants, each of 10 time steps, within a budget of bytes.

All states between the control steps would take 119 MB. With a budget of 12 MB the others are computed again; the
gradient has the same bits. Peak memory is that of the whole process.

    python3 long_gradient.py [--ants 512] [--steps 1000] [--substeps 10] [--megabytes 12] [--limit 200]
"""
import argparse
import re
import time
import zlib
from pathlib import Path

import numpy

import costate


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ants", type=int, default=512)
    options.add_argument("--steps", type=int, default=1000, help="control steps")
    options.add_argument("--substeps", type=int, default=10, help="time steps of a control step")
    options.add_argument("--megabytes", type=float, default=12, help="memory for states; 0: for all")
    options.add_argument("--limit", type=float, default=0, help="fail if the process takes more, MB")
    given = options.parse_args()

    model = costate.Model("ant")
    batch = costate.Batch(model, given.ants, substeps=given.substeps)
    batch.reset(noise=numpy.full(model.ndx, 0.05), seeds=numpy.arange(given.ants))
    x, _ = batch.state()
    u = numpy.empty((given.steps, given.ants, model.nu))
    random = numpy.random.default_rng(0)
    for t in range(given.steps):
        u[t] = 0.3 * random.normal(size=u.shape[1:])

    # the mean distance along x at the end
    at_the_end = numpy.zeros((given.ants, model.ndx))
    at_the_end[:, 0] = 1 / given.ants

    def seed(t, states, sensors):
        return (at_the_end if t == given.steps - 1 else None), None

    begin, processor = time.time(), time.process_time()
    gradient = batch.run_vjp(x, u, seed=seed, max_bytes=int(1e6 * given.megabytes), wanted=("x", "u", "parameters"))
    seconds, processor = time.time() - begin, time.process_time() - processor
    # getrusage would also count the process that started this one
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024 / 1e6
    inputs = (u.nbytes + gradient.u.nbytes) / 1e6
    print(f"{given.ants} ants, {given.steps} control steps of {given.substeps}: {seconds:.1f} s ({processor:.1f} s of the processor), peak "
          f"{peak:.0f} MB, of which controls and their gradient {inputs:.0f} MB")
    print(f"largest gradient by a control {abs(gradient.u).max():.3g} m, checksum {zlib.crc32(gradient.u):08x}")
    if given.limit and peak > given.limit:
        raise SystemExit(f"takes more than {given.limit:.0f} MB")


if __name__ == "__main__":
    main()
