#!/usr/bin/env python3
"""Solves Bratu's problem with femgpu, KINSOL and SNES, and writes CSV and Markdown.

    benchmarks/references.py --csv bratu.csv --markdown bratu.md
    benchmarks/references.py --ranks 16 --backend cuda --preconditioner jacobi fsai --size large
    benchmarks/references.py --only '2D Q2' --nodes
                            --set 'Nonlinear/Method=newton forcing=constant eta=1e-3'

All programs solve -div(grad u) = lambda exp(u) on the unit square (lambda = 6) or cube (lambda =
8), u = 0 on the boundary, with the same elements and quadrature. They start from u = 0, solve each
linear system to 1e-6, and stop when the residual is at most --tolerance times the first residual.
The programs are femgpu, bratu_kinsol and bratu_snes (CMake option FEMGPU_BENCHMARKS); a program
that has not been built is omitted.

For each problem, `max u` is compared with the value of the first program. --nodes also compares all
nodal values. The values of femgpu come from its VTU files in single precision and are compared at
points that are nodes of the other programs (requires /usr/bin/python3 and python3-vtk9).

Exits with 1 if a run failed or did not converge, or if solutions differ.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from runs import NOT_CONVERGED, markdown, parser_of, atomic_file, write_csv

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts")
COLUMNS = ["problem", "program", "preconditioner", "ranks", "backend", "dofs", "outcome",
           "newton_iterations", "linear_iterations", "max_u", "max_u_difference",
           "largest_node_difference", "relative_residual", "setup_seconds", "assembly_seconds",
           "preconditioner_seconds", "linear_seconds", "nonlinear_seconds", "total_seconds",
           "message"]
LAMBDA = {2: 6, 3: 8}
# Size: (dimension, degree, cells, refinements) of each problem; about 1e5 and 1e6 unknowns.
PROBLEMS = {"small": [(2, 1, 5, 6), (2, 2, 5, 5), (2, 4, 5, 4), (3, 1, 3, 4), (3, 2, 3, 3)],
            "large": [(2, 1, 1, 10), (2, 2, 1, 9), (2, 4, 1, 8), (3, 1, 3, 5), (3, 2, 3, 4)],
            "tiny": [(2, 1, 1, 5), (2, 2, 1, 4), (2, 4, 1, 3), (3, 1, 3, 2), (3, 2, 3, 1)]}
# Permitted relative differences, which result only from the tolerance of the nonlinear solves, and
# in single precision from rounding.
SAME_SOLUTION = 1e-9
SAME_IN_SINGLE_PRECISION = 1e-6


def run(options, ranks, command):
    """Returns a program's output and a message. The output is None if the exit code is not 0 or 3."""
    if ranks > 1:
        command = [*options.mpirun.split(), "-n", str(ranks), *command]
    environment = dict(os.environ, OMP_NUM_THREADS="1" if ranks > 1 else str(options.ranks))
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=options.timeout, env=environment)
    except subprocess.TimeoutExpired:
        return None, f"took longer than {options.timeout:g} s"
    if done.returncode not in (0, NOT_CONVERGED):
        return None, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return done.stdout, ""


