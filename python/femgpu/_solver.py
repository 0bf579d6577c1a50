"""Solvers for sparse linear systems."""

import numpy as np

from . import _core
from ._arrays import (
    as_numpy,
    contiguous,
    csr_of,
    device_of,
    shared,
    writable_copy,
    zeros_like,
)

Error = _core.Error
ParameterError = _core.ParameterError
InputError = _core.InputError
SolverError = _core.SolverError
DeviceError = _core.DeviceError


class NotConverged(SolverError):
    """A solve that ended without reaching its target. `x` is the best iterate, `info` the report."""

    def __init__(self, x, info):
        super().__init__(info.message)
        self.x = x
        self.info = info


class SolveInfo:
    """The report of a solve. Its members are those of femgpu's summaries: `outcome`, `message`,
    `iterations`, `true_residual`, `rhs_norm`, `backward_error`, `solver`, `preconditioner`,
    `setup_seconds`, `solve_seconds`, `bytes` (copied between host and device) and others, which
    `as_dict()` lists. `converged` says whether the solve was a success, and `history` contains the
    residual norm of each iteration.
    """

    def __init__(self, converged, members, history):
        self.converged = converged
        self.history = np.asarray(history)
        self._members = members

    def __getattr__(self, name):
        try:
            return self.__dict__["_members"][name]
        except KeyError:
            raise AttributeError(f"A report has no member '{name}'.") from None

    def __dir__(self):
        return [*super().__dir__(), *self._members]

    def as_dict(self):
        return dict(self._members)

    def __repr__(self):
        return f"<SolveInfo: {self.message}>"


def _by_columns(b):
    """Returns the numbers of n × k right-hand sides in one array, column after column."""
    if len(b.shape) == 2:
        b = b.T.reshape(-1)
    return contiguous(b, "float64")


def _failed(infos):
    return any(not info.converged for info in infos)


def _badness(infos):
    return max(info.backward_error if info.backward_error >= 0.0 else 1.0 for info in infos)


