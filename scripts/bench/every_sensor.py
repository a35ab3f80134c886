#!/usr/bin/env python3
"""every_sensor.py FILE.xml OUT.xml: an MJCF file with a sensor of every kind on every site, body, geom, joint, tendon and actuator
that it may be on, and of frames in the frame of the body before, for costate_sensors_beside_mujoco. FILE must not
include others; folders of meshes become absolute."""
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

file, out = map(Path, sys.argv[1:])
tree = xml.parse(file)
root = tree.getroot()
compilers = root.findall("compiler") or [xml.SubElement(root, "compiler")]
for key in ("meshdir", "texturedir"):
    compilers[0].set(key, str((file.parent / compilers[0].get(key, ".")).resolve()))
sensors = xml.SubElement(root, "sensor")


def add(kind, **on):
    xml.SubElement(sensors, kind, name=f"s{len(sensors)}_{kind}", **on)


FRAME = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel", "framelinacc",
         "frameangacc")
IN_FRAME = FRAME[:-2]  # those that a reference may have
world, before = root.find("worldbody"), None
for n, body in enumerate(world.iter("body")):
    if body.get("name") is None:
        body.set("name", f"body{n}")
    for kind in FRAME:
        add(kind, objtype="xbody", objname=body.get("name"))
        add(kind, objtype="body", objname=body.get("name"))
    for kind in ("subtreecom", "subtreelinvel", "subtreeangmom"):
        add(kind, body=body.get("name"))
    site = xml.SubElement(body, "site", name=f"at_{body.get('name')}", pos="0.01 0.02 0.03", euler="0.1 0.2 0.3")
    for kind in FRAME:
        add(kind, objtype="site", objname=site.get("name"))
    for kind in ("accelerometer", "velocimeter", "gyro", "force", "torque"):
        add(kind, site=site.get("name"))
    for kind in IN_FRAME if before is not None else ():
        add(kind, objtype="site", objname=site.get("name"), reftype="xbody", refname=before)
        add(kind, objtype="xbody", objname=before, reftype="body", refname=body.get("name"))
    before = body.get("name")
    for geom in body.findall("geom"):
        if geom.get("name"):
            add("framepos", objtype="geom", objname=geom.get("name"))
            add("framequat", objtype="geom", objname=geom.get("name"))
for joint in world.iter("joint"):
    if joint.get("name") and joint.get("type", "hinge") in ("hinge", "slide"):
        add("jointpos", joint=joint.get("name"))
        add("jointvel", joint=joint.get("name"))
        if joint.get("range") or joint.get("class"):
            add("jointlimitfrc", joint=joint.get("name"))
for tendon in root.find("tendon") if root.find("tendon") is not None else ():
    if tendon.get("name"):
        add("tendonpos", tendon=tendon.get("name"))
        add("tendonvel", tendon=tendon.get("name"))
for actuator in root.find("actuator") if root.find("actuator") is not None else ():
    if actuator.get("name"):
        for kind in ("actuatorfrc", "actuatorpos", "actuatorvel"):
            add(kind, actuator=actuator.get("name"))
tree.write(out)
