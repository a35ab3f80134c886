#!/usr/bin/env python3
"""Random robots, each as URDF, MJCF and SDFormat: is a step of one file that of the others?

    random_formats.py [--seed N] [--count N]      exit code 1 if the formats differ

A robot is a function of its seed: a tree of links on joints of every type that the three formats share, with inertias
about axes of their own, limits, damping, dry friction, motors, coupled joints, and shapes. MJCF and SDFormat place the
frames of links elsewhere than URDF, which has them at the joints. Random states fall on the ground; steps from the
same state are compared.
"""
import argparse
import pathlib
import random
import sys
import tempfile
import warnings

import numpy

import costate

STEPS = 40
AGREE = 1e-8  # relative difference of a step


def rotation(rpy):
    (sr, sp, sy), (cr, cp, cy) = numpy.sin(rpy), numpy.cos(rpy)
    return numpy.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]])


class Pose:
    def __init__(self, R=None, p=(0, 0, 0)):
        self.R, self.p = numpy.eye(3) if R is None else R, numpy.array(p, float)

    def __mul__(self, other):
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self):
        return Pose(self.R.T, -self.R.T @ self.p)

    def rpy(self):
        R = self.R
        return numpy.array([numpy.arctan2(R[2, 1], R[2, 2]), numpy.arcsin(numpy.clip(-R[2, 0], -1, 1)),
                            numpy.arctan2(R[1, 0], R[0, 0])])

    def numbers(self):
        """x y z roll pitch yaw"""
        return text([*self.p, *self.rpy()])

    def axes(self):
        """MJCF's pos and xyaxes"""
        return f'pos="{text(self.p)}" xyaxes="{text([*self.R[:, 0], *self.R[:, 1]])}"'

    def origin(self):
        return f'<origin xyz="{text(self.p)}" rpy="{text(self.rpy())}"/>'


def text(numbers):
    return " ".join(repr(float(x)) for x in numpy.atleast_1d(numbers))


def moments(I):
    return dict(ixx=I[0, 0], iyy=I[1, 1], izz=I[2, 2], ixy=I[0, 1], ixz=I[0, 2], iyz=I[1, 2])


class Draw(random.Random):
    def chance(self, p):
        return self.random() < p

    def vector(self, size):
        return numpy.array([self.uniform(-size, size) for _ in range(3)])

    def pose(self, size, turned=True):
        return Pose(rotation(self.vector(1.4)) if turned else None, self.vector(size))


class Link:
    """A link in the frame of its joint."""

    def __init__(self, draw, index, joint, parent, joints):
        self.name, self.joint, self.parent = f"l{index}", joint, parent
        self.joint_name = f"j{index}"
        one_dof = joint in ("revolute", "continuous", "prismatic")
        self.origin = draw.pose(0.3)
        self.axis = draw.vector(1) if draw.chance(0.6) else numpy.eye(3)[draw.randrange(3)]
        self.axis /= numpy.linalg.norm(self.axis)
        self.limits = sorted((draw.uniform(-1.5, -0.1), draw.uniform(0.1, 1.5))) if joint in ("revolute", "prismatic") else None
        self.damping = draw.uniform(0, 1) if one_dof and draw.chance(0.5) else 0
        self.friction = draw.uniform(0, 0.5) if one_dof and draw.chance(0.3) else 0
        self.effort = draw.uniform(1, 20) if one_dof and draw.chance(0.6) else 0
        leaders = [j for j in joints if j.joint == joint and j.mimic is None]
        self.mimic = (draw.choice(leaders).joint_name, draw.uniform(-1, 1), draw.uniform(-0.1, 0.1)) \
            if one_dof and leaders and draw.chance(0.2) else None
        if self.mimic:
            self.effort = 0  # URDF drives the leader alone
        self.mass, self.inertial = draw.uniform(0.2, 3), draw.pose(0.1)
        a, b, c = (draw.uniform(0.01, 0.1) for _ in range(3))
        self.I = numpy.diag([b + c, a + c, a + b])  # about the axes of `inertial`, which need not be principal
        turn = rotation(draw.vector(1))
        self.I = turn @ self.I @ turn.T
        self.mu = draw.uniform(0.2, 1.5)
        self.shapes = [(draw.choice(("box", "sphere", "cylinder")), [draw.uniform(0.03, 0.15) for _ in range(3)], draw.pose(0.15))
                       for _ in range(draw.randint(0, 2))]
        # frames of this link in MJCF and SDFormat, in which that of the joint is at these poses
        offset = joint not in ("free", "fixed_base") and draw.chance(0.6)
        self.in_mjcf, self.in_sdf = (draw.pose(0.2, joint != "spherical") if offset else Pose() for _ in range(2))


def random_robot(seed):
    draw = Draw(seed)
    links = []
    apart = draw.chance(0.5)  # links collide with each other; then none is fixed to another
    kinds = ["revolute", "revolute", "continuous", "prismatic", "spherical"] + ([] if apart else ["fixed"])
    for i in range(draw.randint(2, 7)):
        joint = draw.choice(kinds if i > 1 else kinds[:5]) if i > 0 else draw.choice(("free", "fixed_base"))
        links.append(Link(draw, i, joint, links[draw.randrange(i)] if i > 0 else None, links))
    links[0].origin = Pose(None, [0, 0, 0])
    return links, apart


