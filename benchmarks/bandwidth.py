#!/usr/bin/env python3
"""Compares the speed of solvers with that of a plain copy. Runs femgpu-solve and writes a CSV file.

    benchmarks/bandwidth.py --copy 2990 --csv bandwidth.csv    # a GPU that copies 2990 GB/s
    benchmarks/bandwidth.py --copy 20 --backend host --size 40 --csv f.csv

femgpu-solve counts the bytes that an iteration reads and writes. The column `fraction` is the time
that these bytes would take at the copy bandwidth, divided by the measured time. The copy bandwidth
is measured by femgpu_speed and counts read and written bytes. Linear methods run a fixed number of
iterations; their time per iteration is the median time of --repeat solves divided by that number.
Nonlinear methods solve Bratu's problem, lambda = 6, to convergence. Exits with 1 if a run fails.
"""

import statistics
import sys

from runs import parser_of, report_of, write_csv

SYSTEM = "poisson3d-7pt:"
COLUMNS = ["device", "git_revision", "system", "n", "solver", "preconditioner", "format", "iterations",
           "us_per_iteration", "bytes_per_iteration", "copy_gb_per_s", "fraction_of_copy",
           "outcome", "remarks"]
SHORT = "sell columns=short"
LINEAR = [("pipelined-cg", "jacobi", SHORT), ("pipelined-cg", "jacobi", "csr"),
          ("chronopoulos-gear-cg", "fsai", SHORT), ("pipelined-cg", "fsai", SHORT),
          ("bicgstab", "sai", SHORT), ("pipelined-bicgstab", "sai", SHORT)]
BLOCKS = [1, 16, 256, 4096]  # numbers of blocks of ILU(0) in the nonlinear method


def runs(options):
    """Yields (solver, preconditioner, format, arguments) of all runs."""
    for solver, preconditioner, matrix_format in LINEAR:
        yield solver, preconditioner, matrix_format, [
            "--solver", solver, "--fixed-iterations", str(options.iterations)]
    nonlinear = ["--nonlinear", "bratu lambda=6", "--nonlinear-method", "nlcg"]
    yield "nlcg", "identity", SHORT, nonlinear
    yield "nlcg", "jacobi", SHORT, nonlinear
    for blocks in BLOCKS:
        yield "nlcg", f"ilu blocks={blocks}", SHORT, nonlinear


def measure(options, solver, preconditioner, matrix_format, arguments):
    """Returns a row of the table, or None if the program failed."""
    command = [options.program, "--generate", SYSTEM + str(options.size), "--preconditioner",
               preconditioner, "--format", matrix_format, "--backend", options.backend,
               "--repeat", str(options.repeat), *arguments]
    report, _, message = report_of(command)
    if not report:
        print(f"{solver} {preconditioner}: {message}", file=sys.stderr)
        return None
    solve = report["solve"]
    seconds = statistics.median(one["solve_seconds"] for one in report["repeats"])
    us = 1e6 * seconds / max(solve["iterations"], 1)
    at_copy_speed = solve["bytes_per_iteration"] / options.copy / 1e3
    return {"device": report["backend"]["description"],
            "git_revision": report["version"]["git_revision"],
            "system": SYSTEM + str(options.size), "n": report["matrix"]["n"], "solver": solver,
            "preconditioner": preconditioner, "format": matrix_format,
            "iterations": solve["iterations"], "us_per_iteration": f"{us:.2f}",
            "bytes_per_iteration": solve["bytes_per_iteration"], "copy_gb_per_s": options.copy,
            "fraction_of_copy": f"{at_copy_speed / us:.3f}", "outcome": solve["outcome"],
            "remarks": solve["preconditioner_remarks"]}


def main():
    parser = parser_of(__doc__, "femgpu-solve", csv_required=True)
    parser.add_argument("--copy", type=float, required=True, metavar="GB/s")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--size", type=int, default=144, help="points along an edge of the cube")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    rows = [measure(options, *run) for run in runs(options)]
    for row in filter(None, rows):
        print(f"{row['solver']:22}{row['preconditioner']:18}{row['us_per_iteration']:>12} us  "
              f"{100 * float(row['fraction_of_copy']):6.1f} %  {row['outcome']}")
    write_csv(options.csv, COLUMNS, filter(None, rows))
    return 0 if all(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
