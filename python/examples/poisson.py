"""Solves Poisson's equation on a square, with methods that femgpu chooses."""

import numpy as np
import scipy.sparse as sp

import femgpu

n = 300
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
A = sp.kronsum(line, line, format="csr")
b = np.ones(n * n)

x, info = femgpu.solve(A, b)

print(info.message)
assert np.linalg.norm(b - A @ x) <= 1.01e-10 * np.linalg.norm(b)
