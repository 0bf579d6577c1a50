"""Finds the fields of a result by the names that femgpu's output uses, with units, for render.py."""

import os
import re

import numpy

import results
import vtu

BESIDES = ("material_id", "subdomain", "error_indicator", "exact_", "error_")


def parts(name, columns, dimension):
    """Returns the names of an array's components with their columns (None: all columns), as in
    docs/measurements.md: `v_x`, … and `v_magnitude` of a vector v, `t_xx`, `t_xy`, … of a tensor t.
    """
    axes = "xyz"[:dimension]
    if columns == 3:
        named = {f"{name}_{axis}": i for i, axis in enumerate(axes)}
        return {**named, f"{name}_magnitude": None}
    if columns == 6:  # a symmetric tensor
        order = ["xx", "yy", "zz", "xy", "yz", "xz"]
        return {f"{name}_{a}{b}": order.index(min(a, b) + max(a, b)) for a in axes for b in axes}
    return {}


class Fields:
    """The drawable fields of a result: `names`, in the order of the file."""

    def __init__(self, result):
        self.result = result
        self.dimension = 2 if numpy.ptp(result.points[:, 2]) == 0 else 3
        self.arrays = vtu.arrays_at_points(result)
        self.names = {}  # name -> (array, column)
        for name, values in self.arrays.items():
            if values.shape[1] != 6:  # a tensor has no scalar value
                self.names[name] = name, None
            for part, column in parts(name, values.shape[1], self.dimension).items():
                if part not in self.arrays:  # a component can also be an array: stress_zz in 2D
                    self.names[part] = name, column
        self.summary = _read_summary(result.path)

    def default(self):
        """Returns the field that a user most likely wants to see."""
        for name in self.names:
            if "von_mises" in name:
                return name
        for name in ("u", "displacement"):
            if name in self.names:
                return name
        shown = [name for name in self.names if not name.startswith(BESIDES)]
        return shown[0] if shown else next(iter(self.names))

    def values(self, name):
        """Returns the values at all points; for a vector, its magnitude."""
        if name not in self.names:
            raise vtu.BadFile(f"{self.result.path}: no field {name}; choose {', '.join(self.names)}")
        array, column = self.names[name]
        values = self.arrays[array].astype(float)
        if column is not None or values.shape[1] == 1:
            return values[:, column or 0]
        return numpy.linalg.norm(values, axis=1)

    def title(self, name):
        """Returns the name, or |name| for the magnitude of a vector."""
        array, column = self.names[name]
        is_length = column is None and self.arrays[array].shape[1] > 1
        return f"|{array}|" if is_length else name

    def unit(self, name):
        """Returns the unit of the field from Output/Units, or an empty string."""
        array = re.sub("^(exact|error)_", "", self.names[name][0])
        return self._units().get(array, "")

    def unit_of_length(self):
        return self._units().get("length", "")

    def _units(self):
        units = self.summary.get("units")
        return units if isinstance(units, dict) else {}

    def is_converged(self):
        """Returns whether the solution converged, from the file or else from summary.json."""
        said = self.result.field_arrays.get("converged")
        if said is not None and len(said):
            return bool(said.all())
        number = re.search(r"_(\d+)\.(pvtu|\d+\.vtu)$", self.result.path)
        cycles = self.summary.get("cycles", [])
        if not number or self.time_name() != "cycle" or int(number[1]) >= len(cycles):
            return True
        return cycles[int(number[1])].get("solve", {}).get("outcome") in results.CONVERGED


    def time_name(self):
        """Returns the name of the times in the .pvd: `t`, `arclength` or `cycle`."""
        if "continuation" in self.summary:
            return "arclength"
        return "t" if all("time" in cycle for cycle in self.summary.get("cycles", [])) else "cycle"


def _read_summary(path):
    """Returns summary.json of the run, or {} if it does not exist yet."""
    try:
        return results.read_json(os.path.join(os.path.dirname(path), "summary.json"))
    except results.BadResult:
        return {}
