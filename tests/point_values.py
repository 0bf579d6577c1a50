#!/usr/bin/env python3
"""Prints the values of arrays of a .vtu or .pvtu file at the nodes nearest to places.

    /usr/bin/python3 point_values.py FILE displacement.1@48,52 [...]

The number behind the dot is the component, 0 if it is left out; coordinates that are left out are
zero. Needs VTK, as scripts/check_vtu.py does.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
from vtu import Result  # noqa: E402


def value(result, text):
    array, _, place = text.partition("@")
    name, _, component = array.partition(".")
    values = result.point_arrays[name].reshape(len(result.points), -1)
    coordinates = [float(word) for word in place.split(",")]
    distances = sum((result.points[:, a] - x)**2 for a, x in enumerate(coordinates))
    return values[distances.argmin(), int(component or 0)]


def main():
    result = Result(sys.argv[1])
    for text in sys.argv[2:]:
        print(float(value(result, text)))


if __name__ == "__main__":
    main()
