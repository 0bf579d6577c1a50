"""Tests the methods that femgpu-solve chooses itself, and its fallbacks after failures.

    FEMGPU_SOLVE=build/bin/femgpu-solve python3 tests/solve/choice_test.py
"""

import json
import unittest

from solve_test import INDEFINITE, LAPLACIAN, SHIFTED, SINGULAR, UNSYMMETRIC, SolveTest


class Choice(SolveTest):
    """Tests the choice if the user names no methods, and the fallbacks."""

    def attempts(self, *arguments, code=0):
        return [(attempt["solver"], attempt["preconditioner"], attempt["scaling"],
                 attempt["outcome"]) for attempt in self.report(*arguments, code=code)["attempts"]]

    def test_zeros_on_the_diagonal_are_permuted_away(self):
        self.write_matrix("A.mtx", SHIFTED)
        self.assertEqual(self.attempts("A.mtx"), [("bicgstab", "ilu", "matching", "converged")])
        self.assert_close(self.solution("A.mtx"), [1.] * 4, 1e-7)
        text = self.run_program("A.mtx", "--backend", "host").stdout
        self.assertIn("attempt 1       bicgstab with ilu, scaling matching, because the matrix is "
                      "unsymmetric, and 4 diagonal entries are zero: converged", text)

    def test_indefinite_matrices_are_solved_by_minres(self):
        self.write_matrix("A.mtx", INDEFINITE)
        self.assertEqual(self.attempts("A.mtx"), [("minres", "identity", "symmetric", "converged")])
        self.assert_close(self.solution("A.mtx"), [1.] * 4, 1e-7)

    def test_a_positive_diagonal_may_belong_to_an_indefinite_matrix(self):
        self.write_matrix("A.mtx", [[1., 2.], [2., 1.]])
        self.write_vector("b.mtx", [1., -1.])
        self.assertEqual([(a[0], a[3]) for a in self.attempts("A.mtx", "-b", "b.mtx")],
                         [("pipelined-cg", "indefinite_matrix"), ("minres", "converged")])
        self.assert_close(self.solution("A.mtx", "-b", "b.mtx"), [-1., 1.], 1e-7)

    def test_another_method_follows_one_that_fails(self):
        n = 40  # a cyclic shift, for which BiCGStab with Jacobi fails
        rows = [[1e-8 if i == j else 1. if j == (i + 1) % n else 0. for j in range(n)]
                for i in range(n)]
        self.write_matrix("A.mtx", rows)
        attempts = self.attempts("A.mtx", "--rhs", "random:1")
        self.assertEqual(attempts[0][:3], ("pipelined-bicgstab", "jacobi", "none"))
        self.assertFalse(attempts[0][3].startswith("converged"))
        self.assertEqual(attempts[1], ("idr s=8", "ilu", "matching", "converged"))

    def test_tolerances_hold_before_a_scaling_that_was_chosen(self):
        rows = [[value * 10. ** (8 - 5 * i) for value in row] for i, row in enumerate(SHIFTED)]
        self.write_matrix("A.mtx", rows)
        solve = self.report("A.mtx", "--relative-tolerance", "1e-13")["solve"]
        self.assertLessEqual(solve["given_residual"], 1e-13 * solve["given_rhs_norm"])

    def test_a_singular_matrix_names_all_attempts(self):
        self.write_matrix("A.mtx", SINGULAR)
        self.write_vector("b.mtx", [1., -1., 1.])
        message = self.run_program("A.mtx", "-b", "b.mtx", code=3).stderr
        self.assertIn("Other attempts failed: ", message)
        self.assertIn("direct (breakdown)", message)
        self.write_matrix("A.mtx", [[1., 2., 3.], [1., 0., 0.], [2., 0., 0.]])
        report = self.report("A.mtx", code=3)
        self.assertEqual([a["outcome"] for a in report["attempts"]],
                         ["refused", "refused", "breakdown"])
        self.assertIn("Row 2 of the matrix cannot be matched", report["attempts"][0]["message"])

    def test_what_is_named_is_kept(self):
        self.write_matrix("A.mtx", SHIFTED)
        for name, value in (("--solver", "idr s=4"), ("--preconditioner", "identity"),
                            ("--scaling", "balance")):
            with self.subTest(name=name):
                process = self.run_program("A.mtx", name, value, "--json", "-", code=None)
                [attempt] = json.loads(process.stdout)["attempts"]
                self.assertEqual(attempt[name[2:]], value)
                self.assertIsNone(attempt["reason"])

    def test_matching_gives_the_solution_of_the_given_system(self):
        self.write_matrix("A.mtx", SHIFTED)
        self.write_vector("b.mtx", [1., 2., 3., 4.])
        self.write_vector("x0.mtx", [1., 0., -1., 2.])
        x = self.solution("A.mtx", "-b", "b.mtx", "--solver", "direct")
        for options in ([], ["--ordering", "rcm"], ["--x0", "x0.mtx"], ["--preconditioner", "ilu"]):
            self.assert_close(self.solution("A.mtx", "-b", "b.mtx", "--solver", "bicgstab",
                                            "--scaling", "matching", *options), x, 1e-7)

    def test_matching_needs_a_matching_and_an_unsymmetric_method(self):
        self.write_matrix("A.mtx", [[1., 2., 3.], [1., 0., 0.], [2., 0., 0.]])
        message = self.error("A.mtx", "--scaling", "matching", code=3)
        self.assertIn("Row 2 of the matrix", message)
        self.write_matrix("A.mtx", LAPLACIAN)
        self.assertEqual(self.report("A.mtx", "--scaling", "matching", "--solver",
                                     "bicgstab")["outcome"], "converged")

    def test_direct_solves_and_refuses_what_it_has_not(self):
        self.write_matrix("A.mtx", UNSYMMETRIC)
        self.assert_close(self.solution("A.mtx", "--solver", "direct"), [1.] * 3, 1e-14)
        for arguments, message in ((["--preconditioner", "jacobi"], "needs no preconditioner"),
                                   (["--fixed-iterations", "3"], "does not iterate"),
                                   (["--energy-tolerance", "1e-3"], "cannot stop at the energy error"),
                                   (["--copies", "3"], "does not support batches")):
            self.assertIn(message, self.error("A.mtx", "--solver", "direct", *arguments, code=1))
        self.assertIn("has no option", self.error("A.mtx", "--solver", "direct s=1", code=1))
        self.write_matrix("A.mtx", SINGULAR)
        self.assertIn("the matrix is singular",
                      self.run_program("A.mtx", "--solver", "direct", code=3).stderr)


if __name__ == "__main__":
    unittest.main()
