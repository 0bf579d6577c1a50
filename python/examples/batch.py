"""Solves a thousand small systems with one pattern together."""

import numpy as np
import scipy.sparse as sp

import femgpu

n, k = 100, 1000
A = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csr")
values = A.data * np.linspace(1.0, 2.0, k)[:, None]  # k × nonzeros
b = np.ones((k, n))
x, infos = femgpu.solve_batch((A.indptr, A.indices, values), b)
print(f"{len(infos)} systems, at most {max(info.iterations for info in infos)} iterations")
assert all(info.converged for info in infos)
