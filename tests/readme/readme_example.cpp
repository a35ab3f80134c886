// An arm without torques falls and releases its ball. How far does the ball miss the target, and what is the
// gradient of this distance?
#include <cstdio>

#include <costate/adjoint/rollout/rollout.hpp>
#include <costate/adjoint/rollout/simulation.hpp>
#include <costate/scenes/scene.hpp>

int main() {
    using namespace costate;
    const Scene scene = load_scene("throw");  // model, shapes, start, controls, objective
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);

    const double miss = rollout.forward(scene.theta, scene.x0, scene.z0);  // 1000 steps, storing their states
    Gradient gradient;
    // replays each step from its state and pulls it back
    rollout.backward(scene.theta, scene.z0, gradient);

    const Model& model = scene.world.model;
    const ControlChannel& torque = scene.plan.channels()[model.actuator_index("arm/torque4")];
    const int velocity = model.nv + model.bodies[model.joint_index("arm/joint4")].v0;
    const int mass = model.mass.at(model.body_index("ball"));
    std::printf("misses by %.4f m, which changes by\n", miss);
    std::printf("%8.4f m per N m held at joint 4\n",
                gradient.controls.segment(torque.offset, torque.size).sum());
    std::printf("%8.4f m per rad/s with which joint 4 starts\n", gradient.initial_state[velocity]);
    std::printf("%8.4f m per kg of the ball\n", gradient.parameters[mass]);
}
