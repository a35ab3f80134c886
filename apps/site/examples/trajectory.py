import costate

scene = costate.Scene("throw")  # an arm that shall throw a ball at a target
print(f"{len(scene.variables)} variables, for example {scene.variables[0]}")
loss, gradient = scene.loss_and_gradient(scene.start)
print(f"without torques the ball misses by {loss:.3f} m")

found = scene.optimize()  # by the method of the file
print(f"{found.loss:.1e} m after {found.gradient_evaluations} gradients ({found.stopped})")
assert found.loss < 0.05 * loss

states, controls = scene.rollout(found.y)
costate.view(scene.model, states, controls, out="throw.html")
