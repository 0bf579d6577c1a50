"""What happens if a solve fails, or if the input is wrong."""

import numpy as np
import scipy.sparse as sp

import femgpu

n = 1000
A = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csr")
b = np.ones(n)

try:
    femgpu.solve(A, b, solver="cg", preconditioner="jacobi", max_iterations=10)
except femgpu.NotConverged as failure:  # has the best iterate and the report
    print(f"{failure.info.outcome}: {failure}")
    assert failure.info.iterations == 10 and failure.x.shape == b.shape

x, info = femgpu.solve(A, b, solver="cg", preconditioner="jacobi", max_iterations=10, check=False)
assert not info.converged

try:
    femgpu.solve(A, b, solver="newton's method")
except femgpu.ParameterError as error:
    print(error)

try:
    femgpu.solve(A, b.astype("float32"))
except TypeError as error:
    print(error)
