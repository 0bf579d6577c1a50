"""Many small systems, solved together."""

import numpy as np

from . import _core
from ._arrays import contiguous, csr_of, device_of
from ._solver import InputError, NotConverged, SolveInfo


def _matrices_of(A):
    """Returns the CSR matrices of a batch."""
    if isinstance(A, tuple) and len(A) == 3 and len(A[0].shape) == 1:
        if len(A[2].shape) != 2:
            raise InputError(
                f"The values of a batch need the shape k × nonzeros, but have {tuple(A[2].shape)}."
            )
        if A[2].shape[0] == 0:
            return []
        first = csr_of((A[0], A[1], A[2][0]))
        return [first] + [csr_of((first.row_starts, first.columns, values)) for values in A[2][1:]]
    return [csr_of(matrix) for matrix in A]


def _joined(vectors, matrices, name):
    """Returns vectors of all systems in one new array."""
    if len(vectors) != len(matrices):
        raise InputError(f"There are {len(matrices)} matrices, but '{name}' has {len(vectors)} vectors.")
    for k, (vector, matrix) in enumerate(zip(vectors, matrices)):
        if tuple(vector.shape) != (matrix.n,):
            raise InputError(
                f"System {k} has {matrix.n} rows, but its vector in '{name}' has the shape "
                f"{tuple(vector.shape)}."
            )
        if device_of(vector) != "host":
            raise InputError(
                f"A vector in '{name}' is on {device_of(vector)}. A batch needs arrays in host memory."
            )
    if not matrices:
        return np.zeros(0)
    return np.concatenate([np.asarray(contiguous(vector, "float64")) for vector in vectors])


def solve_batch(
    A,
    b,
    x0=None,
    *,
    solver="cg",
    preconditioner="jacobi",
    backend="auto",
    rtol=1e-10,
    atol=0.0,
    max_iterations=20000,
    threads=0,
    memory=0,
    check=True,
):
    """Solves many independent systems together: on a GPU one thread block solves each system, on the
    host one thread. All arrays are in host memory.

    A               a list of matrices, whose sizes may differ, or (row_starts, columns, values) with k ×
                    nonzeros values for k matrices of one pattern
    b, x0           a list of vectors, or k × n numbers
    solver          cg, pipelined-cg, chronopoulos-gear-cg, block-cg, minres, bicgstab or
                    pipelined-bicgstab
    preconditioner  jacobi or identity
    check           whether to raise NotConverged if a system does not reach its target
    Returns x, a list of arrays or an array of k × n numbers like b, and a list of k SolveInfo,
    which have no times and no history, and an empty message after a success.
    """
    matrices = _matrices_of(A)
    if any(matrix.device != "host" for matrix in matrices):
        raise InputError("A matrix is on a device. A batch needs arrays in host memory.")
    right = _joined(b, matrices, "b")
    x = np.zeros_like(right) if x0 is None else _joined(x0, matrices, "x0")
    reports = _core.solve_batch(
        backend=backend,
        threads=threads,
        memory=memory,
        solver=solver,
        preconditioner=preconditioner,
        relative_tolerance=rtol,
        absolute_tolerance=atol,
        max_iterations=max_iterations,
        row_starts=[np.asarray(matrix.row_starts) for matrix in matrices],
        columns=[np.asarray(matrix.columns) for matrix in matrices],
        values=[np.asarray(matrix.values) for matrix in matrices],
        b=right,
        x=x,
    )
    infos = [SolveInfo(*report) for report in reports]
    if isinstance(b, (list, tuple)):
        ends = np.cumsum([matrix.n for matrix in matrices], dtype=int)
        result = [x[end - matrix.n : end] for matrix, end in zip(matrices, ends)]
    else:
        result = x.reshape(b.shape)
    failed = [k for k, info in enumerate(infos) if not info.converged]
    if check and failed:
        info = infos[failed[0]]
        error = NotConverged(result, info)
        error.args = (f"{len(failed)} of {len(infos)} systems failed, the first of them system {failed[0]}: "
                      f"{info.message}",)
        raise error
    return result, infos
