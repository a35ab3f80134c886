"""Signals during long calls, and batches after fork()."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy

import costate

STEPS, SUBSTEPS = 2000, 20


class SignalTest(unittest.TestCase):
    def setUp(self):
        self.batch = costate.Batch(costate.Model("go1_stand"), 32, threads=2, substeps=SUBSTEPS)
        self.x, _ = self.batch.state()
        self.u = numpy.zeros((STEPS, 32, 12))

    def interrupted(self, call, after=0.3):
        """Seconds from the signal to KeyboardInterrupt."""
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(after, send)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            call()
        waited = time.monotonic() - sent[0]
        timer.join()
        return waited

    def test_control_c_ends_a_rollout_and_leaves_the_batch_as_it_was(self):
        before = self.batch.state()[0]
        self.assertLess(self.interrupted(lambda: self.batch.rollout(self.x, self.u)), 1)
        numpy.testing.assert_array_equal(self.batch.state()[0], before)
        want = costate.Batch(self.batch.model, 32, substeps=SUBSTEPS).rollout(self.x, self.u[:2])[0]
        for _ in range(2):  # and a second time
            numpy.testing.assert_array_equal(self.batch.rollout(self.x, self.u[:2])[0], want)
            self.assertLess(self.interrupted(lambda: self.batch.rollout(self.x, self.u)), 1)

    def test_control_c_ends_a_backward_pass(self):
        x = numpy.repeat(self.x[None], STEPS, 0)
        bar = numpy.ones((STEPS, 32, self.batch.ndx))
        self.assertLess(self.interrupted(lambda: self.batch.backward(x, self.u, bar)), 1)

    def test_control_c_ends_calls_of_a_scene(self):
        text = {"time_step": 0.001, "steps": 1_000_000, "memory": "1M", "models": [{"name": "m", "model": {"bodies": [
            {"name": "b", "joint": {"type": "free"}, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}]}}]}
        scene = costate.Scene(text)
        for call in (scene.loss, scene.gradient, scene.rollout):
            self.assertLess(self.interrupted(lambda: call(scene.start)), 1)

    def test_a_program_ends_while_another_thread_computes(self):
        code = """if True:
            import threading, time, numpy, costate
            batch = costate.Batch(costate.Model("go1_stand"), 32, threads=2, substeps=20)
            scene = costate.Scene("throw")
            x, u = batch.state()[0], numpy.zeros((2000, 32, 12))
            for work in (lambda: batch.rollout(x, u), lambda: scene.optimize("adam", iterations=10**6)):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.3)"""
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        self.assertEqual((out.returncode, out.stderr), (0, ""))

    def test_other_handlers_run_and_the_call_goes_on(self):
        seen = []
        old = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.monotonic()))
        try:
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
            timer.start()
            self.batch.rollout(self.x, self.u[:200])
            end = time.monotonic()
            timer.join()
        finally:
            signal.signal(signal.SIGUSR1, old)
        self.assertTrue(len(seen) == 1 and seen[0] < end)


def child(queue, alone, many, x, u):
    signal.alarm(30)
    try:
        many.step(x, u)
    except costate.BadHandle as error:
        queue.put(str(error))
    else:
        queue.put("no exception")
    many.close()
    queue.put(alone.step(x, u)[0])
    queue.put(costate.Batch(alone.model, 2, threads=2).step(x, u)[0])


@unittest.skipUnless("fork" in multiprocessing.get_all_start_methods(), "this system has no fork()")
class ForkTest(unittest.TestCase):
    def test_a_batch_of_several_threads_is_refused_in_the_child(self):
        model = costate.Model("go1_stand")
        alone, many = costate.Batch(model, 2, threads=1), costate.Batch(model, 2, threads=2)
        x, u = many.state()[0], numpy.zeros((2, 12))
        want, _ = many.step(x, u)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=child, args=(queue, alone, many, x, u))
        process.start()
        self.assertRegex(queue.get(timeout=60), r"fork\(\); create a new one in this process, or use one thread")
        for _ in range(2):
            numpy.testing.assert_array_equal(queue.get(timeout=60), want)
        process.join(60)
        self.assertEqual(process.exitcode, 0)
        numpy.testing.assert_array_equal(many.step(x, u)[0], want)  # in the parent nothing has changed

    def test_a_child_that_ends_by_itself_does_not_hang(self):
        batch = costate.Batch(costate.Model("cartpole"), 2, threads=2)
        batch.advance([[0], [0]])
        other = os.fork()
        if other == 0:
            signal.alarm(30)
            batch._finalizer()  # as at the end of the interpreter
            os._exit(0)
        self.assertEqual(os.waitpid(other, 0)[1], 0)
