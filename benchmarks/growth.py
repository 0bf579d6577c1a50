#!/usr/bin/env python3
"""Compares how multigrid iterations grow with mesh refinement for two kinds of coarse levels.

    benchmarks/growth.py --csv growth.csv
    benchmarks/growth.py --only poisson.prm --csv growth.csv -- --backend cuda

Solves each parameter file on a coarse and on a fine mesh, from 0 to a relative residual of 1e-8.
The coarse levels of multigrid are either coarser meshes and lower degrees where available (auto),
or aggregates only. For nonlinear problems, the count is the mean number of iterations per linear
system at the accuracy that Newton's method requests. Exits with 1 if a run fails.
"""

import os

from runs import completed_summary, parse_with_arguments, parser_of, write_csv

# File, degree, refinements of the coarse and of the fine mesh.
CASES = [("poisson.prm", 1, 5, 9), ("poisson.prm", 2, 4, 8), ("poisson.prm", 4, 3, 7),
         ("poisson_3d.prm", 1, 3, 6), ("poisson_3d.prm", 2, 2, 5), ("poisson_3d.prm", 4, 1, 4),
         ("poisson_neumann.prm", 1, 5, 9), ("poisson_periodic.prm", 1, 5, 9),
         ("poisson_materials.prm", 1, 4, 8), ("poisson_lshape_adaptive.prm", 1, 5, 9),
         ("elasticity_kirsch.prm", 1, 4, 8), ("elasticity_kirsch.prm", 2, 3, 7),
         ("elasticity_kirsch.prm", 4, 2, 6), ("elasticity_lame.prm", 1, 4, 8),
         ("elasticity_cook.prm", 1, 4, 8), ("elasticity_cantilever.prm", 1, 1, 4),
         ("elasticity_cantilever.prm", 2, 0, 3), ("bratu_2d.prm", 1, 5, 9),
         ("heat_radiation.prm", 2, 1, 5)]
COLUMNS = ["file", "degree", "refinements", "dofs", "coarsening", "iterations", "levels",
           "complexity", "setup_seconds", "solve_seconds", "outcome", "backend", "git_revision"]


def measure(options, file, degree, refinements, coarsening):
    """Returns a row of the table."""
    settings = {"Study/Cycles": 1, "Mesh/Initial refinements": refinements,
                "Discretization/Degree": degree, "Solver/Relative tolerance": 1e-8,
                "Solver/Preconditioner": f"multigrid coarsening={coarsening}"}
    report = completed_summary(
        [options.program, os.path.join(options.parameters, file), *options.arguments],
        [f"{key}={value}" for key, value in settings.items()])
    cycle = report["cycles"][-1]
    solve, levels = cycle["solve"], cycle["solve"]["preconditioner_levels"]
    row = {"file": file, "degree": degree, "refinements": refinements, "dofs": cycle["dofs"],
           "coarsening": coarsening,
           "iterations": round(solve["linear_iterations"] / max(1, solve["nonlinear_iterations"]), 1),
           "levels": len(levels),
           "complexity": round(sum(level["nonzeros"] for level in levels) / levels[0]["nonzeros"], 3),
           "setup_seconds": cycle["seconds"]["setup"], "solve_seconds": cycle["seconds"]["solve"],
           "outcome": solve["outcome"], "backend": solve["backend"],
           "git_revision": report["version"]["git_revision"]}
    print(*(row[column] for column in COLUMNS), sep=", ", flush=True)
    return row


def parse_command_line():
    parser = parser_of(__doc__, "femgpu", csv_required=True)
    add = parser.add_argument
    add("--only", nargs="+", metavar="FILE.prm", help="parameter files to solve (all)")
    add("--parameters", default="parameters", metavar="DIR",
        help="directory of the parameter files (%(default)s)")
    return parse_with_arguments(parser)


def main():
    options = parse_command_line()
    rows = [measure(options, file, degree, refinements, coarsening)
            for file, degree, *meshes in CASES if not options.only or file in options.only
            for coarsening in ("auto", "aggregation") for refinements in meshes]
    write_csv(options.csv, COLUMNS, rows)
    print(f"{len(rows)} rows in {os.path.relpath(options.csv)}")


if __name__ == "__main__":
    main()
