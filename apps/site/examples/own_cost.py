import costate
import costate.torch

model = costate.Model("throw")
ball, _ = model.joint_slices("ball")  # position and quaternion


def effort_and_height(states, controls):
    """Mean square of the torques, (N m)^2, and the square of how far the ball ends below 1 m, m^2."""
    height = states[-1, ball][2]
    return 1e-3 * controls.pow(2).mean() + (1 - height).clamp(min=0).pow(2)


scene = costate.Scene(model, cost=costate.torch.cost(effort_and_height))
loss, gradient = scene.loss_and_gradient(scene.start)
print(f"loss {loss:.3f}, of which the objective of the file is {costate.Scene(model).loss(scene.start):.3f}")

found = scene.optimize("lbfgs", iterations=10)
print(f"{found.loss:.3f} after {found.gradient_evaluations} gradients ({found.stopped})")
assert found.loss < loss
