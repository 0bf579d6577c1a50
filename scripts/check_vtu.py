#!/usr/bin/python3
"""Checks result files with VTK's own reader.

Each .vtu, .pvtu or .vtkhdf must parse and have points, cells, and finite values in all arrays; a
.pvd or .vtkhdf.series must name files that exist and are valid. Prints one line per file with its
contents. With --summary, compares the files with summary.json: numbers of cells and points, and
reported smallest and largest values. Exits with 1 at the end if a check failed.
"""

import argparse
import json
import math
import os
import re
import sys

import numpy

import results
import vtu


def ranges(arrays):
    """Returns `name [min, max]` of each array, over all of its components."""
    return ", ".join(f"{name} [{values.min():.6g}, {values.max():.6g}]"
                     for name, values in arrays.items()) or "none"


def check(path, arguments):
    """Prints what the file contains. Raises vtu.BadFile with the reason if it is invalid."""
    result = vtu.Result(path)
    if len(result.points) == 0:
        raise vtu.BadFile(f"{path}: no points")
    if result.cells < arguments.min_cells:
        raise vtu.BadFile(f"{path}: {result.cells} cells, expected at least {arguments.min_cells}")
    arrays = {**result.point_arrays, **result.cell_arrays}
    for name, values in {"coordinates": result.points, **arrays}.items():
        bad = numpy.count_nonzero(~numpy.isfinite(values))
        if bad:
            raise vtu.BadFile(f"{path}: {bad} of {values.size} values of {name} are not finite")
    for name in arguments.expect_array:
        if name not in arrays:
            raise vtu.BadFile(f"{path}: no array {name}; it has {', '.join(sorted(arrays))}")
    print(f"{path}: {result.cells} cells, {len(result.points)} points; "
          f"at points: {ranges(result.point_arrays)}; in cells: {ranges(result.cell_arrays)}")


ELEMENT = re.compile(r"FE_(Q|SimplexP)<(\d)>\((\d+)\)")
# The largest relative amount by which polynomials of degree 2 and more may exceed nodal values.
MOST_BEYOND_NODES = 0.1


def degree_of(element):
    """Returns p of FE_Q<dim>(p) or FE_SimplexP<dim>(p), also in a system; None for other elements."""
    found = ELEMENT.search(element)
    return int(found[3]) if found else None


def points_of_a_cell(element):
    """Returns the number of nodes per cell of FE_Q or FE_SimplexP; None for other elements."""
    found = ELEMENT.search(element)
    if not found:
        return None
    dim, degree = int(found[2]), int(found[3])
    return (degree + 1)**dim if found[1] == "Q" else math.comb(degree + dim, dim)


def check_cycle(path, cycle, element):
    """Raises vtu.BadFile if the file contradicts its cycle in summary.json."""
    result = vtu.Result(path)
    if result.cells != cycle["cells"]:
        raise vtu.BadFile(f"{path}: {result.cells} cells, but the run had {cycle['cells']}")
    said = result.field_arrays.get("converged")
    if said is not None and bool(said.all()) != results.is_converged(cycle):
        raise vtu.BadFile(f"{path}: 'converged' is {said}, but the outcome of the solve was "
                          f"{cycle['solve']['outcome']}")
    nodes = points_of_a_cell(element)
    if path.endswith(".vtkhdf"):  # cells share nodes in this format
        nodes = None
    if nodes and len(result.points) != nodes * cycle["cells"]:
        raise vtu.BadFile(f"{path}: {len(result.points)} points, but {cycle['cells']} cells of "
                          f"{element} have {nodes} each")
    for name, values in result.point_arrays.items():
        if values.shape[1] > 1:
            values = numpy.linalg.norm(values.astype(float), axis=1)
        for word, found, sign in ("min", values.min(), -1), ("max", values.max(), 1):
            expected = cycle["quantities"].get(f"{word} {name}")
            if expected is None:
                continue
            size = max(abs(float(values.min())), abs(float(values.max())))
            beyond = sign * (expected - found) / size if size else 0.
            if not -1e-6 <= beyond <= (1e-6 if degree_of(element) == 1 else MOST_BEYOND_NODES):
                raise vtu.BadFile(f"{path}: {word} {name} is {found:.9g}, but the run had "
                                  f"{expected:.9g}")


def check_outputs(members, cycle, element):
    """Compares the files of a .pvd with the output times of a transient cycle."""
    if len(members) != len(cycle["time"]["times"]):
        raise vtu.BadFile(f"{len(members)} files in the .pvd, but {len(cycle['time']['times'])} outputs")
    check_cycle(members[-1], cycle, element)


def check_summary(series, members, arguments):
    """Compares the files of the .pvd `series` with summary.json, unless a branch was traced."""
    with open(arguments.summary, encoding="utf-8") as file:
        summary = json.load(file)
    if "continuation" in summary:
        return
    cycles = summary["cycles"]
    if "time" in cycles[-1]:
        number = re.search(r"_cycle(\d+)\.", os.path.basename(series))
        check_outputs(members, cycles[int(number[1]) if number else -1], summary["element"])
        return
    if len(members) != len(cycles):  # a cycle that did not converge need not have a file
        cycles = [cycle for cycle in cycles if results.is_converged(cycle)]
    if len(members) != len(cycles):
        raise vtu.BadFile(f"{len(members)} files in the .pvd, but {len(cycles)} cycles converged")
    for path, cycle in zip(members, cycles):
        check_cycle(path, cycle, summary["element"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help=".vtu, .pvtu, .vtkhdf, .pvd or .vtkhdf.series")
    parser.add_argument("--expect-array", action="append", default=[], metavar="NAME",
                        help="array that every file must have (repeatable)")
    parser.add_argument("--min-cells", type=int, default=1, metavar="N",
                        help="minimum number of cells of every file (default: 1)")
    parser.add_argument("--summary", metavar="summary.json",
                        help="compare the files of the .pvd with this run's cycles")
    arguments = parser.parse_args()

    wrong = 0
    for path in arguments.files:
        try:
            if vtu.is_collection(path):
                members = vtu.files_of_collection(path)
                print(f"{path}: {len(members)} files")
                if arguments.summary:
                    check_summary(path, members, arguments)
            else:
                members = [path]
        except (vtu.BadFile, OSError, ValueError, KeyError) as error:
            members = []
            wrong += 1
            print(error, file=sys.stderr)
        for member in members:
            try:
                check(member, arguments)
            except vtu.BadFile as error:
                wrong += 1
                print(error, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
