#!/usr/bin/env python3
"""Runs femgpu-solve on Bratu's problem with nonlinear methods and preconditioners.

    benchmarks/nonlinear.py --csv nonlinear.csv                     # a GPU
    benchmarks/nonlinear.py --backend host --sizes 24 --csv nonlinear.csv
    benchmarks/nonlinear.py --sizes 72 --method nlcg --blocks 16 64 --outer 1 2 --inner 1 2

Solves -Δu = 6 e^u in the unit cube, u = 0 on its boundary, by 7-point differences on SIZE^3
interior points, from x0 = 0 (the problem of Galiano et al. 2012). The preconditioners are identity,
jacobi, fsai, and the block two-stage method with every combination of --blocks, --outer, --inner
and --level, which the paper calls p, m, q and kappa.

Seconds are medians of --repeat solves in one process; the column `iterations` counts iterations of
the nonlinear method. The outcome is `timeout` for a run that exceeds --timeout, `left out` for a
run that was not started because --budget was spent, and `failed` for a run that the program refused
or that ended with an error.

Exits with 1 if a run failed or timed out. Outcomes such as iteration_limit are valid results.
"""

import itertools
import re
import sys

from runs import BudgetedRuns, exit_code_of, parser_of, results_of, write_csv

COLUMNS = ["version", "git_revision", "backend", "device", "n", "method", "preconditioner", "p", "m",
           "q", "kappa", "triangular", "outcome", "iterations", "linear_iterations",
           "line_search_steps",
           "setup_seconds", "solve_seconds", "seconds_per_iteration", "relative_residual", "max_u",
           "preconditioner_nonzeros", "preconditioner_bytes", "remarks", "message"]


def preconditioners(options):
    """Yields (argument of femgpu-solve, columns p, m, q and kappa) of all preconditioners."""
    for name in options.preconditioner:
        yield name, {}
    for p, m, q, kappa in itertools.product(options.blocks, options.outer, options.inner,
                                            options.level):
        for triangular in options.triangular:
            yield (f"two-stage blocks={p} outer={m} inner={q} level={kappa} "
                   f"triangular={triangular}",
                   {"p": p, "m": m, "q": q, "kappa": kappa, "triangular": triangular})


def cases(options):
    """Yields (size, method, preconditioner, columns p to kappa) of the runs that --only selects."""
    for size, method in itertools.product(options.sizes, options.method):
        for preconditioner, columns in preconditioners(options):
            if re.search(options.only, f"{size} {method} {preconditioner}"):
                yield size, method, preconditioner, columns


def command_of(options, size, method, preconditioner):
    return ["--generate", f"poisson3d-7pt:{size}", "--nonlinear",
            f"bratu lambda={options.parameter:g}", "--nonlinear-method", method, "--preconditioner",
            preconditioner, "--format", options.format, "--relative-tolerance",
            f"{options.tolerance:g}"]


def results(report, columns):
    """Returns the columns that a report determines."""
    solve, nonlinear = report["solve"], report["nonlinear"]
    row = {"linear_iterations": nonlinear["linear_iterations"],
           "line_search_steps": nonlinear["line_search_steps"], "max_u": nonlinear["largest_x"],
           "remarks": solve["preconditioner_remarks"]}
    if solve["iterations"]:
        row["seconds_per_iteration"] = report["seconds"]["iteration"]
    return results_of(report, columns) | {name: "" if value is None else value
                                          for name, value in row.items()}


def print_row(row):
    def text(column, form):
        return format(row[column], form) if row[column] != "" else "-"

    print(f"{row['n']:>8} {row['method']:<24} {row['preconditioner']:<44} {row['outcome']:<15} "
          f"{text('iterations', 'd'):>6} {text('linear_iterations', 'd'):>6} "
          f"{text('line_search_steps', 'd'):>6} {text('setup_seconds', '.4f'):>9} "
          f"{text('solve_seconds', '.4f'):>9} {text('max_u', '.6f'):>9}  {row['message']}".rstrip(),
          flush=True)


def run_all(options):
    runs, rows = BudgetedRuns(options, COLUMNS), []
    print(f"{'n':>8} {'method':<24} {'preconditioner':<44} {'outcome':<15} {'iter.':>6} "
          f"{'linear':>6} {'search':>6} {'setup s':>9} {'solve s':>9} {'max u':>9}")
    for size, method, preconditioner, columns in cases(options):
        requested = {**columns, "n": size**3, "method": method, "preconditioner": preconditioner}
        rows.append(runs.row(requested, command_of(options, size, method, preconditioner), results))
        print_row(rows[-1])
    print(f"{runs.seconds():.0f} s in all")
    return rows


def parse_command_line():
    parser = parser_of(__doc__, "femgpu-solve")
    add = parser.add_argument

    def integers(name, default, meaning):
        add(name, nargs="*", type=int, default=default, metavar="N", help=meaning)

    integers("--sizes", [72, 96, 144], "points in each direction (72 96 144)")
    add("--method", nargs="+", default=["nlcg", "newton"],
        help="nonlinear methods with options (nlcg newton)")
    add("--preconditioner", nargs="*", default=["identity", "jacobi", "fsai"], metavar="NAME",
        help="preconditioners other than two-stage (identity jacobi fsai)")
    integers("--blocks", [16, 256, 4096],
             "numbers of blocks p of two-stage; without a number, omits two-stage (16 256 4096)")
    integers("--outer", [1, 2], "numbers of outer steps m (1 2)")
    integers("--inner", [1, 2], "numbers of inner steps q (1 2)")
    integers("--level", [0, 1], "levels of fill kappa (0 1)")
    add("--triangular", nargs="+", default=["auto"], metavar="WAY",
        help="triangular solves: auto levels dependencies sweeps cusparse (auto)")
    add("--format", default="csr", help="matrix format (%(default)s)")
    add("--parameter", type=float, default=6., metavar="LAMBDA", help="(%(default)g)")
    add("--tolerance", type=float, default=1e-8, metavar="T",
        help="tolerance of the residual, relative to the residual at x = 0 (%(default)g)")
    add("--only", default="", metavar="REGEX",
        help="only runs whose 'SIZE METHOD PRECONDITIONER' matches, such as '72 nlcg.*level=0'")
    BudgetedRuns.add_options(add)
    return parser.parse_args()


def main():
    options = parse_command_line()
    rows = run_all(options)
    write_csv(options.csv, COLUMNS, rows, 8)
    return exit_code_of(rows)


if __name__ == "__main__":
    sys.exit(main())
