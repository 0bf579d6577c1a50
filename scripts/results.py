"""Reads the output directory of a run or a parameter study of femgpu, for plot.py and report.py.

Needs only Python's standard library. docs/summary.md and docs/output.md describe the files.
"""

import csv
import glob
import json
import os
import re


class BadResult(Exception):
    """A directory or file that cannot be used; the message names it and the reason."""


CONVERGED = ("converged", "converged_to_rounding")  # outcomes of usable solutions
UNFINISHED = "unfinished"  # outcome of a study that has not ended
# Columns of study.csv that are neither studied parameters nor quantities.
NO_QUANTITIES = re.compile(r"cycle|cells|dofs|nonzeros|h|outcome|(nonlinear|linear)_iterations|"
                           r"true_residual|(L2|H1|Linf)_(error|order|norm)|estimated_(error|order)|"
                           r"effectivity|\w+_seconds|transfer_bytes|directory")


def is_converged(cycle):
    """Returns whether a cycle of summary.json has converged to a solution."""
    return cycle["solve"]["outcome"] in CONVERGED


def find_name(wanted, names, what):
    """Returns the name that @p wanted denotes: @p wanted itself, or the only name that ends with it,
    such as `Degree`. Raises BadResult if there is no such name or more than one."""
    if wanted in names:
        return wanted
    found = [name for name in names if name.rpartition("/")[2].lower() == wanted.lower()]
    if len(found) == 1:
        return found[0]
    raise BadResult(f"{what} '{wanted}' is {'ambiguous' if found else 'unknown'}; choose "
                    f"{', '.join(found or names)}")


