#!/usr/bin/env python3
"""Compares the smoothers of multigrid on model problems.

    benchmarks/smoothers.py --csv smoothers.csv
    benchmarks/smoothers.py --generate poisson3d-7pt:100 --csv smoothers.csv -- --backend cuda

Solves to 1e-8 by conjugate gradients with multigrid cycles, or by GMRES for sai, whose cycles are
not symmetric. Costs are given per digit, which is a reduction of the true residual by a factor of
ten. They count the products of smoother, cycle and solver with the finest matrix, and the bytes of
the cycle on all levels and of the solver's product, divided by the bytes of the matrix. Seconds are
the least of several runs. Exits with 1 if a run fails.
"""

import math
import os
import re

from runs import converged_report, parse_with_arguments, parser_of, write_csv

PROBLEMS = ["poisson2d-9pt:256", "poisson3d-7pt:40", "anisotropic2d:256,0.01", "elasticity3d-p1:14"]
SMOOTHERS = ([f"chebyshev degree={degree}" for degree in (1, 2, 3, 4)] +
             [f"{name} degree={degree}" for name in ("l1-jacobi", "block-jacobi", "fsai", "sai")
              for degree in (1, 2)])
COLUMNS = ["problem", "n", "smoother", "cycle", "solver", "iterations", "products_per_digit",
           "bytes_per_digit", "setup_seconds", "solve_seconds", "outcome", "backend", "git_revision"]


def report_of(options, problem, smoother, cycle):
    solver = "gmres restart=100" if smoother.startswith("sai") else "pipelined-cg"
    return converged_report(
        [options.program, "--generate", problem, "--solver", solver, "--preconditioner",
         f"multigrid smoother={smoother} cycle={cycle}", "--relative-tolerance", "1e-8",
         *options.arguments])


def measure(options, problem, smoother, cycle):
    """Returns a row of the table."""
    row = {"problem": problem, "smoother": smoother, "cycle": cycle}
    for _ in range(options.runs):
        report = report_of(options, problem, smoother, cycle)
        solve, seconds = report["solve"], report["seconds"]
        digits = math.log10(solve["initial_residual"] / solve["true_residual"])
        per_cycle = 2 * int(re.search(r"degree=(\d+)", smoother).group(1)) + 1
        row.update(n=report["matrix"]["n"], solver=solve["solver"], iterations=solve["iterations"],
                   products_per_digit=round(solve["iterations"] * per_cycle / digits, 2),
                   bytes_per_digit=round(solve["iterations"] / digits *
                                         (solve["preconditioner_bytes"] / solve["matrix_bytes"] + 1),
                                         2),
                   outcome=solve["outcome"], backend=solve["backend"],
                   git_revision=report["version"]["git_revision"])
        for part in ("setup", "solve"):
            column = part + "_seconds"
            row[column] = min(row.get(column, math.inf), seconds[part])
        if seconds["setup"] > options.long:
            break
    print(*(row[column] for column in COLUMNS), sep=", ", flush=True)
    return row


def parse_command_line():
    parser = parser_of(__doc__, "femgpu-solve", csv_required=True)
    add = parser.add_argument
    add("--generate", nargs="+", default=PROBLEMS, metavar="PROBLEM", help="(%(default)s)")
    add("--runs", type=int, default=3, help="runs of each smoother (%(default)s)")
    add("--long", type=float, default=5.,
        help="seconds of set-up after which a smoother is not run again (%(default)s)")
    return parse_with_arguments(parser)


def main():
    options = parse_command_line()
    rows = [measure(options, problem, smoother, cycle) for problem in options.generate
            for smoother in SMOOTHERS for cycle in ("V", "W")]
    write_csv(options.csv, COLUMNS, rows)
    print(f"{len(rows)} rows in {os.path.relpath(options.csv)}")


if __name__ == "__main__":
    main()
