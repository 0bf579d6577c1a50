#!/usr/bin/env python3
"""Compares the direct solver with multigrid on model problems.

    benchmarks/direct.py --csv direct.csv
    FEMGPU_CUDSS=…/libcudss.so.1 benchmarks/direct.py --csv direct.csv -- --backend cuda

Solves to 1e-10. Seconds are the least of several runs; those of `setup` include the factorisation.
The arguments after -- choose the backend: UMFPACK on the host, cuDSS on a GPU. A run that takes
longer than --timeout, or more memory than there is, ends with its message in the table.
"""

import math
import os

from runs import parse_with_arguments, parser_of, report_of, write_csv

PROBLEMS = ["poisson2d-5pt:256", "poisson2d-5pt:512", "poisson2d-5pt:1024", "poisson3d-7pt:32",
            "poisson3d-7pt:48", "poisson3d-7pt:64", "elasticity3d-p1:14", "elasticity3d-p1:23"]
METHODS = {"multigrid": ["--solver", "pipelined-cg", "--preconditioner", "multigrid"],
           "direct": ["--solver", "direct"]}
COLUMNS = ["problem", "n", "method", "outcome", "iterations", "setup_seconds", "solve_seconds",
           "peak_bytes", "backward_error", "remarks", "backend", "git_revision", "message"]


def measure(options, problem, method):
    """Returns a row of the table."""
    row = {"problem": problem, "method": method}
    for _ in range(options.runs):
        report, outcome, message = report_of(
            [options.program, "--generate", problem, *METHODS[method], "--relative-tolerance",
             "1e-10", *options.arguments], options.timeout)
        if not report:
            row.update(outcome=outcome, message=message)
            break
        solve = report["solve"]
        row.update(n=report["matrix"]["n"], outcome=solve["outcome"], iterations=solve["iterations"],
                   peak_bytes=report["peak_bytes"], backward_error=solve["backward_error"],
                   remarks=solve["solver_remarks"], backend=solve["backend"], message=message,
                   git_revision=report["version"]["git_revision"])
        for part in ("setup", "solve"):
            column = part + "_seconds"
            row[column] = min(row.get(column, math.inf), report["seconds"][part])
    print(*(row.get(column, "") for column in COLUMNS), sep=", ", flush=True)
    return row


def main():
    parser = parser_of(__doc__, "femgpu-solve", csv_required=True)
    parser.add_argument("--generate", nargs="+", default=PROBLEMS, metavar="PROBLEM",
                        help="(%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each method (%(default)s)")
    parser.add_argument("--timeout", type=float, default=300., metavar="S",
                        help="time limit of a run in seconds (%(default)g)")
    options = parse_with_arguments(parser)
    rows = [measure(options, problem, method) for problem in options.generate for method in METHODS]
    write_csv(options.csv, COLUMNS, rows)
    print(f"{len(rows)} rows in {os.path.relpath(options.csv)}")


if __name__ == "__main__":
    main()
