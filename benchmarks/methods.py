#!/usr/bin/env python3
"""Runs femgpu-solve on model problems with many solvers and preconditioners, and writes a CSV file.

    benchmarks/methods.py --csv methods.csv                        # a GPU, less than three minutes
    benchmarks/methods.py --backend host --quick --csv methods.csv
    benchmarks/methods.py orsirr_1.mtx.gz steam1.mtx.gz --csv methods.csv

There are two groups, both with relative tolerance 1e-8 and x0 = 0:

spd          symmetric positive definite systems with conjugate gradients: cost and benefit of each
             preconditioner
unsymmetric  model problems and the given Matrix Market files with BiCGStab and sparse approximate
             inverses of growing pattern (the set-up of Dehnavi 2012, chapter 5), and with IDR(s),
             BiCGStab(l) and GMRES

Seconds are medians of --repeat solves in one process. The outcome is `timeout` for a run that
exceeds --timeout, `left out` for a run that was not started because --budget was spent, and
`failed` for a run that the program refused or that ended with an error. The least important runs
come last.

Exits with 1 if a run failed or timed out. Outcomes such as iteration_limit are valid results.
"""

import re
import sys

from collection import matrix_name
from runs import BudgetedRuns, exit_code_of, parser_of, results_of, write_csv

COLUMNS = ["group", "version", "git_revision", "backend", "device", "system", "n", "nonzeros",
           "solver", "preconditioner", "format", "outcome", "iterations", "restarts",
           "relative_residual", "setup_seconds", "solve_seconds", "us_per_iteration",
           "bytes_per_iteration", "gigabytes_per_second", "fraction_of_copy", "matrix_bytes",
           "preconditioner_nonzeros", "preconditioner_bytes", "remarks", "message"]

SPD_SYSTEMS = {False: ["poisson3d-7pt:100", "poisson3d-27pt:64", "elasticity3d-p1:23",
                       "anisotropic2d:512,0.01"],
               True: ["poisson3d-7pt:40", "poisson3d-27pt:24", "elasticity3d-p1:11",
                      "anisotropic2d:128,0.01"]}
UNSYMMETRIC_SYSTEMS = {False: ["convection-diffusion2d:512,1", "convection-diffusion2d:512,20",
                               "anisotropic2d:256,0.001"],
                       True: ["convection-diffusion2d:96,1", "convection-diffusion2d:96,20",
                              "anisotropic2d:64,0.001"]}
SPD_PRECONDITIONERS = ["identity", "jacobi", "block-jacobi", "chebyshev degree=4",
                       "chebyshev degree=8", "neumann degree=4", "fsai", "fsai power=2",
                       "fsai grow=2"]
UNSYMMETRIC_PRECONDITIONERS = ["identity", "jacobi", "sai tau=0.2", "sai tau=0.4", "sai tau=0.6",
                               "sai tau=0.8", "sai tau=1.0", "sai power=2", "sai power=3"]


def cases(options):
    """Yields the cases that --only selects."""
    for case in all_cases(options):
        if re.search(options.only, " ".join((case[0], matrix_name(case[1]), *case[2:]))):
            yield case


def all_cases(options):
    """Yields (group, system, solver, preconditioner) of all runs, the most important first."""
    spd = SPD_SYSTEMS[options.quick]
    unsymmetric = UNSYMMETRIC_SYSTEMS[options.quick] + options.files
    for system in spd:
        for preconditioner in SPD_PRECONDITIONERS:
            if preconditioner != "block-jacobi" or system.startswith("elasticity"):
                yield "spd", system, "pipelined-cg", preconditioner
    for system in unsymmetric:
        for preconditioner in UNSYMMETRIC_PRECONDITIONERS:
            yield "unsymmetric", system, "pipelined-bicgstab", preconditioner
    for system in spd:
        for preconditioner in "jacobi", "fsai":
            for solver in "cg", "chronopoulos-gear-cg":
                yield "spd", system, solver, preconditioner
    for system in unsymmetric:
        for preconditioner in UNSYMMETRIC_PRECONDITIONERS:
            yield "unsymmetric", system, "bicgstab", preconditioner
    for system in unsymmetric:
        for preconditioner in UNSYMMETRIC_PRECONDITIONERS:
            for solver in "idr", "idr s=8", "bicgstab-l", "gmres restart=100":
                yield "unsymmetric", system, solver, preconditioner


def command_of(options, system, solver, preconditioner, matrix_format):
    source = [system] if system in options.files else ["--generate", system]
    return [*source, "--solver", solver, "--preconditioner", preconditioner, "--format",
            matrix_format, "--relative-tolerance", "1e-8"]


def print_row(row):
    def text(column, form):
        return format(row[column], form) if row[column] != "" else "-"

    print(f"{row['system']:<29} {row['solver']:<21} {row['preconditioner']:<19} {row['format']:<8} "
          f"{row['outcome']:<15} {text('iterations', 'd'):>6} {text('setup_seconds', '.4f'):>9} "
          f"{text('solve_seconds', '.4f'):>9} {text('us_per_iteration', '.1f'):>9}  "
          f"{row['message']}".rstrip(), flush=True)


def run_all(options):
    def results(report, columns):
        solve = report["solve"]
        row = results_of(report, columns) | {"remarks": solve["preconditioner_remarks"]}
        if solve["iterations"] and options.copy_bandwidth:
            row["fraction_of_copy"] = solve["gigabytes_per_second"] / options.copy_bandwidth
        return row

    runs, rows = BudgetedRuns(options, COLUMNS), []
    print(f"{'system':<29} {'solver':<21} {'preconditioner':<19} {'format':<8} {'outcome':<15} "
          f"{'iter.':>6} {'setup s':>9} {'solve s':>9} {'us/iter':>9}")
    for matrix_format in options.format:
        for group, system, solver, preconditioner in cases(options):
            requested = {"group": group, "system": matrix_name(system), "solver": solver,
                     "preconditioner": preconditioner, "format": matrix_format}
            rows.append(runs.row(requested, command_of(options, system, solver, preconditioner,
                                                   matrix_format), results))
            print_row(rows[-1])
    print(f"{runs.seconds():.0f} s in all")
    return rows


def parse_command_line():
    parser = parser_of(__doc__, "femgpu-solve")
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE.mtx[.gz]", help="more systems for group unsymmetric")
    add("--format", nargs="+", default=["csr"], metavar="FORMAT", help="matrix formats (csr)")
    add("--quick", action="store_true", help="small systems, for a few cores")
    add("--only", default="", metavar="REGEX", help="only runs whose 'GROUP SYSTEM SOLVER "
        "PRECONDITIONER' matches, such as 'elasticity.*fsai'")
    BudgetedRuns.add_options(add, budget=170.)
    add("--copy-bandwidth", type=float, metavar="GB/S",
        help="copy bandwidth of the device, as femgpu_solver_check prints it; adds the column "
             "fraction_of_copy")
    return parser.parse_args()


def main():
    options = parse_command_line()
    rows = run_all(options)
    write_csv(options.csv, COLUMNS, rows, 6)
    return exit_code_of(rows)


if __name__ == "__main__":
    sys.exit(main())
