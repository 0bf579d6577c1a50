#!/usr/bin/env python3
"""Prints the values of arrays of a .vtu or .pvtu file at the nodes nearest to given points.

    /usr/bin/python3 point_values.py FILE displacement.1@48,52 [...]

The number after the dot is the component (default 0); omitted coordinates are zero. `cell_size` is
not an array: it is the longest side of the bounding box of the cell that contains the point.
Requires VTK, like scripts/check_vtu.py.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from vtu import Result  # noqa: E402


def cell_size(grid, place):
    for i in range(grid.GetNumberOfCells()):
        bounds = grid.GetCell(i).GetBounds()
        box = list(zip(bounds[::2], bounds[1::2], strict=True))
        if all(low <= x <= high for (low, high), x in zip(box, place)):  # in 2D without z
            return max(high - low for low, high in box)
    raise ValueError(f"no cell holds {place}")


def value(result, text):
    array, _, place = text.partition("@")
    name, _, component = array.partition(".")
    coordinates = [float(word) for word in place.split(",")]
    if name == "cell_size":
        return cell_size(result.grid, coordinates)
    values = result.point_arrays[name].reshape(len(result.points), -1)
    distances = sum((result.points[:, a] - x)**2 for a, x in enumerate(coordinates))
    return values[distances.argmin(), int(component or 0)]


def main():
    result = Result(sys.argv[1])
    for text in sys.argv[2:]:
        print(float(value(result, text)))


if __name__ == "__main__":
    main()
