"""Solves −Δu + u³ = 10 by Newton's method. The pattern never changes: only values are updated."""

import numpy as np
import scipy.sparse as sp

import femgpu

n = 100
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)) * (n + 1) ** 2
A = sp.kronsum(line, line, format="csr")
A.sort_indices()
diagonal = np.flatnonzero(A.indices == np.repeat(np.arange(n * n), np.diff(A.indptr)))

u = np.zeros(n * n)
jacobian = A.copy()
solver = femgpu.Solver(jacobian, solver="cg", preconditioner="multigrid")
for step in range(20):
    residual = 10.0 - (A @ u + u**3)
    print(f"step {step}: residual {np.linalg.norm(residual):.3e}")
    if np.linalg.norm(residual) < 1e-8 * np.sqrt(n * n) * 10.0:
        break
    values = A.data.copy()
    values[diagonal] += 3.0 * u**2
    solver.update(values)
    u += solver.solve(residual)[0]
assert step < 10
