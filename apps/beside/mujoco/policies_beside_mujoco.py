"""Policies that costate.learn has exported, in costate and in MuJoCo: a table of their returns in Markdown.

policies_beside_mujoco.py costate_mujoco_plant FILE.xml TASK POLICY.json... [--starts 16] [--seed 1000]
    [--controls 6 7 0 ...] [--view run.html]

FILE.xml is the robot as MuJoCo has it, with the coordinates and actuators of the model of the task, in the same
order; with --controls, its actuators have these controls of the task, counted from 0. TASK is a name of
costate.gym, or FILE.py:CLASS or FILE.py:CLASS:ARGUMENT for a class of an example, such as
learn_go1.py:Go1:springs. Both engines run the same episodes, with the same starts, commands and pushes, and the
parameters of their own files, none of which is drawn. MuJoCo steps as its file says, by its time step or by a
shorter one of which control steps are multiples.
"""
import argparse
import importlib.util
import sys
from pathlib import Path

import costate
from costate import gym, learn
from mujoco_plant import MuJoCo


def task_of(text):
    if ".py:" not in text:
        return gym.make_task(text)
    file, name, *arguments = text.split(":")
    sys.path.insert(0, str(Path(file).resolve().parent))  # of the examples that it imports
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)(*arguments)


def cell(found):
    return f"{found.returns.mean():.0f} +- {found.returns.std():.0f} | {found.lengths.mean():.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="costate_mujoco_plant")
    parser.add_argument("file")
    parser.add_argument("task")
    parser.add_argument("policies", nargs="+")
    parser.add_argument("--starts", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--controls", type=int, nargs="+", metavar="N",
                        help="which control of the task each actuator of FILE.xml has, if not in order")
    parser.add_argument("--view", help="write a page of the first episode of the last policy in MuJoCo")
    options = parser.parse_args()
    task = task_of(options.task)
    plant = MuJoCo(options.program, options.file, task.control_step, options.controls)
    if (plant.nq, plant.nv, plant.nu) != (task.model.nq, task.model.nv, task.model.nu):
        raise SystemExit(f"{options.file} has {plant.nq} coordinates, {plant.nv} velocities, {plant.nu} controls, "
                         f"{task!r} {task.model.nq}, {task.model.nv} and {task.model.nu}")
    print("| policy | return in costate | length | return in MuJoCo | length | share |\n|---|---|---|---|---|---|")
    for file in options.policies:
        try:
            policy = learn.read_policy(file)
        except (costate.Error, OSError) as error:
            raise SystemExit(str(error)) from None
        ours, theirs = (learn.evaluate(task, policy, options.starts, options.seed, randomize={}, plant=each)
                        for each in (None, plant))
        print(f"| {file} | {cell(ours)} | {cell(theirs)} | {theirs.returns.mean() / ours.returns.mean():.2f} |",
              flush=True)
    if options.view:
        print(f"wrote {learn.replay(task, theirs, options.view)}")


if __name__ == "__main__":
    main()
