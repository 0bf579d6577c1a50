"""Compares the numbers of two runs of femgpu except times and memory, up to rounding.

Used by run_study.py for runs with different numbers of ranks. Compares every number of
summary.json, study.json and the tables with the tolerances below.
"""

import csv
import json
import math
import os
import re

# Solvers determine values to about 1e-12. The tolerance is relative, and absolute for errors, which
# are differences of values of order one.
RELATIVE, ABSOLUTE_FOR_ERRORS = 1e-10, 1e-12
# Absolute tolerances: of quantities, which may be zero by symmetry, and of those named
# "... defect", which are zero up to rounding and the solver's tolerance.
ABSOLUTE_FOR_QUANTITIES, OF_DEFECTS = 1e-12, 1e-9
# Fluxes are sums of residuals, so the tolerance of the solve limits their accuracy.
OF_FLUXES = 1e-7
# Estimates contain derivatives, which multiply differences by 1/h.
OF_ESTIMATES = 1e-8
# Newton's method limits the accuracy of the points of a branch of solutions.
OF_BRANCHES = 1e-7
# Tolerance of the change that extrapolation adds to the last value, and of extrapolated orders.
OF_EXTRAPOLATION = 1e-6
# Tolerance of residuals relative to the first residual: iterations amplify rounding errors.
OF_RESIDUALS = 1e-6
# Conjugate gradients amplify rounding errors, so only the first residuals of a history are
# compared.
FIRST_RESIDUALS = 10
# Tolerance for nonlinear problems, in multiples of the tolerance of the nonlinear solve.
OF_NONLINEAR = 100.
# Counts of iterations may differ by one in PART_OF_ITERATIONS, and by A_FEW_ITERATIONS more,
# because rounding affects the iterations and the restarts.
PART_OF_ITERATIONS = 8
A_FEW_ITERATIONS = 3
# Aggregates of multigrid, and therefore entries on its levels, depend on the numbering of unknowns.
OF_LEVELS = 0.1
# Larger orders result from rounding errors.
LARGEST_ORDER = 20.
# Printed tables have at least three digits.
OF_PRINTED = 2e-3

TIMES_AND_MEMORY = {"seconds", "total_seconds", "transfer", "communication", "peak_bytes", "overlapped_seconds",
                    "gigabytes_per_second"}
# Entries that describe the run and not its result; messages and remarks repeat numbers as text.
OF_THE_RUN = {"ranks", "backend", "communicator", "groups", "version", "files", "message", "obstacle", "Directory",
              "solver_remarks", "preconditioner_remarks", "preconditioner_levels",
              "setup_bytes_to_host", "execution", "failed_attempt", "backward_error",
              "componentwise_backward_error", "forward_error", "energy_error", "energy_delay", "energy_norm", "energy_target",
              "restarts"}  # depends on rounding
COUNTS_OF_ITERATIONS = {"nonlinear_iterations", "linear_iterations", "corrections",
                        "iterations", "nonlinear", "failed_steps"}
SIZES_OF_LEVELS = {"preconditioner_nonzeros", "preconditioner_bytes", "bytes_per_iteration"}
# Sizes that depend on the number of subdomains, because each subdomain stores vectors with ghosts
# and one more row start than rows, and the tolerance of these sizes.
SIZES_OF_PARTS, OF_PARTS = {"matrix_bytes", "bytes_per_iteration"}, 0.3
CHANGES = {"difference", "order"}  # columns whose values may consist of rounding errors
RESIDUALS = {"true_residual", "given_residual", "initial_residual", "residual", "target"}


def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


class Tolerances:
    """The tolerances for a run, from its summary.json. Quantities that are zero except for the
    solver's error have a larger tolerance."""

    def __init__(self, directory, absolute_for_quantities, of_residuals):
        self.of_residuals = of_residuals
        self.relative, self.part, self.has_parts = RELATIVE, PART_OF_ITERATIONS, False
        self.absolute_for_quantities = max(absolute_for_quantities, ABSOLUTE_FOR_QUANTITIES)
        self.with_multigrid = set()
        name = os.path.join(directory, "summary.json")
        if os.path.exists(name):
            with open(name, encoding="utf-8") as file:
                summary = json.load(file)
            self.has_parts = len(summary["groups"]) > 1
            self.with_multigrid = {str(k) for k, cycle in enumerate(summary["cycles"])
                                   if cycle["solve"]["preconditioner"] == "multigrid"}
            if any(cycle["solve"]["nonlinear_iterations"] > 0 for cycle in summary["cycles"]):
                tolerance = float(summary["parameters"]["Nonlinear"]["Relative tolerance"])
                self.relative = max(RELATIVE, OF_NONLINEAR * tolerance)

    def compared_residuals(self, cycle):
        """Returns how many residuals to compare: one with multigrid, which depends on the
        numbering."""
        return 1 if cycle in self.with_multigrid else FIRST_RESIDUALS

    def same_count(self, a, b):
        return abs(a - b) <= A_FEW_ITERATIONS + max(a, b) // self.part

    def error_of_quantity(self, name, value):
        """Returns the largest permitted difference between two values of a quantity."""
        is_flux = re.match("flux through|reaction|moment|load", name)
        relative = max(self.relative, OF_FLUXES if is_flux else 0.)
        return relative * abs(value) + (OF_DEFECTS if name.endswith("defect")
                                        else self.absolute_for_quantities)

    def same_change(self, column, a, b, row):
        """Returns whether NAME_difference or NAME_order agree; None denotes an empty cell."""
        name = column.rpartition("_")[0]
        error = 2. * self.error_of_quantity(name, float(row[name]))
        if column.endswith("_difference"):
            return abs(a - b) <= error
        if any(order is not None and abs(order) > LARGEST_ORDER for order in (a, b)):
            return True
        difference = abs(float(row[name + "_difference"]))
        if None in (a, b):
            return difference <= 1e4 * error
        return abs(a - b) <= OF_EXTRAPOLATION + 1e2 * error / difference


