#!/usr/bin/env python3
"""Tests complete runs of femgpu-solve with several right-hand sides or copies; see solve_test.py.

    FEMGPU_SOLVE=build/bin/femgpu-solve tests/solve/batch_test.py Batches
"""
import unittest

from solve_test import LAPLACIAN, UNSYMMETRIC, SolveTest


class Batches(SolveTest):
    def write_columns(self, name, columns):
        return self.write(name, "%%MatrixMarket matrix array real general\n"
                          f"{len(columns[0])} {len(columns)}\n"
                          + "".join(f"{v!r}\n" for column in columns for v in column))

    def read_columns(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("%")]
        n, k = map(int, lines[0].split())
        values = [float(line) for line in lines[1:]]
        return [values[j * n:(j + 1) * n] for j in range(k)]

    def test_columns_of_b_are_solved_together_as_one_by_one(self):
        for rows in (LAPLACIAN, UNSYMMETRIC):
            self.write_matrix("A.mtx", rows)
            columns = [[float((i + j) % 5 - 2) for i in range(len(rows))] for j in range(6)]
            self.write_columns("B.mtx", columns)
            tolerance = ["--relative-tolerance", "1e-13"]
            report = self.report("A.mtx", "-b", "B.mtx", "--solution", "X.mtx", *tolerance)
            self.assertTrue(report["succeeded"])
            self.assertEqual(report["outcome"], "converged")
            self.assertEqual(report["batch"]["systems"], 6)
            self.assertEqual(report["batch"]["converged"], 6)
            self.assertEqual(len(report["systems"]), 6)
            for k, (b, x) in enumerate(zip(columns, self.read_columns("X.mtx"), strict=True)):
                self.write_vector("b.mtx", b)
                single = self.report("A.mtx", "-b", "b.mtx", "--solution", "x.mtx", *tolerance)
                self.assertEqual(self.read_vector("x.mtx"), x)
                self.assertEqual(single["solve"]["iterations"], report["systems"][k]["iterations"])

    def test_several_right_hand_sides_of_any_method_share_one_setup(self):
        n = 40 * 39
        columns = [[float((i * i + 7 * j * i + j) % 11 - 5) for i in range(n)] for j in range(5)]
        columns[2] = columns[0]
        columns[3] = [0.] * n
        self.write_columns("B.mtx", columns)
        system = ["--generate", "poisson2d-5pt:40x39", "-b", "B.mtx", "--solution", "X.mtx"]
        for methods in (["--solver", "block-cg"],
                        ["--solver", "block-cg", "--preconditioner", "multigrid", "--format", "sell",
                         "--scaling", "symmetric", "--ordering", "rcm"],
                        ["--solver", "idr", "--preconditioner", "ilu"],
                        ["--solver", "direct"],
                        ["--solver", "pipelined-cg", "--preconditioner", "fsai"]):
            with self.subTest(methods=methods):
                report = self.report(*system, *methods, "--repeat", "2")
                self.assertTrue(report["succeeded"])
                self.assertTrue(report["repeats_identical"])
                self.assertEqual(report["batch"]["solver"], methods[1])
                self.assertEqual([one["outcome"] for one in report["systems"]], ["converged"] * 5)
                self.assertEqual(report["systems"][3]["iterations"], 0)
                X = self.read_columns("X.mtx")
                self.assertEqual(X[3], columns[3])
                for b, x, one in zip(columns, X, report["systems"], strict=True):
                    residual = sum((b[i] - 4 * x[i] + sum(
                        x[j] for j in (i - 40, i + 40, i - 1, i + 1)
                        if 0 <= j < n and (abs(i - j) > 1 or i // 40 == j // 40))) ** 2
                        for i in range(n)) ** 0.5
                    self.assertLessEqual(residual, 1.01e-8 * one["rhs_norm"])
        text = self.run_program(*system, "--solver", "block-cg", "--backend", "host").stdout
        for k in range(1, 6):
            self.assertIn(f"system {k}", text)
        report = self.report(*system, "--solver", "block-cg", "--max-iterations", "9", code=3)
        self.assertEqual(report["outcome"], "iteration_limit")
        self.assertEqual(report["systems"][3]["outcome"], "converged")

    def test_right_hand_sides_of_the_wrong_length_are_an_error(self):
        self.write_columns("B.mtx", [[1.] * 8, [2.] * 8])
        self.assertIn("9 ", self.error("--generate", "poisson2d-5pt:3", "-b", "B.mtx", "--solver",
                                       "block-cg", "--backend", "host", code=2))

    def test_copies_differ_and_repeat(self):
        system = ["--generate", "poisson2d-p1:12", "--copies", "5"]
        report = self.report(*system, "--repeat", "2", "--solution", "X.mtx")
        self.assertEqual(report["command"]["copies"], 5)
        self.assertEqual(report["batch"]["converged"], 5)
        self.assertTrue(report["repeats_identical"])
        self.assertEqual(len({one["rhs_norm"] for one in report["systems"]}), 5)
        for one in report["systems"]:
            self.assertLessEqual(one["true_residual"], 1e-8 * one["rhs_norm"])
        first = self.read_columns("X.mtx")
        single = self.report("--generate", "poisson2d-p1:12", "--solution", "x.mtx")
        self.assertEqual(single["solve"]["iterations"], report["systems"][0]["iterations"])
        self.assertEqual(self.read_vector("x.mtx"), first[0])
        self.report(*system, "--threads", "3", "--solution", "Y.mtx")
        self.assertEqual(self.read_columns("Y.mtx"), first)

    def test_fixed_iterations_and_failures(self):
        system = ["--generate", "poisson2d-p1:12", "--copies", "4"]
        self.assertTrue(self.report(*system, "--fixed-iterations", "3")["succeeded"])
        report = self.report(*system, "--max-iterations", "3", code=3)
        self.assertEqual(report["outcome"], "iteration_limit")
        self.assertIn("Allow more iterations", report["systems"][2]["message"])
        text = self.run_program(*system, "--max-iterations", "3", "--backend", "host", code=3).stderr
        self.assertIn("4 of 4 systems failed", text)

    def test_what_batches_do_not_have_is_an_error(self):
        self.write_columns("B.mtx", [[1.] * 9, [2.] * 9])
        system = ["--generate", "poisson2d-5pt:3", "--backend", "host"]
        for arguments, message in ((["--solver", "idr"], "minres, bicgstab"),
                                   (["--preconditioner", "fsai"], "identity or jacobi"),
                                   (["--format", "sell"], "Use csr"),
                                   (["--scaling", "symmetric"], "Use none"),
                                   (["--ordering", "rcm"], "Use none"),
                                   (["--execution", "graph"], "Use auto"),
                                   (["--history", "h.csv"], "--history is not available"),
                                   (["--nonlinear", "bratu"], "exclude each other"),
                                   (["-b", "B.mtx"], "Remove --copies")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.error(*system, "--copies", "3", *arguments, code=1))
        self.assertIn("give an integer", self.error(*system, "--copies", "0", code=1))
        self.assertIn("9 x 1 is expected", self.error(*system, "-b", "B.mtx", "--nonlinear",
                                                      "bratu weights=1", code=2))


if __name__ == "__main__":
    unittest.main()
