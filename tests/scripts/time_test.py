"""Tests the figures and reports of transient analyses, with small runs of femgpu.

    FEMGPU=build/bin/femgpu /usr/bin/python3 tests/scripts/time_test.py
"""

import os
import re
import shutil
import sys

from results_test import InDirectory, femgpu, main


class OverTime(InDirectory):
    @classmethod
    def prepare(cls):
        femgpu("heat_transient_t3.prm", cls.path("bar"))
        femgpu("transport_pulse.prm", cls.path("pulse"), "--set", "Study/Cycles=2", "--set",
               "Mesh/Initial refinements=2")

    def drawn(self, run, *arguments):
        """Returns {figure: [its words]}."""
        words = {}
        for name in self.succeeds("plot.py", self.path(run), *arguments).splitlines():
            with open(name, encoding="utf-8") as file:
                words[os.path.basename(name)[:-len(".svg")]] = re.findall("<!-- (.*?) -->", file.read())
        return words

    def test_a_transient_analysis_has_its_quantities_and_steps_over_time(self):
        import results
        cycle, = results.Run(self.path("bar")).cycles
        words = self.drawn("bar")
        self.assertEqual(list(words), ["residuals", "times", "time", "steps"])
        for word in "target u", f"last: {cycle['quantities']['target u']:.9g}", "balance defect", "t":
            self.assertIn(word, words["time"])
        self.assertNotIn("cycle 0", words["time"])  # a single curve needs no name
        steps, rejected = cycle["time"]["steps"], cycle["time"]["rejected_steps"]
        self.assertGreater(rejected, 0)
        self.assertIn(f"Steps in time: {steps} accepted, {rejected} rejected", words["steps"])
        self.assertIn("rejected", words["steps"])
        self.assertIn("Residuals of the last solve", words["residuals"])

    def test_several_cycles_are_several_curves(self):
        words = self.drawn("pulse")
        for word in "L2 error", "max u", "cycle 0", "cycle 1":
            self.assertIn(word, words["time"])
        self.assertIn("cycle 1", words["steps"])
        self.assertIn("Quantities at the end of the analysis", words["quantities"])
        self.assertIn("Errors at the end of the analysis", words["convergence"])

    def test_the_curves_have_the_numbers_of_the_tables(self):
        import results
        import time_figures
        run = results.Run(self.path("pulse"))
        page, = time_figures.time(run, ["max u"])
        curves = page.axes[0].get_lines()
        self.assertEqual([len(curve.get_xdata()) for curve in curves], [21, 21])
        self.assertEqual(curves[1].get_ydata()[-1], run.cycles[1]["quantities"]["max u"])
        self.assertEqual(curves[1].get_xdata()[-1], 1.)
        above, below = time_figures.steps(results.Run(self.path("bar")))[0].axes
        accepted, crosses = above.get_lines()
        self.assertGreater(len(accepted.get_xdata()), len(crosses.get_xdata()))
        self.assertAlmostEqual(sum(accepted.get_ydata()), 32., places=10)
        self.assertTrue(min(below.get_lines()[1].get_ydata()) > 1 > max(below.get_lines()[0].get_ydata()))

    def test_single_quantities_and_figures(self):
        words = self.drawn("bar", "--quantity", "target u")
        self.assertEqual(list(words), ["time"])
        self.assertNotIn("max u", words["time"])
        self.assertEqual(list(self.drawn("pulse", "--only", "steps")), ["steps"])
        self.fails("the quantity 'nothing' is unknown; choose target u", "plot.py", self.path("bar"),
                   "--quantity", "nothing")

    def test_a_report_shows_time_and_the_last_values_at_points(self):
        text = self.words(self.path("bar"), "--no-pictures")
        for words in ("Over time</h2>", "Quantities over time; time.csv has the numbers",
                      "Quantities at the end of the analysis", "Points in cycle 0 at t = 32"):
            self.assertIn(words, text)
        self.assertEqual(text.count("Points in cycle"), 1)
        import report_pictures
        import results
        run = results.Run(self.path("pulse"))
        self.assertEqual(report_pictures.last_pvd(run), self.path("pulse", "solution_cycle1.pvd"))
        self.assertIn("u of the last cycle, at t = 1", report_pictures.selected_pictures(run)[0][0])

    def test_damaged_tables_are_errors_and_missing_ones_missing_figures(self):
        directory = self.path("damaged")
        shutil.copytree(self.path("bar"), directory)
        for name in "time.csv", "steps.csv":
            path = os.path.join(directory, name)
            with open(path, encoding="utf-8") as file:
                lines = file.readlines()
            for text, message in ((lines[0].replace("time", "date") + lines[1], f"{name}: no column time"),
                                  (lines[0] + "0,1,2\n", f"{name}:2: 3 fields"),
                                  (lines[0] + "x" + lines[1], f"{name}: 'x0,.*' are not numbers")):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                self.fails(message, "plot.py", directory)
                self.fails(message, "report.py", directory, "--no-pictures")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n")  # of a run whose first solve failed
            self.succeeds("plot.py", directory)
            os.remove(path)
        self.assertEqual(list(self.drawn("damaged")), ["residuals", "times"])
        self.fails("nothing to draw for time", "plot.py", directory, "--only", "time")


if __name__ == "__main__":
    sys.exit(main())
