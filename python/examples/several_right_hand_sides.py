"""Solves for several right-hand sides together, by block conjugate gradients."""

import numpy as np
import scipy.sparse as sp

import femgpu

n = 200
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
A = sp.kronsum(line, line, format="csr")
B = np.random.default_rng(0).standard_normal((n * n, 4))

X, infos = femgpu.solve(A, B, solver="block-cg", preconditioner="multigrid")

print([info.iterations for info in infos])
assert np.linalg.norm(B - A @ X) <= 1.01e-10 * np.linalg.norm(B)
