"""Solves a system whose matrix and vectors are in the memory of a GPU. Nothing is copied."""

import cupy as cp
import cupyx.scipy.sparse as sp

import femgpu

n = 1000
one = cp.ones(n)
line = sp.diags([-one[1:], 2.0 * one, -one[1:]], [-1, 0, 1])
identity = sp.identity(n)
A = (sp.kron(line, identity) + sp.kron(identity, line)).tocsr()
b = cp.ones(n * n)

solver = femgpu.Solver(A, solver="cg", preconditioner="multigrid")
x, info = solver.solve(b)
print(f"{info.message} {info.bytes} bytes were copied between host and device.")
assert float(cp.linalg.norm(b - A @ x)) <= 1.01e-10 * float(cp.linalg.norm(b))
assert info.bytes == 0

solver.update(2.0 * A.data)
y, info = solver.solve(b)
assert info.bytes == 0 and float(cp.abs(x - 2.0 * y).max()) < 1e-6 * float(cp.abs(x).max())
