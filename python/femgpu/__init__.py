"""femgpu: sparse linear solvers on GPUs and CPU cores, and finite elements from parameter files."""

from . import _core
from ._batch import solve_batch
from ._program import Result, run
from ._solver import (
    DeviceError,
    Error,
    InputError,
    NotConverged,
    ParameterError,
    SolveInfo,
    Solver,
    SolverError,
    solve,
)

__version__ = _core.version
n_cuda_devices = _core.n_cuda_devices

__all__ = [
    "DeviceError",
    "Error",
    "InputError",
    "NotConverged",
    "ParameterError",
    "Result",
    "SolveInfo",
    "Solver",
    "SolverError",
    "n_cuda_devices",
    "run",
    "solve",
    "solve_batch",
]
