#!/usr/bin/python3
"""Compares the point arrays of two results, which may come from different numbers of ranks.

A and B are files (.vtu, .pvtu, .vtkhdf, or .pvd or .vtkhdf.series with files in the same order) or
directories, whose results are matched by name. Three arrays are not compared: `subdomain` (the rank
of a cell), `residual` (rounding errors) and `safety_factor` (a quotient of the stress, which is
compared). Points are matched by their coordinates. If several points coincide (one for each
adjacent cell), their sorted values are compared by component. In .vtkhdf files, each rank that
shares a node stores it once, so only the smallest and the largest value at a node are compared.

Prints, for each array, the largest difference relative to a scale: the largest value in A of all
arrays of the same kind, such as all stresses; for an error, at least 1e-5 of the solution. Exits
with 1 if a difference exceeds the tolerance, or if points or arrays do not match.

For arrays in single precision, which deal.II 9.4 and 9.6 write, the tolerance is at least 2.4e-7.
"""

import argparse
import glob
import os
import sys

import numpy

import vtu

NOT_COMPARED = {"subdomain", "residual", "safety_factor"}


def results_in(path):
    """Returns {name: result file} of a file or a directory, without the pieces of other files."""
    if vtu.is_collection(path):
        return {f"file {i + 1}": name for i, name in enumerate(vtu.files_of_collection(path))}
    if not os.path.isdir(path):
        return {"": path}
    whole = glob.glob(os.path.join(path, "*.pvtu"))
    parts = {os.path.normpath(piece) for name in whole for piece in vtu.pieces(name)}
    single = glob.glob(os.path.join(path, "*.vtu")) + glob.glob(os.path.join(path, "*.vtkhdf"))
    found = whole + [name for name in single if os.path.normpath(name) not in parts]
    if not found:
        raise vtu.BadFile(f"{path}: no .vtu, .pvtu or .vtkhdf files")
    return {os.path.splitext(os.path.basename(name))[0]: name for name in sorted(found)}


def places(a, b):
    """Returns a number for each point of A and B; points at the same position have equal numbers.

    Along each axis, coordinates closer than the precision of the files are considered equal.
    """
    both = numpy.concatenate([a.points, b.points]).astype(float)
    size = max(numpy.ptp(both, axis=0).max(), 1e-300)
    single = numpy.float32 in (a.points.dtype, b.points.dtype)
    tolerance = size * (2e-6 if single else 1e-9)
    steps = numpy.empty(both.shape, dtype=numpy.int64)
    for axis in range(3):
        order = numpy.argsort(both[:, axis], kind="stable")
        jumps = numpy.diff(both[order, axis]) > tolerance
        steps[order, axis] = numpy.concatenate([[0], numpy.cumsum(jumps)])
    # This avoids numpy.unique(axis=0), which sorts rows as bytes and takes minutes for millions.
    extent = steps.max(axis=0) + 1
    number = (steps[:, 0] * extent[1] + steps[:, 1]) * extent[2] + steps[:, 2]
    return number[:len(a.points)], number[len(a.points):]


def ordered(values, place, shares):
    """Returns values sorted by position and size, or the extrema at each position if @p shares."""
    order = numpy.lexsort((values, place))
    values, place = values[order], place[order]
    if not shares:
        return values
    begins = numpy.flatnonzero(numpy.diff(place, prepend=-1))
    ends = numpy.append(begins[1:], len(place)) - 1
    return numpy.concatenate([values[begins], values[ends]])


def scale_of(name, arrays):
    """Returns the scale of differences in an array: the largest value of all arrays of its kind."""
    def largest(kind):
        return max((numpy.abs(values).max(initial=0.) for other, values in arrays.items()
                    if kind(other)), default=0.)
    for kind in "stress", "strain":
        if kind in name:
            return largest(lambda other: kind in other and not other.startswith("error_"))
    if name.startswith("error_"):
        own = largest(lambda other: other == name)
        return max(own, 1e-5 * largest(lambda other: other == name[len("error_"):]))
    return largest(lambda other: other == name)


def compare(a, b, rtol):
    """Prints the differences. Returns whether all of them are within the tolerance."""
    shares = a.path.endswith(".vtkhdf") and b.path.endswith(".vtkhdf")
    if len(a.points) != len(b.points) and not shares:
        raise vtu.BadFile(f"{a.path} has {len(a.points)} points, {b.path} has {len(b.points)}")
    names = set(a.point_arrays) - NOT_COMPARED
    if names != set(b.point_arrays) - NOT_COMPARED:
        raise vtu.BadFile(f"{a.path} has the arrays {sorted(a.point_arrays)}, "
                          f"{b.path} has {sorted(b.point_arrays)}")
    place_a, place_b = places(a, b)
    if shares and not numpy.array_equal(numpy.unique(place_a), numpy.unique(place_b)) or \
            not shares and not numpy.array_equal(numpy.sort(place_a), numpy.sort(place_b)):
        raise vtu.BadFile(f"{a.path} and {b.path} have points at different positions")

    within = True
    for name in sorted(names):
        values_a, values_b = a.point_arrays[name], b.point_arrays[name]
        if values_a.shape[1] != values_b.shape[1]:
            raise vtu.BadFile(f"{name} has {values_a.shape[1]} components in {a.path}, "
                              f"{values_b.shape[1]} in {b.path}")
        single = numpy.float32 in (values_a.dtype, values_b.dtype)
        tolerance = max(rtol, 2.4e-7) if single else rtol
        difference = 0.0
        for component in range(values_a.shape[1]):
            u = values_a[:, component].astype(float)
            v = values_b[:, component].astype(float)
            u, v = ordered(u, place_a, shares), ordered(v, place_b, shares)
            difference = numpy.maximum(difference, numpy.abs(u - v).max(initial=0.0))  # keeps NaN
        scale = scale_of(name, a.point_arrays)
        relative = difference / scale if scale > 0 else difference
        good = bool(relative <= tolerance)
        within = within and good
        print(f"  {name}: {relative:.3e}{' (single precision)' if single else ''}"
              f"{'' if good else f'  above {tolerance:g}'}")
    return within


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    parser.add_argument("--rtol", type=float, default=1e-10, help="relative tolerance (1e-10)")
    arguments = parser.parse_args()
    try:
        files_a, files_b = results_in(arguments.a), results_in(arguments.b)
        if len(files_a) == len(files_b) == 1:  # two files are compared whatever their names
            files_b = dict(zip(files_a, files_b.values()))
        if set(files_a) != set(files_b):
            raise vtu.BadFile(f"{arguments.a} holds {sorted(files_a)}, "
                              f"{arguments.b} holds {sorted(files_b)}")
        within = True
        for name, path in files_a.items():
            print(f"{path} and {files_b[name]}:")
            good = compare(vtu.Result(path), vtu.Result(files_b[name]), arguments.rtol)
            within = within and good
    except vtu.BadFile as error:
        sys.exit(str(error))
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
