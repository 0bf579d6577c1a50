"""Solves an unsymmetric system with IDR(8) and incomplete factors."""

import numpy as np
import scipy.sparse as sp

import femgpu

n = 150
diffusion = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
advection = sp.diags([-1.0, 1.0], [-1, 0], shape=(n, n))
A = sp.kronsum(diffusion + 0.5 * advection, diffusion + 0.2 * advection, format="csr")
b = np.ones(n * n)

x, info = femgpu.solve(A, b, solver="idr s=8", preconditioner="ilu")

print(info.message)
assert np.linalg.norm(b - A @ x) <= 1.01e-10 * np.linalg.norm(b)
