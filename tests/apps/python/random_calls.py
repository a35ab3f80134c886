"""One random sequence of Python calls: on models, batches, scenes and environments, with arguments that are mostly
right, in threads, after fork(), interrupted by signals. Usage: random_calls.py SEED [CALLS]. Exits with 1 and the
history if a call fails in another way than by an exception of the library, ValueError or TypeError with one clear
line; ends by itself if nothing hangs."""
import copy
import os
import pickle
import random
import signal
import sys
import threading
import traceback
import warnings

import numpy

import costate
import costate.gym

NAMES = ["throw", "pendulum_5", "hopper", "go1_stand", "box_slide", "distant_push"]
WRONG_TEXTS = ["", "{", "{}", '{"bodies": 3}', "<robot", "<mujoco/>", '<sdf version="1.9"/>', "[" * 5000, "\0",
               "nan"]
FORMATS = ["json", "urdf", "mjcf", "sdf", "x"]
ALLOWED = (costate.Error, ValueError, TypeError)
LONGEST = 600       # letters of a message
CHILD_SECONDS = 30  # that the calls after a fork may take


class Calls:
    def __init__(self, seed, calls):
        self.r, self.calls, self.history = random.Random(seed), calls, []
        self.models = [costate.Model(self.r.choice(NAMES))]
        self.batches, self.scenes, self.environments = [], [], []

    def run(self):
        for _ in range(self.calls):
            kinds = {self.on_model: 6, self.on_batch: 6, self.on_scene: 2, self.on_environment: 2, self.make: 2,
                     self.drop: 1, self.in_threads: 1, self.after_fork: 0.3, self.interrupted: 0.5}
            self.call(self.r.choices(list(kinds), list(kinds.values()))[0])

    def call(self, kind):
        """A call of a kind, which may be refused."""
        self.history.append(kind.__name__)
        try:
            kind()
        except ALLOWED as refusal:
            text = str(refusal)
            if isinstance(refusal, costate.Internal) or not text or "\n" in text or len(text) > LONGEST:
                raise AssertionError(f"not one clear line: {text[:2000]!r}") from refusal

    # Arguments

    def bent(self, array):
        """The array, or what a caller may pass in its place by mistake."""
        r = self.r
        if r.random() < 0.8 or not isinstance(array, numpy.ndarray) or array.size == 0:
            return array
        number = r.choice([numpy.nan, numpy.inf, 1e300, -1e300, 1e-320])
        spoiled = array.copy()
        spoiled.flat[r.randrange(array.size)] = number
        return r.choice([array.astype(numpy.float32), array.tolist(), numpy.repeat(array, 2, -1)[..., ::2],
                         array[..., :-1], array[None], spoiled, array.astype(">f8"), array.astype(complex),
                         numpy.asfortranarray(array), array.astype(str), None, "x", 3, array.T, array * 0])

    def index(self, n):
        right = self.r.randrange(max(n, 1))
        return self.r.choice([right, right, -1, n, 2**31, 1.5, "none", None])

    def noise(self, *shape):
        return numpy.random.default_rng(self.r.randrange(1000)).normal(size=shape)

    # Calls

    def on_model(self):
        r, m = self.r, self.r.choice(self.models)
        nv, nu = m.nv, m.nu
        x = m.start() if r.random() < 0.2 else m.state(*m.initial_state())
        q, v, u = x[:m.nq], x[m.nq:m.nq + nv], 0.1 * self.noise(nu)
        if r.random() < 0.5:
            q = m.retract(q, 0.1 * self.noise(nv))
        q, v, u, bar, w = (self.bent(a) for a in (q, v, u, self.noise(nv), self.noise(nv)))
        named = r.choice(m.parameter_names)
        r.choice([
            lambda: m.step(q, v, u), lambda: m.step_vjp(q, v, u, bar, w), lambda: m.step_jvp(q, v, u, bar, w),
            lambda: m.step_jacobian(q, v, u), lambda: m.contacts(q, v, u), lambda: m.state_step(self.bent(x), u),
            lambda: m.state_step_jacobian(self.bent(x), u, parameters=True), lambda: m.observe(self.bent(x), u),
            lambda: m.residual(self.bent(x), u), lambda: m.retract(q, bar), lambda: m.difference(q, q),
            lambda: m.forward_dynamics(q, v, bar), lambda: m.inverse_dynamics(q, v, bar), lambda: m.mass_matrix(q),
            lambda: m.forward_dynamics_derivatives(q, v, bar), lambda: m.body_pose(q, self.index(len(m.bodies))),
            lambda: m.joint_slices(self.index(nv)), lambda: m.keyframe(self.index(1)),
            lambda: m.sensor_slice(self.index(1)), lambda: costate.transition(m, self.bent(x), u),
            lambda: m.set_parameter(r.choice([named, named[:-1], ""]), r.choice([1, 0.5, -1, numpy.nan, "x"])),
            lambda: setattr(m, "parameters", self.bent(m.parameters * (1 + 1e-3 * self.noise(m.nparam)))),
            lambda: repr(m), lambda: (m.joint_limits, m.actuator_limits, m.parents)])()

    def on_batch(self):
        if not self.batches:
            return self.make()
        r, b = self.r, self.r.choice(self.batches)
        x, _ = b.state()
        n, steps = b.n_env, r.choice([0, 1, 1, 3])
        u = 0.1 * self.noise(steps, n, b.nu)
        states = numpy.repeat(x[None], steps, 0)
        x, u, bar = self.bent(x), self.bent(u), self.bent(self.noise(steps, n, b.ndx))
        envs = r.choice([None, [self.index(n)], numpy.ones(n, bool), numpy.zeros(n, bool), [], [0, 0], range(n)])
        first = u[0] if isinstance(u, numpy.ndarray) and u.ndim == 3 and len(u) else u
        parameters = self.bent(numpy.asarray(b.model.parameters))
        r.choice([
            lambda: b.reset(envs), lambda: b.reset(envs, x), lambda: b.advance(first), lambda: b.residuals(),
            lambda: b.step(x, first), lambda: b.rollout(x, u), lambda: b.backward(states, u, bar),
            lambda: b.backward(states, u, bar, wanted=r.choice([("x",), ("z",), ()])),
            lambda: b.jacobian(x, first, envs), lambda: b.jacobian(x, first, parameters=True),
            lambda: b.contacts(x, first), lambda: b.sensors(x, first), lambda: b.run(x, u),
            lambda: b.run_vjp(x, u, states_bar=bar), lambda: b.jvp(x, u, u_dot=u),
            lambda: b.hvp(x, u, bar, u_dot=u), lambda: b.poses(x, [self.index(1)]),
            lambda: b.set_parameters(parameters), lambda: b.frames(["none"])])()

    def on_scene(self):
        if not self.scenes:
            return self.make()
        r, s = self.r, self.r.choice(self.scenes)
        y = self.bent(s.start * (1 + 1e-3 * self.noise(len(s.start))))
        r.choice([
            lambda: s.loss(y), lambda: s.gradient(y), lambda: s.loss_and_gradient(y), lambda: s.rollout(y),
            lambda: s.bounds, lambda: s.loss(y, progress=lambda *_: r.random() < 0.9),
            lambda: s.optimize(r.choice([None, "lbfgs", "adam", "magic"]), iterations=r.choice([1, 2, -1]))])()

    def on_environment(self):
        r = self.r
        if not self.environments or r.random() < 0.1:
            self.environments.append(costate.gym.make_vec(
                r.choice(["hopper", "pendulum-2", "quadruped", "none"]), r.choice([1, 3, 3, 0, -1]),
                threads=r.choice([1, 2, -1]), autoreset_mode=r.choice(["SameStep", "NEXT_STEP", "DISABLED", "x"]),
                dtype=r.choice(["f4", "f8", "i4"]),
                randomize=r.choice([None, {"bodies/*/mass": (0.9, 1.1)}, {"bodies/*/mass": (2, 1)},
                                    {"none": (1, 2)}])))
            self.environments[-1].reset(seed=r.randrange(10))
        e = r.choice(self.environments)
        n, actions = e.num_envs, self.bent(self.noise(e.num_envs, e.single_action_space.shape[0]))
        options = r.choice([{"x": self.bent(e.state)}, {"t": self.bent(numpy.arange(n))}, {"z": 1},
                            {"reset_mask": numpy.ones(n, bool)}, 3])
        r.choice([
            lambda: e.reset(seed=r.choice([None, 0, -1, 1.5, [1], 2**64, range(n)])),
            lambda: e.reset(options=options), lambda: e.step(actions), lambda: e.step(actions),
            lambda: e.step_with_jacobian(actions), lambda: e.restore(e.snapshot()), lambda: e.restore({}),
            lambda: repr(e), lambda: e.state, lambda: e.parameters, lambda: e.observation_jacobian()])()

    def make(self):
        r, m = self.r, self.r.choice(self.models)

        def batch():
            self.batches.append(costate.Batch(
                m, r.choice([1, 2, 5, 0, -1, 2**40, 1.5]), threads=r.choice([0, 1, 2, -1]),
                substeps=r.choice([1, 2, 0]), own_parameters=r.random() < 0.3, ambient=r.random() < 0.2))

        def batch_again():
            self.batches.append(pickle.loads(pickle.dumps(r.choice(self.batches))))

        r.choice([
            lambda: self.models.append(costate.Model(r.choice([*NAMES, "none", "", "/", "\0"]))),
            lambda: self.models.append(m.copy()), lambda: self.models.append(pickle.loads(pickle.dumps(m))),
            lambda: self.models.append(copy.deepcopy(m)), batch, batch, batch,
            batch_again if self.batches else batch,
            lambda: self.scenes.append(costate.Scene(r.choice(NAMES))),
            lambda: self.scenes.append(costate.Scene(m)),
            lambda: costate.Model.from_string(r.choice(WRONG_TEXTS), r.choice([None, *FORMATS]))
        ])()

    def drop(self):
        """Closes or forgets something. What is closed stays in use."""
        some = self.r.choice([self.models, self.batches, self.scenes, self.environments])
        if some and self.r.random() < 0.3 and hasattr(some[-1], "close"):
            some[-1].close()
        if len(some) > 1 or (some and some is not self.models):
            del some[self.r.randrange(len(some))]
        if all(repr(m).count("closed") for m in self.models):
            self.models.append(costate.Model(self.r.choice(NAMES)))

    def in_threads(self):
        """Two threads with the same objects."""
        failed = []

        def work(seed):
            other = copy.copy(self)
            other.r = random.Random(seed)
            try:
                for _ in range(3):
                    other.call(other.r.choice([other.on_model, other.on_batch]))
            except BaseException:
                failed.append(traceback.format_exc())

        threads = [threading.Thread(target=work, args=(self.r.randrange(2**30),)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise AssertionError(failed[0])

    def after_fork(self):
        """The calls of a child on what it inherits. A batch of the parent is refused there; nothing hangs."""
        child = os.fork()
        if child == 0:
            signal.alarm(CHILD_SECONDS)
            try:
                for _ in range(3):
                    self.call(self.r.choice([self.on_model, self.on_batch, self.make]))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise AssertionError(f"the child ended with status {status}")

    def interrupted(self):
        """A signal during a call of a batch or scene, which ends by KeyboardInterrupt or was done before."""
        timer = threading.Timer(self.r.random() * 0.05, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            if self.batches and self.r.random() < 0.7:
                b = self.r.choice(self.batches)
                b.rollout(b.state()[0], numpy.zeros((200, b.n_env, b.nu)))
            elif self.scenes:
                s = self.r.choice(self.scenes)
                s.gradient(s.start)
        except KeyboardInterrupt:
            pass
        finally:
            while True:
                try:
                    timer.join()
                    break
                except KeyboardInterrupt:
                    pass


def reference():
    """The bits of a rollout and its gradient, which no call before it may change."""
    batch = costate.Batch(costate.Model("hopper"), 3, threads=2)
    x, _ = batch.state()
    u = numpy.full((20, 3, batch.nu), 0.1)
    states, completed = batch.rollout(x, u)
    before = numpy.concatenate([x[None], states[:-1]])
    gradient = batch.backward(before, u, numpy.ones((20, 3, batch.ndx)), completed)
    return states.tobytes() + gradient.u.tobytes()


def main():
    seed, calls = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    before = reference()
    sequence = Calls(seed, calls)
    try:
        sequence.run()
        if reference() != before:
            raise AssertionError("the same rollout has other bits after these calls")
    except BaseException:
        traceback.print_exc()
        print(f"seed {seed}, after {' '.join(sequence.history)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