def urdf(links):
    out = ['<robot name="r">']
    for l in links:
        shapes = []
        for kind, size, pose in l.shapes:
            geometry = {"box": f'<box size="{text(2 * numpy.array(size))}"/>', "sphere": f'<sphere radius="{text(size[0])}"/>',
                        "cylinder": f'<cylinder radius="{text(size[0])}" length="{text(2 * size[1])}"/>'}[kind]
            shapes.append(f"<collision>{pose.origin()}<geometry>{geometry}</geometry></collision>")
        inertia = " ".join(f'{k}="{text(x)}"' for k, x in moments(l.I).items())
        out.append(f'<link name="{l.name}"><inertial>{l.inertial.origin()}<mass value="{text(l.mass)}"/><inertia {inertia}/>'
                   f'</inertial>{"".join(shapes)}</link><gazebo reference="{l.name}"><mu1>{text(l.mu)}</mu1></gazebo>')
        if l.parent is None:
            continue
        limit = f'lower="{text(l.limits[0])}" upper="{text(l.limits[1])}" ' if l.limits else ""
        limit = f'<limit {limit}effort="{text(l.effort)}" velocity="100"/>' if l.limits or l.effort else ""
        mimic = f'<mimic joint="{l.mimic[0]}" multiplier="{text(l.mimic[1])}" offset="{text(l.mimic[2])}"/>' if l.mimic else ""
        dynamics = f'<dynamics damping="{text(l.damping)}" friction="{text(l.friction)}"/>'
        out.append(f'<joint name="{l.joint_name}" type="{l.joint}">{l.origin.origin()}<parent link="{l.parent.name}"/>'
                   f'<child link="{l.name}"/><axis xyz="{text(l.axis)}"/>{limit}{dynamics}{mimic}</joint>')
    return "\n".join(out + ["</robot>"])


def mjcf(links, apart):
    types = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "spherical": "ball"}

    def body(l):
        at = l.in_mjcf
        pose = l.origin * at.inverse() if l.parent is None else l.parent.in_mjcf * l.origin * at.inverse()
        out = [f'<body name="{l.name}" {pose.axes()}>']
        if l.joint == "free":
            out.append("<freejoint/>")
        elif l.joint in types:
            limits = f'limited="true" range="{text(l.limits)}"' if l.limits else ""
            out.append(f'<joint name="{l.joint_name}" type="{types[l.joint]}" pos="{text(at.p)}" axis="{text(at.R @ l.axis)}" '
                       f'damping="{text(l.damping)}" frictionloss="{text(l.friction)}" {limits}/>')
        frame = at * l.inertial
        I = moments(frame.R @ l.I @ frame.R.T)
        out.append(f'<inertial pos="{text(frame.p)}" mass="{text(l.mass)}" fullinertia="{text(list(I.values()))}"/>')
        for kind, size, pose in l.shapes:
            count = {"box": 3, "sphere": 1, "cylinder": 2}[kind]
            out.append(f'<geom type="{kind}" size="{text(size[:count])}" {(at * pose).axes()} friction="{text(l.mu**2)} 0 0" '
                       f'contype="{int(apart)}" conaffinity="1"/>')
        out += [body(child) for child in links if child.parent is l]
        return "\n".join(out + ["</body>"])

    motors = [f'<motor name="{l.joint_name}" joint="{l.joint_name}" forcelimited="true" forcerange="{text([-l.effort, l.effort])}"/>'
              for l in in_depth(links) if l.effort]
    # in MuJoCo alone, a link collides with a parent that stands still
    excludes = [f'<exclude body1="{l.name}" body2="{l.parent.name}"/>' for l in links if l.parent and l.parent.joint == "fixed_base"]
    couplings = [f'<joint joint1="{l.joint_name}" joint2="{l.mimic[0]}" polycoef="{text([l.mimic[2], l.mimic[1], 0, 0, 0])}"/>'
                 for l in links if l.mimic]
    return (f'<mujoco model="r"><compiler angle="radian"/><worldbody>{body(links[0])}</worldbody>'
            f'<contact>{"".join(excludes)}</contact><actuator>{"".join(motors)}</actuator>'
            f'<equality>{"".join(couplings)}</equality></mujoco>')


