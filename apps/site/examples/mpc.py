import numpy

import costate

model, plant = costate.Model("cartpole"), costate.Model("cartpole")
plant.set_parameter("bodies/cartpole/pole/mass", 4 / 3 * plant.parameters[plant.parameter_names.index(
    "bodies/cartpole/pole/mass")])

# Upright and at rest is an equilibrium: linearize there, and solve the Riccati recursion backwards.
upright = numpy.zeros(model.nx)
A, B = costate.transition(model, upright, numpy.zeros(model.nu))
Q, R = numpy.diag([1.0, 10.0, 0.1, 0.1]), 0.01 * numpy.eye(model.nu)
V = Q
for _ in range(500):
    K = numpy.linalg.solve(R + B.T @ V @ B, B.T @ V @ A)
    V = Q + A.T @ V @ (A - B @ K)

q, v = numpy.array([0.2, 0.25]), numpy.zeros(2)  # m, rad
for step in range(501):
    x = numpy.concatenate([q, v])
    if step % 100 == 0:
        print(f"{step / 100:.0f} s: cart at {q[0]:+.4f} m, pole at {q[1]:+.4f} rad")
    q, v = plant.step(q, v, -K @ x)
assert abs(q[1]) < 1e-3
