#!/usr/bin/env python3
"""Compares Jacobi sweeps with exact solves for the triangular factors of ILU.

    benchmarks/sweeps.py --program build/bin/femgpu-solve matrices/ --csv sweeps.csv
    benchmarks/sweeps.py --generate elasticity3d-p1:10 convection-diffusion2d:100,20
    benchmarks/sweeps.py matrices/ -- --backend cuda

One block is used, so that sweeps and exact solves have the same factors. The solver is pipelined-cg
if the file or the report says that the matrix is symmetric, otherwise pipelined-bicgstab; b = row
sums, x0 = 0, residual reduction 1e-8. The column `left` is the fraction of the residual that
remains after the sweeps for both factors, as the solver reports; `sweeps` is the number of sweeps,
empty for exact solves. Exits with 1 if a run fails other than by not converging.
"""

import re
import sys

from collection import systems_of
from runs import exit_code_of, parse_with_arguments, parser_of, report_of, write_csv

COLUMNS = ["matrix", "n", "nonzeros", "solver", "preconditioner", "sweeps", "left", "iterations",
           "outcome", "residual", "backend", "message"]
WAYS = ["triangular=levels", "triangular=sweeps", *(f"triangular=sweeps sweeps={count}"
                                                    for count in (3, 6, 12, 24))]


def measure(options, name, system, preconditioner):
    """Returns a row of the table."""
    row = dict.fromkeys(COLUMNS, "")
    row.update(matrix=name, preconditioner=preconditioner)
    report, outcome, message = report_of(
        [options.program, *system, "--preconditioner", preconditioner, "--rhs", "row-sums",
         "--relative-to", "initial", "--relative-tolerance", "1e-8", "--max-iterations",
         options.max_iterations, *options.arguments])
    if not report:
        return row | {"outcome": outcome, "message": message}
    solve, matrix = report["solve"], report["matrix"]
    remarks = solve.get("preconditioner_remarks", "")
    taken = re.search(r"triangles by (\d+) Jacobi sweeps", remarks)
    left = re.search(r"leaves? (\S+) of (?:a|the) residual", remarks)
    first = solve.get("initial_residual", 0.)
    row.update(n=matrix["n"], nonzeros=matrix["nonzeros"], solver=solve["solver"],
               sweeps=taken.group(1) if taken else "", left=left.group(1) if left else "",
               iterations=solve["iterations"], outcome=solve["outcome"],
               residual=f"{solve['true_residual'] / first:.1e}" if first else "",
               backend=solve["backend"])
    return row


def print_row(row):
    print(f"{row['matrix']:<28} {row['solver']:<18} {row['preconditioner']:<50} {row['sweeps']:>3} "
          f"{row['left']:>8} {row['iterations']:>6} {row['outcome']:<16} {row['residual']} "
          f"{row['message']}".rstrip(), flush=True)


def run_all(options):
    all_rows = []
    for name, system in systems_of(options):
        for level in options.levels:
            for way in WAYS:
                all_rows.append(measure(options, name, system, f"ilu level={level} blocks=1 {way}"))
                print_row(all_rows[-1])
    return all_rows


def parse_command_line():
    parser = parser_of(__doc__, "femgpu-solve")
    add = parser.add_argument
    add("directory", nargs="?", help="directory with *.mtx and *.mtx.gz")
    add("--generate", nargs="+", default=[], metavar="SYSTEM", help="additional model problems")
    add("--levels", nargs="+", default=["0", "1"], help="levels of fill (0 1)")
    add("--max-iterations", default="2000", help="(%(default)s)")
    return parse_with_arguments(parser)


def main():
    options = parse_command_line()
    rows = run_all(options)
    write_csv(options.csv, COLUMNS, rows)
    return exit_code_of(rows)


if __name__ == "__main__":
    sys.exit(main())