def sdf(links):
    types = {"prismatic": "prismatic", "spherical": "ball", "fixed": "fixed", "fixed_base": "fixed"}
    out = ['<sdf version="1.11"><model name="r">']
    for l in links:
        at = l.in_sdf
        pose = l.origin * at.inverse() if l.parent is None else l.parent.in_sdf * l.origin * at.inverse()
        relative = f' relative_to="{l.parent.name}"' if l.parent else ""
        shapes = []
        for n, (kind, size, own) in enumerate(l.shapes):
            geometry = {"box": f"<box><size>{text(2 * numpy.array(size))}</size></box>",
                        "sphere": f"<sphere><radius>{text(size[0])}</radius></sphere>",
                        "cylinder": f"<cylinder><radius>{text(size[0])}</radius><length>{text(2 * size[1])}</length></cylinder>"}[kind]
            shapes.append(f'<collision name="c{n}"><pose>{(at * own).numbers()}</pose><geometry>{geometry}</geometry><surface>'
                          f"<friction><ode><mu>{text(l.mu)}</mu></ode></friction></surface></collision>")
        inertia = "".join(f"<{k}>{text(x)}</{k}>" for k, x in moments(l.I).items())
        out.append(f'<link name="{l.name}"><pose{relative}>{pose.numbers()}</pose><inertial><pose>{(at * l.inertial).numbers()}'
                   f"</pose><mass>{text(l.mass)}</mass><inertia>{inertia}</inertia></inertial>{''.join(shapes)}</link>")
        if l.joint == "free":
            continue
        axis = ""
        if l.joint in ("revolute", "continuous", "prismatic"):
            lower, upper = l.limits or (-1e16, 1e16)
            mimic = f'<mimic joint="{l.mimic[0]}"><multiplier>{text(l.mimic[1])}</multiplier><offset>{text(l.mimic[2])}</offset>' \
                    "<reference>0</reference></mimic>" if l.mimic else ""
            effort = f"<effort>{text(l.effort)}</effort>" if l.effort else ""
            axis = (f"<axis><xyz>{text(l.axis)}</xyz>{mimic}<limit><lower>{text(lower)}</lower><upper>{text(upper)}</upper>{effort}"
                    f"</limit><dynamics><damping>{text(l.damping)}</damping><friction>{text(l.friction)}</friction></dynamics></axis>")
        out.append(f'<joint name="{l.joint_name}" type="{types.get(l.joint, "revolute")}"><pose>{at.numbers()}</pose>'
                   f"<parent>{l.parent.name if l.parent else 'world'}</parent><child>{l.name}</child>{axis}</joint>")
    return "\n".join(out + ["</model></sdf>"])


def in_depth(links, root=None):
    """The links, each before those that it carries."""
    return [l for child in links if child.parent is root for l in [child, *in_depth(links, child)]]


def scene(file, apart, fixed):
    model = {"name": "r", "file": file, "self_collision": apart}
    if file.endswith(".urdf") and fixed:
        model["base"] = "fixed"
    return {"steps": 1, "time_step": 0.002, "ground": {"friction": 0.7, "height": -0.6}, "models": [model],
            "solver": {"type": "ncp", "warm_start": False}}


def reads_sdf():
    """False where costate is built without libsdformat."""
    try:
        costate.Model.from_string('<sdf version="1.11"><model name="r"><link name="l"/></model></sdf>', format="sdf")
    except costate.BadFile as error:
        if "libcostate_sdformat" not in str(error):
            raise
        return False
    return True


def check(seed, folder):
    """What differs between the formats, as texts, and the number of steps that were compared."""
    links, apart = random_robot(seed)
    files = {"r.urdf": urdf(links), "r.xml": mjcf(links, apart)}
    if reads_sdf():
        files["r.sdf"] = sdf(links)
    for name, content in files.items():
        (folder / name).write_text(content)
    fixed = links[0].joint == "fixed_base"
    models = {name: costate.Model.from_string(scene(name, apart, fixed), name=folder / "scene.json") for name in files}
    first = models["r.urdf"]
    faults = []
    moving = {f"r/{l.joint_name}" for l in links if l.joint not in ("free", "fixed", "fixed_base")}
    for name, m in models.items():
        own, theirs = ([j for j in joints if j in moving] for joints in (m.joints, first.joints))
        if (own, m.actuators, m.nv) != (theirs, first.actuators, first.nv):
            return [f"{name} has joints {own}, motors {m.actuators}, {m.nv} dofs, not {theirs}, {first.actuators}, {first.nv}"], 0
    draw = Draw(seed)
    q = first.retract(first.start()[:first.nq], numpy.array([draw.gauss(0, 0.3) for _ in range(first.nv)]))
    v = numpy.array([draw.gauss(0, 1) for _ in range(first.nv)])
    for step in range(STEPS):
        u = numpy.array([draw.gauss(0, 10) for _ in range(first.nu)])
        after = first.step(q, v, u)
        for name, m in models.items():
            other = m.step(q, v, u)
            apart_by = max(abs(a - b).max() for a, b in zip(after, other)) / (1 + max(abs(after[1]).max(), abs(v).max()))
            if not apart_by <= AGREE:
                faults.append(f"step {step} of {name} differs by {apart_by:.1e}")
        if faults or abs(after[1]).max() > 1e3:
            break
        q, v = after
    return faults, step + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    failed = compared = 0
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as folder:
            faults, steps = check(seed, pathlib.Path(folder))
        compared += steps
        failed += bool(faults)
        if faults:
            print(f"seed {seed}: {'; '.join(faults[:3])}")
    print(f"{options.count} robots, {compared} steps; {failed} robots differ")
    return failed > 0


if __name__ == "__main__":
    warnings.simplefilter("ignore", costate.ModelWarning)
    sys.exit(main())
