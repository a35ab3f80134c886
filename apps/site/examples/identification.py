import numpy

import costate

scene = costate.Scene("box_slide_identification")
found = scene.optimize()
print(f"loss {found.initial_loss:.3g} -> {found.loss:.3g} in {found.loss_evaluations} rollouts")
for name, start, y in zip(scene.variables, scene.start, found.y):  # both are optimized by their logarithm
    print(f"{name}: {numpy.exp(start):.3f} -> {numpy.exp(y):.4f}")

mass, friction = numpy.exp(found.y)
assert abs(mass - 2) < 0.002 and abs(friction - 0.3) < 0.0006  # the recording was made with 2 kg and 0.3
