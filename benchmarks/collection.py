#!/usr/bin/env python3
"""Solves every matrix of a directory (*.mtx, *.mtx.gz) with the default methods and with others.

    benchmarks/collection.py matrices/ --csv collection.csv
    benchmarks/collection.py matrices/ --only default direct -- --backend cuda

Writes a line for each matrix and method combination: outcome, iterations, seconds of the whole
program, and backward error. `default` leaves the choice of methods to femgpu-solve; the other
combinations are fixed. b is the vector of row sums, x0 = 0; arguments after `--` are passed to
femgpu-solve. Finally prints how many matrices each combination has solved, by kind: symmetric with
a positive diagonal, other symmetric, and unsymmetric.

Exits with 1 if femgpu-solve ends in an unexpected way. Expected are a solution, a solve that does
not converge, and a refusal of the matrix or of the methods.
"""

import collections
import functools
import gzip
import json
import os
import re
import subprocess
import sys
import time

from runs import NOT_CONVERGED, parse_with_arguments, parser_of, write_csv

METHODS = {
    "default": "",
    "bicgstab jacobi": "--solver pipelined-bicgstab --preconditioner jacobi",
    "bicgstab sai": "--solver bicgstab --preconditioner sai",
    "idr jacobi balance": "--solver idr:s=8 --preconditioner jacobi --scaling balance",
    "bicgstab ilu matching": "--solver bicgstab --preconditioner ilu --scaling matching",
    "minres": "--solver minres --preconditioner identity",
    "direct": "--solver direct",
}
COLUMNS = ["matrix", "kind", "n", "nonzeros", "methods", "solved_by", "outcome", "iterations",
           "seconds", "backward_error", "message"]
REFUSED = (1, NOT_CONVERGED, 4)  # exit codes that are expected without a solution


def matrix_name(file):
    return re.sub(r"\.mtx(\.gz)?$", "", os.path.basename(file))


def matrices_in(directory):
    """Returns the matrix files in order of their names, without right-hand sides (files of format
    `array`)."""
    files = [os.path.join(directory, name) for name in os.listdir(directory)
             if re.search(r"\.mtx(\.gz)?$", name)]
    return sorted(file for file in files if " array " not in header_of(file))


def systems_of(options, is_wanted=lambda file: True):
    """Yields (name, arguments of femgpu-solve) of the selected files and generated systems."""
    files = matrices_in(options.directory) if options.directory else []
    return [(matrix_name(file), [file]) for file in files if is_wanted(file)] + [
        (name, ["--generate", name]) for name in options.generate]


def opened(file):
    with open(file, "rb") as stream:
        is_compressed = stream.read(2) == b"\x1f\x8b"
    return (gzip.open if is_compressed else open)(file, "rt", encoding="utf-8", errors="replace")


def header_of(file):
    with opened(file) as stream:
        return stream.readline().lower()


@functools.lru_cache(None)
def is_diagonal_positive(file):
    """Returns whether all n diagonal entries of a file are positive."""
    with opened(file) as stream:
        lines = (line.split() for line in stream if not line.startswith("%") and line.strip())
        n = int(next(lines)[0])
        return n == sum(1 for i, j, value in lines if i == j and float(value) > 0.)


def kind_of(file, is_symmetric):
    if not is_symmetric:
        return "unsymmetric"
    return "positive diagonal" if is_diagonal_positive(file) else "indefinite"


def arguments_of(methods):
    return [word.replace(":", " ") for word in METHODS[methods].split()]


def solved_by(report):
    solve = report["solve"]
    scaling = "" if solve["scaling"] == "none" else ", " + solve["scaling"]
    return f"{solve['solver']}, {solve['preconditioner']}{scaling}"


def solve(options, file, methods):
    """Returns a row of the table, and whether the program ended as expected."""
    row = dict.fromkeys(COLUMNS, "") | {"matrix": matrix_name(file), "methods": methods}
    start = time.monotonic()
    try:
        process = subprocess.run([options.program, file, *arguments_of(methods), *options.arguments,
                                  "--json", "-"], capture_output=True, text=True, check=False,
                                 timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return row | {"outcome": "timeout", "seconds": options.timeout}, True
    row.update(seconds=time.monotonic() - start, message=process.stderr.strip())
    if not process.stdout:
        return row | {"outcome": "refused"}, process.returncode in REFUSED
    report = json.loads(process.stdout)
    result = report["solve"]
    row.update(kind=kind_of(file, report["matrix"]["symmetric"]), n=report["matrix"]["n"],
               nonzeros=report["matrix"]["nonzeros"], solved_by=solved_by(report),
               outcome=result["outcome"], iterations=result["iterations"],
               backward_error=result["backward_error"])
    return row, process.returncode in (0, NOT_CONVERGED)


def print_row(row):
    seconds, error = (f"{row[key]:{form}}" if isinstance(row[key], float) else row[key]
                      for key, form in (("seconds", ".2f"), ("backward_error", ".1e")))
    print(f"{row['matrix']:<24.24} {row['n']:>7} {row['methods']:<22} {row['outcome']:<22} "
          f"{row['iterations']:>6} {seconds:>8} {error:>14}  {row['solved_by']}".rstrip(), flush=True)


def print_counts(rows):
    """Prints how many matrices of each kind each method combination has solved."""
    kinds = {row["matrix"]: row["kind"] for row in rows if row["kind"]}
    n_matrices = collections.Counter(kinds.values())
    solved = collections.Counter((row["methods"], row["kind"]) for row in rows
                                 if row["outcome"].startswith("converged"))
    for methods in dict.fromkeys(row["methods"] for row in rows):
        print(f"{methods}: " + ", ".join(f"{solved[methods, kind]} of {n} {kind}"
                                         for kind, n in sorted(n_matrices.items())))


def main():
    parser = parser_of(__doc__, "femgpu-solve")
    parser.add_argument("directory", help="directory with *.mtx and *.mtx.gz")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS),
                        metavar="METHODS", help=f"some of {', '.join(METHODS)}")
    parser.add_argument("--timeout", type=float, default=600.,
                        help="time limit of a run in seconds (%(default)s)")
    options = parse_with_arguments(parser)
    rows, is_well = [], True
    print_row(dict.fromkeys(COLUMNS, "") | {
        "matrix": "matrix", "n": "n", "methods": "methods", "outcome": "outcome",
        "iterations": "iter.", "seconds": "seconds", "backward_error": "backward error",
        "solved_by": "with"})
    for file in matrices_in(options.directory):
        for methods in options.only:
            row, ended_well = solve(options, file, methods)
            print_row(row)
            rows.append(row)
            is_well = is_well and ended_well
    print_counts(rows)
    write_csv(options.csv, COLUMNS, rows, digits=3)
    if not rows:
        print(f"no matrices in {options.directory}", file=sys.stderr)
    return 0 if rows and is_well else 1


if __name__ == "__main__":
    sys.exit(main())
