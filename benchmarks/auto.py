#!/usr/bin/python3
"""Compares the time of the preconditioner `auto` with the times of its possible choices.

    benchmarks/auto.py --csv auto.csv                                    # the host
    benchmarks/auto.py --backend cuda --csv auto_cuda.csv ../matrices/*.mtx.gz
    benchmarks/auto.py --only 'poisson|bracket' --femgpu '' --csv some.csv

Solves model problems of femgpu-solve and the shipped parameter files, each at three sizes, and the
given matrices. Uses pipelined-cg with each preconditioner, and the direct solver up to 50,000 rows.
Prints, for each system, the ratio of the time of `auto` to the best time, and finally the largest
ratio and how many ratios exceed 1.15.
"""

import os
import re
import statistics

from runs import parser_of, report_of, shipped, summary_of, write_csv

PRECONDITIONERS = ["auto", "jacobi", "fsai", "multigrid", "direct"]
MOST_ROWS_OF_DIRECT = 50000
# Model problems with their sizes; shipped parameter files with the refinements of their first mesh.
GENERATED = {"poisson2d-p1": (33, 129, 513), "poisson3d-7pt": (17, 41, 97),
             "poisson3d-27pt": (17, 41, 97), "elasticity3d-p1": (7, 17, 37)}
SHIPPED = {"poisson": (4, 6, 8), "poisson_3d": (3, 4, 5), "poisson_lshape_adaptive": (3, 5, 7),
           "poisson_materials": (3, 5, 7), "poisson_neumann": (3, 5, 7),
           "poisson_periodic": (3, 5, 7), "elasticity_bracket": (0, 1),
           "elasticity_cantilever": (0, 1, 2), "elasticity_cook": (3, 5, 7),
           "elasticity_kirsch": (3, 4, 6), "elasticity_lame": (1, 3, 5), "elasticity_le1": (0, 2, 4),
           "elasticity_thermal_twist": (0, 1, 2), "heat_radiation": (1, 2, 3),
           "bratu_2d": (4, 6, 8), "bratu_3d": (3, 4, 5)}


def solve_generated(options, arguments, preconditioner):
    """Returns rows, outcome, iterations, and seconds of set-up and solve; None without a report."""
    method = ["--solver", "direct", "--backend", "host"] if preconditioner == "direct" else \
        ["--solver", "pipelined-cg", "--preconditioner", preconditioner,
         "--backend", options.backend]
    report = report_of([options.femgpu_solve, *arguments, *method], timeout=600.)[0]
    if not report:
        return None
    return {"rows": report["matrix"]["n"], "outcome": report["outcome"],
            "iterations": report["solve"]["iterations"],
            "setup_seconds": report["seconds"]["setup"],
            "solve_seconds": report["repeats"][0]["solve_seconds"]}


def solve_shipped(options, arguments, preconditioner):
    """Returns rows, outcome, iterations, and seconds for the first cycle of a study."""
    name, refinements = arguments
    method = ["Solver/Solver=direct", "Solver/Backend=host"] if preconditioner == "direct" else \
        ["Solver/Solver=pipelined-cg", f"Solver/Preconditioner={preconditioner}",
         f"Solver/Backend={options.backend}"]
    settings = [*method, "Solver/Fallback=none", "Study/Cycles=1",
                f"Mesh/Initial refinements={refinements}"]
    summary = summary_of([options.femgpu, shipped(name + ".prm")], settings, timeout=600.)[0]
    if not summary:
        return None
    cycle = summary["cycles"][0]
    solve = cycle["solve"]
    linear = solve.get("linear_iterations", 0)
    return {"rows": cycle["dofs"], "outcome": solve["outcome"],
            "iterations": linear if linear else solve["iterations"],
            "setup_seconds": cycle["seconds"]["setup"],
            "solve_seconds": cycle["seconds"]["solve"]}


def systems(options):
    """Yields (name of a system, function that solves it, second argument of this function)."""
    if options.femgpu_solve:
        for name, sizes in GENERATED.items():
            for size in sizes:
                yield f"{name}:{size}", solve_generated, ["--generate", f"{name}:{size}"]
        for file in options.matrices:
            yield os.path.basename(file), solve_generated, [file]
    if options.femgpu:
        for name, refinements in SHIPPED.items():
            for number in refinements:
                yield f"{name}, {number} refinements", solve_shipped, (name, number)


def median_of(options, solve, arguments, preconditioner):
    runs = []
    for _ in range(options.runs):
        row = solve(options, arguments, preconditioner)
        if row is None:
            return None
        runs.append(row)
        if row["setup_seconds"] + row["solve_seconds"] > 5.:
            break
    runs.sort(key=lambda row: row["setup_seconds"] + row["solve_seconds"])
    return runs[(len(runs) - 1) // 2]


def compare(options):
    rows, ratios = [], {}
    for system, solve, arguments in systems(options):
        if not re.search(options.only, system):
            continue
        seconds, n_rows = {}, 0
        for preconditioner in options.preconditioners:
            if preconditioner == "direct" and n_rows > MOST_ROWS_OF_DIRECT:
                continue
            row = median_of(options, solve, arguments, preconditioner)
            if row is None:
                continue
            row = {"system": system, "backend": options.backend, "preconditioner": preconditioner,
                   **row}
            rows.append(row)
            n_rows = row["rows"]
            print(*row.values(), sep=", ", flush=True)
            if row["outcome"].startswith("converged"):
                seconds[preconditioner] = row["setup_seconds"] + row["solve_seconds"]
        if "auto" in seconds and len(seconds) > 1:
            best = min((name for name in seconds if name != "auto"), key=seconds.get)
            ratios[system] = seconds["auto"] / seconds[best]
            print(f"  {system}: auto takes {ratios[system]:.2f} times {best}", flush=True)
    if rows:
        write_csv(options.csv, list(rows[0]), rows, 4)
    if ratios:
        worst = max(ratios, key=ratios.get)
        print(f"median {statistics.median(ratios.values()):.2f}, largest {ratios[worst]:.2f} "
              f"({worst}); {sum(r > 1.15 for r in ratios.values())} of {len(ratios)} above 1.15")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("matrices", nargs="*", help="Matrix Market files")
    parser.add_argument("--femgpu", default="build/bin/femgpu",
                        help="the program; '' omits the shipped parameter files")
    parser.add_argument("--femgpu-solve", default="build/bin/femgpu-solve")
    parser.add_argument("--backend", default="host")
    parser.add_argument("--preconditioners", nargs="+", default=PRECONDITIONERS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="regular expression of systems")
    compare(parser.parse_args())


if __name__ == "__main__":
    main()
