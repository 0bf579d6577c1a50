"""Tests the comparisons and tables of benchmarks/gmres.py with a program that prints invented
reports."""
import csv
import os
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "..", "..", "benchmarks", "gmres.py")

# In the invented reports, solves converge in 100 iterations, ca-gmres with large blocks of the
# monomial basis in 150.
PROGRAM = '''#!{python}
import json, re, sys
solver = sys.argv[sys.argv.index("--solver") + 1]
if "restart=13" in solver:
    sys.exit("femgpu-solve: 13 is no good restart")
s = int((re.search(r" s=([0-9]+)", solver) or [0, 1])[1])
limit = "restart=20" in solver and "ca-" in solver
iterations = 150 if s > 10 and "monomial" in solver else 100
remarks = f"s = {{s}}; basis condition at most 1e{{s}}, of the first block 2.5" if s > 1 else ""
solve = dict(outcome="iteration_limit" if limit else "converged", iterations=iterations, restarts=3,
             true_residual=1e-9, rhs_norm=2., message="no", solver_remarks=remarks)
if s == 1:
    del solve["solver_remarks"]
print(json.dumps(dict(solve=solve, succeeded=not limit, repeats_identical=True,
                      version=dict(femgpu="1", git_revision="abc"),
                      backend=dict(name="host", description="cores"),
                      matrix=dict(n=9, nonzeros=33),
                      seconds=dict(setup=0.1, solve=0.2, iteration=0.002))))
sys.exit(3 if limit else 0)
'''


class Gmres(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        program = self.path("program")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(python=sys.executable))
        os.chmod(program, os.stat(program).st_mode | stat.S_IXUSR)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def run_script(self, *arguments, code=0):
        """Runs gmres.py. Returns the rows of its CSV file, and its Markdown table."""
        done = subprocess.run([sys.executable, SCRIPT, "--program", self.path("program"), "--csv",
                               self.path("result.csv"), "--markdown", self.path("result.md"),
                               *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        with open(self.path("result.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with open(self.path("result.md"), encoding="utf-8") as file:
            return rows, file.read()

    def test_every_solver_is_compared_with_gmres_of_the_same_restart(self):
        rows, page = self.run_script("circuit:50", "--restart", "30", "60", "--solver",
                                     "fgmres restart=M", "pipelined-gmres restart=40")
        self.assertEqual([(row["solver"], row["iterations"], row["reference_iterations"],
                           row["agrees"]) for row in rows],
                         [("fgmres restart=30", "100", "100", "yes"),
                          ("fgmres restart=60", "100", "100", "yes"),
                          ("pipelined-gmres restart=40", "100", "100", "yes")])
        self.assertIn("| circuit:50 | `fgmres restart=60` | converged | 100 | 100 | yes | 3 | "
                      "1.00e-09 | 0.2000 |", page)

    def test_another_count_is_an_error(self):
        solver = ["--solver", "ca-gmres restart=30 s=12 basis=monomial"]
        rows, _ = self.run_script("circuit:50", *solver, code=1)
        self.assertEqual(rows[0]["agrees"], "no")
        rows, _ = self.run_script("circuit:50", *solver, "--tolerance", "0.5")
        self.assertEqual(rows[0]["agrees"], "yes")

    def test_runs_that_do_not_converge_are_no_error_and_failures_are(self):
        rows, _ = self.run_script("circuit:50", "--solver", "ca-gmres restart=20 s=2")
        self.assertEqual((rows[0]["outcome"], rows[0]["agrees"]),
                         ("iteration_limit", "reference alone"))
        rows, _ = self.run_script("circuit:50", "--solver", "fgmres restart=13", code=1)
        self.assertEqual((rows[0]["outcome"], rows[0]["agrees"]), ("failed", ""))
        self.assertIn("no good restart", rows[0]["message"])

    def test_conditions_of_bases_have_a_table_over_s(self):
        rows, page = self.run_script("circuit:50", "--steps", "5", "12", "31", "--option",
                                     "tsqr=cholqr", code=1)
        self.assertEqual(rows[0]["solver"], "ca-gmres restart=30 s=5 basis=monomial tsqr=cholqr")
        self.assertEqual(len(rows), 4)  # s = 31 exceeds the restart and is omitted
        self.assertEqual(page.splitlines()[0], "| system | restart | basis | `gmres` | s = 5 | s = 12 |")
        self.assertIn("| circuit:50 | 30 | monomial | 100 | 100 (1.0e+05) | 150 (1.0e+12) |", page)
        self.assertIn("| circuit:50 | 30 | newton | 100 | 100 (1.0e+05) | 100 (1.0e+12) |", page)

    def test_a_condition_that_is_no_number_is_none(self):
        sys.path.insert(0, os.path.dirname(SCRIPT))
        from gmres import condition_in
        self.assertEqual(condition_in("basis condition nan, orthogonality 1e-3"), "")
        self.assertEqual(condition_in("basis condition inf"), float("inf"))
        self.assertEqual(condition_in("s halved to 5; basis condition 1e+07; condition 3.5"), 1e7)

    def test_a_directory_is_its_matrices(self):
        for name in "b.mtx", "a.mtx", "notes.txt":
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("%%MatrixMarket matrix coordinate real general\n")
        rows, _ = self.run_script(self.directory.name, "--solver", "fgmres restart=M")
        self.assertEqual([row["system"] for row in rows], ["a", "b"])


if __name__ == "__main__":
    unittest.main()
