"""Tests femgpu-solve, the program named by the variable FEMGPU_SOLVE, and its output.

    FEMGPU_SOLVE=build/bin/femgpu-solve python3 -m unittest tests/solve/solve_test.py
"""

import csv
import gzip
import json
import math
import os
import subprocess
import tempfile
import unittest

BENCHMARKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks")
PROGRAM = os.environ.get("FEMGPU_SOLVE", "femgpu-solve")
FORMATS = ["csr", "csr values=float", "ellpack-r", "ellr-t threads=4", "sell slice=32", "bsr block=2",
           "coo", "pcsr", "auto"]


class SolveTest(unittest.TestCase):
    """Runs each test in a separate directory."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="femgpu_solve_")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def write_matrix(self, name, rows):
        """Writes a dense list of rows as a general coordinate file."""
        entries = [(i + 1, j + 1, a) for i, row in enumerate(rows) for j, a in enumerate(row) if a]
        lines = ["%%MatrixMarket matrix coordinate real general",
                 f"{len(rows)} {len(rows)} {len(entries)}"]
        return self.write(name, "\n".join(lines + [f"{i} {j} {a!r}" for i, j, a in entries]) + "\n")

    def write_vector(self, name, values):
        return self.write(name, "%%MatrixMarket matrix array real general\n"
                          f"{len(values)} 1\n" + "".join(f"{v!r}\n" for v in values))

    def read_vector(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("%")]
        self.assertEqual(len(lines), int(lines[0].split()[0]) + 1)
        return [float(line) for line in lines[1:]]

    def run_program(self, *arguments, code=0):
        process = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False,
                                 cwd=self.directory)
        if code is not None:
            self.assertEqual(process.returncode, code,
                             f"{arguments}\n{process.stdout}{process.stderr}")
        left = [name for name in os.listdir(self.directory) if name.endswith(".partial")]
        self.assertEqual(left, [])
        return process

    def report(self, *arguments, code=0):
        return json.loads(self.run_program(*arguments, "--backend", "host", "--json", "-",
                                           code=code).stdout)

    def solution(self, *arguments):
        self.run_program(*arguments, "--backend", "host", "--solution", "x.mtx",
                         "--relative-tolerance", "1e-13")
        return self.read_vector("x.mtx")

    def error(self, *arguments, code):
        process = self.run_program(*arguments, code=code)
        self.assertTrue(process.stderr.startswith("femgpu-solve: "), process.stderr)
        self.assertEqual(process.stdout, "")
        return process.stderr

    def assert_close(self, x, y, tolerance=1e-11):
        self.assertEqual(len(x), len(y))
        for x_i, y_i in zip(x, y):
            self.assertLessEqual(abs(x_i - y_i), tolerance * max(1., abs(y_i)), f"{x} {y}")


LAPLACIAN = [[2., -1., 0., 0.], [-1., 2., -1., 0.], [0., -1., 2., -1.], [0., 0., -1., 200.]]
INDEFINITE = [[2., 1., 0., 1.], [1., 0., 3., 0.], [0., 3., 0., 2.], [1., 0., 2., -1.]]
SHIFTED = [[0., 8., 1., 0.], [0., 0., 7., 1.], [1., 0., 0., 6.], [9., 0., 2., 0.]]
SINGULAR = [[1., 2., 0.], [2., 4., 0.], [0., 0., 1.]]
UNSYMMETRIC = [[4., 1., 0.], [0.5, 5., 2.], [0., -2., 6.]]


class Systems(SolveTest):
    def test_every_solver_and_format_meets_the_tolerance(self):
        solvers = [("poisson2d-p1:21", solver)
                   for solver in ("cg", "pipelined-cg", "chronopoulos-gear-cg", "bicgstab",
                                  "multigrid")]
        solvers.append(("convection-diffusion2d:18,2", "pipelined-bicgstab"))
        for system, solver in solvers:
            for matrix_format in FORMATS if solver in ("cg", "bicgstab") else FORMATS[:1]:
                with self.subTest(solver=solver, format=matrix_format):
                    report = self.report("--generate", system, "--solver", solver, "--format",
                                         matrix_format)
                    self.assertEqual(report["outcome"], "converged")
                    solve = report["solve"]
                    self.assertLessEqual(solve["true_residual"], 1e-8 * solve["rhs_norm"])
                    x = self.solution("--generate", system, "--rhs", "row-sums", "--solver", solver,
                                      "--format", matrix_format)
                    self.assert_close(x, [1.] * len(x), 1e-9)

    def test_solver_and_preconditioner_are_chosen_by_the_matrix(self):
        report = self.report("--generate", "poisson2d-5pt:9x7")
        self.assertEqual(report["matrix"]["n"], 63)
        self.assertTrue(report["matrix"]["symmetric"])
        self.assertEqual(report["solve"]["solver"], "pipelined-cg")
        self.assertEqual(report["solve"]["preconditioner"], "jacobi")
        for arguments in (["--generate", "convection-diffusion2d:9,1"],
                          ["--generate", "poisson2d-5pt:9x7", "--scaling", "balance"]):
            self.assertEqual(self.report(*arguments)["solve"]["solver"], "pipelined-bicgstab")
        self.assertEqual(report["attempts"][0]["preconditioner"], "auto")
        self.write_matrix("A.mtx", [[0., 1.], [1., 0.]])
        report = self.report("A.mtx", "--solver", "bicgstab", "--rhs", "ones")
        self.assertEqual(report["solve"]["preconditioner"], "identity")

    def test_scaling_and_ordering_give_the_same_solution(self):
        system = ["--generate", "elasticity3d-p1:2"]
        x = self.solution(*system)
        for options in (["--scaling", "symmetric"], ["--ordering", "rcm"],
                        ["--scaling", "balance", "--ordering", "rcm"]):
            self.assert_close(self.solution(*system, *options), x, 1e-9)

    def test_compressed_files_are_read(self):
        self.write_matrix("A.mtx", LAPLACIAN)
        with open(self.path("A.mtx"), "rb") as file, gzip.open(self.path("A.mtx.gz"), "wb") as out:
            out.write(file.read())
        self.assertEqual(self.solution("A.mtx.gz"), self.solution("A.mtx"))

    def test_a_matrix_without_rows_is_solved(self):
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")
        self.assertEqual(self.report("A.mtx")["solve"]["iterations"], 0)

    def test_initial_guess_saves_iterations(self):
        self.write_matrix("A.mtx", LAPLACIAN)
        self.write_vector("x0.mtx", [1.] * 4)
        report = self.report("A.mtx", "--x0", "x0.mtx")
        self.assertEqual(report["solve"]["iterations"], 0)
        self.assertEqual(report["solve"]["true_residual"], 0.)


class RightHandSides(SolveTest):
    def test_row_sums_are_the_default_of_files(self):
        self.write_matrix("A.mtx", LAPLACIAN)
        self.assertEqual(self.report("A.mtx")["matrix"]["rhs"], "row-sums")
        self.assert_close(self.solution("A.mtx"), [1.] * 4)
        self.assert_close(self.solution("A.mtx", "--ordering", "rcm"), [1.] * 4)

    def test_row_sums_belong_to_the_scaled_system(self):
        self.write_matrix("A.mtx", LAPLACIAN)
        norms = [math.sqrt(sum(row[j]**2 for row in LAPLACIAN)) for j in range(4)]
        x = self.solution("A.mtx", "--scaling", "symmetric")
        self.assert_close(x, [norm**-0.5 for norm in norms])

    def test_a_file_belongs_to_the_given_system(self):
        self.write_matrix("A.mtx", LAPLACIAN)
        solution = [1., -2., 3., 0.5]
        b = [sum(a * x for a, x in zip(row, solution)) for row in LAPLACIAN]
        self.write_vector("b.mtx", b)
        for scaling in "none", "symmetric", "balance":
            self.assert_close(self.solution("A.mtx", "-b", "b.mtx", "--scaling", scaling), solution)

    def test_ones_are_ones(self):
        self.write_matrix("A.mtx", [[2., 0.], [0., 4.]])
        self.assert_close(self.solution("A.mtx", "--rhs", "ones"), [0.5, 0.25])

    def test_a_seed_gives_the_same_numbers_again(self):
        system = ["--generate", "poisson2d-5pt:6"]
        first = self.solution(*system, "--rhs", "random:7")
        self.assertEqual(self.solution(*system, "--rhs", "random:7"), first)
        self.assertNotEqual(self.solution(*system, "--rhs", "random:8"), first)

    def test_generators_bring_their_own(self):
        report = self.report("--generate", "poisson2d-5pt:6")
        self.assertEqual(report["matrix"]["rhs"], "the generator's own")
        self.assertAlmostEqual(report["solve"]["rhs_norm"], 6.)


class Outputs(SolveTest):
    def test_text_says_what_was_done(self):
        text = self.run_program("--generate", "poisson2d-5pt:6", "--backend", "host").stdout
        for word in ("36 rows", "symmetric", "host", "pipelined-cg", "jacobi", "csr", "scaling",
                     "‖b − A x‖ relative to ‖b‖", "iterations", "GB/s", "outcome", "converged"):
            self.assertIn(word, text)

    def test_quiet_prints_nothing(self):
        process = self.run_program("--generate", "poisson2d-5pt:6", "--quiet")
        self.assertEqual(process.stdout + process.stderr, "")

    def test_json_has_the_levels_of_multigrid(self):
        self.run_program("--generate", "poisson2d-5pt:40", "--solver", "cg", "--preconditioner",
                         "multigrid coarsest=50 times=yes", "--json", "r.json", "--backend", "host")
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        levels = report["solve"]["preconditioner_levels"]
        self.assertGreaterEqual(len(levels), 3)
        self.assertEqual((levels[0]["rows"], levels[0]["nonzeros"]),
                         (report["matrix"]["n"], report["matrix"]["nonzeros"]))
        for level, next_level in zip(levels, levels[1:]):
            self.assertEqual(level["aggregates"], next_level["rows"])
            self.assertGreaterEqual(level["prolongation_nonzeros"], next_level["rows"])
            self.assertGreater(level["eigenvalue"], 1.)
            for name in ("smoother", "strength", "aggregation", "prolongation", "product"):
                self.assertGreater(level[name + "_seconds"], 0., name)
        self.assertIsNone(levels[-1]["eigenvalue"])
        self.assertLess(levels[-1]["rows"], 50)
        self.assertTrue(all(level["cycle_seconds"] > 0. for level in levels))

    def test_json_is_complete(self):
        self.run_program("--generate", "poisson2d-5pt:12", "--scaling", "symmetric", "--json",
                         "r.json", "--repeat", "3", "--backend", "host", "--threads", "2")
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(list(report), [
            "schema", "version", "outcome", "succeeded", "command", "matrix", "backend",
            "parts", "peak_bytes", "solve", "attempts", "nonlinear", "seconds", "repeats", "repeats_identical", "history"])
        solve = report["solve"]
        self.assertEqual(set(solve), {
            "outcome", "message", "solver", "preconditioner", "preconditioner_nonzeros",
            "preconditioner_bytes", "preconditioner_remarks", "preconditioner_levels", "setup_bytes_to_host", "solver_remarks", "failed_attempt", "reproducible", "format",
            "matrix_stored",
            "matrix_bytes", "scaling", "ordering", "backend", "communicator", "execution", "restarts", "norm",
            "rhs_norm",
            "initial_residual", "true_residual", "target", "backward_error",
            "componentwise_backward_error", "forward_error", "energy_error", "energy_delay",
            "energy_norm", "energy_target", "given_rhs_norm", "given_residual",
            "bytes_per_iteration", "transfer", "communication", "iterations", "gigabytes_per_second"})
        self.assertIsNone(report["nonlinear"])
        self.assertEqual(solve["scaling"], "symmetric")
        self.assertEqual(solve["communicator"], "none")
        self.assertEqual(report["command"]["communicator"], "auto")
        self.assertEqual(report["command"]["threads"], 2)
        self.assertEqual(report["matrix"]["row_lengths"]["max"], 5)
        self.assertEqual(len(report["history"]), solve["iterations"] + 1)
        self.assertEqual(len(report["repeats"]), 3)
        self.assertTrue(report["succeeded"])

    def test_history_and_solution_are_written(self):
        report = self.report("--generate", "poisson2d-5pt:12", "--history", "h.csv", "--solution",
                             "x.mtx")
        with open(self.path("h.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["iteration", "residual"])
        self.assertEqual([(int(k), float(r)) for k, r in rows[1:]],
                         list(enumerate(report["history"])))
        self.assertEqual(len(self.read_vector("x.mtx")), 144)

    def test_files_are_written_after_a_failed_solve_too(self):
        self.run_program("--generate", "poisson2d-5pt:12", "--max-iterations", "2", "--json",
                         "r.json", code=3)
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["outcome"], "iteration_limit")
        self.assertFalse(report["succeeded"])

    def test_help_list_and_version_answer(self):
        text = self.run_program("--help").stdout
        for word in ("Examples:", "Exit codes:", "--fixed-iterations", "scaled"):
            self.assertIn(word, text)
        text = self.run_program("--list").stdout
        for word in ("poisson2d-p1:N", "row-sums", "pipelined-cg", "jacobi", "sell", "symmetric",
                     "rcm", "host"):
            self.assertIn(word, text)
        self.assertIn("femgpu-solve", self.run_program("--version").stdout)


class Timing(SolveTest):
    def test_repeats_are_identical(self):
        report = self.report("--generate", "poisson2d-p1:30", "--repeat", "4")
        self.assertTrue(report["repeats_identical"])
        self.assertEqual([r["iterations"] for r in report["repeats"]],
                         [report["solve"]["iterations"]] * 4)
        seconds = sorted(r["solve_seconds"] for r in report["repeats"])
        self.assertEqual(report["seconds"]["solve_min"], seconds[0])
        self.assertAlmostEqual(report["seconds"]["solve"], 0.5 * (seconds[1] + seconds[2]))

    def test_any_number_of_threads_gives_the_same_bits(self):
        system = ["--generate", "poisson2d-p1:70"]
        self.assertEqual(self.solution(*system, "--threads", "1"),
                         self.solution(*system, "--threads", "3"))

    def test_a_matrix_ten_times_the_memory_granted_is_solved(self):
        system = ["--generate", "banded:4000,90", "--preconditioner", "jacobi"]
        granted = 12 * 4000 * 180 // 10
        for solver in "pipelined-cg", "ca-gmres restart=8 s=4 powers=streamed":
            with self.subTest(solver=solver):
                within = self.report(*system, "--solver", solver)
                beyond = self.report(*system, "--solver", solver, "--device-memory", f"{granted} B")
                self.assertEqual(beyond["outcome"], "converged")
                self.assertEqual(beyond["solve"]["iterations"], within["solve"]["iterations"])
                self.assertIn("from host memory", beyond["solve"]["format"])
                self.assertNotIn("from host memory", within["solve"]["format"])
                self.assertEqual(beyond["command"]["device_memory"], granted)
                self.assertLessEqual(beyond["peak_bytes"], granted)

    def test_fixed_iterations_are_done(self):
        for solver in "cg", "pipelined-cg", "pipelined-bicgstab":
            report = self.report("--generate", "poisson2d-p1:30", "--solver", solver,
                                 "--fixed-iterations", "17")
            self.assertEqual(report["outcome"], "iteration_limit")
            self.assertEqual(report["solve"]["iterations"], 17)
            self.assertTrue(report["succeeded"])

    def test_fewer_iterations_than_fixed_are_told(self):
        self.write_matrix("A.mtx", [[2., 0.], [0., 2.]])
        process = self.run_program("A.mtx", "--fixed-iterations", "9")
        self.assertIn("the solve ended after 1 instead of 9 iterations", process.stderr)

    def test_what_was_moved_is_counted(self):
        for arguments, vectors in ([], 3), (["--nonlinear", "bratu lambda=1"], 4):  # b, x twice; w
            report = self.report("--generate", "poisson2d-5pt:100", "--repeat", "2", *arguments)
            n, nonzeros = report["matrix"]["n"], report["matrix"]["nonzeros"]
            transfer = report["solve"]["transfer"]
            of_matrix = 12 * nonzeros + 4 * (n + 1)
            if report["backend"]["name"] == "host":  # the host reads it in place
                of_matrix = 0
            self.assertEqual(transfer["bytes"], of_matrix + vectors * 8 * n)
            self.assertEqual(transfer["seconds"], report["seconds"]["transfer"])
            self.assertEqual(transfer["overlapped_seconds"], 0.)
            self.assertAlmostEqual(transfer["gigabytes_per_second"],
                                   1e-9 * transfer["bytes"] / transfer["seconds"])
        text = self.run_program("--generate", "poisson2d-5pt:9", "--backend", "host").stdout
        self.assertRegex(text, r"\ntransfer +[0-9.]+ kB, [0-9.e+-]+ GB/s\n")


class Errors(SolveTest):
    def test_usage(self):
        system = ["--generate", "poisson2d-5pt:6"]
        for arguments, message in (
                ([], "no matrix is given"),
                (["a.mtx", "b.mtx"], "two matrices"),
                (["a.mtx", *system], "exclude each other"),
                ([*system, "--rhs", "ones", "-b", "b.mtx"], "exclude each other"),
                ([*system, "--rhs", "twos"], "ones, row-sums or random:SEED"),
                ([*system, "--rhs", "random"], "--rhs random:1"),
                ([*system, "--rhs", "random:x"], "give an integer"),
                ([*system, "--presision", "1"], "unknown option"),
                ([*system, "--sovler", "cg"], "did you mean '--solver'?"),
                ([*system, "--solver"], "has no value"),
                ([*system, "--repeat", "0"], "give an integer from 1"),
                ([*system, "--relative-tolerance", "-1"], "not negative"),
                ([*system, "--relative-to", "b"], "rhs or initial"),
                ([*system, "--backend", "gpu"], "is not a backend"),
                ([*system, "--fixed-iterations", "3", "--max-iterations", "4"], "exclude"),
                ([*system, "--json", "r", "--history", "r"], "different names")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.error(*arguments, code=1))

    def test_names_are_checked_before_the_matrix_is_read(self):
        for option, value, message in (("--solver", "cgs", "no solver 'cgs'"),
                                       ("--solver", "cg restart=9", "has no option 'restart'"),
                                       ("--preconditioner", "ilut", "no preconditioner 'ilut'"),
                                       ("--preconditioner", "jacobi a=1", "no option 'a'"),
                                       ("--format", "dia", "no matrix format 'dia'"),
                                       ("--scaling", "rows", "no scaling 'rows'"),
                                       ("--ordering", "amd", "no ordering 'amd'")):
            with self.subTest(option=option, value=value):
                self.assertIn(message, self.error("missing.mtx", "--backend", "host", option, value,
                                                  code=1))

    def test_values_are_checked(self):
        for arguments, message in ((["--generate", "poisson"], "no model problem"),
                                   (["--generate", "poisson2d-5pt:6", "--format", "csr a=1"],
                                    "no option 'a'")):
            self.assertIn(message, self.error(*arguments, "--backend", "host", code=1))

    def test_conjugate_gradients_refuse_unsymmetric_matrices(self):
        self.write_matrix("A.mtx", UNSYMMETRIC)
        for solver in "cg", "pipelined-cg", "chronopoulos-gear-cg":
            message = self.error("A.mtx", "--solver", solver, code=1)
            self.assertIn("entry (1, 2) is 1 and (2, 1) is 0.5", message)
            self.assertIn("pipelined-bicgstab", message)
        self.write_matrix("A.mtx", [[4., 1.], [0., 4.]])
        self.assertIn("(1, 2) is 1 and (2, 1) is 0", self.error("A.mtx", "--solver", "cg", code=1))
        self.write_matrix("A.mtx", LAPLACIAN)
        self.assertIn("with the scaling 'balance'",
                      self.error("A.mtx", "--solver", "cg", "--scaling", "balance", code=1))

    def test_rounding_does_not_make_a_matrix_unsymmetric(self):
        self.write_matrix("A.mtx", [[4., 1.], [1. + 1e-13, 4.]])
        self.assertTrue(self.report("A.mtx")["matrix"]["symmetric"])

    def test_input_files(self):
        self.assertIn("missing.mtx", self.error("missing.mtx", code=2))
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n")
        self.assertIn("A.mtx", self.error("A.mtx", code=2))
        self.write_matrix("A.mtx", LAPLACIAN)
        self.write_vector("b.mtx", [1., 2.])
        self.assertIn("4 x k", self.error("A.mtx", "-b", "b.mtx", code=2))
        self.assertIn("4 x 1", self.error("A.mtx", "--x0", "b.mtx", code=2))
        self.assertIn("b2.mtx", self.error("A.mtx", "-b", "b2.mtx", code=2))

    def test_rows_that_large_ones_hide_are_a_warning(self):
        rows = [[1., -2., 0.], [-1., 3., 1.], [0., 1e12, 1e12]]
        self.write_matrix("graded.mtx", rows)
        process = self.run_program("graded.mtx", "--backend", "host", "--solver", "bicgstab",
                                   "--preconditioner", "identity")
        self.assertRegex(process.stderr, r"warning: .* in one row .* --scaling")
        self.assertIn(", in the worst row ", process.stdout)
        scaled = self.run_program("graded.mtx", "--backend", "host", "--scaling", "balance")
        self.assertEqual(scaled.stderr, "")

    def test_no_convergence(self):
        process = self.run_program("--generate", "poisson2d-5pt:20", "--max-iterations", "3", code=3)
        self.assertIn("did not converge in 3 iterations", process.stderr)
        self.write_matrix("A.mtx", [[1., 0.], [0., -1.]])
        self.assertEqual(self.report("A.mtx", "--solver", "cg", code=3)["outcome"][:10],
                         "indefinite")

    def test_a_limit_that_is_given_ends_all_attempts(self):
        report = self.report("--generate", "poisson2d-5pt:20", "--max-iterations", "3", code=3)
        self.assertEqual([a["outcome"] for a in report["attempts"]], ["iteration_limit"])

    def test_advice_names_what_is_not_in_use(self):
        self.write_matrix("A.mtx", SHIFTED)
        message = self.error("A.mtx", "--solver", "cg", "--preconditioner", "identity",
                             "--scaling", "none", code=1)
        self.assertIn("--solver pipelined-bicgstab", message)
        message = self.error("A.mtx", "--preconditioner", "jacobi", code=3)
        self.assertIn("scaling matching", message)

    def test_missing_device(self):
        self.error("--generate", "poisson2d-5pt:6", "--backend", "cuda:99", code=4)

    def test_unwritable_files_are_found_before_the_matrix_is_read(self):
        for option in "--json", "--history", "--solution":
            message = self.error("missing.mtx", option, "no/such/file", code=5)
            self.assertIn("check that its directory exists", message)


if __name__ == "__main__":
    unittest.main()
