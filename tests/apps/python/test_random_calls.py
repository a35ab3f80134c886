"""Random sequences of Python calls (random_calls.py), each in a process of its own. $COSTATE_RANDOM_CALLS is the
number of sequences, by default few. A failure is repeated alone by `python3 random_calls.py SEED`."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

SEQUENCES = int(os.environ.get("COSTATE_RANDOM_CALLS", "12"))
PROGRAM = Path(__file__).with_name("random_calls.py")
LIMIT = 120  # s, of a sequence


class RandomCalls(unittest.TestCase):
    def test_calls_are_done_or_refused_by_one_clear_line(self):
        for seed in range(SEQUENCES):
            with self.subTest(seed=seed):
                command = [sys.executable, PROGRAM, str(seed)]
                run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
                self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
