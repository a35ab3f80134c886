"""Distances of shapes that do not touch, or just touch."""
import numpy

from .reference import Robot, derivative, length
from .table import case, scene


def body(name, joint="free", **shape):
    return {"name": name, "joint": {"type": joint} if isinstance(joint, str) else joint, "mass": 1,
            "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "shapes": [shape]}


def seen(bodies, q, distance, pair=("a", "b")):
    """Rows that compare the sensor of the distance of two bodies, and its gradient by all coordinates, with
    distance(poses)."""
    m = scene(bodies, {"sensors": [{"name": "d", "type": "distance", "bodies": list(pair)}]})
    robot, n = Robot(bodies), m.nv
    at, x = robot.start(q), m.state(q, numpy.zeros(n))
    truth = derivative(lambda d: distance(robot.poses(robot.moved(at, d))[0]), numpy.zeros(n))
    value = numpy.real(distance(robot.poses(at)[0]))
    return [("distance", m.observe(x, [])[1], numpy.array([value])),
            ("gradient", m.observe_jacobian(x, []).by_state[0, :n], truth)]


TURNED = [0.9, 0.2, -0.3, 0.1]


@case("google-deepmind/mujoco#3131", "The distance of things that do not touch",
      "In MJX many collision functions set the distance of a pair without contact to the constant "
      "1, which cuts the gradient; a user who needed it edited the source.",
      "A ball and a turned box half a metre apart, nearest at a face, an edge and a corner; the "
      "truth is the distance of a point to a box in complex numbers.")
def apart():
    half, rows = numpy.array([0.3, 0.2, 0.1]), []
    bodies = [body("a", type="sphere", radius=0.15), body("b", type="box", half_extents=list(half))]
    for place, offset in (("face", [0.1, 0.7, 0.05]), ("edge", [0.8, 0.6, 0.02]), ("corner", [0.7, -0.5, 0.6])):
        q = numpy.concatenate([[0.2, 0.1, 0.9], TURNED, [0.0, 0, 0], TURNED])
        p, R = Robot(bodies).poses(Robot(bodies).start(q))[0][1]
        q[:3] = numpy.real(p + R @ offset)

        def distance(poses):
            (p, _), (c, R) = poses
            local = R.T @ (p - c)
            outside = [x - numpy.clip(x.real, -h, h) for x, h in zip(local, half)]
            return length(numpy.array([x for x in outside if x.real != 0])) - 0.15

        rows += [(f"{place}: {what}", got, truth) for what, got, truth in seen(bodies, q, distance)]
    return rows


@case("google-deepmind/mujoco#2573", "On the axis of a cylinder",
      "The gradient of a cylinder's signed distance is NaN at points of its axis in 3.3.1: x is "
      "divided by the distance to the axis, which is zero.",
      "A ball exactly above a cylinder, at two heights; the truth is (p - c)·z - half length - "
      "radius.")
def on_the_axis():
    bodies = [body("a", type="sphere", radius=0.1), body("b", type="cylinder", radius=0.3, half_length=0.2)]
    rows = []
    for height in (0.5, 0.305):
        q = numpy.array([0, 0, height, 1, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0])

        def distance(poses):
            (p, _), (c, R) = poses
            return (p - c) @ R[:, 2] - 0.2 - 0.1

        rows += [(f"{height} m: {what}", got, truth) for what, got, truth in seen(bodies, q, distance)]
    return rows


@case("RobotLocomotion/drake#14789", "Boxes that just touch",
      "The signed distance of pairs such as two boxes had NaN as its gradient if they touch at a "
      "distance of zero.",
      "A small box on a large one, at a distance of exactly zero: the gradient by both positions is "
      "the normal of the face. Rotations are left out, because a face on a face has a kink there.")
def touching():
    bodies = [body("a", {"type": "prismatic", "axis": [0, 0, 1], "position": [0.1, 0.05, 0]}, type="box",
                   half_extents=[0.125, 0.125, 0.125]),
              body("b", {"type": "prismatic", "axis": [0, 0.6, 0.8]}, type="box", half_extents=[0.5, 0.5, 0.25])]
    return seen(bodies, numpy.array([0.375, 0.0]), lambda poses: poses[0][0][2] - poses[1][0][2] - 0.375)[1:]


@case("RobotLocomotion/drake#11242", "A point beside a cylinder",
      "The distance of a point to a cylinder is right with numbers, but automatic differentiation "
      "of the same code gives wrong derivatives; the report of 2019 is still open.",
      "A ball of 1 mm beside a turned cylinder, nearest at its side and at its rim; the truth is "
      "the distance in cylindrical coordinates, in complex numbers.")
def beside_a_cylinder():
    bodies = [body("a", type="sphere", radius=0.001), body("b", type="cylinder", radius=0.3, half_length=0.2)]
    rows = []
    for place, offset in (("side", [0.4, 0.3, 0.05]), ("rim", [0.4, 0.3, 0.5])):
        q = numpy.concatenate([[0.0, 0, 0, 1, 0, 0, 0], [0.1, -0.2, 0.3], TURNED])
        c, R = Robot(bodies).poses(Robot(bodies).start(q))[0][1]
        q[:3] = numpy.real(c + R @ offset)

        def distance(poses, rim=place == "rim"):
            (p, _), (c, R) = poses
            x, y, z = R.T @ (p - c)
            out = numpy.sqrt(x * x + y * y) - 0.3
            return (numpy.sqrt(out**2 + (z - 0.2)**2) if rim else out) - 0.001

        rows += [(f"{place}: {what}", got, truth) for what, got, truth in seen(bodies, q, distance)]
    return rows


@case("tesseract-robotics/trajopt#588", "The witness point on a turning link",
      "The gradient of a collision distance used the pose and the point of another state than the "
      "distance itself: 17 % of median error against differences at a turn of 0.8 rad, as the pull "
      "request says.",
      "A capsule on two hinges beside a fixed ball; the truth is the distance of a point to a "
      "segment, in complex numbers.", pull=True)
def turning_link():
    hinge = {"type": "continuous", "axis": [0, 0, 1]}
    bodies = [{"name": "arm", "joint": hinge, "mass": 1, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
              {"parent": "arm", **body("a", {"type": "continuous", "axis": [0, 1, 0], "position": [0.4, 0, 0.1]},
                                       type="capsule", radius=0.05, half_length=0.3, position=[0.3, 0, 0],
                                       rpy_deg=[0, 90, 0])},
              body("b", {"type": "prismatic", "axis": [0, 0, 1], "position": [0.5, 0.6, 0.3]}, type="sphere",
                   radius=0.08)]
    rows = []
    for place, q in (("inside", [0.3, 0.4, 0.05]), ("end", [-0.4, 0.8, 0.0])):

        def distance(poses):
            (p, R), (c, _) = poses[1:]
            along = R[:, 0] @ (c - p)
            nearest = p + R[:, 0] * (along if 0 < along.real < 0.6 else (0.6 if along.real >= 0.6 else 0.0))
            return length(c - nearest) - 0.13

        rows += [(f"{place}: {what}", got, truth) for what, got, truth in seen(bodies, numpy.array(q), distance)]
    return rows
