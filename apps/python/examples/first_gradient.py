"""The first gradient: how the final upward speed of a quadruped depends on its 12 servo targets."""
import numpy

import costate

model = costate.Model("go1_stand")
batch = costate.Batch(model, n_env=1, substeps=20)
start, _ = batch.state()
u = numpy.full((10, 1, model.nu), 0.05)  # 10 control steps of 20 ms, rad

states, completed = batch.rollout(start, u)
by_states = numpy.zeros((10, 1, model.ndx))
by_states[-1, 0, model.nv + 2] = 1  # gradient of the trunk's final upward speed
gradient = batch.backward(numpy.concatenate([start[None], states[:-1]]), u, by_states, completed)

print(f"upward speed {states[-1, 0, model.nq + 2]:.4f} m/s")
for name, by_target in zip(model.actuators, gradient.u.sum((0, 1))):
    print(f"{by_target:+.5f} m/s per rad of {name}")
