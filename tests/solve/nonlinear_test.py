"""Tests femgpu-solve, the program named by the variable FEMGPU_SOLVE, on nonlinear systems.

    FEMGPU_SOLVE=build/bin/femgpu-solve python3 tests/solve/nonlinear_test.py
"""

import csv
import math
import os
import subprocess
import sys
import unittest

from solve_test import BENCHMARKS, LAPLACIAN, PROGRAM, UNSYMMETRIC, SolveTest

BENCHMARK = os.path.join(BENCHMARKS, "nonlinear.py")


class Nonlinear(SolveTest):
    BRATU = ["--generate", "poisson3d-7pt:7", "--nonlinear", "bratu lambda=6"]

    def test_bratus_problem_is_solved_by_every_method(self):
        solutions = []
        for method in "newton", "nlcg", "nlcg beta=polak-ribiere":
            x = self.solution(*self.BRATU, "--nonlinear-method", method)
            residual = self.residual(x, 7, 6. / 64.)
            self.assertLessEqual(math.sqrt(sum(r * r for r in residual)), 1e-12, method)
            solutions.append(x)
        for x in solutions[1:]:
            self.assert_close(x, solutions[0], 1e-10)

    @staticmethod
    def residual(x, size, weight):
        """Returns weight e^x - A x, where A has stencil 6, -1 on size^3 points."""
        def value(i, j, k):
            inside = all(0 <= index < size for index in (i, j, k))
            return x[(k * size + j) * size + i] if inside else 0.

        for k in range(size):
            for j in range(size):
                for i in range(size):
                    around = sum(value(i + d, j, k) + value(i, j + d, k) + value(i, j, k + d)
                                 for d in (-1, 1))
                    u = value(i, j, k)
                    yield weight * math.exp(u) - (6. * u - around)

    def test_an_expression_is_the_same_as_the_law_that_it_stands_for(self):
        expected = self.solution(*self.BRATU)
        x = self.solution(*self.BRATU[:2], "--nonlinear",
                          "expression phi=exp(u) derivative=exp(u) lambda=6")
        self.assert_close(x, expected)
        found = self.solution(*self.BRATU[:2], "--nonlinear", "expression phi=exp(u) lambda=6")
        self.assertEqual(found, x)  # exp(u) is its own derivative

    def test_files_take_weights_and_right_hand_sides(self):
        self.write_matrix("A.mtx", [[4.]])
        term = "expression phi=u^2 derivative=2*u lambda=0.5 weights=2"  # 4 x = b + x^2
        self.assertEqual(self.solution("A.mtx", "--nonlinear", term), [0.])
        for method in "newton", "nlcg":
            x = self.solution("A.mtx", "--nonlinear", term, "--nonlinear-method", method, "--rhs",
                              "ones")
            self.assert_close(x, [2. - math.sqrt(3.)])
        self.write_matrix("A.mtx", UNSYMMETRIC)
        report = self.report("A.mtx", "--nonlinear", "bratu lambda=0.1 weights=1")
        self.assertEqual(report["solve"]["solver"], "newton, pipelined-bicgstab")

    def test_an_order_of_the_unknowns_changes_nothing(self):
        self.assert_close(self.solution(*self.BRATU, "--ordering", "rcm"),
                          self.solution(*self.BRATU), 1e-10)

    def test_reports_tell_iterations_and_the_largest_value(self):
        report = self.report(*self.BRATU, "--repeat", "2", "--solution", "x.mtx")
        nonlinear = report["nonlinear"]
        self.assertEqual(nonlinear["term"], "bratu lambda=6")
        self.assertEqual((nonlinear["lambda"], nonlinear["weight"]), (6., 1. / 64.))
        self.assertGreater(nonlinear["linear_iterations"], report["solve"]["iterations"])
        self.assertGreaterEqual(nonlinear["line_search_steps"], report["solve"]["iterations"])
        self.assertEqual(nonlinear["largest_x"], max(self.read_vector("x.mtx")))
        self.assertEqual(report["command"]["nonlinear_method"], "newton")
        self.assertEqual(report["matrix"]["rhs"], "0")
        self.assertTrue(report["repeats_identical"])
        text = self.run_program(*self.BRATU, "--nonlinear-method", "nlcg").stdout
        for word in ("nonlinear term  bratu lambda=6; lambda 6, weights 0.0156", "largest x_i",
                     "line-search steps", "λ W φ(x)", "nlcg"):
            self.assertIn(word, text)

    def test_beyond_the_fold_no_solution_is_told(self):
        for method in "newton", "nlcg":
            report = self.report(*self.BRATU[:2], "--nonlinear", "bratu lambda=20",
                                 "--nonlinear-method", method, "--max-iterations", "500", code=3)
            self.assertFalse(report["succeeded"])


