#!/usr/bin/env python3
"""Runs femgpu-solve with variants of GMRES on several systems, compares them, and writes tables.

    benchmarks/gmres.py matrices/ convection-diffusion2d:512,20 circuit:200000 --csv gmres.csv
    benchmarks/gmres.py circuit:20000 --backend host --restart 30 60 --markdown gmres.md
    benchmarks/gmres.py matrices/ --restart 60 --steps 5 10 15 --basis monomial newton

A system is a Matrix Market file, a directory of such files, or a generator. In `restart=M` of a
solver, each number of --restart in turn replaces M. Every solver is compared with its reference,
`gmres` with the same restart. If both converge, their iteration counts may differ by --tolerance
or, for a solver that checks the residual once per block of s iterations, by s.

With --steps, the solvers are instead `ca-gmres` with every s of --steps and every basis of --basis,
and the Markdown table contains the iterations and the largest condition number of a basis that
the remarks of the solver report.

Seconds are medians of --repeat solves in one process. The outcome is `timeout` for a run that
exceeds --timeout, `left out` for a run that was not started because --budget was spent, and
`failed` for a run that the program refused or that ended with an error.

Exits with 1 if a run failed or timed out, or if an iteration count differs from the reference.
Outcomes such as iteration_limit are valid results.
"""

import math
import os
import re
import sys

from collection import matrices_in, matrix_name
from runs import BudgetedRuns, exit_code_of, markdown, parser_of, results_of, atomic_file, write_csv

COLUMNS = ["version", "git_revision", "backend", "device", "system", "n", "nonzeros", "solver",
           "preconditioner", "scaling", "ordering", "format", "outcome", "iterations", "restarts",
           "reference_iterations", "agrees", "true_residual", "relative_residual", "setup_seconds",
           "solve_seconds", "us_per_iteration", "basis_condition", "remarks", "message"]
NOT_ENDED = "failed", "timeout", "left out"
SOLVERS = ["gmres restart=M orthogonalisation=mgs", "gmres restart=M orthogonalisation=cgs",
           "gmres restart=M orthogonalisation=cgs2", "fgmres restart=M",
           "pipelined-gmres restart=M", "ca-gmres restart=M s=5 basis=monomial",
           "ca-gmres restart=M s=10 basis=newton"]
NUMBER = r"([0-9.]+(?:e[-+]?[0-9]+)?|inf(?:inity)?)\b"


def systems_of(options):
    """Returns the files and generators, with directories expanded."""
    for system in options.systems:
        if os.path.isdir(system):
            yield from matrices_in(system)
        else:
            yield system


def solvers_of(options):
    """Returns all solvers with each restart."""
    texts = options.solver
    if options.steps:
        texts = [f"ca-gmres restart=M s={s} basis={basis}{''.join(' ' + o for o in options.option)}"
                 for basis in options.basis for s in options.steps]
    for text in texts:
        if "restart=M" not in text:
            yield text
            continue
        for restart in options.restart:
            if step_of(text) <= restart:
                yield text.replace("restart=M", f"restart={restart}")


def restart_of(solver):
    found = re.search(r"\brestart=([0-9]+)", solver)
    return found.group(1) if found else ""


def step_of(solver):
    """Returns s of a method with blocks of s iterations, otherwise 1."""
    found = re.search(r" s=([0-9]+)", solver)
    return int(found.group(1)) if found else 1


def reference_of(solver):
    restart = restart_of(solver)
    return "gmres restart=" + restart if restart else "gmres"


def command_of(options, system, solver):
    source = [system] if os.path.exists(system) else ["--generate", system]
    return [*source, "--solver", solver, "--preconditioner", options.preconditioner, "--scaling",
            options.scaling, "--ordering", options.ordering, "--format", options.format,
            "--relative-tolerance", options.relative_tolerance, "--max-iterations",
            options.max_iterations, *(["--rhs", options.rhs] if options.rhs else [])]


def condition_in(remarks):
    """Returns the largest condition number in remarks such as `basis condition 1e7`, or ''."""
    found = re.findall(r"condition[^0-9,;]*?" + NUMBER, remarks.lower())
    return max(map(float, found)) if found else ""


def results(report, columns):
    """Returns the values of @p columns, and two results from the remarks of the solver."""
    remarks = report["solve"].get("solver_remarks") or ""
    return results_of(report, columns) | {"basis_condition": condition_in(remarks),
                                          "remarks": remarks}


def agreement(row, reference, tolerance):
    """Returns `yes`, `no`, or why counts cannot be compared; '' if a run failed or timed out."""
    if row["outcome"] in NOT_ENDED or reference["outcome"] in NOT_ENDED:
        return ""
    converged = [other["outcome"] == "converged" for other in (row, reference)]
    if not all(converged):
        return "reference alone" if converged[1] else "alone" if converged[0] else "neither"
    slack = max(1, step_of(row["solver"]), math.ceil(tolerance * reference["iterations"]))
    return "yes" if abs(row["iterations"] - reference["iterations"]) <= slack else "no"


