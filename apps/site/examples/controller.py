import numpy

import costate

# The planner's model, and a plant whose pole is heavier by a half.
scene, plant = costate.Scene("cartpole_swingup"), costate.Model("cartpole_swingup")
plant.set_parameter("bodies/cartpole/pole/mass", 1.5 * plant.parameters[plant.parameter_names.index(
    "bodies/cartpole/pole/mass")])

controller = costate.Controller(scene)
x = plant.state(*plant.initial_state())  # hanging down
for step in range(600):
    t = 0.01 * step
    if step % 5 == 0:  # a plan every 50 ms
        plan = controller.plan(x, t, iterations=3, seconds=0.05)
    if step % 100 == 0:
        print(f"{t:.0f} s: pole at {x[1]:+.2f} rad, {len(plan.controls)} steps planned, cost {plan.cost:.3g}")
    x = plant.state_step(x, controller.control(x, t))  # between plans, by the gains of the last one
assert abs((x[1] + numpy.pi) % (2 * numpy.pi) - numpy.pi) < 0.1  # upright
