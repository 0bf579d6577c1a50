#!/usr/bin/python3
"""Checks result files with VTK's own reader.

Each .vtu or .pvtu must parse, have points and cells, and finite values in all arrays; a .pvd must
name files that exist and are right. One line a file says what it holds. Exits with 1 at the end if
anything was wrong.
"""

import argparse
import sys

import numpy

import vtu


def ranges(arrays):
    """`name [min, max]` of each array, over all of its components."""
    return ", ".join(f"{name} [{values.min():.6g}, {values.max():.6g}]"
                     for name, values in arrays.items()) or "none"


def check(path, arguments):
    """Raises vtu.BadFile with the reason, or prints what the file holds."""
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help=".vtu, .pvtu or .pvd")
    parser.add_argument("--expect-array", action="append", default=[], metavar="NAME",
                        help="every file must have this array (repeatable)")
    parser.add_argument("--min-cells", type=int, default=1, metavar="N",
                        help="every file must have at least so many cells (1)")
    arguments = parser.parse_args()

    wrong = 0
    for path in arguments.files:
        try:
            if path.endswith(".pvd"):
                members = vtu.files_of_collection(path)
                print(f"{path}: {len(members)} files")
            else:
                members = [path]
        except vtu.BadFile as error:
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
