"""Sums over the environments of several processes: the bits of one batch, by threads, by MPI, by gloo."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy

import costate
from costate import distributed

N = 75


def inputs(n):
    """x (1, n, nx), u (1, n, nu) and states_bar (1, n, ndx) of a batch of a quadruped; every environment has its own."""
    model = costate.Model("quadruped_stand")
    random = numpy.random.default_rng(0)
    q, v = model.initial_state()
    x = numpy.stack([model.state(model.retract(q, 0.02 * random.normal(size=model.nv)), v) for _ in range(n)])
    return model, x[None], 0.1 * random.normal(size=(1, n, model.nu)), random.normal(size=(1, n, model.ndx))


def gradient(group, n=N):
    """Of the parameters, by the environments of this process."""
    model, x, u, states_bar = inputs(n)
    mine = distributed.environments(n, group)
    rows = numpy.zeros((0, len(model.parameters)))
    if len(mine) > 0:
        batch = costate.Batch(model, len(mine))
        part = slice(mine.start, mine.stop)
        rows = batch.backward(x[:, part], u[:, part], states_bar[:, part], each=True).parameters
    return distributed.total(rows, n, group)


def digits(values):
    """A text that tells every bit, short enough to be printed in one piece."""
    return hashlib.sha256(numpy.asarray(values, float).tobytes()).hexdigest()


class Threads:
    """Processes that are threads."""

    def __init__(self, size):
        self.size, self._values, self._barrier = size, [None] * size, threading.Barrier(size)

    def run(self, work):
        results = [None] * self.size

        def one(rank):
            results[rank] = work(Member(self, rank))

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results


class Member:
    def __init__(self, group, rank):
        self._group, self.rank, self.size = group, rank, group.size

    def gather(self, value):
        self._group._values[self.rank] = value
        self._group._barrier.wait()
        values = list(self._group._values)
        self._group._barrier.wait()
        return values


class DistributedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        model, x, u, states_bar = inputs(N)
        cls.one = digits(costate.Batch(model, N).backward(x, u, states_bar).parameters)

    def test_any_number_of_processes_has_the_bits_of_one_batch(self):
        for size in (1, 2, 3, 5, 7):
            for result in Threads(size).run(gradient):
                self.assertEqual(digits(result), self.one)

    def test_environments(self):
        for n in (1, 15, 16, 17, 100, 4096):
            for size in (1, 2, 3, 7, 300):
                parts = [distributed.environments(n, Member(Threads(size), rank)) for rank in range(size)]
                self.assertEqual([e for part in parts for e in part], list(range(n)))
                self.assertTrue(all(part.start % 16 == 0 for part in parts if part))

    def test_sums_of_numbers(self):
        random = numpy.random.default_rng(1)
        rows = random.normal(size=(1000, 2)) * 10.0 ** random.integers(-9, 9, (1000, 1))

        def of(group):
            mine = distributed.environments(1000, group)
            return distributed.total(rows[mine.start:mine.stop], 1000, group).tolist()

        [one] = Threads(1).run(of)
        for size in (2, 9, 64):
            self.assertEqual(Threads(size).run(of), [one] * size)
        numpy.testing.assert_allclose(one, rows.sum(0))
        in_order = rows[0].copy()
        for row in rows[1:]:
            in_order += row
        self.assertNotEqual(one, in_order.tolist())

    def test_faults_are_told_on_all_processes(self):
        def of(group):
            rows = numpy.zeros((len(distributed.environments(40, group)) + (group.rank == 1), 2))
            try:
                distributed.total(rows, 40, group)
            except costate.BadArgument as error:
                return str(error)

        self.assertEqual(len(set(Threads(3).run(of))), 1)
        self.assertIn("process 1 gives 17 rows of shape (2,) for 16 environments", Threads(3).run(of)[0])

    def results_of(self, command, how):
        """What the processes of a script that makes its group by `how` find, in the order of their ranks."""
        script = (f"import os, sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
                  "from costate import distributed\nimport test_distributed\n" + how +
                  "\nwith open(os.path.join(os.path.dirname(__file__), f'result{group.rank}'), 'w') as out:\n"
                  "    out.write(test_distributed.digits(test_distributed.gradient(group)))\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.py")
            with open(path, "w") as file:
                file.write(script)
            out = subprocess.run([*command, sys.executable, path], capture_output=True, text=True, timeout=300)
            self.assertEqual(out.returncode, 0, out.stderr)
            results = []
            for name in sorted(name for name in os.listdir(folder) if name.startswith("result")):
                with open(os.path.join(folder, name)) as file:
                    results.append(file.read())
        return results

    def test_mpi(self):
        try:
            import mpi4py  # noqa: F401
        except ImportError:
            self.skipTest("no mpi4py (apt-get install python3-mpi4py)")
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun (apt-get install openmpi-bin)")
        results = self.results_of(["mpirun", "--allow-run-as-root", "--oversubscribe", "-q", "-n", "3"],
                                  "group = distributed.mpi()")
        self.assertEqual(results, [self.one] * 3)

    def test_gloo(self):
        try:
            import torch.distributed
        except ImportError:
            self.skipTest("no torch (apt-get install python3-torch)")
        if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
            self.skipTest("this torch has no gloo")
        how = ("import torch.distributed\n"
               "file = os.path.join(os.path.dirname(__file__), 'meeting')\n"
               "if os.environ.get('RANK') is None:\n"
               "    import subprocess\n"
               "    sys.exit(max(p.wait() for p in [subprocess.Popen([sys.executable, __file__], env=os.environ | {'RANK': str(r)})"
               " for r in range(2)]))\n"
               "torch.distributed.init_process_group('gloo', init_method='file://' + file, rank=int(os.environ['RANK']), world_size=2)\n"
               "group = distributed.gloo()")
        self.assertEqual(self.results_of([], how), [self.one] * 2)


if __name__ == "__main__":
    unittest.main()