class NonlinearErrors(SolveTest):
    def test_usage(self):
        system = ["--generate", "poisson2d-5pt:6"]
        self.assertIn("add one, for example --nonlinear 'bratu",
                      self.error(*system, "--nonlinear-method", "nlcg", code=1))
        self.assertIn("remove --scaling", self.error(*system, "--nonlinear", "bratu",
                                                        "--scaling", "symmetric", code=1))

    def test_terms_are_checked_before_the_matrix_is_read(self):
        expression = "expression phi=u^3 derivative="
        for term, arguments, message in (
                ("brat", [], "no nonlinear term 'brat'; use bratu or expression"),
                ("bratu mu=6", [], "no option 'mu'; use lambda, weights"),
                ("bratu lambda=six", [], "must be a number"),
                ("bratu weights=-1", [], "must be a number from 0"),
                ("expression derivative=u", [], "has no option phi. Write it without blanks"),
                (expression + "2*u^2", [], "is not the derivative of 'u^3'"),
                (expression + "3*v^2", [], "wrong at column 3, at 'v'"),
                (expression + "3*u^2 low=1 high=0", [], "the smaller one first"),
                ("bratu", ["--nonlinear-method", "picard"], "no nonlinear method 'picard'"),
                ("bratu", ["--nonlinear-method", "nlcg beta=0"], "beta"),
                ("bratu", ["--nonlinear-method", "nlcg", "--solver", "cg"], "Remove --solver")):
            with self.subTest(term=term):
                self.assertIn(message, self.error("missing.mtx", "--backend", "host", "--nonlinear",
                                                  term, *arguments, code=1))

    def test_terms_need_weights(self):
        self.write_matrix("A.mtx", LAPLACIAN)
        for system in (["A.mtx"], ["--generate", "poisson2d-5pt:4x5"],
                       ["--generate", "elasticity3d-p1:2"]):
            message = self.error(*system, "--nonlinear", "bratu lambda=2", code=1)
            self.assertIn("--nonlinear 'bratu lambda=2 weights=VALUE'", message)

    def test_nlcg_refuses_unsymmetric_matrices(self):
        self.write_matrix("A.mtx", UNSYMMETRIC)
        message = self.error("A.mtx", "--nonlinear", "bratu weights=0.1", "--nonlinear-method",
                             "nlcg", code=1)
        self.assertIn("entry (1, 2) is 1 and (2, 1) is 0.5", message)
        self.assertIn("--nonlinear-method newton", message)


class NonlinearBenchmark(SolveTest):
    def run_benchmark(self, *arguments, code=0):
        process = subprocess.run([sys.executable, BENCHMARK, "--program", PROGRAM, "--backend",
                                  "host", "--sizes", "6", "--csv", self.path("result.csv"),
                                  *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        with open(self.path("result.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_every_method_gives_the_same_maximum(self):
        rows = self.run_benchmark("--only", "identity|jacobi|fsai")
        self.assertEqual([(row["method"], row["preconditioner"]) for row in rows],
                         [(method, preconditioner) for method in ("nlcg", "newton")
                          for preconditioner in ("identity", "jacobi", "fsai")])
        for row in rows:
            self.assertEqual((row["n"], row["outcome"], row["p"]), ("216", "converged", ""))
            self.assertAlmostEqual(float(row["max_u"]), float(rows[0]["max_u"]), places=6)
            self.assertLessEqual(float(row["relative_residual"]), 1e-8)

    def test_two_stage_is_run_over_its_parameters(self):
        rows = self.run_benchmark("--only", "nlcg two-stage", "--blocks", "1", "4", "--level", "0")
        self.assertEqual([(row["p"], row["m"], row["q"], row["kappa"]) for row in rows],
                         [(p, m, q, "0") for p in "14" for m in "12" for q in "12"])
        [expected] = self.run_benchmark("--only", "newton identity")
        for row in rows:
            self.assertEqual(row["outcome"], "converged")
            self.assertAlmostEqual(float(row["max_u"]), float(expected["max_u"]), places=6)

    def test_what_ends_a_run_is_told(self):
        only = ["--only", "nlcg jacobi"]
        self.assertEqual([row["outcome"] for row in self.run_benchmark(*only, "--budget", "1e-9")],
                         ["left out"])
        [row] = self.run_benchmark(*only, "--format", "none", code=1)
        self.assertEqual(row["outcome"], "failed")
        self.assertIn("none", row["message"])


if __name__ == "__main__":
    unittest.main()
