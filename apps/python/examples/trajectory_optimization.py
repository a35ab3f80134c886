"""Swings up a pendulum of two links with the gradient of a rollout and scipy's L-BFGS.

python3 trajectory_optimization.py [--view swing_up.html]

300 torques, one a joint in each of 150 control steps of 1/60 s, are to bring the tip upright and to rest. The loss
and its exact gradient cost one rollout and one reverse sweep.
"""
import argparse
import time

import numpy
import scipy.optimize

import costate
from costate.gym import Pendulum

STEPS = 150


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--view", metavar="FILE", help="write a page that replays the motion")
    options = parser.parse_args()
    task = Pendulum(links=2)
    model = task.model
    batch = costate.Batch(model, 1, threads=1, substeps=task.substeps)  # gradients by states are tangent vectors
    start = numpy.concatenate(model.initial_state())[None]
    u_shape = (STEPS, 1, model.nu)
    upright = numpy.zeros(model.nq)
    upright[0] = numpy.pi / 2

    def loss_and_gradient(numbers):
        u = numbers.reshape(u_shape)
        states, _ = batch.rollout(start, u)
        q, v = states[-1, 0, : model.nq], states[-1, 0, model.nq :]
        loss = numpy.sum((q - upright) ** 2) + 0.1 * numpy.sum(v**2)

        states_bar = numpy.zeros((STEPS, 1, model.ndx))
        states_bar[-1, 0] = numpy.concatenate([2 * (q - upright), 0.2 * v])
        starts = numpy.concatenate([start[None], states[:-1]])
        gradient = batch.backward(starts, u, states_bar, wanted=("u",)).u
        return loss, gradient.ravel()

    began = time.monotonic()
    found = scipy.optimize.minimize(loss_and_gradient, numpy.zeros(numpy.prod(u_shape)), jac=True,
                                    method="L-BFGS-B", bounds=[(-1, 1)] * numpy.prod(u_shape),
                                    options={"maxiter": 500})
    seconds = time.monotonic() - began
    states, _ = batch.rollout(start, found.x.reshape(u_shape))
    miss = numpy.abs(states[-1, 0, : model.nq] - upright).max()
    initial, speed = loss_and_gradient(numpy.zeros(found.x.size))[0], numpy.abs(states[-1, 0, model.nq :]).max()
    print(f"loss {initial:.3f} -> {found.fun:.5f} in {found.nit} iterations, {found.nfev} gradients, {seconds:.1f} s; "
          f"upright to {miss:.4f} rad, at {speed:.4f} rad/s")
    if options.view:
        print(costate.view(model, states[:, 0], time_step=task.control_step, out=options.view))
    return 0 if miss < 0.05 else 1


if __name__ == "__main__":
    raise SystemExit(main())