def run_femgpu(options, problem, directory, preconditioner):
    dimension, degree, cells, refinements = problem
    values = {"Mesh/Generator": "subdivided_hyper_cube", "Mesh/Arguments": f"{cells} : 0 : 1 : false",
              "Mesh/Initial refinements": refinements, "Discretization/Degree": degree,
              "Bratu/Lambda": LAMBDA[dimension], "Study/Cycles": 1,
              "Nonlinear/Method": "newton forcing=constant eta=1e-6",
              "Nonlinear/Relative tolerance": options.tolerance,
              "Solver/Preconditioner": preconditioner, "Output/Write VTU": str(options.nodes).lower()}
    settings = [f"{key}={value}" for key, value in values.items()] + options.set
    command = [os.path.join(options.build, "bin", "femgpu"),
               os.path.join(SCRIPTS, "..", "parameters", f"bratu_{dimension}d.prm"),
               "--backend", options.backend, "--output", directory, "--quiet"]
    for setting in settings:
        command += ["--set", setting]
    output, message = run(options, options.ranks, command)
    summary = os.path.join(directory, "summary.json")
    if output is None or not os.path.exists(summary):
        return {"outcome": "failed", "message": message or "no summary.json"}
    with open(summary, encoding="utf-8") as stream:
        report = json.load(stream)
    cycle = report["cycles"][0]
    solve, seconds = cycle["solve"], cycle["seconds"]
    return {"backend": report["backend"]["name"], "ranks": report["ranks"], "dofs": cycle["dofs"],
            "outcome": solve["outcome"], "max_u": cycle["quantities"]["max u"],
            "newton_iterations": solve["nonlinear_iterations"],
            "linear_iterations": solve["linear_iterations"],
            "relative_residual": solve["true_residual"] / solve["initial_residual"],
            "setup_seconds": seconds["grid"] + seconds["dofs"] + seconds["pattern"],
            "assembly_seconds": seconds["assembly"],
            "preconditioner_seconds": seconds["setup"],
            "linear_seconds": seconds["solve"] + seconds["transfer"],
            "nonlinear_seconds": sum(seconds[phase] for phase in
                                     ("assembly", "setup", "solve", "transfer")),
            "total_seconds": seconds["total"] - seconds["output"]}


def run_reference(options, problem, directory, program, preconditioner):
    names = "dimension", "degree", "cells", "refinements"
    words = [f"{name}={value}" for name, value in zip(names, problem)]
    words += [f"lambda={LAMBDA[problem[0]]}", f"tolerance={options.tolerance:g}",
              f"preconditioner={preconditioner}"]
    if options.nodes:
        words.append("write=" + os.path.join(directory, "nodes.txt"))
    output, message = run(options, options.ranks,
                          [os.path.join(options.build, "bin", program), *words])
    if output is None:
        return {"outcome": "failed", "message": message}
    report = json.loads(output)
    row = {"backend": "host", "outcome": "converged" if report["converged"] else report["reason"],
           "relative_residual": report["residual"] / report["initial_residual"]}
    row.update((key, report[key]) for key in ("ranks", "dofs", "max_u", "newton_iterations",
                                              "linear_iterations"))
    seconds = report["seconds"]
    row.update(setup_seconds=seconds["setup"], assembly_seconds=seconds["assembly"],
               preconditioner_seconds=seconds["preconditioner"],
               linear_seconds=seconds["linear_solve"],
               nonlinear_seconds=seconds["nonlinear_solve"], total_seconds=seconds["total"])
    return row


def nodes_of(directory):
    """Returns {rounded coordinates: value} from the text file of a reference program or femgpu's
    VTU files."""
    text = os.path.join(directory, "nodes.txt")
    if os.path.exists(text):
        with open(text, encoding="utf-8") as stream:
            lines = ([float(word) for word in line.split()] for line in stream)
            return {tuple(round(x * 1e5) for x in line[:3]): line[3] for line in lines}
    sys.path.insert(0, SCRIPTS)
    import vtu  # pylint: disable=import-outside-toplevel; needs VTK
    nodes = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".vtu"):
            result = vtu.Result(os.path.join(directory, name))
            for point, value in zip(result.points, result.point_arrays["u"]):
                nodes[tuple(round(float(x) * 1e5) for x in point)] = float(value[0])
    return nodes


def largest_difference(nodes, reference):
    """Returns the largest difference of values at common points, or None if there are none."""
    common = [abs(value - reference[place]) for place, value in nodes.items() if place in reference]
    return max(common, default=None)


def programs(options):
    """Returns (program, preconditioner, function that runs it) of all programs that were built."""
    def has(program):
        if os.access(os.path.join(options.build, "bin", program), os.X_OK):
            return True
        print(f"no {program} in {options.build}/bin: left out", file=sys.stderr)
        return False

    for program, names in (("bratu_kinsol", options.kinsol), ("bratu_snes", options.snes)):
        if has(program):
            for name in names:
                yield program, name, lambda *arguments, p=program, n=name: run_reference(
                    *arguments, p, n)
    if has("femgpu"):
        for name in options.preconditioner:
            yield "femgpu", name, lambda *arguments, n=name: run_femgpu(*arguments, n)


