#!/usr/bin/env python3
"""Measures the phases of complete runs in seconds, from start to written VTU file, as CSV.

    benchmarks/phases.py --program build/bin/femgpu --csv phases.csv                  # all cases
    benchmarks/phases.py poisson bracket --backend cuda --ranks 1 4 16 --csv phases.csv
    benchmarks/phases.py --file parameters/bratu_3d.prm 'Mesh/Initial refinements=5' --csv f.csv

A case is a shipped parameter file with changes that give it about a million unknowns. The script
reports the phases of the last cycle. Output is written to a temporary directory, which is removed.
The environment variable MPIRUN is the command that starts ranks. Exits with 1 if a run fails.
"""

import itertools
import pathlib
import sys
import time

from runs import launcher, parser_of, shipped, summary_of, write_csv

# With a million unknowns, rounding prevents the residual from reaching the tolerances of the files.
ONE_CYCLE = ["Study/Cycles=1", "Solver/Relative tolerance=1e-8"]
# Name: file and changes.
CASES = {
    "poisson": ("poisson_3d.prm", [*ONE_CYCLE, "Mesh/Generator=subdivided_hyper_rectangle",
                                    "Mesh/Arguments=13,13,13 : 0,0,0 : 1,1,1 : true",
                                    "Mesh/Initial refinements=3"]),
    "poisson-8M": ("poisson_3d.prm", [*ONE_CYCLE, "Mesh/Generator=subdivided_hyper_rectangle",
                                         "Mesh/Arguments=25,25,25 : 0,0,0 : 1,1,1 : true",
                                       "Mesh/Initial refinements=3"]),
    "periodic": ("poisson_periodic.prm", [*ONE_CYCLE, "Mesh/Initial refinements=10"]),
    "materials": ("poisson_materials.prm", [*ONE_CYCLE, "Mesh/Initial refinements=8"]),
    "l-shape": ("poisson_lshape_adaptive.prm", ["Study/Cycles=40", "Study/Maximum dofs=1000000"]),
    "bracket": ("elasticity_bracket.prm", [*ONE_CYCLE, "Mesh/Initial refinements=3"]),
    "cantilever": ("elasticity_cantilever.prm", [*ONE_CYCLE, "Mesh/Initial refinements=4"]),
    "kirsch": ("elasticity_kirsch.prm", [*ONE_CYCLE, "Mesh/Initial refinements=8"]),
    "lame": ("elasticity_lame.prm", [*ONE_CYCLE, "Mesh/Initial refinements=8"]),
    "bratu": ("bratu_3d.prm", [*ONE_CYCLE, "Mesh/Initial refinements=6",
                               "Discretization/Degree=2"]),
    "heat": ("heat_radiation.prm", [*ONE_CYCLE, "Mesh/Initial refinements=6"]),
}
PHASES = ["grid", "dofs", "pattern", "assembly", "transfer", "setup", "solve", "estimate", "output",
          "total"]
COLUMNS = ["case", "physics", "dimension", "element", "cells", "dofs", "ranks", "backend", "outcome",
           "linear_iterations", *(phase + "_seconds" for phase in PHASES), "program_seconds",
           "host_megabytes", "device_megabytes", "git_revision"]


def arguments():
    parser = parser_of(__doc__, "femgpu", csv_required=True)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of {', '.join(CASES)}")
    parser.add_argument("--file", nargs="+", metavar=("FILE.prm", "KEY=VALUE"),
                        help="another case: a parameter file and the changed values")
    parser.add_argument("--backend", nargs="+", default=["auto"])
    parser.add_argument("--ranks", nargs="+", type=int, default=[1])
    parser.add_argument("--timeout", type=float, default=300., help="seconds of one run (300)")
    options = parser.parse_args()
    unknown = [case for case in options.cases if case not in CASES]
    if unknown:
        parser.error(f"no case {unknown[0]}; there are {', '.join(CASES)}")
    return options


def command(options, file, ranks, backend):
    """Returns the command of a run. Omits --threads, so that the ranks that solve use the cores of
    all ranks."""
    return [*launcher(ranks), options.program, file, "--backend", backend]


def row_of(name, summary, seconds):
    cycle = summary["cycles"][-1]
    return {"case": name, **{key: summary[key] for key in ("physics", "dimension", "element", "ranks")},
            "cells": cycle["cells"], "dofs": cycle["dofs"], "backend": cycle["solve"]["backend"],
            "outcome": cycle["solve"]["outcome"],
            "linear_iterations": cycle["solve"]["linear_iterations"],
            **{phase + "_seconds": f"{cycle['seconds'][phase]:.3f}" for phase in PHASES},
            "program_seconds": f"{seconds:.2f}",
            "host_megabytes": summary["peak_bytes"]["host"] // 2**20,
            "device_megabytes": summary["peak_bytes"]["device"] // 2**20,
            "git_revision": summary["version"]["git_revision"]}


def measure(options, name, file, changes, ranks, backend):
    """Returns a row of the table, or None if the run failed."""
    begin = time.monotonic()
    summary, failure = summary_of(command(options, file, ranks, backend), changes,
                                  timeout=options.timeout)
    if failure:
        print(f"{name} on {ranks} ranks, {backend}: {failure}", file=sys.stderr)
        return None
    return row_of(name, summary, time.monotonic() - begin)


def main():
    options = arguments()
    names = options.cases or ([] if options.file else list(CASES))
    cases = [(name, shipped(CASES[name][0]), CASES[name][1]) for name in names]
    if options.file:
        cases.append((pathlib.Path(options.file[0]).stem, options.file[0], options.file[1:]))
    rows = []
    for case, backend, ranks in itertools.product(cases, options.backend, options.ranks):
        rows.append(measure(options, *case, ranks, backend))
        write_csv(options.csv, COLUMNS, filter(None, rows))
    return 0 if all(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
