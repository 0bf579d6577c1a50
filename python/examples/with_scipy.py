"""Uses femgpu's multigrid in methods of SciPy: conjugate gradients, and the smallest eigenvalues."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import femgpu

n = 100
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
A = sp.kronsum(line, line, format="csr")
solver = femgpu.Solver(A, solver="cg", preconditioner="multigrid")
M = solver.as_linear_operator("preconditioner")

iterations = []
x, status = sla.cg(A, np.ones(n * n), M=M, callback=iterations.append)
print(f"SciPy's cg with femgpu's multigrid: {len(iterations)} iterations")
assert status == 0 and len(iterations) < 20

start = np.random.default_rng(0).standard_normal((n * n, 4))
eigenvalues, _ = sla.lobpcg(A, start, M=M, largest=False, tol=1e-6, maxiter=60)
exact = 4.0 * np.sin(np.pi / (2 * (n + 1))) ** 2
print(f"smallest eigenvalue {eigenvalues[0]:.9f}, exact {2 * exact:.9f}")
assert abs(eigenvalues[0] - 2 * exact) < 1e-8