def run_problem(options, problem, name):
    """Returns the rows of one problem, compared with the first one that has converged."""
    rows, first, first_nodes = [], None, {}
    for program, preconditioner, solve in programs(options):
        if not re.search(options.only, f"{name} {program} {preconditioner}"):
            continue
        with tempfile.TemporaryDirectory() as directory:
            row = dict.fromkeys(COLUMNS, "") | {"problem": name, "program": program,
                                                "preconditioner": preconditioner}
            row.update(solve(options, problem, directory))
            if row["outcome"] == "converged":
                nodes = nodes_of(directory) if options.nodes else {}
                first, first_nodes = first or row, first_nodes or nodes
                difference = abs(row["max_u"] - first["max_u"]) / first["max_u"]
                row["max_u_difference"] = difference
                if nodes:
                    row["largest_node_difference"] = largest_difference(nodes, first_nodes)
        print_row(row)
        rows.append(row)
    return rows


def is_wrong(row):
    if row["outcome"] != "converged" or row["max_u_difference"] > SAME_SOLUTION:
        return True
    nodes = row["largest_node_difference"]
    most = SAME_IN_SINGLE_PRECISION if row["program"] == "femgpu" else SAME_SOLUTION
    return nodes is None or (nodes != "" and nodes > most)


TABLE = {"problem": "problem", "dofs": "unknowns", "program": "program",
         "preconditioner": "preconditioner", "newton_iterations": "Newton",
         "linear_iterations": "linear", "max_u": "max u", "max_u_difference": "difference",
         "assembly_seconds": "assembly s", "preconditioner_seconds": "setup s",
         "linear_seconds": "solve s", "nonlinear_seconds": "nonlinear s", "total_seconds": "total s"}


def text_of(row, column):
    value = row[column]
    if not isinstance(value, float):
        return str(value)
    if column == "max_u":
        return f"{value:.10f}"
    return f"{value:.1e}" if "difference" in column else f"{value:.3f}"


def print_row(row):
    print("  ".join(text_of(row, column) or "-" for column in TABLE),
          row["outcome"] if row["outcome"] != "converged" else "", row["message"], flush=True)


def parse_command_line():
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--build", default="build", help="directory of bin/ (%(default)s)")
    add("--size", nargs="+", choices=PROBLEMS, default=["small", "large"],
        help="about 1e3, 1e5 and 1e6 unknowns (small large)")
    add("--only", default="", metavar="REGEX",
        help="only runs whose 'PROBLEM PROGRAM PRECONDITIONER' matches, such as '2D.*kinsol'")
    add("--ranks", type=int, default=len(os.sched_getaffinity(0)), help="MPI ranks (%(default)s)")
    add("--mpirun", default="mpirun", help="command with options (%(default)s)")
    add("--tolerance", type=float, default=1e-11,
        help="reduction of the nonlinear residual (%(default)g)")
    add("--kinsol", nargs="+", default=["amg"], metavar="M", help="KINSOL's preconditioners (amg)")
    add("--snes", nargs="+", default=["gamg"], metavar="M", help="SNES's preconditioners (gamg)")
    add("--preconditioner", nargs="+", default=["jacobi"], metavar="M",
        help="femgpu's preconditioners (jacobi)")
    add("--backend", default="host", help="femgpu's backend: host, cuda or cuda:K (%(default)s)")
    add("--set", action="append", default=[], metavar="Section/Key=value",
        help="other parameters of femgpu (repeatable)")
    add("--nodes", action="store_true", help="compare all nodal values")
    add("--timeout", type=float, default=600., metavar="S",
        help="time limit of a run in seconds (%(default)g)")
    add("--markdown", metavar="FILE", help="write a table")
    return parser.parse_args()


def main():
    options = parse_command_line()
    rows = []
    for size in options.size:
        for problem in PROBLEMS[size]:
            rows += run_problem(options, problem, f"{problem[0]}D Q{problem[1]} {size}")
            write_csv(options.csv, COLUMNS, rows)
            if options.markdown:
                with atomic_file(options.markdown) as stream:
                    stream.write(markdown(list(TABLE.values()), [
                        [text_of(row, column) for column in TABLE] for row in rows], 4))
    return 1 if any(is_wrong(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
