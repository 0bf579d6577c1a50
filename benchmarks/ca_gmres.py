#!/usr/bin/env python3
"""Times restart cycles of CA-GMRES beside those of the other forms of GMRES.

A solve of many cycles less one of few, over the difference: so neither the first cycle, which makes
one vector at a time, nor what comes before a loop counts. Prints a table and writes a csv.
"""
import argparse
import json
import statistics
import subprocess
import sys

from runs import write_csv

REFERENCES = ["gmres restart={m}", "gmres restart={m} orthogonalisation=cgs",
              "pipelined-gmres restart={m}"]
COLUMNS = ["system", "n", "solver", "ms_a_restart", "gmres_times", "pipelined_times", "remarks",
           "execution"]


def solve(arguments, system, solver, iterations):
    """Seconds of a solve with so many iterations, and its report."""
    command = [arguments.program, "--generate", system, "--backend", arguments.backend,
               "--preconditioner", arguments.preconditioner, "--solver", solver,
               "--ordering", arguments.ordering, "--format", arguments.format,
               "--fixed-iterations", str(iterations), "--json", "-", "--quiet"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(result.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(command)}:\n{result.stderr}")
    if report["solve"]["iterations"] != iterations:
        raise ValueError(report["solve"]["message"])
    return report["seconds"]["solve"], report


def milliseconds(arguments, system, solver):
    """Of a restart: the median of some differences."""
    m, few, many = arguments.restart, 3, 3 + arguments.cycles
    times = []
    for _ in range(arguments.repeats):
        short = solve(arguments, system, solver, few * m)[0]
        long, report = solve(arguments, system, solver, many * m)
        times.append(1e3 * (long - short) / arguments.cycles)
    return statistics.median(times), report


def rows_of(arguments, system):
    """A row for each solver; the references first."""
    forms = " ".join(arguments.option)
    solvers = [text.format(m=arguments.restart) for text in REFERENCES]
    solvers += [f"ca-gmres restart={arguments.restart} s={s} {forms}".strip()
                for s in arguments.steps]
    times = {}
    for solver in solvers:
        try:
            times[solver], report = milliseconds(arguments, system, solver)
        except ValueError as error:
            print(f"{system:24} {solver}: {error}")
            continue
        yield {"system": system, "n": report["matrix"]["n"], "solver": solver,
               "ms_a_restart": f"{times[solver]:.4g}",
               "gmres_times": f"{times[solvers[0]] / times[solver]:.2f}",
               "pipelined_times": f"{times[solvers[2]] / times[solver]:.2f}"
                                  if solvers[2] in times else "",
               "remarks": report["solve"]["solver_remarks"],
               "execution": report["solve"]["execution"]}


def main():
    """Reads the command line, measures, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", nargs="+", help="generators of femgpu-solve")
    parser.add_argument("--program", default="build/bin/femgpu-solve")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--preconditioner", default="identity")
    parser.add_argument("--ordering", default="none")
    parser.add_argument("--format", default="csr")
    parser.add_argument("--restart", type=int, default=60)
    parser.add_argument("--steps", type=int, nargs="+", default=[5, 10, 15, 20], help="values of s")
    parser.add_argument("--option", nargs="*", default=[], help="others of ca-gmres: passes=1")
    parser.add_argument("--cycles", type=int, default=6, help="that are timed")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    rows = []
    for system in arguments.system:
        for row in rows_of(arguments, system):
            rows.append(row)
            print(f"{row['system']:24} {row['solver']:44} {row['ms_a_restart']:>8} ms a restart, "
                  f"gmres x {row['gmres_times']}, pipelined x {row['pipelined_times']}; "
                  f"{row['remarks']}", flush=True)
    if arguments.csv:
        write_csv(arguments.csv, COLUMNS, rows)


if __name__ == "__main__":
    main()
