"""MuJoCo as a plant of Python programs."""
import struct
import subprocess

import numpy


class MuJoCo:
    """A `costate.gym.Plant`: the program costate_mujoco_plant with a file, for control steps of some seconds.
    controls (nu): which control each of its actuators has; None: in order."""

    def __init__(self, program, file, control_step, controls):
        self.process = subprocess.Popen([program, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        head = self.process.stdout.readline().split()
        if len(head) != 3:
            raise SystemExit(self.process.wait())  # the program has said why
        self.nq, self.nv, self.nu = map(int, head)
        self.control_step = control_step
        self.controls = range(self.nu) if controls is None else controls
        if sorted(self.controls) != [*range(self.nu)]:
            raise SystemExit(f"--controls: give each of 0 to {self.nu - 1} once")

    def step(self, x, u):
        n, width = len(x), self.nq + self.nv
        request = numpy.concatenate([x, u[:, self.controls]], 1).tobytes()
        self.process.stdin.write(struct.pack("=qd", n, self.control_step) + request)
        self.process.stdin.flush()
        answer = self.process.stdout.read(8 * n * (width + 1))
        after = numpy.frombuffer(answer).reshape(n, width + 1)
        return after[:, :width].copy(), after[:, width] != 0

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
