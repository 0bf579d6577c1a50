"""Tests collection.py, known_counts.py and methods.py of benchmarks/ with femgpu-solve.

    FEMGPU_SOLVE=build/bin/femgpu-solve python3 tests/solve/benchmarks_test.py
"""

import csv
import os
import subprocess
import sys
import unittest

from solve_test import BENCHMARKS, INDEFINITE, LAPLACIAN, PROGRAM, SHIFTED, UNSYMMETRIC, SolveTest

COLLECTION = os.path.join(BENCHMARKS, "collection.py")
KNOWN_COUNTS = os.path.join(BENCHMARKS, "known_counts.py")
METHODS = os.path.join(BENCHMARKS, "methods.py")


class Collection(SolveTest):
    def run_collection(self, *arguments, script=KNOWN_COUNTS, code=0):
        process = subprocess.run([sys.executable, script, "--program", PROGRAM, self.directory,
                                  "--csv", self.path("result.csv"), *arguments],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process.stdout

    def test_defaults_stand_beside_named_methods(self):
        self.write_matrix("A.mtx", LAPLACIAN)
        self.write_matrix("B.mtx", SHIFTED)
        self.write_matrix("C.mtx", INDEFINITE)
        text = self.run_collection("--only", "default", "bicgstab jacobi", "--", "--backend",
                                   "host", script=COLLECTION)
        self.assertIn("default: 1 of 1 indefinite, 1 of 1 positive diagonal, 1 of 1 unsymmetric",
                      text)
        with open(self.path("result.csv"), encoding="utf-8", newline="") as file:
            rows = {(row["matrix"], row["methods"]): row for row in csv.DictReader(file)}
        self.assertEqual(len(rows), 6)
        row = rows["B", "default"]
        self.assertEqual((row["kind"], row["solved_by"]), ("unsymmetric", "bicgstab, ilu, matching"))
        self.assertLess(float(row["backward_error"]), 1e-8)
        self.assertEqual(rows["B", "bicgstab jacobi"]["outcome"], "refused")
        self.assertIn("zero or missing diagonal entry", rows["B", "bicgstab jacobi"]["message"])

    def test_counts_are_compared_with_known_ones(self):
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n"
                   "3 3 4\n1 1 2\n2 2 3\n3 3 4\n2 1 1\n")
        self.write_matrix("B.mtx", UNSYMMETRIC)
        self.write_vector("b.mtx", [1., 2., 3.])  # a vector, which is skipped
        table = self.path(self.write("table.md", "| file | CG |\n|---|---|\n| A | 2 |\n"))
        self.run_collection("--table", table, "--solver", "cg", "pipelined-cg", code=0)
        with open(self.path("result.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["matrix"], row["solver"], row["known"]) for row in rows],
                         [("A", "cg", "2"), ("A", "pipelined-cg", "2"),
                          ("B", "pipelined-bicgstab", "")])
        self.write("table.md", "A,> 1000\n")
        self.assertIn("DIFFERS", self.run_collection("--table", table, code=1))

    def test_a_failed_run_is_told(self):
        self.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n")
        self.assertIn("A.mtx", self.run_collection(code=1))


class Methods(SolveTest):
    def run_methods(self, *arguments, code=0):
        """Returns the lines of the file that the script writes."""
        process = subprocess.run([sys.executable, METHODS, "--program", PROGRAM, "--backend", "host",
                                  "--quick", "--csv", self.path("result.csv"), *arguments],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        with open(self.path("result.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_file_is_solved_with_every_preconditioner(self):
        file = self.path(self.write_matrix("A.mtx", UNSYMMETRIC))
        rows = self.run_methods(file, "--only", "A pipelined-bicgstab", "--copy-bandwidth", "10")
        self.assertIn("sai tau=0.8", [row["preconditioner"] for row in rows])
        for row in rows:
            self.assertEqual((row["system"], row["n"], row["outcome"]), ("A", "3", "converged"))
            self.assertLessEqual(float(row["relative_residual"]), 1e-8)
            self.assertAlmostEqual(float(row["fraction_of_copy"]),
                                   float(row["gigabytes_per_second"]) / 10., places=6)

    def test_what_ends_a_run_is_told(self):
        only = ["--only", "elasticity.* pipelined-cg jacobi"]
        self.assertEqual([row["outcome"] for row in self.run_methods(*only, "--budget", "1e-9")],
                         ["left out"])
        self.assertEqual([row["outcome"]
                          for row in self.run_methods(*only, "--timeout", "1e-3", code=1)],
                         ["timeout"])
        [row] = self.run_methods(*only, "--format", "none", code=1)
        self.assertEqual(row["outcome"], "failed")
        self.assertIn("none", row["message"])


if __name__ == "__main__":
    unittest.main()
