#!/usr/bin/env python3
"""Compares the iterations of femgpu-solve for a directory of matrices with known counts.

    benchmarks/known_counts.py --program build/bin/femgpu-solve matrices/ --table matrices/README.md
    benchmarks/known_counts.py matrices/ --preconditioner jacobi 'sai tau=0.8' --csv result.csv
    benchmarks/known_counts.py matrices/ -- --backend cuda --format sell --repeat 5

The set-up follows Dd13 (docs/papers.md): symmetric scaling, b = row sums of the scaled matrix,
x0 = 0, residual reduction 1e-5, at most 1000 iterations. Matrices whose file says `symmetric` are
solved by the methods of --solver, all other matrices by the methods of --unsymmetric-solver.
Arguments after `--` are passed to femgpu-solve. A table of known counts has a line for each matrix:
the first field is the name of the matrix, the last one the count, separated by | or commas. A count
of `> N` means that N iterations do not suffice. Counts are compared if the preconditioner is
`identity` and the solver is a variant of conjugate gradients.

Exits with 1 if a count differs from the known one by more than --tolerance, or if a run fails other
than by not converging.
"""

import math
import re
import sys

from collection import header_of, matrices_in, matrix_name
from runs import parse_with_arguments, parser_of, report_of, write_csv

SET_UP = ["--scaling", "symmetric", "--rhs", "row-sums", "--relative-to", "initial"]
COLUMNS = ["matrix", "n", "nonzeros", "solver", "preconditioner", "format", "backend", "outcome",
           "iterations", "known", "setup_seconds", "solve_seconds", "preconditioner_nonzeros",
           "true_residual", "target", "message"]


def read_table(file):
    """Returns {name of a matrix: count as text, digits or `> N`}."""
    known = {}
    with open(file, encoding="utf-8") as stream:
        for line in stream:
            cells = [cell.strip() for cell in re.split(r"[|,]", line.strip().strip("|"))]
            if len(cells) > 1 and re.fullmatch(r"(> ?)?\d+", cells[-1]):
                known[cells[0]] = cells[-1]
    return known


def solve(options, file, solver, preconditioner):
    """Returns a row of the table."""
    command = [options.program, file, "--solver", solver, "--preconditioner", preconditioner,
               *SET_UP, "--relative-tolerance", options.relative_tolerance, "--max-iterations",
               options.max_iterations, *options.arguments]
    report, outcome, message = report_of(command)
    row = dict.fromkeys(COLUMNS, "")
    row.update(matrix=matrix_name(file), solver=solver, preconditioner=preconditioner)
    if not report:
        return row | {"outcome": outcome, "message": message}
    for column in COLUMNS:
        for part in (report["solve"], report["matrix"]):
            if column in part and not row[column]:
                row[column] = part[column]
    row.update(setup_seconds=report["seconds"]["setup"], solve_seconds=report["seconds"]["solve"],
               message="" if report["succeeded"] else message)
    return row


def matches_reference(row, tolerance):
    converged = row["outcome"] == "converged"
    if row["known"].startswith(">"):
        return not converged
    known = int(row["known"])
    slack = max(1, math.ceil(tolerance * known))
    return converged and abs(row["iterations"] - known) <= slack


def verdict(row, options):
    """Returns the text printed after a row, and whether the row is correct."""
    if row["outcome"] == "failed":
        return row["message"], False
    if not row["known"]:
        return "", True
    is_right = matches_reference(row, options.tolerance)
    return f"known {row['known']}" + ("" if is_right else "  <- DIFFERS"), is_right


def print_row(row, text):
    seconds = row["solve_seconds"]
    seconds = f"{seconds:.4f}" if isinstance(seconds, float) else seconds
    print(f"{row['matrix']:<16} {row['n']:>8} {row['nonzeros']:>10} {row['solver']:<21} "
          f"{row['preconditioner']:<16} {row['outcome']:<15} {row['iterations']:>6} "
          f"{seconds:>9}  {text}".rstrip(), flush=True)


def run_all(options):
    """Runs and prints all cases. Returns the rows, and whether all of them are correct."""
    known = read_table(options.table) if options.table else {}
    rows, is_well = [], True
    print_row(dict.fromkeys(COLUMNS, "") | {
        "matrix": "matrix", "n": "n", "nonzeros": "entries", "solver": "solver",
        "preconditioner": "preconditioner", "outcome": "outcome", "iterations": "iter.",
        "solve_seconds": "seconds"}, "")
    for file in matrices_in(options.directory):
        is_symmetric = header_of(file).split()[-1] == "symmetric"
        for solver in options.solver if is_symmetric else options.unsymmetric_solver:
            for preconditioner in options.preconditioner:
                row = solve(options, file, solver, preconditioner)
                if preconditioner == "identity" and solver.split()[0].endswith("cg"):
                    row["known"] = known.get(row["matrix"], "")
                text, row_is_well = verdict(row, options)
                print_row(row, text)
                rows.append(row)
                is_well = is_well and row_is_well
    return rows, is_well


def parse_command_line():
    parser = parser_of(__doc__, "femgpu-solve")
    add = parser.add_argument
    add("directory", help="directory with *.mtx and *.mtx.gz")
    add("--solver", nargs="+", default=["cg"], help="solvers for symmetric matrices (cg)")
    add("--unsymmetric-solver", nargs="*", default=["pipelined-bicgstab"],
        help="solvers for all other matrices (pipelined-bicgstab); without a name, omits these")
    add("--preconditioner", nargs="+", default=["identity"], help="(identity)")
    add("--table", metavar="FILE", help="table of known counts")
    add("--tolerance", type=float, default=0.02,
        help="relative tolerance of known counts (%(default)s)")
    add("--relative-tolerance", default="1e-5", help="(%(default)s)")
    add("--max-iterations", default="1000", help="(%(default)s)")
    return parse_with_arguments(parser)


def main():
    options = parse_command_line()
    rows, is_well = run_all(options)
    write_csv(options.csv, COLUMNS, rows)
    if not rows:
        print(f"no matrices in {options.directory}", file=sys.stderr)
    return 0 if rows and is_well else 1


if __name__ == "__main__":
    sys.exit(main())
