#!/usr/bin/env python3
"""Random robots in MJCF, for costate_robots and the programs of apps/beside/mujoco.

    random_mjcf.py FOLDER FIRST LAST [--recent]      writes FOLDER/<seed>.xml for every seed from FIRST to LAST

A file is a function of its seed and --recent. It has what files of robots have: nested defaults, every kind of
orientation, several joints in a body, references and springs, inertias given or from geoms and meshes, tendons with
pulleys and wrapping, every transmission, law and activation of actuators that costate takes, keyframes, a medium,
equalities, and contacts with their own parameters. With --recent also what MuJoCo has had since 2.3: frames, replicas,
compensated gravity, limits of forces on joints, and actuators with damping ratios and early activations.
"""
import math
import pathlib
import random
import sys
from functools import partial


class Robot:
    def __init__(self, seed, recent=False):
        self.r = random.Random(seed)
        self.recent = recent
        self.degrees = self.chance(0.5)
        self.euler = "".join(self.r.sample("xyz", 3)) if self.chance(0.5) else "xyz"
        if self.chance(0.3):
            self.euler = self.euler.upper()
        # The drag of a body with equal moments of inertia depends on axes that nothing determines.
        self.medium = self.chance(0.3)
        self.classes = ["main", "light", "stiff"]
        self.joints, self.sites, self.bodies, self.solids, self.count = [], [], [], [], 0
        self.within, self.site_body = None, {}  # the body that is being written; bodies of sites
        self.fixed_tendons, self.spatial_tendons, self.hinges, self.slides = [], [], [], []
        self.meshes, self.na, self.nu = [], 0, 0
        self.bounded = recent and self.chance(0.3)  # forces on joints, where each has one actuator at most
        self.replicated = False  # within <replicate>, where names are not those of the model

    # Numbers

    def chance(self, p):
        return self.r.random() < p

    def number(self, low, high):
        return f"{self.r.uniform(low, high):.6g}"

    def numbers(self, n, size):
        return " ".join(self.number(-size, size) for _ in range(n))

    def angle(self, low, high):
        scale = 180 / math.pi if self.degrees else 1
        return f"{self.r.uniform(low, high) * scale:.6g}"

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    # Parts

    def orientation(self):
        kind = self.r.choice(["", "", "quat", "axisangle", "euler", "xyaxes", "zaxis"])
        if kind == "quat":
            return f' quat="{self.numbers(4, 1)}"'
        if kind == "axisangle":
            return f' axisangle="{self.numbers(3, 1)} {self.angle(-3, 3)}"'
        if kind == "euler":
            return f' euler="{" ".join(self.angle(-3, 3) for _ in range(3))}"'
        if kind == "xyaxes":
            return f' xyaxes="{self.numbers(6, 1)}"'
        if kind == "zaxis":
            return f' zaxis="{self.numbers(3, 1)}"'
        return ""

    def of_class(self, p=0.3):
        return f' class="{self.r.choice(self.classes[1:])}"' if self.chance(p) else ""

    def softness(self, p=0.3):
        out = ""
        if self.chance(p):
            out += (f' solref="{self.number(-900, -50)} {self.number(-50, -5)}"' if self.chance(0.3) else
                    f' solref="{self.number(0.01, 0.1)} {self.number(0.5, 1.5)}"')
        if self.chance(p):
            n = self.r.choice([2, 3, 5])
            values = [self.number(0.3, 0.9), self.number(0.9, 0.99), self.number(0.0005, 0.02), self.number(0.2, 0.8),
                      self.number(1, 4)]
            out += f' solimp="{" ".join(values[:n])}"'
        return out

    def geom(self, indent, out, massless=False):
        kinds = ["sphere", "capsule", "box", "cylinder", "ellipsoid"] + ["mesh"] * bool(self.meshes)
        kind = self.r.choice(["box", "ellipsoid"] if self.medium else kinds)
        sizes = {"sphere": 1, "capsule": 2, "box": 3, "cylinder": 2, "ellipsoid": 3, "mesh": 0}[kind]
        name = self.name("g")
        text = f'<geom name="{name}" type="{kind}"' + self.of_class()
        if kind == "mesh":
            text += f' mesh="{self.r.choice(self.meshes)}" pos="{self.numbers(3, 0.08)}"{self.orientation()}'
        elif kind != "sphere" and not self.medium and self.chance(0.25):
            size = self.number(0.02, 0.05)
            text += f' size="{size}{" " + size if kind in ("box", "ellipsoid") and self.chance(0.5) else ""}"'
            text += f' fromto="{self.numbers(6, 0.15)}"'
        else:
            text += f' size="{" ".join(self.number(0.02, 0.09) for _ in range(sizes))}" pos="{self.numbers(3, 0.08)}"'
            text += self.orientation()
        if massless:
            text += ' contype="0" conaffinity="0" mass="0"'
        else:
            if self.chance(0.3):
                text += f' density="{self.number(100, 3000)}"'
            elif self.chance(0.3):
                text += f' mass="{self.number(0.1, 2)}"'
            if self.chance(0.4):
                text += f' friction="{self.number(0.2, 1.2)}' + (
                    f' {self.number(0.001, 0.02)} {self.number(0.0001, 0.002)}"' if self.chance(0.5) else '"')
            if self.chance(0.4):
                text += f' condim="{self.r.choice([1, 3, 3, 4, 6])}"'
            if self.chance(0.2):
                text += f' margin="{self.number(0.004, 0.01)}"'
                if self.chance(0.5):
                    text += f' gap="{self.number(0, 0.004)}"'
            if self.chance(0.1):
                text += f' priority="{self.r.randrange(3)}"'
            if self.chance(0.1):
                text += f' solmix="{self.number(0.1, 3)}"'
            if self.chance(0.15):
                text += f' contype="{self.r.randrange(4)}" conaffinity="{self.r.randrange(4)}"'
            text += self.softness(0.2)
            if not self.replicated:
                self.solids.append((name, kind, self.within))
        out.append(indent + text + "/>")

    def joint(self, indent, out, kind):
        name = self.name("j")
        text = f'<joint name="{name}" type="{kind}"' + self.of_class()
        if kind != "ball" or self.chance(0.5):
            if self.chance(0.5):
                text += f' pos="{self.numbers(3, 0.05)}"'
        if kind != "ball":
            text += f' axis="{self.numbers(3, 1)}"'
            turn = kind == "hinge"
            value = (lambda a, b: self.angle(a, b)) if turn else (lambda a, b: self.number(a * 0.2, b * 0.2))
            if self.chance(0.4):
                text += f' stiffness="{self.number(0.1, 20)}"'
            if self.chance(0.4):
                text += f' springref="{value(-1, 1)}"'
            if self.chance(0.3):
                text += f' ref="{value(-1, 1)}"'
            if self.chance(0.4):
                text += f' limited="true" range="{value(-2, -0.2)} {value(0.2, 2)}"'
                if self.chance(0.2):
                    text += f' margin="{self.number(0, 0.02)}"'
            if self.chance(0.2):
                text += f' frictionloss="{self.number(0.01, 0.5)}"'
            if self.bounded and self.chance(0.5):
                text += f' actuatorfrcrange="{self.number(-3, -0.1)} {self.number(0.1, 3)}"'
            if not self.replicated:
                (self.hinges if turn else self.slides).append(name)
                self.joints.append(name)
        elif self.chance(0.4):
            text += f' limited="true" range="0 {self.angle(0.3, 1.5)}"'
        if self.chance(0.4):
            text += f' damping="{self.number(0.01, 1)}"'
        if self.chance(0.4):
            text += f' armature="{self.number(0.001, 0.1)}"'
        out.append(indent + text + "/>")

    def site(self, indent, out):
        name = self.name("s")
        kind = self.r.choice(["", "", ' type="sphere" size="0.01"', ' type="box" size="0.01 0.02 0.01"'])
        out.append(f'{indent}<site name="{name}" pos="{self.numbers(3, 0.1)}"{self.orientation()}{kind}/>')
        if self.replicated:
            return
        self.sites.append(name)
        self.site_body[name] = self.within

    def body(self, depth, indent, out):
        name = self.name("b")
        if not self.replicated:
            self.bodies.append(name)
        height = 0.4 if depth == 0 else 0
        place = f'{self.number(-0.2, 0.2)} {self.number(-0.2, 0.2)} {self.r.uniform(-0.2, 0.2) + height:.6g}'
        child = f' childclass="{self.r.choice(self.classes[1:])}"' if self.chance(0.2) else ""
        if self.recent and self.chance(0.2):
            child += f' gravcomp="{self.number(0.1, 1.5)}"'
        out.append(f'{indent}<body name="{name}" pos="{place}"{self.orientation()}{child}>')
        inner = indent + "  "
        self.within = name
        if self.chance(0.3):
            a, b, c = (self.r.uniform(0.002, 0.01) for _ in range(3))
            moments = (a + b, b + c, a + c)
            if self.chance(0.5):
                shape = f'diaginertia="{moments[0]:.6g} {moments[1]:.6g} {moments[2]:.6g}"{self.orientation()}'
            else:
                shape = (f'fullinertia="{moments[0]:.6g} {moments[1]:.6g} {moments[2]:.6g} '
                         f'{self.numbers(3, 0.0008)}"')
            out.append(f'{inner}<inertial pos="{self.numbers(3, 0.05)}" mass="{self.number(0.3, 2)}" {shape}/>')
        free = depth == 0 and self.chance(0.5)
        if free:
            out.append(inner + ("<freejoint/>" if self.chance(0.5) else f'<joint name="{self.name("j")}" type="free"/>'))
        elif self.chance(0.1) and depth > 1:
            pass  # welded to its parent
        elif self.chance(0.15):
            self.joint(inner, out, "ball")
        else:
            for _ in range(self.r.choice([1, 1, 1, 2, 3])):
                self.joint(inner, out, self.r.choice(["hinge", "hinge", "slide"]))
        for _ in range(self.r.choice([1, 1, 2])):
            self.framed(inner, out, self.geom)
        if self.chance(0.4) and not self.medium:
            self.geom(inner, out, massless=True)
        for _ in range(self.r.choice([0, 1, 2])):
            self.framed(inner, out, self.site)
        if depth < 3:
            for _ in range(self.r.choice([1, 2] if free else [0, 1, 1, 2])):
                self.framed(inner, out, partial(self.body, depth + 1))
        out.append(f"{indent}</body>")
        self.within = None

    def framed(self, indent, out, write):
        """A part, in a recent file sometimes in a frame or in a few replicas."""
        if not self.recent or self.chance(0.7):
            write(indent, out)
            return
        if self.replicated or self.chance(0.6):
            kind, place = "frame", self.orientation()
            if self.chance(0.3):
                place += f' childclass="{self.r.choice(self.classes[1:])}"'
            place += f' pos="{self.numbers(3, 0.1)}"' if self.chance(0.7) else ""
        else:
            kind, place = "replicate", f' count="{self.r.choice([1, 2, 3])}" offset="{self.numbers(3, 0.2)}"'
            if self.chance(0.7):
                place += f' euler="{" ".join(self.angle(-1, 1) for _ in range(3))}"'
            place += f' sep="{self.r.choice(["-", "_"])}"'
        before, self.replicated = self.replicated, self.replicated or kind == "replicate"
        out.append(f"{indent}<{kind}{place}>")
        write(indent + "  ", out)
        out.append(f"{indent}</{kind}>")
        self.replicated = before

    def default(self, indent, out):
        if self.chance(0.5):
            out.append(f'{indent}<joint damping="{self.number(0, 0.5)}" armature="{self.number(0, 0.05)}"/>')
        if self.chance(0.5):
            out.append(f'{indent}<geom friction="{self.number(0.3, 1)} 0.01 0.001" density="{self.number(300, 2000)}"'
                       f'{self.softness(0.5)}/>')
        if self.chance(0.3):
            out.append(f'{indent}<motor gear="{self.number(0.5, 5)}"/>')
        if self.chance(0.3):
            out.append(f'{indent}<position kp="{self.number(1, 20)}"/>')

    def tendons(self, out):
        rows = []
        for _ in range(self.r.choice([0, 1, 2])):
            if not self.joints:
                break
            text = f'    <fixed name="{self.name("t")}"'
            self.fixed_tendons.append(f"t{self.count}")
            if self.chance(0.6):
                text += f' stiffness="{self.number(0.1, 10)}"'
            if self.chance(0.5):
                text += f' damping="{self.number(0.01, 1)}"'
            if self.chance(0.3):
                text += f' springlength="{self.number(0.01, 0.3)}"'
            if self.chance(0.3):
                text += f' limited="true" range="{self.number(-1, -0.2)} {self.number(0.2, 1)}"'
            if self.chance(0.2):
                text += f' frictionloss="{self.number(0.01, 0.3)}"'
            rows.append(text + ">")
            for j in self.r.sample(self.joints, min(len(self.joints), self.r.choice([1, 2, 3]))):
                rows.append(f'      <joint joint="{j}" coef="{self.number(-2, 2)}"/>')
            rows.append("    </fixed>")
        for _ in range(self.r.choice([0, 1, 2])):
            if len(self.sites) < 3:
                break
            text = f'    <spatial name="{self.name("t")}"'
            self.spatial_tendons.append(f"t{self.count}")
            if self.chance(0.7):
                text += f' stiffness="{self.number(1, 50)}"'
            if self.chance(0.5):
                text += f' damping="{self.number(0.01, 1)}"'
            if self.chance(0.3):
                text += f' springlength="{self.number(0.05, 0.3)}"'
            if self.chance(0.2):
                text += f' limited="true" range="0 {self.number(0.5, 1)}"'
            rows.append(text + ">")
            sites = self.r.sample(self.sites, min(len(self.sites), self.r.choice([2, 3, 4])))
            wraps = [(n, b) for n, kind, b in self.solids if kind in ("sphere", "cylinder")]
            rows.append(f'      <site site="{sites[0]}"/>')
            for i, s in enumerate(sites[1:]):
                if wraps and self.chance(0.4):
                    geom, body = self.r.choice(wraps)
                    beside = [x for x in self.sites if self.site_body[x] == body]
                    side = f' sidesite="{self.r.choice(beside)}"' if beside and self.chance(0.5) else ""
                    rows.append(f'      <geom geom="{geom}"{side}/>')
                rows.append(f'      <site site="{s}"/>')
                if 0 < i < len(sites) - 3 and self.chance(0.3):
                    rows.append(f'      <pulley divisor="{self.r.choice([1, 2, 3])}"/>')
            rows.append("    </spatial>")
        if rows:
            out += ["  <tendon>"] + rows + ["  </tendon>"]

    def places(self):
        """Where an actuator may act."""
        if self.bounded:
            return [f'joint="{self.joints.pop()}"'] if self.joints else []
        out = []
        if self.joints:
            out += [f'joint="{self.r.choice(self.joints)}"'] * 3 + [f'jointinparent="{self.r.choice(self.joints)}"']
        if self.fixed_tendons + self.spatial_tendons:
            out += [f'tendon="{self.r.choice(self.fixed_tendons + self.spatial_tendons)}"']
        if self.sites:
            out += [f'site="{self.r.choice(self.sites)}"']
        return out

    def actuators(self, out):
        rows = [], []  # MuJoCo wants those with an activation last
        for _ in range(self.r.randrange(5)):
            places = self.places()
            if not places:
                break
            place = self.r.choice(places)
            if place.startswith("site"):
                gear = f' gear="{self.numbers(6, 2)}"'
                kind = self.r.choice(["motor", "general"])
            else:
                gear = f' gear="{self.number(-3, 3)}"' if self.chance(0.5) else ""
                kind = self.r.choice(["motor", "position", "velocity", "general", "general", "damper", "cylinder",
                                      "muscle"] + ["intvelocity"] * self.recent)
            text = f'    <{kind} name="{self.name("a")}" {place}{gear}'
            if kind in ("position", "intvelocity"):
                text += f' kp="{self.number(1, 30)}"'
                if self.recent and self.chance(0.6):
                    text += self.r.choice([f' kv="{self.number(0.1, 2)}"', f' dampratio="{self.number(0.2, 1.5)}"'])
            if kind == "position" and self.recent and self.chance(0.3):
                text += f' timeconst="{self.number(0.01, 0.2)}"'
            if kind == "intvelocity":
                text += f' actrange="{self.number(-1, -0.1)} {self.number(0.1, 1)}"'
            if kind == "damper":
                text += f' kv="{self.number(0.1, 3)}" ctrlrange="0 {self.number(0.5, 1)}"'
            if kind == "cylinder":
                text += f' timeconst="{self.number(0.01, 0.3)}" ' + self.r.choice(
                    [f'area="{self.number(0.5, 3)}"', f'diameter="{self.number(0.5, 2)}"'])
                if self.chance(0.5):
                    text += f' bias="{self.numbers(1, 1)} {self.number(-5, 0)} {self.number(-1, 0)}"'
            if kind == "muscle":
                text += f' lengthrange="{self.number(-1.5, -0.3)} {self.number(0.3, 2)}" force="{self.number(1, 20)}"'
                text += f' timeconst="{self.number(0.01, 0.03)} {self.number(0.03, 0.1)}"' if self.chance(0.5) else ""
                text += f' range="{self.number(0.6, 0.8)} {self.number(1, 1.2)}"'
                text += f' vmax="{self.number(1, 3)}" fpmax="{self.number(1, 2)}"' if self.chance(0.5) else ""
            if kind == "velocity":
                text += f' kv="{self.number(0.1, 3)}"'
            if kind != "damper" and self.chance(0.3):
                text += f' ctrllimited="true" ctrlrange="{self.number(-1, -0.1)} {self.number(0.1, 1)}"'
            if kind == "general":
                text += f' gainprm="{self.number(0.5, 5)}'
                if self.chance(0.3) and not place.startswith("site"):
                    text += f' {self.numbers(2, 1)}" gaintype="affine"'
                else:
                    text += '"'
                text += self.activation()
                if self.chance(0.5) and not place.startswith("site"):
                    text += f' biastype="affine" biasprm="{self.number(-1, 1)} {self.number(-5, 0)} {self.number(-1, 0)}"'
            if self.chance(0.3):
                text += f' forcelimited="true" forcerange="{self.number(-3, -0.2)} {self.number(0.2, 3)}"'
            stateful = "dyntype" in text or "timeconst" in text or kind in ("muscle", "intvelocity", "cylinder")
            rows[stateful].append(text + "/>")
        self.nu, self.na = len(rows[0] + rows[1]), len(rows[1])
        if self.nu:
            out += ["  <actuator>"] + rows[0] + rows[1] + ["  </actuator>"]

    def activation(self):
        if self.chance(0.5):
            return ""
        kind = self.r.choice(["integrator", "filter"] + ["filterexact"] * self.recent)
        text = f' dyntype="{kind}"' + (f' dynprm="{self.number(0.01, 0.3)}"' if kind != "integrator" else "")
        if self.chance(0.5):
            text += f' actlimited="true" actrange="{self.number(-1, -0.1)} {self.number(0.1, 1)}"'
        if self.recent and self.chance(0.4):
            text += ' actearly="true"'
        return text

    def equalities(self, out):
        rows = []
        for _ in range(self.r.choice([0, 0, 1, 2])):
            kind = self.r.choice(["connect", "weld", "joint", "joint", "tendon"])
            if not self.bodies:
                break
            first, second = self.r.choice(self.bodies), self.r.choice(self.bodies)
            other = f' body2="{second}"' if second != first and self.chance(0.7) else ""
            if kind == "connect":
                rows.append(f'    <connect body1="{first}"{other} anchor="{self.numbers(3, 0.1)}"{self.softness()}/>')
            elif kind == "weld":
                rows.append(f'    <weld body1="{first}"{other}{self.softness()}/>')
            elif kind == "tendon" and self.fixed_tendons:
                one = self.r.choice(self.fixed_tendons)
                two = self.r.choice(self.fixed_tendons)
                driven = f' tendon2="{two}"' if two != one else ""
                rows.append(f'    <tendon tendon1="{one}"{driven} polycoef="{self.number(-0.2, 0.2)} {self.number(-2, 2)} '
                            f'{self.numbers(3, 0.3)}"{self.softness()}/>')
            elif self.joints:
                one = self.r.choice(self.joints)
                two = self.r.choice(self.joints)
                driven = f' joint2="{two}"' if two != one and self.chance(0.7) else ""
                powers = self.numbers(3, 0.3) if self.chance(0.5) else "0 0 0"
                rows.append(f'    <joint joint1="{one}"{driven} polycoef="{self.number(-0.2, 0.2)} {self.number(-2, 2)} {powers}"'
                            f'{self.softness()}/>')
        if rows:
            out += ["  <equality>"] + rows + ["  </equality>"]

    def contacts(self, out):
        rows, used = [], set()
        names = [n for n, _, _ in self.solids]
        for _ in range(self.r.choice([0, 0, 1, 2])):
            if len(names) < 2:
                break
            a, b = self.r.sample(names, 2)
            if frozenset((a, b)) in used:
                continue
            used.add(frozenset((a, b)))
            text = f'    <pair geom1="{a}" geom2="{b}"'
            if self.chance(0.5):
                text += f' condim="{self.r.choice([1, 3, 4, 6])}"'
            if self.chance(0.5):
                text += f' friction="{" ".join(self.number(0.001, 1) for _ in range(5))}"'
            if self.chance(0.3):
                text += f' margin="{self.number(0, 0.01)}"'
            rows.append(text + self.softness() + "/>")
        if len(self.bodies) > 1 and self.chance(0.3):
            a, b = self.r.sample(self.bodies, 2)
            rows.append(f'    <exclude body1="{a}" body2="{b}"/>')
        if rows:
            out += ["  <contact>"] + rows + ["  </contact>"]

    def keyframe(self, out):
        if self.nu + self.na and self.chance(0.5):
            text = f' ctrl="{self.numbers(self.nu, 1)}"' if self.nu and self.chance(0.7) else ""
            text += f' act="{self.numbers(self.na, 1)}"' if self.na and self.chance(0.7) else ""
            out += ["  <keyframe>", f'    <key time="{self.number(0, 1)}"{text}/>', "  </keyframe>"]

    def assets(self, out):
        for name in self.meshes:
            points = [self.numbers(3, 0.08) for _ in range(self.r.randrange(5, 12))]
            scale = f' scale="{" ".join(self.number(0.5, 1.5) for _ in range(3))}"' if self.chance(0.4) else ""
            out.append(f'    <mesh name="{name}" vertex="{"  ".join(points)}"{scale}/>')

    def write(self):
        self.meshes = [f"mesh{i}" for i in range(self.r.choice([0, 0, 1, 2]))]
        body = []
        trees = self.r.choice([1, 1, 2])
        for _ in range(trees):
            self.framed("    ", body, partial(self.body, 0))
        out = ["<mujoco>"]
        compiler = f'angle="{"degree" if self.degrees else "radian"}" eulerseq="{self.euler}"'
        if self.chance(0.2):
            compiler += ' inertiafromgeom="true"'
        if self.chance(0.1):
            compiler += f' settotalmass="{self.number(1, 10)}"'
        if not self.medium and self.chance(0.1):
            compiler += f' boundmass="{self.number(0.1, 0.5)}" boundinertia="{self.number(0.001, 0.004)}"'
        out.append(f"  <compiler {compiler}/>")
        option = f'timestep="{self.r.choice([0.001, 0.002, 0.004])}" gravity="{self.numbers(2, 2)} {self.number(-10, -5)}"'
        if self.medium:
            option += f' density="{self.number(0, 50)}" viscosity="{self.number(0, 0.1)}" wind="{self.numbers(3, 2)}"'
        option += f' cone="{self.r.choice(["elliptic", "pyramidal"])}"'
        if self.chance(0.2):
            option += f' impratio="{self.number(1, 10)}"'
        out.append(f"  <option {option}/>")
        out.append("  <default>")
        self.default("    ", out)
        for name in self.classes[1:]:
            out.append(f'    <default class="{name}">')
            self.default("      ", out)
            out.append("    </default>")
        out.append("  </default>")
        if self.meshes:
            out.append("  <asset>")
            self.assets(out)
            out.append("  </asset>")
        out.append("  <worldbody>")
        if self.recent or trees > 1 or self.chance(0.8):  # a file without a floor is lifted onto one
            tilt = self.orientation() if self.chance(0.2) else ""
            out.append(f'    <geom name="floor" type="plane" size="5 5 .1"{tilt}'
                       f'{" condim=" + chr(34) + self.r.choice("1346") + chr(34) if self.chance(0.4) else ""}/>')
        out += body
        out.append("  </worldbody>")
        self.tendons(out)
        self.actuators(out)
        self.equalities(out)
        self.contacts(out)
        self.keyframe(out)
        out.append("</mujoco>")
        return "\n".join(out) + "\n"


def main():
    recent = "--recent" in sys.argv
    given = [argument for argument in sys.argv[1:] if argument != "--recent"]
    if len(given) != 3:
        sys.exit("random_mjcf.py: give a folder and the first and the last seed")
    folder = pathlib.Path(given[0])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(int(given[1]), int(given[2]) + 1):
        (folder / f"{seed}.xml").write_text(Robot(seed, recent).write())


if __name__ == "__main__":
    main()