class Solver:
    """Solves systems A x = b with one matrix, or with a sequence of matrices of one pattern.

    A               square sparse matrix of SciPy, CuPy, PyTorch or JAX, or a tuple of arrays
                    (row_starts, columns, values); in double precision. Arrays are not copied: do not
                    change them while the solver is in use.
    solver, preconditioner, scaling
                    names with options as for femgpu-solve ("idr s=8", "multigrid"). Without any of
                    the three, methods are chosen by symmetry and diagonal of A, and others are tried
                    if they fail.
    backend         "host", "cuda", "cuda:K" or "auto"; default: the device of A, or "auto"
    rtol, atol      targets for ‖b − A x‖, relative to ‖b‖ and absolute
    coordinates     n × dimension coordinates of the unknowns, for multigrid
    near_null       n × k vectors v with A v ≈ 0 away from the boundary, such as rigid-body motions,
                    for multigrid; default: constants, or rigid-body motions from the coordinates
    unknowns_per_node
                    number of consecutive unknowns at each node: 3 for elasticity in 3D
    threads, memory limits of the host's threads and of the memory in bytes; 0: none

    Raises ParameterError, InputError, SolverError or DeviceError.
    """

    def __init__(
        self,
        A,
        *,
        solver=None,
        preconditioner=None,
        scaling=None,
        ordering="none",
        format="csr",
        backend=None,
        rtol=1e-10,
        atol=0.0,
        max_iterations=20000,
        coordinates=None,
        near_null=None,
        unknowns_per_node=0,
        threads=0,
        memory=0,
    ):
        self._A = csr_of(A)
        device = self._A.device
        self._backend = backend or ("auto" if device == "host" else device)
        self._options = dict(ordering=ordering, format=format, threads=threads, memory=memory)
        self._unknowns = dict(
            coordinates=coordinates, near_null=near_null, unknowns_per_node=unknowns_per_node
        )
        self.rtol, self.atol, self.max_iterations = rtol, atol, max_iterations
        if solver is None and preconditioner is None and scaling is None:
            arrays = (self._A.row_starts, self._A.columns, self._A.values)
            stream = _core.per_thread_stream
            self._plan = _core.plan(self._backend, *[shared(array, stream) for array in arrays])
        else:
            method = solver or "pipelined-cg"
            self._plan = [(method, preconditioner or "jacobi", scaling or "none")]
        self._transposed = None
        self._set_up()

    def _set_up(self):
        """Sets up the first of the planned methods."""
        self._adjoint = None
        method, preconditioner, scaling = self._plan[0]
        self._core = _core.Solver(
            backend=self._backend,
            solver=method,
            preconditioner=preconditioner,
            scaling=scaling,
            **self._options,
        )
        points = self._columns_of("coordinates")
        vectors = self._columns_of("near_null")
        self._core.set_unknowns(
            int(self._unknowns["unknowns_per_node"]),
            points.shape[1],
            points.ravel(),
            vectors.shape[1],
            vectors.ravel(),
        )
        self._core.set_matrix(
            self._share(self._A.row_starts), self._share(self._A.columns), self._share(self._A.values)
        )

    def _columns_of(self, name):
        """Returns the coordinates or near-null vectors as a contiguous array n × k in host memory."""
        given = self._unknowns[name]
        if given is None:
            return np.zeros((self.n, 0))
        columns = np.ascontiguousarray(as_numpy(given), dtype=float)
        if columns.ndim == 1:
            columns = columns[:, None]
        if columns.shape[0] != self.n:
            raise InputError(
                f"The matrix has {self.n} rows, but '{name}' has {columns.shape[0]}. Give a row for each "
                "unknown."
            )
        return columns

    def _share(self, array):
        return shared(array, self._core.stream)

    @property
    def n(self):
        """The number of rows."""
        return self._A.n

    @property
    def shape(self):
        return (self.n, self.n)

    @property
    def backend(self):
        """The place where the solver runs: "host" or "cuda:K"."""
        return self._core.backend

    @property
    def methods(self):
        """The solver, preconditioner and scaling in use."""
        return self._plan[0]

    def update(self, values):
        """Sets new values, in the order of the pattern, and updates the preconditioner. Values of a
        matrix on a device do not pass through the host."""
        self._A.values = contiguous(values, "float64")
        self._adjoint_is_current = False
        self._core.update(self._share(self._A.values))

    def solve(self, b, x0=None, *, rtol=None, atol=None, max_iterations=None, check=True):
        """Solves A x = b from the initial guess x0, by default 0.

        b               n numbers, or n × k numbers for k right-hand sides
        check           whether to raise NotConverged if a solve does not reach its target
        Returns x, an array of b's library, and a SolveInfo; for k right-hand sides a list of them.
        The solver block-cg solves several right-hand sides together.
        """
        control = (
            self.rtol if rtol is None else rtol,
            self.atol if atol is None else atol,
            self.max_iterations if max_iterations is None else max_iterations,
        )
        if len(b.shape) not in (1, 2) or b.shape[0] != self.n:
            raise InputError(
                f"The matrix has {self.n} rows, but b has the shape {tuple(b.shape)}. b needs n or n × k "
                "numbers."
            )
        right = _by_columns(b)
        guess = zeros_like(right) if x0 is None else _by_columns(x0)
        n_columns = 1 if len(b.shape) == 1 else int(b.shape[1])
        x, infos = self._solve_once(right, guess, n_columns, control)
        while _failed(infos) and len(self._plan) > 1:
            previous = x, infos
            self._plan = self._plan[1:]
            try:
                self._set_up()
                x, infos = self._solve_once(right, guess, n_columns, control)
            except SolverError:
                x, infos = previous
                continue
            if _failed(infos) and _badness(previous[1]) < _badness(infos):
                x, infos = previous
        if len(b.shape) == 2:
            x = x.reshape(n_columns, self.n).T
        if check and _failed(infos):
            raise NotConverged(x, next(info for info in infos if not info.converged))
        return x, infos if len(b.shape) == 2 else infos[0]

    def _solve_once(self, b, guess, n_columns, control):
        x = writable_copy(guess)
        reports = self._core.solve(self._share(b), self._share(x), n_columns, *control)
        return x, [SolveInfo(*report) for report in reports]

    def multiply(self, x):
        """Returns A x."""
        return self._apply(self._core.multiply, x)

    __matmul__ = multiply

    def precondition(self, r):
        """Returns M⁻¹ r for the preconditioner M."""
        return self._apply(self._core.precondition, r)

    def _apply(self, function, x):
        argument = contiguous(x, "float64")
        result = writable_copy(argument)
        function(self._share(argument), self._share(result))
        return result

    def as_linear_operator(self, kind="inverse"):
        """Returns a scipy.sparse.linalg.LinearOperator that applies A⁻¹, M⁻¹ ("preconditioner") or A
        ("matrix")."""
        from scipy.sparse.linalg import LinearOperator

        functions = {
            "inverse": lambda b: self.solve(b.ravel())[0],
            "preconditioner": lambda r: self.precondition(r.ravel()),
            "matrix": lambda x: self.multiply(x.ravel()),
        }
        return LinearOperator(self.shape, matvec=functions[kind], dtype=float)

    def adjoint(self):
        """Returns a solver for Aᵀ with the same options: this object if its method needs a symmetric
        A. The preconditioner is made from Aᵀ, so that nothing is required of M."""
        if _core.needs_symmetry(self.methods[0].split()[0]):
            return self
        if self._transposed is None:
            self._transposed = self._A.transpose()
        transpose, order = self._transposed
        if self._adjoint is not None and not self._adjoint_is_current:
            self._adjoint.update(self._A.values[order])
        elif self._adjoint is None:
            transpose.values = contiguous(self._A.values[order], "float64")
            method, preconditioner, scaling = self.methods
            self._adjoint = Solver(
                transpose,
                solver=method,
                preconditioner=preconditioner,
                scaling=scaling,
                backend=self._backend,
                rtol=self.rtol,
                atol=self.atol,
                max_iterations=self.max_iterations,
                **self._unknowns,
                **self._options,
            )
        self._adjoint_is_current = True
        return self._adjoint


def solve(A, b, x0=None, **options):
    """Solves A x = b. Takes the options of Solver and `check`. Returns x, an array of b's library, and
    a SolveInfo. Raises NotConverged if the solve does not reach its target.

        x, info = femgpu.solve(A, b)
        x, info = femgpu.solve(A, b, solver="cg", preconditioner="multigrid", rtol=1e-8)
    """
    check = options.pop("check", True)
    csr = csr_of(A)
    if csr.device != device_of(b):
        raise InputError(f"The matrix is on {csr.device}, but b is on {device_of(b)}. Copy one of them.")
    return Solver(csr, **options).solve(b, x0, check=check)
