#!/usr/bin/python3
"""Times iterations of femgpu-solve on the host, alone and with other programs using the cores.

    benchmarks/waiting.py --program build/bin/femgpu-solve --csv waiting.csv
    benchmarks/waiting.py --program build/bin/femgpu-solve --against OTHER/femgpu-solve

Solves by conjugate gradients and GMRES with as many threads as cores, with and without one busy
loop per core. Prints and writes the median and the least milliseconds of an iteration of each
program. The programs take turns, so that both run under the same load. Each run solves three times
and only the last solve counts, because the operating system takes some time to distribute new
threads over the cores.
"""

import os
import statistics
import subprocess
import sys

from runs import converged_report, parser_of, write_csv

CASES = [("poisson2d-p1:15", "pipelined-cg", 2000), ("poisson2d-p1:64", "pipelined-cg", 2000),
         ("poisson2d-p1:128", "pipelined-cg", 1000), ("poisson2d-p1:256", "pipelined-cg", 600),
         ("circuit:20000", "gmres", 400)]


def milliseconds(program, system, solver, iterations):
    """Returns the milliseconds of an iteration."""
    report = converged_report(
        [program, "--generate", system, "--solver", solver, "--preconditioner", "jacobi",
         "--backend", "host", "--fixed-iterations", str(iterations), "--repeat", "3"])
    return 1e3 * report["repeats"][-1]["solve_seconds"] / iterations


def measure(options, n_busy):
    """Returns the rows of the table."""
    programs = [options.program] + ([options.against] if options.against else [])
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_busy)]
    rows = []
    try:
        for system, solver, iterations in CASES:
            times = {program: [] for program in programs}
            for _ in range(options.runs):
                for program in programs:
                    times[program].append(milliseconds(program, system, solver, iterations))
            for program in programs:
                rows.append({"program": program, "system": system, "solver": solver,
                             "busy_loops": n_busy, "runs": options.runs,
                             "median_ms": f"{statistics.median(times[program]):.4f}",
                             "least_ms": f"{min(times[program]):.4f}"})
                print("  ".join(f"{value:<18}" for value in rows[-1].values()), flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return rows


def main():
    parser = parser_of(__doc__, "femgpu-solve")
    parser.add_argument("--against", help="another femgpu-solve to compare with")
    parser.add_argument("--runs", type=int, default=5, help="runs of each case (5)")
    parser.add_argument("--busy", type=int, default=len(os.sched_getaffinity(0)),
                        help="number of busy loops (default: one per core); 0 omits these runs")
    options = parser.parse_args()
    rows = measure(options, 0)
    if options.busy > 0:
        rows += measure(options, options.busy)
    write_csv(options.csv, list(rows[0]), rows)


if __name__ == "__main__":
    main()
