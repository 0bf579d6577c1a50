"""Arrays and sparse matrices of NumPy, SciPy, CuPy, PyTorch and JAX, as the compiled part takes them."""

import importlib
import sys

import numpy as np

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # device types of DLPack


def library_of(array):
    """Returns the library of an array: "numpy", "cupy", "torch" or "jax"."""
    for base in type(array).__mro__:
        name = base.__module__.split(".")[0]
        if name in ("numpy", "cupy", "torch"):
            return name
        if name in ("jax", "jaxlib"):
            return "jax"
    raise TypeError(f"An array must come from NumPy, CuPy, PyTorch or JAX, but is a {type(array).__name__}.")


def module_of(array):
    """Returns the module with the functions for an array: numpy, cupy, torch or jax.numpy."""
    name = library_of(array)
    return importlib.import_module("jax.numpy" if name == "jax" else name)


def device_of(array):
    """Returns "host" or "cuda:K", the memory that contains an array."""
    if library_of(array) == "numpy":
        return "host"
    kind, number = array.__dlpack_device__()
    return f"cuda:{int(number)}" if int(kind) in (CUDA, CUDA_MANAGED) else "host"


def is_real_number(array):
    name = str(array.dtype).split(".")[-1]
    return name == "float64" or name.startswith(("int", "uint", "bool"))


def contiguous(array, kind):
    """Returns an array as contiguous numbers of type "float64" or "int32"; copies only if necessary."""
    if kind == "float64" and not is_real_number(array):
        raise TypeError(
            f"femgpu computes in double precision, but an array has type {array.dtype}. Convert it to "
            "float64 (JAX needs jax.config.update('jax_enable_x64', True) for this)."
        )
    library, module = library_of(array), module_of(array)
    if library == "torch":
        return array.detach().to(getattr(module, kind)).contiguous()
    if library == "jax":
        return module.asarray(array, dtype=kind)
    return module.ascontiguousarray(array, dtype=kind)


def shared(array, stream):
    """Returns what the compiled part reads and writes without a copy. Work on a device that writes the
    array precedes later work in the stream (a cudaStream_t as an integer)."""
    if library_of(array) == "numpy":
        return array
    if device_of(array) == "host":
        return array.__dlpack__()
    return array.__dlpack__(stream=stream)


def writable_copy(array):
    """Returns a new array, which the compiled part may write to."""
    library, module = library_of(array), module_of(array)
    if library == "torch":
        return array.detach().clone()
    if library == "jax":
        return module.array(array, copy=True).block_until_ready()
    return array.copy()


def zeros_like(array):
    if library_of(array) == "jax":
        return module_of(array).zeros_like(array).block_until_ready()
    return module_of(array).zeros_like(array)


class Csr:
    """A square CSR matrix: row starts, ascending columns and values in arrays of one library."""

    def __init__(self, row_starts, columns, values):
        self.row_starts = contiguous(row_starts, "int32")
        self.columns = contiguous(columns, "int32")
        self.values = contiguous(values, "float64")
        self.n = int(self.row_starts.shape[0]) - 1

    @property
    def device(self):
        return device_of(self.values)

    def rows(self):
        """Returns the row of each entry."""
        module = module_of(self.columns)
        lengths = self.row_starts[1:] - self.row_starts[:-1]
        if library_of(self.columns) == "torch":
            return module.repeat_interleave(module.arange(self.n, device=lengths.device), lengths)
        if library_of(self.columns) == "jax":
            return module.repeat(
                module.arange(self.n), lengths, total_repeat_length=int(self.columns.shape[0])
            )
        if library_of(self.columns) == "cupy":  # its repeat() needs host integers
            marks = module.zeros(int(self.columns.shape[0]) + 1, dtype="int32")
            module.add.at(marks, self.row_starts[1:-1], 1)
            return module.cumsum(marks)[:-1]
        return module.repeat(module.arange(self.n), lengths)

    def transpose(self):
        """Returns the transpose, and the entry of this matrix from which each of its values comes."""
        library, module = library_of(self.columns), module_of(self.columns)
        if library == "torch":
            order = module.sort(self.columns, stable=True).indices
            counts = module.bincount(self.columns, minlength=self.n)
            starts = module.cat([counts.new_zeros(1), module.cumsum(counts, 0)])
        else:
            # A stable order by column keeps the rows of each column in ascending order.
            if library == "cupy":
                order = module.argsort(self.columns.astype("int64") * self.n + self.rows())
            elif library == "jax":
                order = module.argsort(self.columns, stable=True)
            else:
                order = module.argsort(self.columns, kind="stable")
            counts = module.bincount(self.columns, minlength=self.n)
            starts = module.concatenate([module.zeros(1, dtype=counts.dtype), module.cumsum(counts)])
        return Csr(starts, self.rows()[order], self.values[order]), order


def csr_of(A):
    """Converts a sparse matrix of any of the libraries, or a tuple (row_starts, columns, values)."""
    if isinstance(A, Csr):
        return A
    if isinstance(A, tuple) and len(A) == 3:
        return Csr(*A)
    scipy_sparse = sys.modules.get("scipy.sparse")
    if scipy_sparse is not None and scipy_sparse.issparse(A):
        return _of_scipy(A)
    name = type(A).__module__
    if name.startswith("cupyx.scipy.sparse"):
        return _of_scipy(A)
    if name.split(".")[0] == "torch":
        torch = module_of(A)
        if A.layout != torch.sparse_csr:
            A = A.coalesce().to_sparse_csr() if A.layout == torch.sparse_coo else A.to_sparse_csr()
        _require_square(A.shape)
        return Csr(A.crow_indices(), A.col_indices(), A.values())
    if name.startswith("jax.experimental.sparse"):
        _require_square(A.shape)
        if type(A).__name__ == "BCOO":
            jax_sparse = importlib.import_module("jax.experimental.sparse")
            A = jax_sparse.BCSR.from_bcoo(A.sum_duplicates())
        return Csr(A.indptr, A.indices, A.data)
    raise TypeError(
        "A matrix must be a sparse matrix of SciPy, CuPy, PyTorch or JAX, or a tuple of three arrays "
        f"(row_starts, columns, values), but is a {type(A).__name__}. Convert a dense matrix with "
        "scipy.sparse.csr_array(A)."
    )


def _require_square(shape):
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"A matrix must be square, but has the shape {tuple(shape)}.")


def _of_scipy(A):
    _require_square(A.shape)
    A = A.tocsr()
    if not A.has_canonical_format:  # ascending columns, each once
        A = A.copy()
        A.sum_duplicates()
    return Csr(A.indptr, A.indices, A.data)


def as_numpy(array):
    """Returns a copy of an array in host memory."""
    library = library_of(array)
    if library == "torch":
        return array.detach().cpu().numpy()
    if library == "cupy":
        return array.get()
    return np.asarray(array)
