#!/usr/bin/env python3
"""Compares AINV and SAINV with FSAI and IC(0) for the symmetric matrices of a directory.

    benchmarks/ainv.py --program build/bin/femgpu-solve matrices/ --csv ainv.csv
    benchmarks/ainv.py --unsymmetric matrices/ --generate convection-diffusion2d:200,20
    benchmarks/ainv.py matrices/ --generate poisson3d-7pt:80 -- --backend cuda

The set-up follows Dd13 (docs/papers.md): symmetric scaling, b = row sums of the scaled matrix,
x0 = 0, residual reduction 1e-5. The column `entries` counts one triangular factor including its
diagonal. With --unsymmetric, the script solves all other matrices with pipelined-bicgstab, scaling
`balance` and tolerance 1e-8, and compares with SAI and ILU(0); `entries` then counts both factors.
In a row of fsai, `beside` names the variants of SAINV for which this variant of fsai has the
closest number of entries. Seconds are the least of several runs. Exits with 1 if a run fails other
than by not converging.
"""

import math
import re
import sys

from collection import header_of, systems_of
from known_counts import SET_UP
from runs import exit_code_of, parse_with_arguments, parser_of, report_of, write_csv

COLUMNS = ["matrix", "n", "nonzeros", "preconditioner", "beside", "entries", "rounds", "iterations",
           "outcome", "setup_seconds", "solve_seconds", "backend", "message"]
DROPS = ["0.1", "0.01"]
INVERSES = [f"{name} drop={drop}" for drop in DROPS for name in ("sainv", "ainv")]
BLOCKS = [f"sainv drop={drop} blocks=8 partition=metis" for drop in DROPS]
NATURAL = ["sainv drop=0.1 order=natural", "sainv drop=0.1 order=natural scaling=none"]
UNSYMMETRIC = ["identity", "sai", "sai power=2", "ilu blocks=1", *INVERSES]
FSAI = ["fsai tau=0.3", "fsai tau=0.6", "fsai tau=0.9", "fsai", "fsai tau=0.9 power=2",
        "fsai power=2", "fsai power=3", "fsai grow=1 drop=0.1", "fsai grow=2 drop=0.1",
        "fsai grow=2 drop=0.05", "fsai grow=3 drop=0.02"]


def command_of(options, system, preconditioner):
    set_up = ["--solver", "cg", *SET_UP, "--relative-tolerance", "1e-5"]
    if options.unsymmetric:
        set_up = ["--solver", "pipelined-bicgstab", "--scaling", "balance", "--rhs", "row-sums",
                  "--relative-to", "initial", "--relative-tolerance", "1e-8"]
    return [options.program, *system, "--preconditioner", preconditioner, *set_up,
            "--max-iterations", options.max_iterations, *options.arguments]


def measure(options, name, system, preconditioner):
    """Returns a row of the table."""
    row = dict.fromkeys(COLUMNS, "")
    row.update(matrix=name, preconditioner=preconditioner)
    for _ in range(options.runs):
        report, outcome, message = report_of(command_of(options, system, preconditioner))
        if not report:
            return row | {"outcome": outcome, "message": message}
        solve, seconds = report["solve"], report["seconds"]
        n, entries = report["matrix"]["n"], solve.get("preconditioner_nonzeros", 0)
        rounds = re.search(r"(\d+) rounds", solve.get("preconditioner_remarks", ""))
        row.update(n=n, nonzeros=report["matrix"]["nonzeros"], iterations=solve["iterations"],
                   entries=(entries + n) // 2 if preconditioner.startswith("ic") else entries,
                   rounds=rounds.group(1) if rounds else "", outcome=solve["outcome"],
                   backend=solve["backend"])
        for column, part in (("setup_seconds", "setup"), ("solve_seconds", "solve")):
            row[column] = min(row[column] or math.inf, seconds[part])
    return row


def mark_nearest(rows):
    """Marks, for each variant of SAINV, the variant of fsai with the closest number of entries."""
    forms = [row for row in rows if row["preconditioner"] in FSAI and row["entries"]]
    for inverse in (f"sainv drop={drop}" for drop in DROPS):
        wanted = next((row["entries"] for row in rows if row["preconditioner"] == inverse), "")
        if wanted and forms:
            nearest = min(forms, key=lambda row: abs(math.log(row["entries"] / wanted)))
            nearest["beside"] = (nearest["beside"] + ", " if nearest["beside"] else "") + inverse


def print_row(row):
    seconds = [f"{row[column]:.4f}" if row[column] != "" else ""
               for column in ("setup_seconds", "solve_seconds")]
    print(f"{row['matrix']:<18} {row['preconditioner']:<44} {row['entries']:>9} {row['rounds']:>6} "
          f"{row['iterations']:>6} {seconds[0]:>10} {seconds[1]:>10} {row['outcome']:<16} "
          f"{row['beside']} {row['message']}".rstrip(), flush=True)


def run_all(options):
    systems = systems_of(options, lambda file: (header_of(file).split()[-1] == "symmetric") !=
                         options.unsymmetric)
    methods = UNSYMMETRIC if options.unsymmetric else ["identity", "ic blocks=1", *INVERSES, *BLOCKS,
                                                       *NATURAL, *FSAI]
    all_rows = []
    for name, system in systems:
        rows = [measure(options, name, system, preconditioner) for preconditioner in methods]
        mark_nearest(rows)
        for row in rows:
            print_row(row)
        all_rows += rows
    return all_rows


def parse_command_line():
    parser = parser_of(__doc__, "femgpu-solve")
    add = parser.add_argument
    add("directory", nargs="?", help="directory with *.mtx and *.mtx.gz")
    add("--generate", nargs="+", default=[], metavar="SYSTEM", help="additional model problems")
    add("--unsymmetric", action="store_true", help="solve the matrices that are not symmetric")
    add("--max-iterations", default="2000", help="(%(default)s)")
    add("--runs", type=int, default=1, help="runs of each method (%(default)s)")
    return parse_with_arguments(parser)


def main():
    options = parse_command_line()
    rows = run_all(options)
    write_csv(options.csv, COLUMNS, rows)
    return exit_code_of(rows)


if __name__ == "__main__":
    sys.exit(main())
