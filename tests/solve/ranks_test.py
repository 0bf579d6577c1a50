"""Tests femgpu-solve on several ranks against one rank.

    FEMGPU_SOLVE=build/bin/femgpu-solve python3 -m unittest tests/solve/ranks_test.py
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from solve_test import PROGRAM, SolveTest

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
ENVIRONMENT = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1",
                   ASAN_OPTIONS="detect_leaks=0")  # leaks are MPI's
SYMMETRIC = "poisson2d-5pt:37x23"
UNSYMMETRIC = "convection-diffusion2d:29,0.5"


class RanksTest(SolveTest):
    def command(self, ranks, *arguments):
        return (MPIRUN + ["-n", str(ranks)] if ranks > 0 else []) + [PROGRAM, *arguments]

    def run_ranks(self, ranks, *arguments, code=0):
        """Runs femgpu-solve; 0 ranks: without mpirun."""
        done = subprocess.run(self.command(ranks, *arguments), capture_output=True, text=True,
                              cwd=self.directory, env=ENVIRONMENT, timeout=120, check=False)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    def report(self, ranks, *arguments, code=0):
        return json.loads(self.run_ranks(ranks, *arguments, "--backend", "host", "--json", "-",
                                         code=code).stdout)

    def solution(self, ranks, *arguments):
        self.run_ranks(ranks, *arguments, "--backend", "host", "--solution", "x.mtx")
        return self.read_vector("x.mtx")

    def names(self, kind):
        """Returns the names of a kind, such as "--solver", that femgpu-solve --list prints."""
        names, is_there = [], False
        for line in self.run_ranks(0, "--list").stdout.splitlines():
            if line.startswith("--"):
                is_there = line.split()[0].rstrip(":") == kind
            elif is_there and line.startswith("  ") and line[2] != " ":
                names.append(line.split()[0])
        self.assertGreater(len(names), 5, kind)
        return names


class Ranks(RanksTest):
    def test_solvers_take_the_iterations_of_one_rank(self):
        for solver, system in (("pipelined-cg", SYMMETRIC), ("gmres", UNSYMMETRIC)):
            with self.subTest(solver=solver):
                method = ["--generate", system, "--solver", solver, "--preconditioner", "jacobi"]
                alone, together = self.report(0, *method), self.report(2, *method)
                self.assertEqual(together["outcome"], "converged")
                self.assertLessEqual(abs(together["solve"]["iterations"] - alone["solve"]["iterations"]),
                                     2 + alone["solve"]["iterations"] / 10)
                self.assertIsNone(alone["parts"])
                self.assertEqual(together["parts"]["count"], 2)
                self.assertEqual(together["solve"]["communicator"], "mpi")

    def test_every_preconditioner_is_that_of_all_or_of_own_blocks(self):
        for preconditioner in self.names("--preconditioner"):
            with self.subTest(preconditioner=preconditioner):
                solver = "bicgstab" if preconditioner == "sai" else "pipelined-cg"
                report = self.report(3, "--generate", SYMMETRIC, "--solver", solver,
                                     "--preconditioner", preconditioner)
                self.assertEqual(report["outcome"], "converged")
                sees_all = preconditioner in ("auto", "identity", "jacobi", "chebyshev", "neumann",
                                              "fsai", "sai", "multigrid")
                self.assertEqual("each subdomain's diagonal block" in
                                 (report["solve"]["preconditioner_remarks"] or ""), not sees_all)

    def test_solutions_agree_and_repeat_for_any_number_of_ranks(self):
        method = ["--generate", "elasticity3d-p1:4", "--solver", "pipelined-cg", "--preconditioner",
                  "jacobi", "--relative-tolerance", "1e-12"]
        expected = self.solution(0, *method)
        largest = max(map(abs, expected))
        for ranks in 1, 2, 3, 4:
            with self.subTest(ranks=ranks):
                x = self.solution(ranks, *method)
                self.assertEqual(len(x), len(expected))
                self.assertLess(max(abs(a - b) for a, b in zip(x, expected)), 1e-9 * largest)
                self.assertEqual(self.solution(ranks, *method), x)

    def test_a_matrix_beyond_the_memory_granted_is_solved(self):
        system = ["--generate", "banded:4000,90", "--preconditioner", "jacobi", "--solver",
                  "ca-gmres restart=8 s=4 powers=auto"]
        alone, together = self.report(0, *system), self.report(2, *system, "--device-memory", "500kB")
        self.assertEqual(together["outcome"], "converged")
        self.assertIn("from host memory", together["solve"]["format"])
        self.assertLessEqual(abs(together["solve"]["iterations"] - alone["solve"]["iterations"]), 2)

    def test_ranks_may_have_no_rows(self):
        for system in "poisson2d-5pt:1x2", "elasticity3d-p1:1":
            with self.subTest(system=system):
                method = ["--generate", system, "--relative-tolerance", "1e-12"]
                expected = self.solution(0, *method)
                x = self.solution(4, *method)
                self.assertLess(max(abs(a - b) for a, b in zip(x, expected, strict=True)),
                                1e-10 * max(map(abs, expected)))

    def test_scaled_and_ordered_systems_have_the_solution_of_one_rank(self):
        for method in (["--scaling", "symmetric", "--solver", "cg"], ["--ordering", "rcm", "--solver", "cg"],
                       ["--ordering", "kway parts=3", "--scaling", "balance", "--solver", "bicgstab"]):
            with self.subTest(method=method):
                system = ["--generate", "elasticity3d-p1:4", "--preconditioner", "jacobi",
                          "--relative-tolerance", "1e-11", *method]
                expected, found = self.solution(0, *system), self.solution(3, *system)
                for a, b in zip(found, expected):
                    self.assertAlmostEqual(a, b, delta=1e-7 * max(map(abs, expected)))

    def test_nonlinear_systems_take_the_iterations_of_one_rank(self):
        for method in "newton", "nlcg":
            with self.subTest(method=method):
                system = ["--generate", SYMMETRIC, "--nonlinear", "bratu lambda=5 weights=1e-3", "--nonlinear-method",
                          method, "--preconditioner", "jacobi"]
                alone, together = self.report(0, *system), self.report(3, *system)
                self.assertEqual(together["outcome"], "converged")
                self.assertLessEqual(abs(together["solve"]["iterations"] - alone["solve"]["iterations"]),
                                     1 + alone["solve"]["iterations"] / 20)

    def test_files_are_read_by_the_first_rank(self):
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n"
                   "1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n")
        self.write_vector("b.mtx", [2., 4., 10.])
        self.write_vector("x0.mtx", [1., 1., 1.])
        for ranks in 2, 4:  # 4 ranks are more than the matrix has rows
            x = self.solution(ranks, "A.mtx", "-b", "b.mtx", "--x0", "x0.mtx")
            for found, expected in zip(x, [1., 2., 3.]):
                self.assertAlmostEqual(found, expected, 7)

    def test_repeats_and_their_report(self):
        report = self.report(2, "--generate", SYMMETRIC, "--repeat", "3", "--preconditioner", "jacobi")
        self.assertTrue(report["repeats_identical"])
        self.assertEqual(len(report["repeats"]), 3)
        self.assertEqual(report["parts"]["rows"]["min"] + report["parts"]["rows"]["max"], 37 * 23)
        text = self.run_ranks(2, "--generate", SYMMETRIC, "--backend", "host").stdout
        self.assertEqual(text.count("parts           2 ranks of "), 1)
        self.assertEqual(text.count("outcome "), 1)

    def test_not_converged_is_told_once(self):
        done = self.run_ranks(2, "--generate", SYMMETRIC, "--max-iterations", "3", code=3)
        self.assertEqual(done.stderr.count("did not converge"), 1)

    def test_several_right_hand_sides_are_solved_as_on_one_rank(self):
        n, k = 37 * 23, 4
        values = [float((i * i + 7 * i * j + j) % 11 - 5) for j in range(k) for i in range(n)]
        self.write("B.mtx", f"%%MatrixMarket matrix array real general\n{n} {k}\n"
                   + "".join(f"{value!r}\n" for value in values))
        system = ["--generate", SYMMETRIC, "-b", "B.mtx", "--relative-tolerance", "1e-12"]
        for methods in (["--solver", "block-cg"],
                        ["--solver", "block-cg", "--ordering", "rcm", "--preconditioner", "fsai"],
                        ["--solver", "idr", "--preconditioner", "ilu"]):
            with self.subTest(methods=methods):
                x = {}
                for ranks in (0, 2, 3):
                    report = self.report(ranks, *system, *methods, "--solution", "x.mtx")
                    self.assertEqual(report["batch"]["converged"], k)
                    self.assertEqual(report["batch"]["solver"], methods[1])
                    with open(self.path("x.mtx"), encoding="utf-8") as file:
                        lines = [line for line in file if not line.startswith("%")]
                    self.assertEqual(lines[0].split(), [str(n), str(k)])
                    x[ranks] = [float(line) for line in lines[1:]]
                scale = max(abs(value) for value in x[0])
                for ranks in (2, 3):
                    self.assertLess(max(abs(a - b) for a, b in zip(x[0], x[ranks], strict=True)),
                                    1e-9 * scale)

    def test_help_is_printed_once(self):
        self.assertEqual(self.run_ranks(3, "--version").stdout.count("femgpu-solve 0"), 1)


class RanksErrors(RanksTest):
    def error_of(self, *arguments, code, ranks=2):
        done = self.run_ranks(ranks, *arguments, code=code)
        self.assertEqual(done.stderr.count("femgpu-solve: "), 1, done.stderr)
        return done.stderr

    def test_what_several_ranks_do_not_have_is_refused(self):
        system = ["--generate", "poisson2d-5pt:36x20"]
        for arguments, code, text in [
                (["--copies", "3"], 1, "solved together on one rank"),
                (["--format", "bsr block=16"], 1, "split blocks of 16"),
                (["--scaling", "matching", "--solver", "bicgstab"], 1, "all rows in one subdomain"),
                (["--solver", "direct"], 1, "all rows in one subdomain"),
                (["--solver", "no"], 1, "'no'")]:
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.error_of(*system, *arguments, code=code))

    def test_a_solver_that_needs_symmetry_is_refused_for_rows_that_have_none(self):
        system = ["--generate", UNSYMMETRIC]
        self.assertIn("Solver 'cg' needs a symmetric matrix",
                      self.error_of(*system, "--solver", "cg", code=1, ranks=3))
        self.assertIn("Nonlinear method 'nlcg' needs a symmetric matrix",
                      self.error_of(*system, "--nonlinear", "bratu lambda=1 weights=0.1",
                                   "--nonlinear-method", "nlcg", code=1))

    def test_errors_of_the_first_rank_end_all(self):
        self.assertIn("no.mtx", self.error_of("no.mtx", code=2, ranks=3))

    def test_a_rank_that_is_killed_ends_all(self):
        endless = ["--fixed-iterations", "500", "--repeat", "100000"]
        host = ["--backend", "host", "--generate", "poisson2d-5pt:900"]
        self.check_end_of_a_killed_rank(2, *host, *endless, "--solver", "cg", "--preconditioner",
                                        "identity")
        n_gpus = self.number_of_gpus()
        if n_gpus < 2:
            return
        loops = ["pipelined-cg jacobi graph peers", "pipelined-cg jacobi resident peers",
                 "pipelined-gmres jacobi resident peers", "gmres jacobi graph peers",
                 "pipelined-cg multigrid graph peers", "pipelined-cg jacobi graph nccl",
                 "pipelined-cg multigrid graph nccl", "pipelined-cg jacobi graph mpi"]
        for loop in loops:
            with self.subTest(loop=loop):
                solver, preconditioner, execution, communicator = loop.split()
                self.check_end_of_a_killed_rank(
                    n_gpus, "--backend", "cuda", "--generate", "poisson3d-7pt:50", *endless,
                    "--solver", solver, "--preconditioner", preconditioner, "--execution",
                    execution, "--communicator", communicator)

    def check_end_of_a_killed_rank(self, n_ranks, *arguments):
        """Checks that all ranks end within 5 s after one of them was killed in its loop."""
        with subprocess.Popen(self.command(n_ranks, *arguments), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
            time.sleep(2. if "host" in arguments else 4. + n_ranks)  # until it solves
            ranks = self.ranks_below(process.pid)
            self.assertEqual(len(ranks), n_ranks, process.poll())
            os.kill(max(ranks), signal.SIGKILL)
            begin = time.monotonic()
            process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0)
            while any(os.path.exists(f"/proc/{pid}") for pid in ranks):
                self.assertLess(time.monotonic() - begin, 5.)
                time.sleep(0.05)

    def ranks_below(self, ancestor):
        """Returns the process ids of the ranks that a process has started, possibly indirectly."""
        parents = {int(pid): self.parent(pid) for pid in filter(str.isdigit, os.listdir("/proc"))}
        below = {ancestor}
        while True:
            more = {pid for pid, parent in parents.items() if parent in below} - below
            if not more:  # a rank has no children
                return [pid for pid in below if pid not in parents.values()]
            below |= more

    @staticmethod
    def number_of_gpus():
        listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True)
        return sum(line.strip().startswith("cuda:") for line in listed.stdout.splitlines())

    def parent(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                return int(file.read().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            return 0


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
