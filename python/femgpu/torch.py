"""Differentiable solves for PyTorch."""

import torch

from ._solver import Solver

__all__ = ["solve"]


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values, b, solver, is_new):
        if not is_new:  # values may have changed in place
            solver.update(values)
        x, _ = solver.solve(b)
        ctx.solver = solver
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        values, x = ctx.saved_tensors
        solver = ctx.solver
        if solver._A.values.data_ptr() != values.data_ptr():  # the solver was used for another matrix
            solver.update(values)
        adjoint, _ = solver.adjoint().solve(gradient.contiguous())
        of_values = None
        if ctx.needs_input_grad[0]:
            A = solver._A
            of_values = -adjoint[A.rows()] * x[A.columns.long()]
        return of_values, adjoint if ctx.needs_input_grad[1] else None, None, None


def solve(A, b, solver=None, **options):
    """Solves A x = b such that gradients flow to the values of A and to b.

    A        a sparse CSR tensor, or a tuple of tensors (row_starts, columns, values)
    solver   a femgpu.Solver to reuse, made for a matrix with the same pattern; or the name of a solver
    Takes the options of femgpu.Solver. Returns x.

    The gradient solves Aᵀ λ = ∂L/∂x and is ∂L/∂b = λ, ∂L/∂a_ij = −λ_i x_j. If the method needs a
    symmetric A, the same solver and preconditioner serve for Aᵀ = A, and entries (i, j) and (j, i)
    still have separate gradients; otherwise a solver for Aᵀ is set up. Raises NotConverged if either
    solve does not reach its target, so that no gradient of an inexact solve is returned.
    """
    if isinstance(A, tuple):
        row_starts, columns, values = A
    else:
        row_starts, columns, values = A.crow_indices(), A.col_indices(), A.values()
    is_new = not isinstance(solver, Solver)
    if is_new:
        solver = Solver((row_starts, columns, values.detach()), solver=solver, **options)
    return _Solve.apply(values, b, solver, is_new)
