# 64 quadrupeds move their legs at random. How does their final upward speed depend on their controls?
import numpy

import costate

model = costate.Model("go1_stand")
batch = costate.Batch(model, n_env=64, substeps=20)
start, _ = batch.state()  # (64, nx): the initial state of the file
u = 0.2 * numpy.random.default_rng(0).normal(size=(10, 64, model.nu))  # 10 control steps, servo targets, rad

states, completed = batch.rollout(start, u)  # (10, 64, nx): after each control step
by_states = numpy.zeros((10, 64, model.ndx))
by_states[-1, :, model.nv + 2] = 1  # gradient of the trunk's final upward speed
gradient = batch.backward(numpy.concatenate([start[None], states[:-1]]), u, by_states, completed)

speed = states[-1, :, model.nq + 2]
print(f"upward speed {speed.mean():.3f} m/s +- {speed.std():.3f}")
trunk = model.parameter_names.index("bodies/robot/trunk/mass")
print(f"{gradient.parameters[trunk] / 64:+.4f} m/s per kg of the trunk, in the mean")
print(f"{numpy.abs(gradient.u).max():.4f} m/s per rad of the target that matters most")