def number(text):
    """Returns a field of a table as a float; None if it is empty or text."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def read_table(path, needed=()):
    """Returns the lines of a .csv with a header as dicts of column -> text; None without the file.

    Raises BadResult if a column of @p needed is missing, unless there are no lines, or if a line
    has more or fewer fields than the header.
    """
    if not os.path.exists(path):
        return None
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadResult(f"{path}: {error}") from error
    if not rows:
        raise BadResult(f"{path}: empty")
    header = rows[0]
    missing = [name for name in needed if name not in header]
    if missing and rows[1:]:
        raise BadResult(f"{path}: no column {', '.join(missing)}; it has {', '.join(header)}")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise BadResult(f"{path}:{line}: {len(row)} fields, but the header has {len(header)}")
    return [dict(zip(header, row)) for row in rows[1:]]


def read_json(path):
    """Returns the object in a JSON file."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except OSError as error:
        raise BadResult(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadResult(f"{path}: not valid JSON ({error}); give the output directory of a "
                        f"finished run") from error
    if not isinstance(value, dict):
        raise BadResult(f"{path}: does not contain a JSON object")
    return value


class Run:
    """The output directory of one run.

    `summary` is summary.json; `history` is [(cycle, [iteration], [residual])]; `branch` contains
    the lines of branch.csv along the branch, or None; `points` the lines of points.csv, or None;
    `lines` the names of line_*.csv; `time` and `steps` are [(cycle, [line])] of time.csv and
    steps.csv, with numbers or None, and empty unless the analysis is transient.
    """

    NEEDED = ("cycles", "physics", "dimension", "element", "outcome", "parameters")

    def __init__(self, directory):
        self.directory = directory
        if not os.path.isdir(directory):
            raise BadResult(f"{directory}: {'not a' if os.path.exists(directory) else 'no such'} "
                            f"directory; give the output directory of a run")
        path = self.path("summary.json")
        if not os.path.exists(path):
            raise BadResult(f"{directory}: summary.json is missing; give the output directory of a run "
                            f"that has finished a cycle")
        self.summary = read_json(path)
        missing = [key for key in self.NEEDED if key not in self.summary]
        if missing:
            raise BadResult(f"{path}: no {', '.join(missing)} in it; give a directory that femgpu "
                            f"has written")
        self.cycles = self.summary["cycles"]
        try:
            for cycle in self.cycles:
                _ = cycle["cycle"], cycle["dofs"], cycle["solve"]["outcome"], cycle["seconds"]
        except (TypeError, KeyError) as error:
            raise BadResult(f"{path}: a cycle is incomplete ({error})") from error
        self.history = self._history()
        self.branch = self._branch()
        self.points = read_table(self.path("points.csv"), ("cycle", "point"))
        self.time = self._over_time("time.csv", ("cycle", "time"))
        self.steps = self._over_time("steps.csv", ("cycle", "time", "length", "accepted", "error"))
        self.lines = sorted(os.path.basename(name) for name in
                            glob.glob(os.path.join(glob.escape(directory), "line_*.csv")))

    def path(self, name):
        return os.path.join(self.directory, name)

    @property
    def is_unfinished(self):
        """Returns whether the study still runs, was killed, or ended with an error."""
        return self.summary["outcome"] == UNFINISHED

    @property
    def degree(self):
        """Returns the degree of the finite elements, or None."""
        value = self.summary["parameters"].get("Discretization", {}).get("Degree")
        return value if isinstance(value, int) else None

    @property
    def is_adaptive(self):
        return self.summary["parameters"].get("Study", {}).get("Refinement") != "global"

    def norms(self):
        """Returns the norms in which errors were computed, in order."""
        names = {}
        for cycle in self.cycles:
            names.update(dict.fromkeys(cycle.get("errors", {})))
        return list(names)

    def quantities(self):
        """Returns the names of the quantities, in order."""
        names = {}
        for cycle in self.cycles:
            names.update(dict.fromkeys(cycle.get("quantities", {})))
        return list(names)

    def with_unit(self, name):
        """Returns the name of a field, or of a quantity whose last word is a field (`max u`), with
        the unit of the field from Output/Units, if there is one: `tip displacement_y [m]`."""
        words = name.split(" ")
        units = self.summary.get("units") or {}
        parts = [key for key in units if key != "length"
                 and re.fullmatch(re.escape(key) + "(_[xyz]{1,2}|_magnitude)?", words[-1])]
        return f"{name} [{units[max(parts, key=len)]}]" if parts and len(words) < 3 else name

    def unconverged(self):
        """Returns the numbers of dofs of the cycles that have not converged."""
        return {cycle["dofs"] for cycle in self.cycles if not is_converged(cycle)}

    def errors(self, norm):
        """Returns ([dofs], [error]) of the cycles whose error in this norm is known and positive."""
        return self._positive_values(lambda cycle: cycle.get("errors", {}).get(norm, {}).get("error"))

    def estimates(self):
        """Returns ([dofs], [estimated error]) of the cycles that have an estimate."""
        return self._positive_values(lambda cycle: cycle.get("estimate", {}).get("error"))

    def _positive_values(self, value_of):
        pairs = [(cycle["dofs"], value_of(cycle)) for cycle in self.cycles if value_of(cycle)]
        return [dofs for dofs, _ in pairs], [value for _, value in pairs]

    def values(self, quantity):
        """Returns ([dofs], [value]) of the cycles in which this quantity is known."""
        pairs = [(cycle["dofs"], cycle["quantities"][quantity]) for cycle in self.cycles
                 if number(cycle.get("quantities", {}).get(quantity)) is not None]
        return [dofs for dofs, _ in pairs], [value for _, value in pairs]

    def last_lines(self):
        """Returns, for each measured line, the file of the last cycle: line_NAME_CYCLE.csv."""
        last = {}
        for name in self.lines:
            last[name.rpartition("_")[0]] = name
        return list(last.values())

    def _history(self):
        rows = read_table(self.path("history.csv"), ("cycle", "iteration", "residual"))
        curves = {}
        for row in rows or []:
            values = [number(row[name]) for name in ("cycle", "iteration", "residual")]
            if None in values:
                raise BadResult(f"{self.path('history.csv')}: '{','.join(row.values())}' are not "
                                f"numbers")
            cycle, iteration, residual = values
            curve = curves.setdefault(int(cycle), ([], []))
            curve[0].append(iteration)
            curve[1].append(residual)
        return [(cycle, *curve) for cycle, curve in sorted(curves.items())]

    def _over_time(self, name, needed):
        cycles = {}
        for row in read_table(self.path(name), needed) or []:
            numbers = {column: number(text) for column, text in row.items()}
            if None in (numbers["cycle"], numbers["time"]):
                raise BadResult(f"{self.path(name)}: '{row['cycle']},{row['time']}' are not numbers")
            cycles.setdefault(int(numbers["cycle"]), []).append(numbers)
        return sorted(cycles.items())

    def _branch(self):
        path = self.path("branch.csv")
        rows = read_table(path, ("kind", "branch", "arclength", "lambda", "max_u"))
        if rows is None:
            return None
        for row in rows:
            for name in "arclength", "lambda", "max_u":
                value = number(row[name])
                if value is None:
                    raise BadResult(f"{path}: '{row[name]}' in column {name} is not a number")
                row[name] = value
        return sorted(rows, key=lambda row: row["arclength"])


class ParameterStudy:
    """The directory of a parameter study: the lines of study.csv.

    `parameters` are the studied parameters (the columns before `cycle`); `combinations` are
    [(label, [line])] in the order of the file.
    """

    def __init__(self, directory):
        self.directory = directory
        path = os.path.join(directory, "study.csv")
        rows = read_table(path, ("cycle", "dofs", "outcome"))
        if rows is None:
            raise BadResult(f"{directory}: study.csv is missing; give the output directory of a --study")
        if not rows:
            raise BadResult(f"{path}: no lines")
        self.n_remaining = self._remaining()
        self.columns = list(rows[0])
        self.parameters = self.columns[:self.columns.index("cycle")]
        self.combinations = []
        for row in rows:
            label = self.label(row)
            if not self.combinations or self.combinations[-1][0] != label:
                self.combinations.append((label, []))
            self.combinations[-1][1].append(row)

    def _remaining(self):
        """Returns the number of combinations that have not run."""
        path = os.path.join(self.directory, "study.json")
        return read_json(path).get("remaining", 0) if os.path.exists(path) else 0

    def label(self, row, without=None):
        """Returns the values of the studied parameters in @p row, such as `jacobi, 2`."""
        return ", ".join(row[name] or "(empty)" for name in self.parameters if name != without)

    def title(self):
        """Returns the names of the parameters in label(): `Preconditioner, Degree`."""
        return ", ".join(self.short_names().values())

    def short_names(self):
        """Returns {path: key} of the parameters; the path itself if two parameters have this key."""
        last = [name.rpartition("/")[2] for name in self.parameters]
        return {name: word if last.count(word) == 1 else name
                for name, word in zip(self.parameters, last)}

    def rows(self):
        """Returns all lines, grouped by combination."""
        return [row for _, rows in self.combinations for row in rows]

    def last_rows(self):
        """Returns the line of the last cycle of each combination."""
        return [rows[-1] for _, rows in self.combinations]

    def has_numbers(self, column):
        return any(number(row.get(column)) is not None for row in self.rows())

    def quantities(self):
        """Returns the columns of quantities, without their differences and orders, in order."""
        names = [name for name in self.columns if name not in self.parameters
                 and not NO_QUANTITIES.fullmatch(name)]
        derived = {name + end for name in names for end in ("_difference", "_order")}
        return [name for name in names if name not in derived and self.has_numbers(name)]

    def numeric_parameter(self):
        """Returns the first studied parameter with several values that are all numbers, or None."""
        for name in self.parameters:
            values = {row[name] for row in self.last_rows()}
            if len(values) > 1 and None not in map(number, values):
                return name
        return None

    def has_several_meshes(self):
        return any(len({row["dofs"] for row in rows}) > 1 for _, rows in self.combinations)

    def error_columns(self):
        return [name for name in self.columns if name.endswith("_error")
                and any(number(row[name]) for row in self.rows())]


def is_study(directory):
    return os.path.exists(os.path.join(directory, "study.csv"))


def branch_parts(rows):
    """Returns (name, lines) of each part of a branch between folds; a fold belongs to both parts."""
    result = []
    for row in rows:
        if row["kind"] == "fold" and result:
            result[-1][1].append(row)
            result.append(("", [row]))
        elif not result:
            result.append((row["branch"], [row]))
        else:
            name, members = result[-1]
            members.append(row)
            result[-1] = (name or row["branch"], members)
    return result
