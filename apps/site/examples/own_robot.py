import numpy

import costate

URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 -0.15"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/></joint>
</robot>"""

model = costate.Model.from_string(URDF, base="fixed")
print(model, model.joints, model.warnings)

# The acceleration of the elbow's angle, and its derivatives with respect to both torques
q, v, tau = numpy.array([0.3, -0.5]), numpy.zeros(2), numpy.array([0.0, 1.0])
elbow = model.joint_slices("elbow" if "elbow" in model.joints else "arm/elbow")[1]
derivatives = model.forward_dynamics_derivatives(q, v, tau)
by_torques = derivatives[2][elbow][0]
step = 1e-6
for i in range(2):
    d = step * numpy.eye(2)[i]
    change = (model.forward_dynamics(q, v, tau + d) - model.forward_dynamics(q, v, tau - d))[elbow][0] / (2 * step)
    print(f"torque {i}: {by_torques[i]:.6f}, by a difference {change:.6f}")
    assert abs(by_torques[i] - change) < 1e-6
