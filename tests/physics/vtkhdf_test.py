#!/usr/bin/python3
"""Compares the .vtkhdf files of a run with its .vtu files: they must have the same fields at the
same positions, nodal values must be the means of the values in adjacent cells, and files must be
small.

    vtkhdf_test.py --program build/bin/femgpu parameters/poisson_3d.prm --ranks 2 --bytes 100
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import compare_vtu  # noqa: E402
import vtu  # noqa: E402

LINEAR_CELLS = 5, 9, 10, 12  # VTK's types of triangles, quadrilaterals, tetrahedra, hexahedra


def means(values, place):
    """Returns the mean of the values at each position, in the order of position numbers."""
    counts = numpy.bincount(place)
    sums = [numpy.bincount(place, weights=values[:, c].astype(float)) for c in range(values.shape[1])]
    there = counts > 0
    return numpy.stack([s[there] / counts[there] for s in sums], axis=1)


def differences(whole, shared):
    """Yields errors of the .vtkhdf file `shared`; `whole` is the .pvtu of the same solution."""
    if whole.cells != shared.cells:
        yield f"{shared.cells} cells, but {whole.cells} in the .pvtu"
        return
    types = [result.grid.GetCellType(0) for result in (whole, shared)]
    if types[0] != types[1]:
        yield f"cells of type {types[1]}, but {types[0]} in the .pvtu"
    with open(whole.path, encoding="utf-8") as file:
        has_older_version = 'Grid" version="1.0"' in file.read(300)
    if has_older_version != (types[0] in LINEAR_CELLS):
        yield "the .pvtu must have version 1.0 for linear cells and only for them"
    if not len(shared.points) < len(whole.points):
        yield f"{len(shared.points)} points, not fewer than the {len(whole.points)} of the .pvtu"
    for kind in "point_arrays", "cell_arrays":
        a, b = getattr(whole, kind), getattr(shared, kind)
        if set(a) != set(b):
            yield f"{kind} {sorted(b)}, but {sorted(a)} in the .pvtu"
            return
    for name, a in whole.cell_arrays.items():
        if not numpy.array_equal(a, shared.cell_arrays[name]):
            yield f"{name} differs"
    place_a, place_b = compare_vtu.places(whole, shared)
    if not numpy.array_equal(numpy.unique(place_a), numpy.unique(place_b)):
        yield "the points of the .pvtu are elsewhere"
        return
    for name in sorted(set(whole.point_arrays) - {"residual"}):
        a, b = whole.point_arrays[name], shared.point_arrays[name]
        scale = compare_vtu.scale_of(name, whole.point_arrays)
        difference = numpy.abs(means(a, place_a) - means(b, place_b)).max()
        if not difference <= 1e-6 * scale:
            yield f"{name} differs by {difference}, its size is {scale}"


def distance_from(result, expected):
    """Returns the largest error of an array, given as `u=FORMULA` in x, y and z, and its name."""
    name, _, formula = expected.partition("=")
    names = {function: getattr(numpy, function) for function in ("sin", "cos", "exp", "pi")}
    exact = eval(formula, names, dict(zip("xyz", result.points.T)))  # from the command line
    return numpy.abs(result.point_arrays[name][:, 0] - exact).max(), name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("file")
    parser.add_argument("--ranks", default="1")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--exact", nargs=2, metavar=("ARRAY=FORMULA", "WIDTH"),
                        help="values of an array of the last file")
    parser.add_argument("--bytes", type=float, help="of the last file, for a cell, at most")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        for form in "vtu", "vtkhdf":
            words = [word for text in options.set for word in ("--set", text)]
            subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n",
                            options.ranks, options.program, options.file, "--quiet", "--output",
                            os.path.join(directory, form), "--set", f"Output/Format={form}", *words],
                           check=True)
        parts = sorted(name for name in os.listdir(os.path.join(directory, "vtkhdf"))
                       if name.endswith(".vtkhdf"))
        for name in parts:
            path = os.path.join(directory, "vtkhdf", name)
            shared = vtu.Result(path)
            whole = vtu.Result(os.path.join(directory, "vtu", name.replace(".vtkhdf", ".pvtu")))
            wrong += [f"{name}: {text}" for text in differences(whole, shared)]
            print(f"{name}: {shared.cells} cells, {os.path.getsize(path) / shared.cells:.1f} bytes each")
        if options.exact and parts:
            distance, name = distance_from(shared, options.exact[0])
            if not distance <= float(options.exact[1]):
                wrong.append(f"{parts[-1]}: {name} is {distance} from its exact values")
        if options.bytes and not os.path.getsize(path) <= options.bytes * shared.cells:
            wrong.append(f"{parts[-1]}: more than {options.bytes} bytes a cell")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong or not parts else 0


if __name__ == "__main__":
    sys.exit(main())