def close(a, b, relative, absolute=0.):
    return abs(a - b) <= relative * max(abs(a), abs(b)) + absolute


def order_tolerance(error):
    """Returns the largest permitted difference between two orders of convergence of an error."""
    return 1e-8 + 20. * ABSOLUTE_FOR_ERRORS / max(error, ABSOLUTE_FOR_ERRORS)


class Comparison:
    """Compares two JSON values and collects the differences in `problems`."""

    def __init__(self, tolerances):
        self.tolerances = tolerances
        self.problems = []

    def number(self, path, a, b, parent):
        """Returns whether two numbers with this name in @p parent agree."""
        name = path[-1]
        if name in COUNTS_OF_ITERATIONS:
            return self.tolerances.same_count(a, b)
        if name in RESIDUALS:
            relative = self.tolerances.of_residuals
            return close(a, b, relative, relative * parent.get("rhs_norm", 1.) +
                         parent.get("target", 0.))
        if name in SIZES_OF_LEVELS and parent["preconditioner"] == "multigrid":
            return close(a, b, OF_LEVELS)
        if name in SIZES_OF_PARTS and self.tolerances.has_parts:
            return close(a, b, OF_PARTS)
        if "errors" in path:
            if name == "order":
                return close(a, b, 0., order_tolerance(parent["error"]))
            return close(a, b, self.tolerances.relative, ABSOLUTE_FOR_ERRORS)
        if "estimate" in path:
            return close(a, b, OF_ESTIMATES, OF_ESTIMATES if name == "order" else 0.)
        if "continuation" in path:
            return close(a, b, OF_BRANCHES, OF_BRANCHES)
        if "extrapolated" in path:
            rounding = self.tolerances.error_of_quantity(parent["name"], parent["last"])
            if name == "last":
                return abs(a - b) <= rounding
            if parent["value"] is None:
                return True  # the sequence is not extrapolated
            beyond = abs(parent["value"] - parent["last"])
            if name == "value":
                return abs(a - b) <= 10. * rounding + OF_EXTRAPOLATION * beyond
            if beyond <= 1e3 * rounding:
                return True  # the order results from rounding errors
            return close(a, b, OF_EXTRAPOLATION, OF_EXTRAPOLATION + 1e2 * rounding / beyond)
        if "verdicts" in path:
            return parent.get("rounding", False) or close(a, b, OF_EXTRAPOLATION)
        if "quantities" in path:
            return abs(a - b) <= self.tolerances.error_of_quantity(name, a)
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return close(a, b, self.tolerances.relative)

    def compare(self, path, a, b, parent):
        if path and path[-1] in TIMES_AND_MEMORY | OF_THE_RUN:
            return
        if path[:1] == ["changed_parameters"] and parent.get("name", "").startswith("Output/"):
            return
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b):
                self.problems.append(f"{'/'.join(path)} has {list(a)}, but {list(b)}")
            for key in a:
                if key in b:
                    self.compare(path + [key], a[key], b[key], a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                self.problems.append(f"{'/'.join(path)} has {len(a)} entries, but {len(b)}")
            for i, (x, y) in enumerate(zip(a, b)):  # up to the shorter one
                self.compare(path + [str(i)], x, y, {})
        elif is_number(a) and is_number(b):
            if not (a == b or self.number(path, a, b, parent)):
                self.problems.append(f"{'/'.join(path)} is {a!r}, but {b!r} "
                                     f"(differs by {abs(a - b):.1e})")
        elif "extrapolated" in path and None in (a, b):
            pass  # rounding decides whether changes this small have an order
        elif a != b:
            self.problems.append(f"{'/'.join(path)} is {a!r}, but {b!r}")


def read_csv(name):
    with open(name, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def as_number(text):
    try:
        return float(text)
    except ValueError:
        return None


def same_cell(column, a, b, row, tolerances):
    """Returns whether two cells of this column of a table agree."""
    x, y = as_number(a), as_number(b)
    if a == b or column.endswith("_seconds") or column == "transfer_bytes":
        return True
    quantity, _, suffix = column.rpartition("_")
    if suffix in CHANGES and quantity + "_difference" in row:
        return tolerances.same_change(column, x, y, row)
    if x is None or y is None or math.isnan(x) or math.isnan(y):
        return False
    if column in COUNTS_OF_ITERATIONS:
        return tolerances.same_count(x, y)
    if column in RESIDUALS:
        return close(x, y, 1., OF_RESIDUALS)
    if column.startswith("estimated") or column == "effectivity":
        return close(x, y, OF_ESTIMATES, OF_ESTIMATES if column == "estimated_order" else 0.)
    if column.endswith("_order"):
        return close(x, y, 0., order_tolerance(float(row[column[:-5] + "error"])))
    if column.endswith("_error"):
        return close(x, y, tolerances.relative, ABSOLUTE_FOR_ERRORS)
    return abs(x - y) <= tolerances.error_of_quantity(column, x)


def compare_tables(name, a, b, tolerances):
    """Compares two .csv files with a header."""
    if len(a) != len(b) or a[0] != b[0]:
        yield f"{name}: {len(a)} lines with {a[0]}, but {len(b)} with {b[0]}"
        return
    for i, (line, other) in enumerate(zip(a[1:], b[1:], strict=True)):
        row = dict(zip(a[0], line, strict=True))
        for column, x, y in zip(a[0], line, other, strict=True):
            if not same_cell(column, x, y, row, tolerances):
                yield f"{name}, line {i + 2}: {column} is {x}, but {y}"


def compare_histories(a, b, tolerances):
    """Compares history.csv: lengths, and the first residuals relative to the largest."""
    def by_cycle(rows):
        cycles = {}
        for cycle, _, residual in rows[1:]:
            cycles.setdefault(cycle, []).append(float(residual))
        return cycles

    a, b = by_cycle(a), by_cycle(b)
    if list(a) != list(b):
        yield f"history.csv: cycles {list(a)}, but {list(b)}"
        return
    largest = max((x for residuals in a.values() for x in residuals), default=0.)
    for cycle, residuals in a.items():
        others = b[cycle]
        if not tolerances.same_count(len(residuals), len(others)):
            yield f"history.csv: {len(residuals)} residuals in cycle {cycle}, but {len(others)}"
        for k, (x, y) in enumerate(
                zip(residuals[:tolerances.compared_residuals(cycle)], others)):
            if abs(x - y) > 10. * max(OF_RESIDUALS, tolerances.relative) * largest:
                yield f"history.csv: residual {k} of cycle {cycle} is {x}, but {y}"
                break


def compare_markdown(name, a, b):
    """Compares printed tables, except columns that the .csv files compare more precisely."""
    def rows(lines):
        return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
                for line in lines if line.startswith("|")]

    a, b = rows(a), rows(b)
    if not a or len(a) != len(b) or a[0] != b[0]:
        yield f"{name} has another form"
        return
    for i, (line, other) in enumerate(zip(a[2:], b[2:], strict=True)):
        if len(line) != len(other):
            yield f"{name}, line {i + 1}: {len(line)} cells, but {len(other)}"
            continue
        at = 0
        for x, y in zip(line, other, strict=True):
            column = a[0][min(at, len(a[0]) - 1)]
            at += 1
            u, v = as_number(x), as_number(y)
            if "seconds" in column or column in RESIDUALS | COUNTS_OF_ITERATIONS | CHANGES:
                continue
            if x != y and (u is None or v is None or not close(u, v, OF_PRINTED, 0.011)):
                yield f"{name}, line {i + 1}: {column} is {x}, but {y}"


def differences(directory, other, absolute_for_quantities=0., of_residuals=OF_RESIDUALS):
    """Yields a line for each number that differs between the results in two directories.

    Quantities that are zero except for the solver's tolerance may differ by
    absolute_for_quantities, residuals in summary.json by of_residuals, relative to the right-hand
    side.
    """
    tolerances = Tolerances(directory, absolute_for_quantities, of_residuals)

    def both(name):
        paths = [os.path.join(d, name) for d in (directory, other)]
        there = [os.path.exists(path) for path in paths]
        return paths if all(there) else [] if not any(there) else [name]

    for name in "summary.json", "study.json":
        if both(name):
            values = []
            for path in both(name):
                with open(path, encoding="utf-8") as file:
                    values.append(json.load(file))
            comparison = Comparison(tolerances)
            comparison.compare([], *values, {})
            yield from (f"{name}: {problem}" for problem in comparison.problems)
    for name in "convergence.csv", "study.csv":
        if both(name):
            yield from compare_tables(name, *map(read_csv, both(name)), tolerances)
    if both("history.csv"):
        yield from compare_histories(*map(read_csv, both("history.csv")), tolerances)
    for name in "convergence.md", "study.md":
        if both(name):
            texts = []
            for path in both(name):
                with open(path, encoding="utf-8") as file:
                    texts.append(file.read().splitlines())
            yield from compare_markdown(name, *texts)
    for name in sorted(os.listdir(directory)):
        if os.path.isdir(os.path.join(directory, name)):
            yield from (f"{name}/{problem}" for problem in
                        differences(os.path.join(directory, name), os.path.join(other, name),
                                    absolute_for_quantities, of_residuals))