class Runs:
    """Runs each pair of system and solver once."""

    def __init__(self, options):
        self.options, self.runs = options, BudgetedRuns(options, COLUMNS)
        self.known = {}  # (system, solver) -> row

    def row(self, system, solver):
        options = self.options
        if (system, solver) not in self.known:
            requested = {"system": matrix_name(system), "solver": solver,
                     **{name: getattr(options, name)
                        for name in ("preconditioner", "scaling", "ordering", "format")}}
            self.known[system, solver] = self.runs.row(requested, command_of(options, system, solver),
                                                       results)
        return dict(self.known[system, solver])

    def compared_row(self, system, solver):
        row, reference = self.row(system, solver), self.row(system, reference_of(solver))
        row.update(reference_iterations=reference["iterations"],
                   agrees=agreement(row, reference, self.options.tolerance))
        return row


def text_of(row, column, form):
    return format(row[column], form) if row[column] != "" else "-"


def print_row(row):
    print(f"{row['system']:<30} {row['solver']:<44} {row['outcome']:<15} "
          f"{text_of(row, 'iterations', 'd'):>6} {text_of(row, 'reference_iterations', 'd'):>6} "
          f"{row['agrees']:<15} {text_of(row, 'relative_residual', '.2e'):>9} "
          f"{text_of(row, 'solve_seconds', '.4f'):>9} {text_of(row, 'basis_condition', '.1e'):>8}  "
          f"{row['message']}".rstrip(), flush=True)


def run_all(options):
    runs, rows = Runs(options), []
    print(f"{'system':<30} {'solver':<44} {'outcome':<15} {'iter.':>6} {'gmres':>6} {'agrees':<15} "
          f"{'residual':>9} {'solve s':>9} {'cond.':>8}")
    for system in systems_of(options):
        for solver in solvers_of(options):
            row = runs.compared_row(system, solver)
            print_row(row)
            rows.append(row)
    print(f"{runs.runs.seconds():.0f} s in all")
    return rows


def solver_table(rows):
    """Returns a Markdown table with a line for each run."""
    lines = [[row["system"], f"`{row['solver']}`", row["outcome"],
              text_of(row, "iterations", "d"), text_of(row, "reference_iterations", "d"),
              row["agrees"], text_of(row, "restarts", "d"), text_of(row, "true_residual", ".2e"),
              text_of(row, "solve_seconds", ".4f")] for row in rows]
    return markdown(["system", "solver", "outcome", "iterations", "of `gmres`", "agrees",
                     "restarts", "true residual", "seconds"], lines, 3)


def basis_cell(row):
    """Returns `iterations (condition)`, preceded by the outcome if the run did not converge."""
    outcome = "" if row["outcome"] == "converged" else row["outcome"] + " "
    return f"{outcome}{text_of(row, 'iterations', 'd')} ({text_of(row, 'basis_condition', '.1e')})"


def basis_table(rows):
    """Returns a Markdown table with a line for each system, restart and basis, and a column per s."""
    steps = sorted({step_of(row["solver"]) for row in rows})
    cells = {}
    for row in rows:
        basis = re.search(r"\bbasis=(\S+)", row["solver"]).group(1)
        key = (row["system"], restart_of(row["solver"]), basis,
               text_of(row, "reference_iterations", "d"))
        cells.setdefault(key, {})[step_of(row["solver"])] = basis_cell(row)
    lines = [[*key, *(line.get(s, "-") for s in steps)] for key, line in cells.items()]
    return markdown(["system", "restart", "basis", "`gmres`", *(f"s = {s}" for s in steps)], lines, 3)


def declare_method(add):
    add("--preconditioner", default="identity", metavar="TEXT", help="(%(default)s)")
    add("--scaling", default="balance", metavar="NAME", help="(%(default)s)")
    add("--ordering", default="none", metavar="TEXT", help="(%(default)s)")
    add("--format", default="csr", metavar="TEXT", help="matrix format (%(default)s)")
    add("--rhs", default="", metavar="TEXT", help="right-hand side of all systems")
    add("--relative-tolerance", default="1e-8", metavar="T", help="(%(default)s)")
    add("--max-iterations", default="5000", metavar="N", help="(%(default)s)")


def parse_command_line():
    parser = parser_of(__doc__, "femgpu-solve")
    add = parser.add_argument
    add("systems", nargs="+", metavar="SYSTEM", help="FILE.mtx[.gz], a directory, or a generator")
    add("--solver", nargs="+", default=SOLVERS, metavar="TEXT",
        help="solvers with options (" + "; ".join(SOLVERS) + ")")
    add("--restart", nargs="+", type=int, default=[30], metavar="M", help="restart lengths (30)")
    add("--steps", nargs="+", type=int, default=[], metavar="S",
        help="values of s of ca-gmres, see above")
    add("--basis", nargs="+", default=["monomial", "newton"], metavar="NAME",
        help="bases of ca-gmres with --steps (monomial newton)")
    add("--option", nargs="+", default=[], metavar="NAME=VALUE",
        help="more options of ca-gmres with --steps")
    declare_method(add)
    add("--tolerance", type=float, default=0.1,
        help="relative tolerance of iteration counts (%(default)g)")
    BudgetedRuns.add_options(add)
    add("--markdown", metavar="FILE", help="write a table")
    return parser.parse_args()


def main():
    options = parse_command_line()
    rows = run_all(options)
    write_csv(options.csv, COLUMNS, rows, 6)
    if options.markdown:
        table = basis_table if options.steps else solver_table
        with atomic_file(options.markdown) as stream:
            stream.write(table(rows))
    return 1 if exit_code_of(rows) or any(row["agrees"] == "no" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
