"""Solves with conjugate gradients and multigrid, and looks at the report."""

import numpy as np
import scipy.sparse as sp

import femgpu

n = 40
line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
A = sp.kronsum(sp.kronsum(line, line), line, format="csr")
b = np.random.default_rng(0).standard_normal(n**3)

solver = femgpu.Solver(A, solver="cg", preconditioner="multigrid", rtol=1e-8)
x, info = solver.solve(b)

print(f"{info.iterations} iterations on {solver.backend}, set-up {info.setup_seconds:.3f} s, "
      f"solve {info.solve_seconds:.3f} s, {info.format}")
print("residuals:", info.history)
assert info.converged and info.iterations < 20
