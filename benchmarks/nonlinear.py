#!/usr/bin/env python3
"""Runs femgpu-solve over Bratu's problem with nonlinear methods and preconditioners; writes a CSV.

    benchmarks/nonlinear.py --csv nonlinear.csv                     # a GPU
    benchmarks/nonlinear.py --backend host --sizes 24 --csv nonlinear.csv
    benchmarks/nonlinear.py --sizes 72 --method nlcg --blocks 16 64 --outer 1 2 --inner 1 2

-Δu = 6 e^u in the unit cube, u = 0 on its boundary, by differences with 7 points on SIZE^3 inner
points, from x0 = 0 (the problem of Galiano et al. 2012). Preconditioners are identity, jacobi, fsai,
and the block two-stage method with every combination of --blocks, --outer, --inner and --level: the
paper's p, m, q and kappa.

Seconds are medians of --repeat solves in one process; an iteration is one of the nonlinear method. A
run that takes longer than --timeout has the outcome `timeout`, one that was not begun because --budget
was spent `left out`, and one that the program refused or could not do `failed`.

Exits with 1 if a run failed or took too long. Outcomes such as iteration_limit are results.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import time

from runs import write_csv

COLUMNS = ["version", "git_revision", "backend", "device", "n", "method", "preconditioner", "p", "m",
           "q", "kappa", "triangular", "outcome", "iterations", "linear_iterations",
           "line_search_steps",
           "setup_seconds", "solve_seconds", "seconds_per_iteration", "relative_residual", "max_u",
           "preconditioner_nonzeros", "preconditioner_bytes", "remarks", "message"]
NOT_CONVERGED = 3  # exit code


def preconditioners(options):
    """(text for femgpu-solve, columns p, m, q and kappa) of all preconditioners."""
    for name in options.preconditioner:
        yield name, {}
    for p, m, q, kappa in itertools.product(options.blocks, options.outer, options.inner,
                                            options.level):
        for triangular in options.triangular:
            yield (f"two-stage blocks={p} outer={m} inner={q} level={kappa} "
                   f"triangular={triangular}",
                   {"p": p, "m": m, "q": q, "kappa": kappa, "triangular": triangular})


def cases(options):
    """(size, method, preconditioner, its columns) of the runs that --only chooses."""
    for size, method in itertools.product(options.sizes, options.method):
        for preconditioner, columns in preconditioners(options):
            if re.search(options.only, f"{size} {method} {preconditioner}"):
                yield size, method, preconditioner, columns


def run_program(options, size, method, preconditioner):
    """The report of femgpu-solve, and an outcome and message where there is none."""
    command = [options.program, "--generate", f"poisson3d-7pt:{size}", "--nonlinear",
               f"bratu lambda={options.parameter:g}", "--nonlinear-method", method,
               "--preconditioner", preconditioner, "--format", options.format, "--backend",
               options.backend, "--relative-tolerance", f"{options.tolerance:g}",
               "--repeat", str(options.repeat), "--json", "-"]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False,
                                 timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return None, "timeout", f"took longer than {options.timeout:g} s"
    if process.returncode not in (0, NOT_CONVERGED) or not process.stdout:
        return None, "failed", process.stderr.strip()
    return json.loads(process.stdout), "", ""


def results_of(report):
    """The columns that a report gives. Numbers that are not finite are empty, as they are null."""
    solve, seconds, nonlinear = report["solve"], report["seconds"], report["nonlinear"]
    row = {"version": report["version"]["femgpu"],
           "git_revision": report["version"]["git_revision"],
           "backend": report["backend"]["name"], "device": report["backend"]["description"],
           "outcome": solve["outcome"], "iterations": solve["iterations"],
           "linear_iterations": nonlinear["linear_iterations"],
           "line_search_steps": nonlinear["line_search_steps"], "setup_seconds": seconds["setup"],
           "solve_seconds": seconds["solve"], "max_u": nonlinear["largest_x"],
           "preconditioner_nonzeros": solve["preconditioner_nonzeros"],
           "preconditioner_bytes": solve["preconditioner_bytes"],
           "remarks": solve["preconditioner_remarks"],
           "message": "" if report["succeeded"] else solve["message"]}
    if not report["repeats_identical"]:
        row.update(outcome="failed", message="repeats are not identical")
    if solve["iterations"]:
        row["seconds_per_iteration"] = seconds["iteration"]
    if solve["rhs_norm"] and solve["true_residual"] is not None:
        row["relative_residual"] = solve["true_residual"] / solve["rhs_norm"]
    return {column: "" if value is None else value for column, value in row.items()}


def print_row(row):
    def text(column, form):
        return format(row[column], form) if row[column] != "" else "-"

    print(f"{row['n']:>8} {row['method']:<24} {row['preconditioner']:<44} {row['outcome']:<15} "
          f"{text('iterations', 'd'):>6} {text('linear_iterations', 'd'):>6} "
          f"{text('line_search_steps', 'd'):>6} {text('setup_seconds', '.4f'):>9} "
          f"{text('solve_seconds', '.4f'):>9} {text('max_u', '.6f'):>9}  {row['message']}".rstrip(),
          flush=True)


def run_all(options):
    begin = time.monotonic()
    rows, best_known = [], {}  # device and versions of the last report
    print(f"{'n':>8} {'method':<24} {'preconditioner':<44} {'outcome':<15} {'iter.':>6} "
          f"{'linear':>6} {'search':>6} {'setup s':>9} {'solve s':>9} {'max u':>9}")
    for size, method, preconditioner, columns in cases(options):
        row = dict.fromkeys(COLUMNS, "") | best_known | columns
        row.update(n=size**3, method=method, preconditioner=preconditioner)
        if options.budget and time.monotonic() - begin > options.budget:
            row.update(outcome="left out", message=f"{options.budget:g} s were spent")
        else:
            report, outcome, message = run_program(options, size, method, preconditioner)
            row.update(outcome=outcome, message=message)
            if report:
                row.update(results_of(report))
                best_known = {column: row[column] for column in COLUMNS[:4]}
        print_row(row)
        rows.append(row)
    print(f"{time.monotonic() - begin:.0f} s in all")
    return rows


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument

    def integers(name, default, meaning):
        add(name, nargs="*", type=int, default=default, metavar="N", help=meaning)

    add("--program", default="build/bin/femgpu-solve", help="(%(default)s)")
    add("--backend", default="cuda", help="host, cuda or cuda:K (%(default)s)")
    integers("--sizes", [72, 96, 144], "points in each direction (72 96 144)")
    add("--method", nargs="+", default=["nlcg", "newton"], help="with options (nlcg newton)")
    add("--preconditioner", nargs="*", default=["identity", "jacobi", "fsai"], metavar="NAME",
        help="beside two-stage (identity jacobi fsai)")
    integers("--blocks", [16, 256, 4096], "p of two-stage; none: without it (16 256 4096)")
    integers("--outer", [1, 2], "m (1 2)")
    integers("--inner", [1, 2], "q (1 2)")
    integers("--level", [0, 1], "kappa (0 1)")
    add("--triangular", nargs="+", default=["auto"], metavar="WAY",
        help="how triangles are solved with: auto levels dependencies sweeps cusparse (auto)")
    add("--format", default="csr", help="matrix format (%(default)s)")
    add("--parameter", type=float, default=6., metavar="LAMBDA", help="(%(default)g)")
    add("--tolerance", type=float, default=1e-8, metavar="T",
        help="of the residual, relative to that at x = 0 (%(default)g)")
    add("--only", default="", metavar="REGEX",
        help="only runs in whose 'SIZE METHOD PRECONDITIONER' it is found, as '72 nlcg.*level=0'")
    add("--repeat", type=int, default=3, metavar="N", help="solves of a run (%(default)s)")
    add("--timeout", type=float, default=60., metavar="S", help="of a run (%(default)g)")
    add("--budget", type=float, default=0., metavar="S",
        help="begin no run after that; 0: no end (%(default)g)")
    add("--csv", metavar="FILE", help="write all columns")
    return parser.parse_args()


def main():
    options = parse_command_line()
    rows = run_all(options)
    if options.csv:
        write_csv(options.csv, COLUMNS, rows, 8)
    return 1 if any(row["outcome"] in ("failed", "timeout") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
