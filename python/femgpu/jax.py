"""Differentiable solves for JAX."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import Csr
from ._solver import Solver

__all__ = ["solve"]


class _Pattern:
    """The pattern and the options of a system, and its solvers on the host and on devices."""

    def __init__(self, row_starts, columns, options):
        self.row_starts, self.columns = row_starts, columns
        self.options = options
        self.solvers = {}
        self.rows = Csr(row_starts, columns, jnp.zeros(columns.shape[0])).rows()

    def solve(self, values, b, transposed):
        """Solves with concrete arrays, which stay where they are."""
        is_host = isinstance(values, np.ndarray)
        kind = "host" if is_host else str(values.devices())
        if kind not in self.solvers:
            move = np.asarray if is_host else jnp.asarray
            self.solvers[kind] = Solver(
                (move(self.row_starts), move(self.columns), values), **self.options
            )
        solver = self.solvers[kind]
        if solver._A.values is not values:
            solver.update(values)
        return (solver.adjoint() if transposed else solver).solve(b)[0]


def _call(pattern, values, b, transposed):
    if not isinstance(values, jax.core.Tracer) and not isinstance(b, jax.core.Tracer):
        return pattern.solve(values, b, transposed)

    def on_host(values, b):
        return pattern.solve(np.asarray(values), np.asarray(b), transposed)

    return jax.pure_callback(
        on_host, jax.ShapeDtypeStruct(b.shape, b.dtype), values, b, vmap_method="sequential"
    )


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _solve(pattern, values, b):
    return _call(pattern, values, b, False)


def _forward(pattern, values, b):
    x = _call(pattern, values, b, False)
    return x, (values, x)


def _backward(pattern, saved, gradient):
    values, x = saved
    adjoint = _call(pattern, values, gradient, True)
    return -adjoint[pattern.rows] * x[pattern.columns], adjoint


_solve.defvjp(_forward, _backward)


def solver(row_starts, columns, **options):
    """Returns a differentiable function solve(values, b) for matrices with one pattern. Takes the
    options of femgpu.Solver.

    The gradient solves Aᵀ λ = ∂L/∂x and is ∂L/∂b = λ, ∂L/∂a_ij = −λ_i x_j. Raises NotConverged if
    either solve does not reach its target. Called with concrete arrays, the data stay on their device;
    within jax.jit, the solve is a callback through host memory.
    """
    pattern = _Pattern(jnp.asarray(row_starts), jnp.asarray(columns), options)
    return functools.partial(_solve, pattern)


def solve(A, b, **options):
    """Solves A x = b, with gradients as solver() describes. A is a jax.experimental.sparse.BCSR or a
    tuple of arrays (row_starts, columns, values). Make a solver() to reuse the set-up."""
    row_starts, columns, values = A if isinstance(A, tuple) else (A.indptr, A.indices, A.data)
    return solver(row_starts, columns, **options)(values, b)
