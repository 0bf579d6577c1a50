#!/usr/bin/env python3
"""Times restart cycles of CA-GMRES and of the other variants of GMRES.

The time of a cycle is the difference between the times of a solve with many cycles and a solve with
few, divided by the difference in the number of cycles. This excludes set-up and the first cycle of
CA-GMRES, which computes one basis vector at a time. Runs on one rank or several, with each
communicator and each variant of matrix powers. Prints a table and writes a CSV file. The
environment variable MPIRUN is the command that starts ranks.
"""
import itertools
import sys

from runs import launcher, parser_of, report_of, write_csv

REFERENCES = ["gmres restart={m}", "gmres restart={m} orthogonalisation=cgs",
              "pipelined-gmres restart={m}"]
COLUMNS = ["system", "n", "ranks", "communicator", "solver", "ms_a_restart", "gmres_times",
           "pipelined_times", "remarks", "execution"]


def places(arguments):
    """Yields (ranks, communicator) of each run."""
    for ranks in arguments.ranks:
        for communicator in arguments.communicators if ranks > 1 else ["auto"]:
            yield ranks, communicator


def solve(arguments, place, system, solver, iterations):
    """Returns the median seconds of a solve with @p iterations iterations, and its report."""
    ranks, communicator = place
    command = [*(launcher(ranks) if ranks > 1 else ()), arguments.program,
               "--communicator", communicator,
               "--generate", system, "--backend", arguments.backend,
               "--preconditioner", arguments.preconditioner, "--solver", solver,
               "--ordering", arguments.ordering, "--format", arguments.format,
               "--fixed-iterations", str(iterations), "--repeat", str(arguments.repeats), "--quiet"]
    report, _, message = report_of(command)
    if not report:
        sys.exit(f"{' '.join(command)}:\n{message}")
    if report["solve"]["iterations"] != iterations:
        raise ValueError(report["solve"]["message"])
    return report["seconds"]["solve"], report


def milliseconds(arguments, place, system, solver):
    """Returns the milliseconds of a restart cycle, and the report of the longer solve."""
    m, few, many = arguments.restart, 3, 3 + arguments.cycles
    short = solve(arguments, place, system, solver, few * m)[0]
    long, report = solve(arguments, place, system, solver, many * m)
    return 1e3 * (long - short) / arguments.cycles, report


def ratio(times, reference, solver):
    return f"{times[reference] / times[solver]:.2f}" if reference in times else ""


def rows_of(arguments, place, system):
    """Yields a row for each solver, the reference solvers first."""
    forms = " ".join(arguments.option)
    solvers = [text.format(m=arguments.restart) for text in REFERENCES]
    solvers += [f"ca-gmres restart={arguments.restart} s={s} powers={powers} {forms}".strip()
                for s in arguments.steps for powers in arguments.powers]
    times = {}
    for solver in solvers:
        try:
            times[solver], report = milliseconds(arguments, place, system, solver)
        except ValueError as error:
            print(f"{system:24} {solver}: {error}")
            continue
        yield {"system": system, "n": report["matrix"]["n"], "ranks": place[0],
               "communicator": report["solve"]["communicator"], "solver": solver,
               "ms_a_restart": f"{times[solver]:.4g}",
               "gmres_times": ratio(times, solvers[0], solver),
               "pipelined_times": ratio(times, solvers[2], solver),
               "remarks": report["solve"]["solver_remarks"],
               "execution": report["solve"]["execution"]}


def main():
    """Reads the command line, measures, and writes the table."""
    parser = parser_of(__doc__, "femgpu-solve")
    parser.add_argument("system", nargs="+", help="generators of femgpu-solve")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--preconditioner", default="identity")
    parser.add_argument("--ordering", default="none")
    parser.add_argument("--format", default="csr")
    parser.add_argument("--restart", type=int, default=60)
    parser.add_argument("--steps", type=int, nargs="+", default=[5, 10, 15, 20], help="values of s")
    parser.add_argument("--powers", nargs="+", default=["plain"], help="forms of matrix powers")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1])
    parser.add_argument("--communicators", nargs="+", default=["auto"], help="for several ranks")
    parser.add_argument("--option", nargs="*", default=[], help="more options of ca-gmres: passes=1")
    parser.add_argument("--cycles", type=int, default=6, help="number of timed cycles")
    parser.add_argument("--repeats", type=int, default=5, help="repeats of a solve; takes the median")
    arguments = parser.parse_args()
    rows = []
    for system, place in itertools.product(arguments.system, places(arguments)):
        for row in rows_of(arguments, place, system):
            rows.append(row)
            print(f"{row['system']:24} {row['ranks']} {row['communicator']:6} {row['solver']:56} "
                  f"{row['ms_a_restart']:>8} ms a restart, gmres x {row['gmres_times']}, "
                  f"pipelined x {row['pipelined_times']}; {row['remarks']}", flush=True)
    write_csv(arguments.csv, COLUMNS, rows)


if __name__ == "__main__":
    main()
