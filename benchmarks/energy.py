#!/usr/bin/env python3
"""Solves shipped studies twice, with Solver/Stop at = residual and = discretisation error, and
compares iterations and quantities.

    benchmarks/energy.py --csv energy.csv
    benchmarks/energy.py --csv energy.csv kirsch cook -- --set Solver/Preconditioner=fsai

Refinement is global. The two values of a quantity may differ by a tenth of its discretisation
error, which is the distance between the value and the Richardson extrapolation of the values
computed with residual tolerance 1e-12 or, without an extrapolation, the change since the previous
cycle. Arguments after `--` are passed to femgpu. Exits with 1 if a run fails, or if the values of a
quantity differ by more than a tenth of its discretisation error.
"""

import re
import sys

from runs import completed_summary, parse_with_arguments, parser_of, shipped, write_csv

COMMON = ["Study/Refinement=global", "Solver/Relative tolerance=1e-8", "Output/Write VTU=false"]
# Name: file, changes, and a regular expression of quantities that are not compared (stresses at the
# corner of Cook's membrane do not converge).
CASES = {
    "kirsch": ("elasticity_kirsch.prm", ["Study/Cycles=4"], "^$"),
    "cook": ("elasticity_cook.prm", ["Study/Cycles=4"], "stress|von Mises"),
    "l-shape": ("poisson_lshape_adaptive.prm", ["Study/Cycles=6"], "^$"),
}
ZERO = 1e-9  # smaller quantities are not compared: apart from rounding errors, they are zero
COLUMNS = ["case", "cycle", "dofs", "residual_iterations", "energy_iterations", "source",
           "predicted_error", "tolerance", "energy_error", "energy_outcome", "quantity",
           "quantity_error", "quantity_change", "change_over_error", "git_revision"]


def run(options, file, changes):
    return completed_summary([options.program, shipped(file), *options.arguments],
                             COMMON + changes + [f"Solver/Backend={options.backend}"])


def quantities_of(cycle, excluded):
    """Returns the compared quantities: quantities of the physics and the H1 error. The L2 error is
    of higher order than the stopping criterion and may grow."""
    values = {name: value for name, value in cycle["quantities"].items()
              if "defect" not in name and not re.search(excluded, name)}
    if "errors" in cycle:
        values["H1 error"] = cycle["errors"]["H1"]["error"]
    return values


def error_of(name, k, values, limits):
    """Returns the discretisation error of a quantity in cycle k from its values in all cycles."""
    if name.endswith(" error"):
        return values[k]
    if limits.get(name) is not None:
        return abs(limits[name] - values[k])
    return abs(values[k] - values[k - 1])


def worst_change(exact, loose, k, limits, excluded):
    """Returns name, discretisation error and change of the quantity that changes most in relation
    to its discretisation error."""
    worst = ("", 0., 0.)
    tables = [quantities_of(cycle, excluded) for cycle in exact["cycles"]]
    for name, value in quantities_of(loose["cycles"][k], excluded).items():
        change = abs(value - tables[k][name])
        error = error_of(name, k, [table[name] for table in tables], limits)
        if error <= 1e-9 * abs(value) or abs(tables[k][name]) < ZERO:  # exact on every mesh
            continue
        if change * worst[1] > worst[2] * error or not worst[0]:
            worst = (name, error, change)
    return worst


def rows_of(options, name):
    file, changes, excluded = CASES[name]
    residual = run(options, file, changes)
    loose = run(options, file, changes + ["Solver/Stop at=discretisation error"])
    exact = run(options, file, changes + ["Solver/Relative tolerance=1e-12"])
    limits = {entry["name"]: entry["value"] for entry in exact["extrapolated"]}
    for k, (a, b) in enumerate(zip(residual["cycles"], loose["cycles"])):
        predicted, energy = b["predicted_error"] or {}, b["solve"]["energy_error"]
        row = {"case": name, "cycle": k, "dofs": a["dofs"],
               "residual_iterations": a["solve"]["linear_iterations"],
               "energy_iterations": b["solve"]["linear_iterations"],
               "source": predicted.get("source", "residual"),
               "predicted_error": predicted.get("error", ""),
               "tolerance": predicted.get("tolerance", ""), "energy_error": energy,
               "energy_outcome": b["solve"]["outcome"],
               "git_revision": loose["version"]["git_revision"]}
        if k > 0:
            quantity, error, change = worst_change(exact, loose, k, limits, excluded)
            row.update(quantity=quantity, quantity_error=error, quantity_change=change,
                       change_over_error=change / error if error else 0.)
        yield row


def main():
    parser = parser_of(__doc__, "femgpu", csv_required=True)
    parser.add_argument("cases", nargs="*", help=f"{', '.join(CASES)} (all)")
    parser.add_argument("--backend", default="host", help="(%(default)s)")
    options = parse_with_arguments(parser)
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"there is no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    rows = []
    for name in options.cases or CASES:
        for row in rows_of(options, name):
            print(f"{row['case']:<8} {row['cycle']} {row['dofs']:>8} dofs, iterations "
                  f"{row['residual_iterations']:>6} -> {row['energy_iterations']:>6}  "
                  f"({row['source']}); {row.get('quantity', '')} changed by "
                  f"{row.get('change_over_error', 0.):.2g} of its error", flush=True)
            rows.append(row)
    write_csv(options.csv, COLUMNS, rows, 4)
    return int(any(row.get("change_over_error", 0.) > 0.1 for row in rows))


if __name__ == "__main__":
    sys.exit(main())
