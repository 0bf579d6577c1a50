"""Tests that benchmarks/speed.py makes tables and plots from an existing table, without a GPU."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "..", "..", "benchmarks", "speed.py")
SAMPLE = os.path.join(HERE, "speed_sample.csv")


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True,
                          check=False)


def cells(page, heading):
    """Returns {(system, n): cells} of the table below a heading."""
    lines = page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines
            if line.startswith("|")]
    header = rows[0]
    return {(row[0], row[1]): dict(zip(header[2:], row[2:])) for row in rows[2:]}


class Speed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.output = os.path.join(cls.directory.name, "new", "results")
        cls.done = run("--csv", SAMPLE, "--output", cls.output)
        with open(os.path.join(cls.output, "speed.md"), encoding="utf-8") as file:
            cls.page = file.read()

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def test_figures_that_do_not_count_are_named_and_are_an_error(self):
        self.assertEqual(self.done.returncode, 1, self.done.stderr)
        self.assertIn("p2d, n = 225: ViennaCL 1.7.1, ELL, pipelined-cg: wrong", self.page)
        self.assertIn("q1, n = 1,000,000: cuSPARSE+cuBLAS, sliced ELL, cg: failed: no memory",
                      self.page)

    def test_systems_stand_beside_bars_and_the_best_peer(self):
        table = cells(self.page, "Conjugate gradients with Jacobi")
        self.assertEqual(list(table), [("p2d", "225"), ("p2d", "1,046,529"), ("q1", "1,000,000")])
        small, large = table["p2d", "225"], table["p2d", "1,046,529"]
        self.assertEqual(small["femgpu"], "0.550")
        self.assertEqual(small["femgpu/bar"], "met, 0.92")
        self.assertEqual(small["best peer"], "14.0")  # omits a faster peer whose result was wrong
        self.assertEqual(small["which"], "cuSPARSE+cuBLAS, CSR, graph")
        self.assertEqual(small["best peer before"], "14.6")
        self.assertEqual(large["femgpu/bar"], "missed, 1.03")
        self.assertEqual(large["of copy"], "90 %")
        self.assertEqual(large["ViennaCL"], "180")

    def test_formats_that_were_asked_for_stand_apart(self):
        table = cells(self.page, "Requested formats and ways to run")
        self.assertEqual(list(table), [("p2d", "225"), ("p2d", "1,046,529"), ("q1", "1,000,000")])
        self.assertEqual(table["p2d", "225"]["times auto"], "0.600")
        self.assertEqual(self.page.count("float"), len(table))

    def test_whole_solves_and_bicgstab_have_their_bars(self):
        whole = cells(self.page, "Whole solves of 30 iterations, milliseconds")
        self.assertEqual(list(whole), [("p2d", "225")])
        self.assertEqual(whole["p2d", "225"]["femgpu/bar"], "met, 0.53")
        bicgstab = cells(self.page, "Pipelined BiCGStab")
        self.assertEqual(bicgstab["q1", "1,000,000"]["bar 2.2"], "met, 0.95")

    def test_gmres_has_a_table_beside_viennacl(self):
        table = cells(self.page, "Pipelined GMRES(30) without a preconditioner")
        self.assertEqual(list(table), [("p2d", "1,046,529")])
        row = table["p2d", "1,046,529"]
        self.assertEqual((row["femgpu"], row["best peer"], row["times faster"]),
                         ("150", "300", "2.00"))
        self.assertEqual(row["which"], "ViennaCL 1.7.1, ELL")
        self.assertEqual(row["ms for 30, femgpu"], "4.50")

    def test_other_devices_have_a_table_of_their_own(self):
        table = cells(self.page, "Conjugate gradients elsewhere")
        self.assertEqual(table["p2d", "225"], {"deal.II SolverCG with 16 threads": "5.00"})

    def test_solves_that_vary_are_named(self):
        self.assertIn("did not give the same bits: cuSPARSE+cuBLAS, CSR; ", self.page)
        self.assertIn("solves of femgpu gave the same bits each time", self.page)

    def test_plots_are_drawn_where_matplotlib_is(self):
        has_matplotlib = importlib.util.find_spec("matplotlib") is not None
        for name in "speed_time.png", "speed_roofline.png":
            self.assertEqual(os.path.exists(os.path.join(self.output, name)), has_matplotlib)
        if not has_matplotlib:
            self.assertIn("install python3-matplotlib", self.done.stderr)

    def test_another_table_is_refused(self):
        done = run("--csv", os.path.join(HERE, "..", "..", "benchmarks", "speed_bars.csv"),
                   "--output", self.output)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a table of femgpu_speed", done.stderr)


if __name__ == "__main__":
    unittest.main()
