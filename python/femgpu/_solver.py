"""Solvers for sparse linear systems."""

import numpy as np

from . import _core
from ._arrays import (
    as_numpy,
    contiguous,
    csr_of,
    device_of,
    library_of,
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


def _may_be_helped(infos, is_limited):
    """Returns whether other methods may help. They do not if the user's limit was reached, or if a
    right-hand side is not finite."""
    return any(
        not info.converged
        and np.isfinite(info.rhs_norm)
        and not (is_limited and info.outcome == "iteration_limit")
        for info in infos
    )


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
                    if they fail. The default of the solver alone is pipelined-cg for symmetric and
                    pipelined-bicgstab for other matrices, that of the preconditioner jacobi.
    backend         "host", "cuda", "cuda:K" or "auto"; default: the device of A, or "auto"
    rtol, atol      targets for ‖b − A x‖, relative to ‖b‖ and absolute
    max_iterations  default: 20,000, and 5,000 for some of the chosen methods if others follow. If a
                    limit is given and reached, no other methods are tried.
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
        max_iterations=None,
        coordinates=None,
        near_null=None,
        unknowns_per_node=0,
        threads=0,
        memory=0,
    ):
        self._A = csr_of(A)
        device = self._A.device
        self._backend = backend or ("auto" if device == "host" else device)
        self._resources = dict(threads=threads, memory=memory)
        self._options = dict(ordering=ordering, format=format)
        self._unknowns = dict(
            coordinates=coordinates, near_null=near_null, unknowns_per_node=unknowns_per_node
        )
        self.rtol, self.atol, self.max_iterations = rtol, atol, max_iterations
        self._core = _core.Solver(
            _core.backend_for(solver, self._backend) if solver else self._backend, **self._resources
        )
        self._set_unknowns()
        arrays = (self._A.row_starts, self._A.columns, self._A.values)
        self._core.set_matrix(*[self._share(array) for array in arrays])
        self._is_automatic = solver is None and preconditioner is None and scaling is None
        if self._is_automatic:
            self._plan = self._core.plan()
        else:
            scaling = scaling or "none"
            if solver is None:
                needs_cg = _core.preserves_symmetry(scaling) and self._core.is_symmetric()
                solver = "pipelined-cg" if needs_cg else "pipelined-bicgstab"
            self._plan = [(solver, preconditioner or "jacobi", scaling, 0)]
        self._transposed = self._adjoint = None
        self._is_symmetric = None  # not known
        self._set_up()

    def _set_up(self):
        """Sets up the first of the planned methods that can be set up, and forgets those before."""
        error = None
        self._adjoint = None
        for k, methods in enumerate(self._plan):
            try:
                self._core.set_up(*methods[:3], **self._options)
            except (SolverError, DeviceError) as current:
                error = error or current
                continue
            self._plan = self._plan[k:]
            return
        raise error

    def _set_unknowns(self):
        points = self._columns_of("coordinates")
        vectors = self._columns_of("near_null")
        self._core.set_unknowns(
            int(self._unknowns["unknowns_per_node"]),
            points.shape[1],
            points.ravel(),
            vectors.shape[1],
            vectors.ravel(),
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
        return self._plan[0][:3]

    def update(self, values):
        """Sets new values, in the order of the pattern, and updates the preconditioner. Values of a
        matrix on a device do not pass through the host."""
        new_values = contiguous(values, "float64")
        if len(new_values.shape) != 1:
            raise InputError(f"Values need one dimension, but have the shape {tuple(new_values.shape)}.")
        self._core.update(self._share(new_values))
        self._A.values = new_values
        self._adjoint_is_current = False
        self._is_symmetric = None

    def solve(self, b, x0=None, *, rtol=None, atol=None, max_iterations=None, check=True):
        """Solves A x = b from the initial guess x0, by default 0.

        b               n numbers, or n × k numbers for k right-hand sides
        check           whether to raise NotConverged if a solve does not reach its target
        Returns x, an array of b's library, and a SolveInfo; for k right-hand sides a list of them.
        The solver block-cg solves several right-hand sides together.
        """
        library_of(b)  # refuses other types
        rtol = self.rtol if rtol is None else rtol
        atol = self.atol if atol is None else atol
        limit = self.max_iterations if max_iterations is None else max_iterations
        if len(b.shape) not in (1, 2) or b.shape[0] != self.n or 0 in b.shape[1:]:
            raise InputError(
                f"The matrix has {self.n} rows, but b has the shape {tuple(b.shape)}. b needs n or n × k "
                "numbers."
            )
        if x0 is not None and tuple(x0.shape) != tuple(b.shape):
            raise InputError(f"b has the shape {tuple(b.shape)}, but x0 has {tuple(x0.shape)}.")
        right = _by_columns(b)
        guess = zeros_like(right) if x0 is None else _by_columns(x0)
        n_columns = 1 if len(b.shape) == 1 else int(b.shape[1])

        def attempt():
            x = writable_copy(guess)
            reports = self._core.solve(
                self._share(right),
                self._share(x),
                n_columns,
                rtol,
                atol,
                limit if limit is not None else self._plan[0][3] or 20000,
            )
            return x, [SolveInfo(*report) for report in reports]

        x, infos = attempt()
        plan = self._plan
        while len(self._plan) > 1 and _may_be_helped(infos, limit is not None):
            self._plan = self._plan[1:]
            try:
                self._set_up()
            except (SolverError, DeviceError):
                break
            others = attempt()
            if not _failed(others[1]) or _badness(others[1]) < _badness(infos):
                x, infos = others
        if _failed(infos) and self._plan is not plan:  # the next solve begins with the best methods again
            self._plan = plan
            self._set_up()
        if len(b.shape) == 2:
            x = x.reshape(n_columns, self.n).T
        if check and _failed(infos):
            raise NotConverged(x, next(info for info in infos if not info.converged))
        return x, infos if len(b.shape) == 2 else infos[0]

    def multiply(self, x):
        """Returns A x."""
        return self._apply(self._core.multiply, x)

    __matmul__ = multiply

    def precondition(self, r):
        """Returns M⁻¹ r for the preconditioner M."""
        return self._apply(self._core.precondition, r)

    def _apply(self, function, x):
        library_of(x)  # refuses other types
        if tuple(x.shape) != (self.n,):
            raise InputError(f"The matrix has {self.n} rows, but a vector has the shape {tuple(x.shape)}.")
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
        if kind not in functions:
            raise ParameterError(f"There is no operator '{kind}'; use one of {', '.join(functions)}.")
        return LinearOperator(self.shape, matvec=functions[kind], dtype=float)

    def adjoint(self):
        """Returns a solver for Aᵀ with the same options: this object if its method needs a symmetric
        A. The preconditioner is made from Aᵀ, so that nothing is required of M. Raises InputError if
        A is not symmetric, although the solver that the user has named needs this."""
        if _core.needs_symmetry(self.methods[0]):
            if self._is_symmetric is None:
                self._is_symmetric = self._core.is_symmetric()
            if self._is_symmetric:
                return self
            if not self._is_automatic:
                raise InputError(
                    f"The solver '{self.methods[0]}' needs a symmetric matrix, but A is not symmetric. Use "
                    "pipelined-bicgstab, idr or gmres."
                )
        if self._transposed is None:
            self._transposed = self._A.transpose()
        transpose, order = self._transposed
        if self._adjoint is not None and not self._adjoint_is_current:
            self._adjoint.update(self._A.values[order])
        elif self._adjoint is None:
            transpose.values = contiguous(self._A.values[order], "float64")
            methods = {}
            if not self._is_automatic:
                methods = dict(zip(("solver", "preconditioner", "scaling"), self.methods))
            self._adjoint = Solver(
                transpose,
                backend=self._backend,
                **methods,
                **self._unknowns,
                **self._options,
                **self._resources,
            )
        adjoint = self._adjoint
        adjoint.rtol, adjoint.atol, adjoint.max_iterations = self.rtol, self.atol, self.max_iterations
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
