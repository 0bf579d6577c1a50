"""Tests plot.py and report.py with small runs of femgpu and with damaged output.

    FEMGPU=build/bin/femgpu /usr/bin/python3 tests/scripts/results_test.py [Plots|Reports|…]

Exits with 77 if matplotlib, VTK or an X server is missing.
"""

import contextlib
import html.parser
import importlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FEMGPU = os.environ.get("FEMGPU", os.path.join(ROOT, "build", "bin", "femgpu"))
SKIPPED = 77


SCRIPTS = os.path.join(ROOT, "scripts")
sys.path.insert(0, SCRIPTS)


def script(name, *arguments):
    """Runs a script. Scripts with matplotlib run in this process, to import it only once."""
    command = [os.path.join(SCRIPTS, name), *arguments]
    if name not in ("plot.py", "report.py"):
        return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    output, errors, code = io.StringIO(), io.StringIO(), 0
    with unittest.mock.patch("sys.argv", command), contextlib.redirect_stdout(output), \
            contextlib.redirect_stderr(errors):
        try:
            importlib.import_module(name[:-len(".py")]).main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):  # as Python itself does
                print(end.code, file=sys.stderr)
    return subprocess.CompletedProcess(command, code, output.getvalue(), errors.getvalue())


def femgpu(parameters, directory, *arguments):
    done = subprocess.run([FEMGPU, os.path.join(ROOT, "parameters", parameters), "--output", directory,
                           "--threads", "1", "--quiet", *arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def can_draw_fields():
    has_display = shutil.which("xvfb-run") and shutil.which("xauth") or os.environ.get("DISPLAY")
    return bool(has_display and importlib.util.find_spec("vtkmodules"))


def edit_summary(directory, edit):
    """Edits summary.json, as if another run had written it."""
    path = os.path.join(directory, "summary.json")
    with open(path, encoding="utf-8") as file:
        summary = json.load(file)
    edit(summary)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(summary, file)


class InDirectory(unittest.TestCase):
    """Base class: each test class gets its own directory, which its prepare() fills with runs."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="femgpu_scripts_")
        cls.directory = cls.holder.name
        cls.prepare()

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    @classmethod
    def prepare(cls):
        pass

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.directory, *names)

    def succeeds(self, name, *arguments):
        done = script(name, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def fails(self, message, name, *arguments):
        """Expects exit code 1, a matching line and no traceback."""
        done = script(name, *arguments)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stderr, message)
        self.assertNotIn("Traceback", done.stderr)

    def words(self, *arguments):
        """Returns the text of a page, whose figures are not written because that is slow."""
        figures = importlib.import_module("figures")
        with unittest.mock.patch.object(figures, "save", lambda made, *_: figures.pyplot.close(made)):
            target = self.succeeds("report.py", *arguments).strip()
        with open(target, encoding="utf-8") as file:
            return file.read()


class Plots(InDirectory):
    @classmethod
    def prepare(cls):
        femgpu("poisson.prm", cls.path("poisson"), "--refinements", "3")
        femgpu("bratu_2d.prm", cls.path("bratu"), "--refinements", "2")
        femgpu("bratu_branch.prm", cls.path("branch"), "--set", "Discretization/Degree=1", "--set",
               "Mesh/Initial refinements=2", "--set", "Continuation/Targets=1")

    def names(self, run, *arguments):
        lines = self.succeeds("plot.py", self.path(run), *arguments).splitlines()
        for line in lines:
            self.assertGreater(os.path.getsize(line), 1000)
        return [os.path.basename(line) for line in lines]

    def test_a_run_with_a_solution_has_errors_residuals_and_times(self):
        self.assertEqual(self.names("poisson"), ["convergence.svg", "quantities.svg", "residuals.svg",
                                                 "times.svg"])
        for name in "convergence.svg", "times.svg":
            root = xml.etree.ElementTree.parse(self.path("poisson", name)).getroot()
            self.assertTrue(root.tag.endswith("svg"))

    def test_a_run_without_one_has_its_quantities(self):
        self.assertEqual(self.names("bratu", "--format", "png"),
                         ["quantities.png", "residuals.png", "times.png"])

    def test_a_continuation_has_its_branch(self):
        self.assertEqual(self.names("branch", "--format", "pdf", "--only", "branch"), ["branch.pdf"])

    def test_the_same_numbers_give_the_same_bytes(self):
        for kind in "svg", "png", "pdf":
            texts = []
            for name in "first", "second":
                self.names("poisson", "--format", kind, "--output", self.path(name), "--only",
                           "convergence")
                with open(self.path(name, f"convergence.{kind}"), "rb") as file:
                    texts.append(file.read())
            self.assertEqual(texts[0], texts[1], kind)

    def test_all_quantities_are_drawn_on_as_many_pages_as_they_need(self):
        directory = self.path("many")
        shutil.copytree(self.path("bratu"), directory)
        long = "displacement_of_the_point_that_the_user_gave_a_name_of_more_than_seventy_letters u"
        edit_summary(directory, lambda summary: [
            cycle["quantities"].update({long: 1. + cycle["cycle"]}, **{f"q{i}": i for i in range(15)})
            for cycle in summary["cycles"]])
        self.assertEqual(self.names("many", "--only", "quantities"),
                         ["quantities.svg", "quantities_2.svg", "quantities_3.svg"])
        self.assertEqual(self.names("many", "--quantity", long), ["quantities.svg"])
        # The second page of an earlier call is removed.
        self.assertFalse(os.path.exists(self.path("many", "quantities_2.svg")))
        self.fails("the quantity 'nothing' is unknown; choose max u", "plot.py", directory,
                   "--quantity", "nothing")

    def test_cycles_that_are_no_solutions_are_marked(self):
        directory = self.path("unconverged")
        shutil.copytree(self.path("poisson"), directory)
        for outcome, is_marked in ("converged_to_rounding", False), ("stagnated", True):
            edit_summary(directory, lambda summary, word=outcome: summary["cycles"][-1]["solve"].update(
                outcome=word))
            drawn = self.names("unconverged", "--only", "convergence", "quantities", "residuals")
            for name in drawn:
                with open(self.path("unconverged", name), encoding="utf-8") as file:
                    self.assertEqual("not converged" in file.read(), is_marked, f"{name}, {outcome}")

    def test_what_a_run_has_no_numbers_for_is_an_error(self):
        self.fails("nothing to draw for branch", "plot.py", self.path("poisson"), "--only", "branch")
        self.fails("figure 'study' is not available", "plot.py", self.path("poisson"), "--only", "study")


class PageReader(html.parser.HTMLParser):
    """Counts tags, collects links, and checks that all tags are closed."""

    EMPTY = {"meta", "img", "br", "link", "wbr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.links, self.pictures = [], {}, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.count[tag] = self.count.get(tag, 0) + 1
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        if tag == "img":
            self.pictures.append(attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes nothing")


class Reports(InDirectory):
    @classmethod
    def prepare(cls):
        femgpu("poisson.prm", cls.path("poisson"), "--refinements", "2", "--set",
               "Poisson/Coefficient=1 + 0*(x < 0.5 && y > 0)")

    def page(self, *arguments):
        target = self.succeeds("report.py", *arguments).strip()
        with open(target, encoding="utf-8") as file:
            text = file.read()
        return text, PageReader(text)

    def test_a_page_without_pictures_is_whole_and_needs_no_network(self):
        text, reader = self.page(self.path("poisson"), "--no-pictures")
        self.assertEqual(reader.open, [])
        self.assertEqual(reader.count["h1"], 1)
        for target in reader.links:
            self.assertRegex(target, r"^(#s\d+$|data:image/|[\w.]+$)")
        for picture in reader.pictures:
            self.assertTrue(picture.get("alt"))
        for words in ("Parameters", "Mesh and convergence", "Solver", "Time and memory", "Files",
                      "How to repeat the run", "converged", "FE_Q&lt;2&gt;(1)"):
            self.assertIn(words, text)
        self.assertNotIn("src=\"http", text)
        self.assertFalse(os.path.exists(self.path("poisson", "report.html.partial")))

    def test_a_page_has_pictures(self):
        if not can_draw_fields():
            self.skipTest("VTK or an X server is missing")
        text, reader = self.page(self.path("poisson"), "--output", self.path("with.html"))
        self.assertTrue(any(picture["src"].startswith("data:image/png") for picture in reader.pictures))
        self.assertNotIn("No picture", text)

    def test_many_quantities_make_tables_longer_and_not_wider(self):
        directory = self.path("wide")
        shutil.copytree(self.path("poisson"), directory)
        names = [f"reaction_of_a_boundary_with_a_very_long_name_{i} x" for i in range(30)]
        edit_summary(directory, lambda summary: [
            cycle["quantities"].update(dict.fromkeys(names, 1.5)) for cycle in summary["cycles"]])
        text = self.words(directory, "--no-pictures")
        self.assertEqual(text.count("very_long_name_7 x"), text.count("very_long_name_0 x"))
        for header in re.findall("<thead>(.*?)</thead>", text, re.DOTALL):
            self.assertLess(header.count("<th "), 13)
            self.assertNotIn("very", header)

    def test_warnings_and_what_did_not_converge_are_said_at_the_top(self):
        directory = self.path("doubtful")
        shutil.copytree(self.path("poisson"), directory)

        def edit(summary):
            summary["warnings"] = ["Q1 cells <lock>."]
            summary["cycles"][0]["solve"]["outcome"] = "converged_to_rounding"
            summary["cycles"][1]["solve"]["outcome"] = summary["outcome"] = "iteration_limit"
            summary["cycles"][1].pop("quantities")
        edit_summary(directory, edit)
        text = self.words(directory, "--no-pictures")
        top = text[:text.index("<nav")]
        for words in "Q1 cells &lt;lock&gt;.", "Cycle 1 did not converge", "(not converged)":
            self.assertIn(words, top)
        self.assertIn('<span class="good">converged to rounding</span>', text)

    def test_text_of_the_user_is_escaped(self):
        text = self.words(self.path("poisson"), "--no-pictures")
        self.assertIn("(x &lt; 0.5 &amp;&amp; y &gt; 0)", text)
        with open(self.path("poisson", "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        os.mkdir(self.path("evil"))
        summary["changed_parameters"] = [{"name": "A/<b>", "value": "<script>x</script>",
                                          "default": "'\""}]
        summary["physics"] = "</title><script>"
        with open(self.path("evil", "summary.json"), "w", encoding="utf-8") as file:
            json.dump(summary, file)
        text, _ = self.page(self.path("evil"), "--no-pictures")
        self.assertNotIn("<script", text)

    def test_the_parameter_file_in_the_page_repeats_the_run(self):
        text = self.words(self.path("poisson"), "--no-pictures")
        found = re.search(r"<pre>(set .*?|subsection .*?)</pre>", text, re.DOTALL)
        with open(self.path("again.prm"), "w", encoding="utf-8") as file:
            file.write(html.unescape(found[1]))
        subprocess.run([FEMGPU, self.path("again.prm"), "--output", self.path("again"), "--quiet"],
                       check=True)
        tables = []
        for name in "poisson", "again":
            with open(self.path(name, "history.csv"), encoding="utf-8") as file:
                tables.append(file.read())
        self.assertEqual(tables[0], tables[1])


class Damaged(InDirectory):
    """Tests that every script reports errors and exits with 1."""

    @classmethod
    def prepare(cls):
        femgpu("poisson.prm", cls.path("good"), "--refinements", "2")

    def copy(self, name):
        shutil.copytree(self.path("good"), self.path(name))
        return self.path(name)

    def assert_both_fail(self, message, directory):
        self.fails(message, "plot.py", directory)
        self.fails(message, "report.py", directory, "--no-pictures")

    def test_no_directory(self):
        self.assert_both_fail("no such directory", self.path("nowhere"))

    def test_no_summary(self):
        os.mkdir(self.path("empty"))
        self.assert_both_fail("summary.json is missing", self.path("empty"))
        self.fails("no .pvd or .vtkhdf.series in it", "render.py", self.path("empty"))

    def test_a_run_that_was_killed_in_its_second_cycle(self):
        directory = self.copy("killed")

        def as_after_the_first_cycle(summary):
            summary.update(outcome="unfinished", stopped_by=None, cycles=summary["cycles"][:1])
        edit_summary(directory, as_after_the_first_cycle)
        self.succeeds("plot.py", directory)
        self.assertIn("The study is unfinished: it was interrupted or is still running. This page shows its first cycle.", self.words(directory))

    def test_a_study_over_parameters_that_was_killed(self):
        directory = self.path("killed study")
        femgpu("poisson.prm", directory, "--study", "Discretization/Degree=1,2", "--set",
               "Study/Cycles=1")
        path = os.path.join(directory, "study.json")
        with open(path, encoding="utf-8") as file:
            study = json.load(file)
        self.assertEqual(study["remaining"], 0)
        study["remaining"] = 3
        with open(path, "w", encoding="utf-8") as file:
            json.dump(study, file)
        self.assertIn("2 of 5", self.words(directory))

    def test_a_file_in_place_of_a_directory(self):
        self.assert_both_fail("not a directory", os.path.join(self.path("good"), "summary.json"))

    def test_a_report_says_why_a_study_ended_early(self):
        femgpu("poisson.prm", self.path("target"), "--set", "Study/Target error=1e-2", "--set",
               "Study/Target norm=L2")
        self.assertIn("The study stopped because the error reached Study/Target error.",
                      self.words(self.path("target"), "--no-pictures"))

    def test_half_a_summary(self):
        directory = self.copy("half")
        with open(os.path.join(directory, "summary.json"), "r+", encoding="utf-8") as file:
            file.truncate(500)
        self.assert_both_fail("summary.json: not valid JSON", directory)

    def test_a_summary_of_something_else(self):
        directory = self.copy("else")
        with open(os.path.join(directory, "summary.json"), "w", encoding="utf-8") as file:
            file.write('{"cycles": []}')
        self.assert_both_fail("no physics", directory)

    def test_a_broken_table(self):
        directory = self.copy("table")
        with open(os.path.join(directory, "history.csv"), "a", encoding="utf-8") as file:
            file.write("1,2\n")
        self.assert_both_fail(r"history\.csv:\d+: 2 fields", directory)
        with open(os.path.join(directory, "history.csv"), "w", encoding="utf-8") as file:
            file.write("cycle,iteration,residual\n0,0,much\n")
        self.assert_both_fail("are not numbers", directory)

    def test_a_missing_table_is_a_missing_figure(self):
        directory = self.copy("less")
        os.remove(os.path.join(directory, "history.csv"))
        self.assertNotIn("residuals", self.succeeds("plot.py", directory))
        self.words(directory, "--no-pictures")

    def test_half_a_vtu_file(self):
        if not can_draw_fields():
            self.skipTest("VTK or an X server is missing")
        directory = self.copy("vtu")
        with open(os.path.join(directory, "solution_001.000.vtu"), "r+b") as file:
            file.truncate(400)
        self.fails("solution_001", "render.py", directory)
        self.assertIn("No picture", self.words(directory))

    def test_a_vtu_file_that_is_not_what_the_run_says(self):
        if not importlib.util.find_spec("vtkmodules"):
            self.skipTest("VTK is missing")
        directory = self.copy("other")
        name = os.path.join(directory, "solution_001.000.vtu")
        shutil.copy(os.path.join(directory, "solution_000.000.vtu"), name)
        arguments = [os.path.join(directory, "solution.pvd")]
        self.succeeds("check_vtu.py", *arguments)
        self.fails("cells, but the run had", "check_vtu.py", *arguments, "--summary",
                   os.path.join(directory, "summary.json"))


class Studies(InDirectory):
    HEADER = ("Solver/Preconditioner,cycle,cells,dofs,h,outcome,nonlinear_iterations,"
              "linear_iterations,L2_error,L2_order,solve_seconds,total_seconds,directory\n")

    def study(self, name, lines):
        os.mkdir(self.path(name))
        with open(self.path(name, "study.csv"), "w", encoding="utf-8") as file:
            file.write(self.HEADER + "".join(lines))
        return self.path(name)

    def test_combinations_are_compared_over_dofs_and_on_one_mesh(self):
        lines = [f'"{name}",{cycle},{4**cycle},{5**cycle + 1},0.5,converged,0,{cycle + 3},'
                 f'{4.**-cycle},,0.1,0.2,"Preconditioner={name}"\n'
                 for name in ("jacobi", "fsai power=2, x") for cycle in range(3)]
        lines.append('"<ilu>",0,1,2,0.5,stagnated,0,9,,,0.1,0.2,Preconditioner=ilu\n')
        for name, some in ("several", lines), ("one", lines[2::3] + lines[-1:]):
            directory = self.study(name, some)
            said = self.succeeds("plot.py", directory, "--format", "png")
            self.assertEqual(os.path.basename(said.strip()), "study.png")
            page = self.succeeds("report.py", directory).strip()
            with open(page, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(PageReader(text).open, [])
            for words in "fsai power=2, x", "&lt;ilu&gt;", "stagnated":
                self.assertIn(words, text)

    def test_any_quantity_is_drawn_over_any_parameter(self):
        directory = self.path("quantities")
        os.mkdir(directory)
        with open(os.path.join(directory, "study.csv"), "w", encoding="utf-8") as file:
            file.write("Discretization/Degree,Solver/Solver,cycle,cells,dofs,outcome,linear_iterations,tip "
                       "u_y,tip u_y_difference,max u,L2_norm,total_seconds,directory\n")
            for degree in 1, 2:
                for solver, outcome in (("cg", "converged"), ("bicgstab", "stagnated")):
                    for cycle in 0, 1:
                        file.write(f"{degree},{solver},{cycle},4,{9 + cycle},{outcome},7,{degree}.5,,3,2,"
                                   f"0.1,d\n")

        def words(*arguments):
            name, = self.succeeds("plot.py", directory, *arguments).split()
            with open(name, encoding="utf-8") as file:
                return re.findall("<!-- (.*?) -->", file.read())

        said = words("--only", "quantities")  # x is the numeric parameter, the other gives curves
        for word in "tip u_y", "max u", "Degree", "cg", "bicgstab (no solution)", "not converged":
            self.assertIn(word, said)
        said = words("--quantity", "tip u_y", "--over", "solver")
        self.assertIn("Degree", said)
        self.assertNotIn("max u", said)
        self.assertIn("dofs", words("--quantity", "total_seconds", "--over", "dofs"))
        self.fails("'v' is unknown; choose tip u_y, max u", "plot.py", directory, "--quantity", "v")
        self.fails("'v' is unknown; choose Discretization/Degree, Solver/Solver, dofs", "plot.py",
                   directory, "--over", "v")
        with open(self.succeeds("report.py", directory).strip(), encoding="utf-8") as file:
            self.assertIn("<th scope=\"col\">tip u_<wbr>y</th>", file.read())

    def test_a_damaged_table_is_an_error(self):
        for name, text, message in (("none", "", "no lines"), ("short", "jacobi,0\n", "2 fields")):
            directory = self.study(name, [text])
            self.fails(message, "plot.py", directory)
            self.fails(message, "report.py", directory)


def main():
    if not importlib.util.find_spec("matplotlib"):
        print("skipped: no matplotlib")
        return SKIPPED
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    if result.testsRun and len(result.skipped) == result.testsRun and result.wasSuccessful():
        return SKIPPED
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
