#!/usr/bin/env python3
"""Compares solutions with those of the direct solver for large contrasts, penalties and offsets.

    benchmarks/accuracy.py --csv accuracy.csv
    benchmarks/accuracy.py --backend cuda --ranks 1 --only 'Q1 2D' --csv accuracy_cuda.csv

Each problem is solved by the direct solver and with each preconditioner. If the only data are
boundary values, the solution minimises the energy E, and the energy error is
(|E - E_direct| / E_direct)^1/2. The table contains this error and the relative differences of the
fluxes through side 0, which is soft, and side 1, which is stiff. The limit of each of these values
is the largest of the following numbers, where C is the contrast, n the number of dofs, and s the
magnitude of u divided by its range. The last column applies if stiff parts are connected to the
boundary by soft parts only.

    energy error   1e-5   3 eps s (C n)^1/2   eps C n^1/2
    soft side      1e-6   eps s C^1/2         eps C n^1/2
    stiff side     1e-6   10 eps C n s

Exits with 1 if a value of a converged solve exceeds its limit. A solve that does not converge is
reported, but does not count as an error.
"""

import itertools
import math
import re
import sys

from runs import launcher, parser_of, summary_of, write_csv

PRECONDITIONERS = ["auto", "jacobi", "fsai", "multigrid", "ic", "chebyshev", "sainv"]
EPS = 2.0**-52

# Coefficients with contrast C. The side with id 0 is soft, the side with id 1 is stiff.
RANDOM = "(1.5 + sin(37*x + 11*sin(53*y)))"
LAYERS = f"if(x < 0.7, 1, C)*{RANDOM}"
STRIPES = f"if(sin(9*pi*x) > 0, 1, C)*{RANDOM}"
CHECKERS = f"if(sin(4*pi*x)*sin(4*pi*y) > 0, 1, C)*{RANDOM}"
INCLUSIONS = f"if(sin(4*pi*x)^2 + sin(4*pi*y)^2 > 1.5, C, 1)*{RANDOM}"


def poisson(coefficient, data="0: 0; 1: 1", more=""):
    return lambda dim, contrast: f"""
set Physics = poisson
subsection Poisson
  set Coefficient = {coefficient.replace("C", f"{contrast:g}")}
  set Right-hand side = 0
  set Dirichlet = {data}
  {more}
end
"""


def penalty(dim, contrast):
    return f"""
set Physics = poisson
subsection Poisson
  set Coefficient = {RANDOM}
  set Right-hand side = 0
  set Dirichlet = 0: 0
  set Robin = 1: {contrast:g}, {contrast:g}*(1 + y)
end
"""


def elasticity(dim, contrast):
    modulus = f"if(sin(3*pi*x)*sin(3*pi*y) > 0, 1e4, {1e4 * contrast:g})*{RANDOM}"
    moved = ", ".join(["0.01", "0.02", "0.005"][:dim])
    return f"""
set Physics = elasticity
subsection Elasticity
  set Young's modulus = {modulus}
  set Poisson's ratio = 0.3
  {"set 2D hypothesis = plane strain" if dim == 2 else ""}
  set Displacement = 0: {", ".join(["0"] * dim)}; 1: {moved}
  set Reactions = true
end
"""


CASES = {
    "layers": poisson(LAYERS),
    "stripes": poisson(STRIPES),
    "checkers": poisson(CHECKERS),
    "inclusions": poisson(INCLUSIONS),
    "offset 300": poisson(LAYERS, "0: 300; 1: 300.01"),
    "offset 1e5": poisson(LAYERS, "0: 1e5; 1: 1e5 + 1"),
    "penalty": penalty,
    "elasticity": elasticity,
}
SIZES = {"offset 300": 300.01 / 0.01, "offset 1e5": 1e5}
FLOATING = {"stripes", "inclusions"}
# Name of an element: dimension, kind of cells, degree, cells per direction, refinements.
ELEMENTS = {
    "Q1 2D": (2, "hypercube", 1, 10, 3),
    "Q2 2D": (2, "hypercube", 2, 10, 2),
    "Q3 2D": (2, "hypercube", 3, 10, 1),
    "Q4 2D": (2, "hypercube", 4, 10, 1),
    "P1 2D": (2, "simplex", 1, 10, 2),
    "P2 2D": (2, "simplex", 2, 10, 1),
    "Q1 3D": (3, "hypercube", 1, 10, 1),
    "Q2 3D": (3, "hypercube", 2, 10, 0),
    "P1 3D": (3, "simplex", 1, 5, 0),
    "P2 3D": (3, "simplex", 2, 3, 0),
}


