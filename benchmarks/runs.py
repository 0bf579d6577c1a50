"""Code shared by the benchmarks: command lines, runs of the programs, files and Markdown tables."""

import argparse
import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
NOT_CONVERGED = 3  # exit code
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


# Command lines

def parser_of(description, program=None, csv_required=False):
    """Returns a parser whose help shows @p description unchanged. It has --program if @p program
    names a default, and --csv unless @p csv_required is None."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if program:
        parser.add_argument("--program", default="build/bin/" + program, help="(%(default)s)")
    if csv_required is not None:
        parser.add_argument("--csv", metavar="FILE", required=csv_required, help="write all columns")
    return parser


def parse_with_arguments(parser):
    """Returns the parsed options. Their member `arguments` contains the words after --, which are
    passed to the program."""
    words, arguments = sys.argv[1:], []
    if "--" in words:
        at = words.index("--")
        words, arguments = words[:at], words[at + 1:]
    options = parser.parse_args(words)
    options.arguments = arguments
    return options


# Runs

def report_of(command, timeout=None):
    """Runs femgpu-solve. Returns its report (None if there is none), the outcome of a run without a
    report, and the messages on standard error."""
    try:
        run = subprocess.run([*command, "--json", "-"], capture_output=True, text=True, check=False,
                             timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, "timeout", f"took longer than {timeout:g} s"
    if run.returncode not in (0, NOT_CONVERGED) or not run.stdout:
        return None, "failed", run.stderr.strip() or f"exit status {run.returncode}"
    return json.loads(run.stdout), "", run.stderr.strip()


def converged_report(command):
    """Returns the report of femgpu-solve. Ends the script if the run fails or does not converge."""
    report, _, message = report_of(command)
    if not (report and report["succeeded"]):
        raise SystemExit(f"{' '.join(command)} has failed:\n{message}")
    return report


def results_of(report, columns):
    """Returns the values of @p columns in a report of femgpu-solve. Omits the methods, because
    tables show them as they were requested. Null, which a report contains for a number that is not
    finite, becomes an empty string."""
    solve, seconds = report["solve"], report["seconds"]
    results = {**report["matrix"], **solve, "version": report["version"]["femgpu"],
               "git_revision": report["version"]["git_revision"],
               "backend": report["backend"]["name"], "device": report["backend"]["description"],
               "setup_seconds": seconds["setup"], "solve_seconds": seconds["solve"],
               "message": "" if report["succeeded"] else solve["message"]}
    for method in "solver", "preconditioner", "scaling", "ordering", "format":
        results.pop(method, None)
    if not report["repeats_identical"]:
        results.update(outcome="failed", message="repeats are not identical")
    if solve["iterations"]:
        results["us_per_iteration"] = 1e6 * seconds["iteration"]
    if solve["rhs_norm"] and solve["true_residual"] is not None:
        results["relative_residual"] = solve["true_residual"] / solve["rhs_norm"]
    return {column: "" if results[column] is None else results[column]
            for column in columns if column in results}


class BudgetedRuns:
    """Runs femgpu-solve with a time limit per run and a budget for all runs."""

    def __init__(self, options, columns):
        self.options, self.columns, self.begin = options, columns, time.monotonic()
        self.last_environment = {}  # device and versions of the last report

    @staticmethod
    def add_options(add, budget=0.):
        """Declares the options of this class with @p add, a function like add_argument()."""
        add("--backend", default="cuda", help="host, cuda or cuda:K (%(default)s)")
        add("--repeat", type=int, default=3, metavar="N", help="solves of a run (%(default)s)")
        add("--timeout", type=float, default=60., metavar="S",
            help="time limit of a run in seconds (%(default)g)")
        add("--budget", type=float, default=budget, metavar="S",
            help="begin no run after S seconds; 0: no limit (%(default)g)")

    def row(self, requested, command, results=results_of):
        """Runs @p command unless the budget is spent. Returns a row: the values in @p requested,
        the outcome, and the values of @p results(report, columns)."""
        row, options = dict.fromkeys(self.columns, "") | self.last_environment | requested, self.options
        if options.budget and self.seconds() > options.budget:
            return row | {"outcome": "left out", "message": f"{options.budget:g} s were spent"}
        report, outcome, message = report_of(
            [options.program, *command, "--backend", options.backend, "--repeat",
             str(options.repeat)], options.timeout)
        row.update(outcome=outcome, message=message)
        if report:
            row.update(results(report, self.columns))
            self.last_environment = {name: row[name]
                               for name in ("version", "git_revision", "backend", "device")}
        return row

    def seconds(self):
        return time.monotonic() - self.begin


def exit_code_of(rows):
    """Returns 1 if there are no rows or if a run failed or timed out, otherwise 0."""
    return int(not rows or any(row["outcome"] in ("failed", "timeout") for row in rows))


def summary_of(command, settings, text=None, timeout=None):
    """Runs femgpu with `Section/Key=value` @p settings in a temporary directory. Returns its summary
    (None if there is none), and the error of a run whose exit code is not 0."""
    with tempfile.TemporaryDirectory() as directory:
        command = [*command, "--quiet", "--output", directory,
                   *(word for setting in settings for word in ("--set", setting))]
        try:
            run = subprocess.run(command, input=text, capture_output=True, text=True, check=False,
                                 timeout=timeout)
        except subprocess.TimeoutExpired:
            return None, f"not done after {timeout:.0f} s"
        failure = "" if run.returncode == 0 else (run.stderr.strip() or
                                                  f"exit status {run.returncode}")
        path = os.path.join(directory, "summary.json")
        if not os.path.exists(path):
            return None, failure
        with open(path, encoding="utf-8") as file:
            return json.load(file), failure


def completed_summary(command, settings):
    """Returns the summary of femgpu. Ends the script if the exit code is not 0."""
    summary, failure = summary_of(command, settings)
    if failure:
        raise SystemExit(f"{' '.join(command)} has failed:\n{failure}")
    return summary


def shipped(file):
    """Returns the path of a shipped parameter file."""
    return os.path.join(ROOT, "parameters", file)


def launcher(ranks):
    """Returns the command that starts @p ranks processes. The environment variable MPIRUN replaces
    the default, mpirun with options."""
    mpirun = os.environ.get("MPIRUN", "mpirun --oversubscribe --bind-to none")
    return [*mpirun.split(), "-n", str(ranks)]


# Files


@contextlib.contextmanager
def atomic_file(file):
    """Yields a stream to a temporary file, which is renamed to its final name at the end."""
    with open(file + ".partial", "w", encoding="utf-8", newline="") as stream:
        yield stream
    os.replace(file + ".partial", file)


def write_csv(file, columns, rows, digits=None):
    """Writes @p rows, which are dictionaries, as CSV; does nothing without a file name. Numbers that
    are not integers are rounded to @p digits digits, if given."""
    def text(value):
        return f"{value:.{digits}g}" if digits and isinstance(value, float) else value

    if not file:
        return
    with atomic_file(file) as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({column: text(value) for column, value in row.items()} for row in rows)


def markdown(header, rows, n_words=1):
    """Returns a table whose first @p n_words columns are text and whose others are numbers."""
    lines = [header, ["---"] * n_words + ["---:"] * (len(header) - n_words), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def number(value, digits=3):
    """Formats @p value with @p digits significant digits and no exponent; – for None."""
    if value is None:
        return "–"
    decimals = max(0, digits - 1 - int(f"{abs(value):e}".split("e")[1])) if value else 0
    return f"{value:,.{min(decimals, 4)}f}"


def pyplot():
    """Returns matplotlib.pyplot, or prints that it is missing and returns None."""
    try:
        import matplotlib  # imported here because tables do not need it
    except ImportError as error:
        print(f"{os.path.basename(sys.argv[0])}: no plots, {error}; install python3-matplotlib",
              file=sys.stderr)
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plots
    return plots
