#!/usr/bin/env python3
"""Times femgpu-solve on one and several GPUs of a host: one rank per GPU.

A case is a system of fixed size (strong scaling) or of fixed size per GPU (weak scaling), and its
methods. pipelined-cg makes a fixed number of iterations, and its time is microseconds per iteration;
multigrid solves, and its time is the sum of set-up and solve in milliseconds. The last column
compares this time with that of one GPU: speed-up (strong), or efficiency in percent (weak).
Prints a table and writes a CSV file. The environment variable MPIRUN is the command that starts
ranks. Exits with 1 if a run fails, or if repeated solves differ in a bit.
"""
import itertools
import re
import sys

from runs import launcher, number, parser_of, report_of, write_csv

CG = ["--solver", "pipelined-cg", "--preconditioner", "jacobi", "--fixed-iterations", "400"]
MULTIGRID = ["--solver", "pipelined-cg", "--preconditioner", "multigrid"]
# Name: system for a number of GPUs, and methods. A system of fixed size does not depend on it.
CASES = {
    "q1-8M": (lambda gpus: "poisson3d-27pt:200", CG),
    "q1-1M": (lambda gpus: "poisson3d-27pt:100", CG),
    "fd3-17M": (lambda gpus: "poisson3d-7pt:256", CG),
    "p2d-1M": (lambda gpus: "poisson2d-5pt:1024", CG),
    "q1-8M-per-GPU": (lambda gpus: f"poisson3d-27pt:200x200x{200 * gpus}", CG),
    "multigrid-q1-8M-per-GPU": (lambda gpus: f"poisson3d-27pt:200x200x{200 * gpus}", MULTIGRID),
    "multigrid-q1-32M": (lambda gpus: "poisson3d-27pt:318", MULTIGRID),
}
COLUMNS = ["case", "system", "n", "gpus", "communicator", "execution", "outcome", "iterations",
           "setup_ms", "solve_ms", "us_per_iteration", "compared", "device_bytes", "device",
           "git_revision"]


def arguments():
    parser = parser_of(__doc__, "femgpu-solve")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help=f"some of {', '.join(CASES)}")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2, 4],
                        help="numbers of ranks; the first is the reference (1 2 4)")
    parser.add_argument("--communicators", nargs="+", default=["peers", "nccl", "mpi"],
                        help="for several GPUs (peers nccl mpi)")
    parser.add_argument("--backend", default="cuda", help="host tests the script (%(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="solves; takes the median (5)")
    parser.add_argument("--timeout", type=float, default=120., help="seconds of one run (120)")
    return parser.parse_args()


def is_weak(case):
    return "per-GPU" in case


def compared_time(row):
    """Returns the time that is compared with that of one GPU."""
    return row["us_per_iteration"] if "multigrid" not in row["case"] else (
        row["setup_ms"] + row["solve_ms"])


def measure(options, case, gpus, communicator):
    """Returns a row of the table, without the comparison."""
    make_system, methods = CASES[case]
    row = {"case": case, "system": make_system(gpus), "gpus": gpus, "communicator": communicator}
    command = [*(launcher(gpus) if gpus > 1 else ()), options.program, "--generate", row["system"],
               *methods, "--backend", options.backend, "--communicator", communicator,
               "--repeat", str(options.repeat), "--quiet"]
    report, outcome, message = report_of(command, options.timeout)
    if not report:
        print(f"{case} on {gpus}, {communicator}: {message}", file=sys.stderr)
        return row | {"outcome": outcome}
    solve, seconds = report["solve"], report["seconds"]
    is_done = report["succeeded"] and report["repeats_identical"]
    return row | {"n": report["matrix"]["n"], "communicator": solve["communicator"],
                  "execution": solve["execution"], "iterations": solve["iterations"],
                  "outcome": solve["outcome"] if is_done else "failed",
                  "setup_ms": 1e3 * seconds["setup"], "solve_ms": 1e3 * seconds["solve"],
                  "us_per_iteration": 1e6 * seconds["iteration"],
                  "device_bytes": report["peak_bytes"], "device": report["backend"]["description"],
                  "git_revision": report["version"]["git_revision"]}


def compare(row, reference):
    """Adds the comparison with @p reference, the row of the first number of GPUs."""
    if "n" in row and "n" in reference:
        ratio = compared_time(reference) / compared_time(row)
        row["compared"] = 100. * ratio if is_weak(row["case"]) else ratio


def line(row):
    if "n" not in row:
        return f"{row['case']:24} {row['gpus']} {row['communicator']:6} {row['outcome']}"
    unit = " %" if is_weak(row["case"]) else " times"
    return (f"{row['case']:24} {row['gpus']} {row['communicator']:6} {number(row['setup_ms']):>7} ms "
            f"+ {number(row['solve_ms']):>7} ms, {row['iterations']:>4} x "
            f"{number(row['us_per_iteration'], 4):>8} us, {number(row['compared'])}{unit}; "
            f"{row['execution']}")


def main():
    options = arguments()
    rows = []
    for case in CASES:
        if not re.search(options.only, case):
            continue
        reference = None
        for gpus, communicator in itertools.product(options.gpus, options.communicators):
            if gpus == 1 and communicator != options.communicators[0]:
                continue
            row = measure(options, case, gpus, communicator if gpus > 1 else "auto")
            reference = reference or row
            compare(row, reference)
            rows.append(row)
            print(line(row), flush=True)
            write_csv(options.csv, COLUMNS, rows, digits=4)
    return int(not rows or any(row["outcome"] in ("failed", "timeout") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
