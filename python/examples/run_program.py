"""Runs a mesh-refinement study with the program femgpu, and reads its results."""

from pathlib import Path

import numpy as np

import femgpu

file = Path(__file__).parents[2] / "parameters" / "poisson.prm"
result = femgpu.run(file, {"Study/Cycles": 3}, arguments=["--backend", "host"])

table = result.table()
print("unknowns:", table["dofs"], "L2 errors:", table["L2_error"])
print("outcome:", result.summary["outcome"])
errors = table["L2_error"]
assert np.all(np.log2(errors[:-1] / errors[1:]) > 1.8)
