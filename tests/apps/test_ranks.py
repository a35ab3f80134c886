#!/usr/bin/env python3
"""costate under mpirun: the same bits for any ranks, and faults that end in one line. Usage: test_ranks.py PROGRAM. 77: no mpirun."""
import copy
import ctypes
import errno
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

from cli import BAD_INPUT, DIVERGED, DONE, PROGRAM, SPRING, Cli
from test_cli_batch import BATCH

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-q"]
PIDFD_GETFD = 438  # of Linux 5.6 and later, on every processor
# of PMIx: see apps/README.md
ENVIRONMENT = os.environ | {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "PMIX_MCA_gds": "hash"}


class Ranks(Cli):
    def setUp(self):
        super().setUp()
        self.batch = self.write("batch.json", json.dumps(BATCH))
        # Open MPI's directories, apart from those of other runs: a run that ends can remove what another one has just made
        sessions = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, sessions, ignore_errors=True)
        environment = unittest.mock.patch.dict(ENVIRONMENT, TMPDIR=sessions)
        environment.start()
        self.addCleanup(environment.stop)

    def mpirun(self, n, *arguments, code=DONE, then=(), program=(PROGRAM,), by=(), **environment):
        """stdout, or on failure the line of costate on stderr.
        `by`: the command that starts each rank's program; `then`: arguments of one more rank, of `program`."""
        more = [":", "-n", "1", *map(str, program), *map(str, then)] if then else []
        p = subprocess.run([*MPIRUN, "-n", str(n), *by, PROGRAM, *map(str, arguments), *more], capture_output=True, text=True,
                           cwd=self.folder, timeout=300, env=ENVIRONMENT | environment)
        lines = [line for line in p.stderr.splitlines() if line.startswith("costate: ")]
        self.assertEqual(p.returncode, code, p.stderr)
        if code == DONE:
            self.assertEqual(lines, [])
            return p.stdout
        self.assertEqual(len(lines), 1, p.stderr)
        self.assertEqual(p.stdout, "")
        return lines[0]

    def read(self, name):
        return (self.folder / name).read_bytes()

    def results(self, folder):
        r = json.loads(self.read(f"{folder}/result.json"))
        return {k: r.get(k) for k in ("initial_loss", "final_loss", "iterations", "controls", "losses", "environments", "terms")}

    def test_gradients_and_optimized_parameters_have_the_bits_of_one_process(self):
        self.run_costate("gradient", self.batch, "--out", "one.json")
        self.run_costate("optimize", self.batch, "--out", "one")
        for n in (1, 2, 3, 7, 16):
            out = self.mpirun(n, "gradient", self.batch, "--out", "g.json", "--json")
            self.assertEqual(json.loads(out)["ranks"], n)  # printed once
            self.assertEqual(self.read("g.json"), self.read("one.json"))
            self.mpirun(n, "optimize", self.batch, "--out", f"out{n}")
            self.assertEqual(self.results(f"out{n}"), self.results("one"))
        self.mpirun(2, "optimize", self.batch, "--threads", 2, "--method", "lbfgs", "--save", "run", "--out", "saved")
        self.run_costate("optimize", self.batch, "--method", "lbfgs", "--save", "run", "--out", "saved1")
        self.assertEqual(self.results("saved"), self.results("saved1"))
        self.assertFalse((self.folder / "run").exists())

    def test_one_bar_shows_the_progress_of_all_ranks(self):
        p = subprocess.run([*MPIRUN, "-n", "3", PROGRAM, "gradient", self.batch, "--steps", "400", "--environments", "20000"], capture_output=True,
                           cwd=self.folder, timeout=300, env=ENVIRONMENT | {"COSTATE_PROGRESS": "1"}, check=True)
        parts = [int(part) for part in re.findall(rb"gradient spring \[#*\.*\] (\d+) %", p.stderr)]
        self.assertGreater(len(parts), 1)
        self.assertEqual(parts, sorted(parts))
        self.assertGreater(parts[-1], 50)

    def test_restarts_of_cmaes(self):
        p = subprocess.run([PROGRAM, "optimize", self.scene, "--method", "cmaes", "--iterations", "6", "--restarts", "5", "--out", "one", "--json",
                            "--threads", "2"], capture_output=True, text=True, cwd=self.folder)
        if "has no CMA-ES" in p.stderr:
            self.skipTest("built without pagmo")
        one = json.loads(p.stdout)
        losses = one["restart_losses"]
        self.assertEqual((one["restarts"], len(set(losses)), one["final_loss"]), (5, 5, min(losses)))
        self.assertEqual(one["best_seed"], 1 + losses.index(min(losses)))
        alone = json.loads(subprocess.run([PROGRAM, "optimize", self.scene, "--method", "cmaes", "--iterations", "6", "--seed", str(one["best_seed"]),
                                           "--json"], capture_output=True, text=True, cwd=self.folder, check=True).stdout)
        self.assertEqual(alone["final_loss"], one["final_loss"])
        for n in (2, 3, 7):
            of_ranks = json.loads(self.mpirun(n, "optimize", self.scene, "--method", "cmaes", "--iterations", 6, "--restarts", 5, "--json"))
            for key in ("restart_losses", "best_seed", "final_loss", "losses"):
                self.assertEqual(of_ranks[key], one[key])
        self.assertRegex(self.mpirun(2, "optimize", self.scene, "--method", "receding_horizon", "--restarts", 3, code=BAD_INPUT), "--restarts is for optimizations of a whole")

    def test_restarts_from_random_points(self):
        options = ["optimize", self.scene, "--method", "lbfgs", "--iterations", "6", "--restarts", "5", "--sigma", "2", "--json"]
        one = json.loads(subprocess.run([PROGRAM, *options, "--threads", "2"], capture_output=True, text=True, cwd=self.folder, check=True).stdout)
        alone = json.loads(subprocess.run([PROGRAM, *options[:6], "--json"], capture_output=True, text=True, cwd=self.folder, check=True).stdout)
        losses = one["restart_losses"]
        self.assertEqual(one["initial_loss"], alone["initial_loss"])
        self.assertEqual(losses[0], alone["final_loss"])  # the first run starts where the scene does
        self.assertEqual((len(losses), one["final_loss"], one["best_run"]), (5, min(losses), losses.index(min(losses))))
        self.assertGreater(len(set(losses)), 2)
        for n in (2, 3):
            of_ranks = json.loads(self.mpirun(n, *options))
            for key in ("restart_losses", "best_run", "final_loss", "losses"):
                self.assertEqual(of_ranks[key], one[key])

    def test_a_generation_of_cmaes(self):
        """Its losses are shared by ranks and threads, for one rollout and for a mean over environments."""
        options = ["--method", "cmaes", "--iterations", "20", "--seed", "3"]
        for name, scene in ("rollout", self.scene), ("mean", self.batch):
            p = subprocess.run([PROGRAM, "optimize", scene, *options, "--threads", "1", "--out", name], capture_output=True, text=True, cwd=self.folder)
            if "has no CMA-ES" in p.stderr:
                self.skipTest("built without pagmo")
            one = self.results(name)
            self.assertLess(one["final_loss"], one["initial_loss"])
            self.run_costate("optimize", scene, *options, "--threads", "5", "--out", "threads")
            self.assertEqual(self.results("threads"), one)
            for n in (2, 3, 7):
                self.mpirun(n, "optimize", scene, *options, "--out", f"{name}{n}")
                self.assertEqual(self.results(f"{name}{n}"), one)
        line = self.mpirun(2, "optimize", self.scene, *options, then=["optimize", self.scene, *options, "--sigma", 2], code=BAD_INPUT)
        self.assertRegex(line, "rank 2: its scene or its options are not those of rank 0")

    def test_more_ranks_than_blocks(self):
        few = copy.deepcopy(BATCH)
        few["batch"]["environments"] = 20
        few = self.write("few.json", json.dumps(few))
        self.run_costate("gradient", few, "--out", "one.json")
        self.mpirun(5, "gradient", few, "--out", "g.json")
        self.assertEqual(self.read("g.json"), self.read("one.json"))

    def test_faults_are_one_line_of_one_rank(self):
        for arguments, because in [(["gradient", "gone.json"], "there is no such file"), (["gradient", self.batch, "--thread", 2], "unknown option"),
                                   (["optimize", self.batch, "--out", "/proc/none"], "/proc"),
                                   (["gradient", self.scene], "has no \"batch\", so 3 ranks have nothing to share"),
                                   (["optimize", self.scene], "has no \"batch\""),
                                   (["gradient", self.batch, "--shard", "1/2", "--out", "s"], "leave out mpirun")]:
            self.assertRegex(self.mpirun(3, *arguments, code=BAD_INPUT), because)
        heavy = copy.deepcopy(BATCH)
        heavy["controls"][0]["initial"] = 1e308
        heavy["models"][0]["model"]["actuators"][0]["gear"] = 1e10
        heavy = self.write("heavy.json", json.dumps(heavy))
        one = subprocess.run([PROGRAM, "gradient", heavy], capture_output=True, text=True).stderr
        self.assertEqual(self.mpirun(3, "gradient", heavy, code=DIVERGED) + "\n", one)

    def test_ranks_with_another_scene(self):
        other = copy.deepcopy(BATCH)
        other["batch"]["seed"] = 5
        other = self.write("other.json", json.dumps(other))
        line = self.mpirun(2, "gradient", self.batch, then=["gradient", other], code=BAD_INPUT)
        self.assertRegex(line, "rank 2: its scene or its options are not those of rank 0")
        line = self.mpirun(2, "optimize", self.batch, then=["optimize", self.batch, "--steps", 19], code=BAD_INPUT)
        self.assertRegex(line, "rank 2: its scene")
        line = self.mpirun(2, "gradient", self.batch, then=["gradient", "gone.json"], code=BAD_INPUT)
        self.assertRegex(line, "rank 2: gone.json")

    def test_a_rank_of_another_version(self):
        other = self.folder / "other"
        other.mkdir()
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1].encode()
        another = version[:-1] + (b"1" if version[-1:] != b"1" else b"2")
        library = pathlib.Path(PROGRAM).parent / "libcostate_mpi.so"
        for file in (pathlib.Path(PROGRAM), library):
            (other / file.name).write_bytes(file.read_bytes().replace(version, another))
            (other / file.name).chmod(0o755)
        line = self.mpirun(2, "gradient", self.batch, then=["gradient", self.batch], code=BAD_INPUT,
                           program=("env", f"LD_LIBRARY_PATH={other}", other / "costate"))
        self.assertRegex(line, f"rank 2: its costate is of version {another.decode()}, that of rank 0 of another one; install one version")
        library = other / "libcostate_mpi.so"
        library.unlink()
        line = self.mpirun(2, "gradient", self.batch, then=["gradient", self.batch], code=BAD_INPUT, program=(other / "costate",))
        self.assertRegex(line, "libcostate_mpi.so is of another version than costate")

    def test_a_full_disk(self):
        """Of ranks that may write files of so many bytes; mpirun itself, which shares memory by files, may write any."""
        long = copy.deepcopy(BATCH)
        long["controls"][0]["optimize"] = "per_step"
        long = self.write("long.json", json.dumps(long))
        before = self.files()
        for arguments in (["gradient", long, "--out", "g.json"], ["optimize", long, "--iterations", 2, "--save", "saved", "--save-every", 0],
                          ["optimize", long, "--iterations", 1, "--out", "results"]):
            line = self.mpirun(3, *arguments, "--steps", 20000, "--environments", 48, code=BAD_INPUT, by=("prlimit", "--fsize=70000"),
                               OMPI_MCA_btl="self,tcp")
            self.assertRegex(line, "cannot write '.*': File too large")
            self.assertEqual(self.files(), before)

    def test_two_runs_in_one_file(self):
        slow = self.start("--iterations", 100000, "--save", "run", "--save-every", 0)
        self.wait_for("run")
        self.assertRegex(self.mpirun(2, "optimize", self.batch, "--save", "run", code=BAD_INPUT), "another run writes it")
        slow.send_signal(signal.SIGKILL)
        slow.communicate()
        time.sleep(1)  # until mpirun's daemon has ended the ranks

    def start(self, *arguments, mpi=("-n", "3")):
        self.started = subprocess.Popen([*MPIRUN, *mpi, PROGRAM, "optimize", self.batch, *map(str, arguments)], cwd=self.folder, env=ENVIRONMENT,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        return self.started

    def wait_for(self, name):
        begin = time.time()
        while not (self.folder / name).exists():
            if self.started.poll() is not None:
                self.fail(f"mpirun ended before {name} was there: {self.started.communicate()}")
            if time.time() > begin + 120:
                self.started.send_signal(signal.SIGABRT)
                self.fail(f"{name} is not there after two minutes: {self.started.communicate()}")
            time.sleep(0.01)

    def below(self, run):
        """Processes that mpirun has started, themselves or by others: the name of the program of each."""
        parents, names, found = {}, {}, {}
        for process in os.listdir("/proc"):
            try:
                with open(f"/proc/{process}/stat") as file:
                    name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
                parents[int(process)], names[int(process)] = int(rest.split()[1]), name
            except (OSError, ValueError, IndexError):
                continue
        for process in parents:
            above = process
            while above in parents and above != run.pid:
                above = parents[above]
            if above == run.pid and process != run.pid:
                found[process] = names[process]
        return found

    def ranks_of(self, run):
        return [process for process, name in self.below(run).items() if name == "costate"]

    def cut_a_link(self, ranks, chance):
        """Shuts a connection between two ranks down, by a copy of a socket, which needs the permission to trace them."""
        take = ctypes.CDLL(None, use_errno=True).syscall
        ends = []
        for rank in ranks:
            try:
                opened = list(pathlib.Path(f"/proc/{rank}/fd").iterdir())
                descriptor = os.pidfd_open(rank)
            except OSError:
                continue  # it has ended
            for link in opened:
                try:
                    if not os.readlink(link).startswith("socket:"):
                        continue
                    own = take(PIDFD_GETFD, descriptor, int(link.name), 0)
                    if own < 0 and ctypes.get_errno() == errno.EPERM:
                        self.skipTest("no permission to take the sockets of another process")
                    if own >= 0:
                        ends.append(socket.socket(fileno=own))
                except OSError:
                    continue
            os.close(descriptor)

        def peer(end):
            try:
                return end.getpeername()
            except OSError:
                return None
        names = {end.getsockname() for end in ends if end.family == socket.AF_INET}
        links = [end for end in ends if peer(end) in names]
        if links:
            try:
                chance.choice(links).shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it was lost before
        for end in ends:
            end.close()

    def test_a_link_that_breaks(self):
        """$COSTATE_CUTS runs lose connections between ranks again and again. MPI mends some; the run then has its result. Where a message was
        lost, a line says so, or Open MPI itself, which then ends the rank with 255. Nobody hangs, and the last save goes on."""
        many = ["--iterations", 1500, "--save", "run", "--save-every", 0]
        self.run_costate("optimize", self.batch, *many, "--out", "one")
        chance = random.Random(1)
        for _ in range(int(os.environ.get("COSTATE_CUTS", "2"))):
            with unittest.mock.patch.dict(ENVIRONMENT, COSTATE_PATIENCE="1"):
                run = self.start(*many, "--out", "cut", mpi=("--mca", "btl", "self,tcp", "-n", "3"))
            self.wait_for("run")
            while run.poll() is None and len(ranks := self.ranks_of(run)) == 3:
                self.cut_a_link(ranks, chance)
                time.sleep(chance.uniform(0, 0.2))
            out, error = run.communicate(timeout=60)
            lines = [line for line in error.splitlines() if line.startswith("costate: ")]
            if run.returncode == DONE:
                self.assertEqual((self.results("cut"), lines), (self.results("one"), []))
                shutil.rmtree(self.folder / "cut")
                continue
            self.assertEqual(out, "")
            if run.returncode == 255:
                self.assertRegex(error, r"mca_\w+: .* failed|FATAL")
            else:
                self.assertEqual(run.returncode, BAD_INPUT, error)
                self.assertIn(len(lines), (1, 2), error)  # two ranks may wait for each other
                for line in lines:
                    self.assertRegex(line, r"waited \d+ s for (rank \d|the other ranks); look for a rank that ended or a link that broke")
            self.run_costate("optimize", self.batch, *many[:2], "--resume", "run", "--out", "again")
            self.assertEqual(self.results("again"), self.results("one"))

    def test_a_machine_that_is_lost(self):
        """Its daemon is killed, of two that stand for two machines: mpirun ends the run, and the last save goes on."""
        many = ["--iterations", 1500, "--save", "run", "--save-every", 0]
        self.run_costate("optimize", self.batch, *many, "--out", "one")
        agent = self.folder / "agent"  # as ssh: HOST COMMAND..., but here
        agent.write_text("#!/bin/sh\nexport TMPDIR=$TMPDIR/$1\nmkdir $TMPDIR\nshift\nexec sh -c \"$*\"\n")
        agent.chmod(0o755)
        run = self.start(*many, mpi=("--mca", "plm_rsh_agent", agent, "--mca", "btl", "self,tcp", "--host", "a:2,b:2", "-n", "4"))
        self.wait_for("run")
        processes = self.below(run)
        daemons, ranks = ([process for process, name in processes.items() if name == wanted] for wanted in ("orted", "costate"))
        self.assertEqual((len(daemons), len(ranks)), (2, 4))
        os.kill(daemons[0], signal.SIGKILL)
        out, error = run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, DONE)  # mpirun's own code
        if out:  # rank 0 heard mpirun's first signal before the second one ended it
            self.assertIn("(interrupted)", out)
        begin = time.time()
        while any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks):
            self.assertLess(time.time(), begin + 30)
            time.sleep(0.01)
        self.run_costate("optimize", self.batch, *many[:2], "--resume", "run", "--out", "again")
        self.assertEqual(self.results("again"), self.results("one"))

    def test_a_stopped_rank_is_named(self):
        """One that hangs, or whose machine does not answer: nobody waits for ever."""
        with unittest.mock.patch.dict(ENVIRONMENT, COSTATE_PATIENCE="1"):
            run = self.start("--iterations", 1000, "--steps", 2000, "--save", "run", "--save-every", 0)
        self.wait_for("run")
        stopped = self.ranks_of(run)[1]
        with open(f"/proc/{stopped}/environ", "rb") as file:
            rank = int(dict(pair.split(b"=", 1) for pair in file.read().split(b"\0") if pair)[b"OMPI_COMM_WORLD_RANK"])
        os.kill(stopped, signal.SIGSTOP)
        out, error = run.communicate(timeout=120)
        self.assertEqual((run.returncode, out), (BAD_INPUT, ""), error)
        lines = [line for line in error.splitlines() if line.startswith("costate: ")]
        self.assertEqual(len(lines), 1, error)
        self.assertRegex(lines[0], r"waited \d+ s for " + (f"rank {rank};" if rank > 0 else "(rank 0|the other ranks);"))

    def end_of(self, run, seconds):
        """The output of a run, whose ranks end within this time. Debian's mpirun may then wait for itself for ever, in libpmix."""
        try:
            return run.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.assertEqual(self.ranks_of(run), [])
            run.kill()
            return run.communicate()

    def test_a_killed_rank_ends_the_run_and_the_last_save_goes_on(self):
        """$COSTATE_KILLS kills; each run goes on from what the last one has saved, and a run that ends is followed by another."""
        many = ["--iterations", 1500, "--save", "run", "--save-every", 0]
        self.run_costate("optimize", self.batch, *many, "--out", "one")
        before, kills, killed = set(self.files()), random.Random(1), 0
        wanted = int(os.environ.get("COSTATE_KILLS", "4"))
        while killed < wanted or (self.folder / "run").exists():
            resume = ["--resume", "run"] if (self.folder / "run").exists() else many[2:4]
            run = self.start("--iterations", 1500, *resume, "--save-every", 0, "--out", "killed")
            begin = time.time()
            while killed < wanted and run.poll() is None and len(self.ranks_of(run)) < 3 and time.time() < begin + 60:
                time.sleep(0.01)
            time.sleep(kills.uniform(0, 1.5) if killed < wanted else 0)  # also while the ranks join
            ranks = self.ranks_of(run) if killed < wanted else []
            if ranks:
                os.kill(kills.choice(ranks), signal.SIGKILL)  # mpirun has not waited for it yet, so it is still its own
                killed += 1
            out, error = self.end_of(run, 60 if ranks else 300)
            if run.returncode == 0 or out:  # ended, perhaps killed as the ranks took leave
                self.assertEqual(self.results("killed"), self.results("one"))
                shutil.rmtree(self.folder / "killed")
                continue
            self.assertTrue(ranks, error)
            self.assertLessEqual(set(self.files()) - before, {"run", "run.lock", "run.tmp"})  # no result is there in part


if __name__ == "__main__":
    if shutil.which("mpirun") is None:
        print("skipped: there is no mpirun; install openmpi-bin")
        sys.exit(77)
    unittest.main()