def parameter_file(case, element, contrast):
    dim, cells, degree, n, refinements = ELEMENTS[element]
    corner = [", ".join([value] * dim) for value in ("0", "1")]
    return f"""
set Dimension = {dim}
subsection Mesh
  set Generator = subdivided_hyper_rectangle
  set Arguments = {", ".join([str(n)] * dim)} : {corner[0]} : {corner[1]} : true
  set Cells = {cells}
  set Initial refinements = {refinements}
end
subsection Discretization
  set Degree = {degree}
end
subsection Output
  set Write VTU = false
end
{CASES[case](dim, contrast)}"""


def solve(options, text, ranks, settings):
    """Runs femgpu and returns the first cycle of its summary.json."""
    command = [*(launcher(ranks) if ranks > 1 else ()), options.program, "-"]
    summary, failure = summary_of(command, settings, text)
    if not summary:
        sys.exit(f"{' '.join(command)}: {failure}")
    return summary["cycles"][0]


def difference(cycle, reference, side):
    """Returns the relative difference of the flux or force through a side; 0 if not reported."""
    for name in (f"flux through {side}", f"reaction x of {side}"):
        if name in cycle["quantities"]:
            value = reference["quantities"][name]
            return abs(cycle["quantities"][name] - value) / abs(value)
    return 0.


def row_of(case, element, contrast, cycle, direct):
    """Returns a row of the table: the errors of a solution and their limits."""
    n, size = cycle["dofs"], SIZES.get(case, 1.)
    floating = EPS * contrast * math.sqrt(n) if case in FLOATING else 0.
    permitted = {"energy_error": max(1e-5, 3. * EPS * size * math.sqrt(contrast * n), floating),
                 "soft_side": max(1e-6, EPS * size * math.sqrt(contrast), floating),
                 "stiff_side": max(1e-6, 10. * EPS * contrast * n * size)}
    E, E_direct = (c["accuracy"]["energy_norm"] ** 2 if c["accuracy"] else math.inf
                   for c in (cycle, direct))
    errors = {"energy_error": math.sqrt(abs(E - E_direct) / E_direct),
              "soft_side": difference(cycle, direct, 0), "stiff_side": difference(cycle, direct, 1)}
    success = cycle["solve"]["outcome"].startswith("converged") and direct["accuracy"]
    row = {"case": case, "element": element, "contrast": f"{contrast:g}", "dofs": n,
           "outcome": cycle["solve"]["outcome"], "iterations": cycle["solve"]["iterations"]}
    for name, error in errors.items():
        row[name] = f"{error:.1e}"
        row[name + "_permitted"] = f"{permitted[name]:.1e}"
    row["holds"] = "yes" if all(errors[k] <= permitted[k] for k in errors) else \
        "no" if success else "reported"
    return row


def compare(options):
    rows = []
    for case, element, contrast in itertools.product(CASES, ELEMENTS, options.contrasts):
        if not re.search(options.only, f"{case}, {element}, {contrast:g}"):
            continue
        text = parameter_file(case, element, contrast)
        direct = solve(options, text, 1, ["Solver/Solver=direct", "Solver/Backend=host"])
        for ranks, preconditioner in itertools.product(options.ranks, options.preconditioners):
            cycle = solve(options, text, ranks,
                          [f"Solver/Preconditioner={preconditioner}", "Solver/Fallback=none",
                           "Solver/Maximum iterations=4000", f"Solver/Backend={options.backend}"])
            row = {**row_of(case, element, contrast, cycle, direct), "ranks": ranks,
                   "preconditioner": preconditioner, "backend": options.backend}
            rows.append(row)
            print(*row.values(), sep=", ", flush=True)
    write_csv(options.csv, list(rows[0]), rows)
    return all(row["holds"] != "no" for row in rows)


def main():
    parser = parser_of(__doc__, "femgpu")
    parser.add_argument("--backend", default="host")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1])
    parser.add_argument("--contrasts", type=float, nargs="+", default=[1e3, 1e6, 1e9, 1e12])
    parser.add_argument("--preconditioners", nargs="+", default=PRECONDITIONERS)
    parser.add_argument("--only", default="", help="regular expression of 'case, element, contrast'")
    sys.exit(0 if compare(parser.parse_args()) else 1)


if __name__ == "__main__":
    main()
