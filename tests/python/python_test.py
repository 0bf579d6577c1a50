"""Tests of the Python package. Run with PYTHONPATH=<build>/python."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

import femgpu

examples = Path(__file__).parents[2] / "python" / "examples"
program, solve_program = shutil.which("femgpu"), shutil.which("femgpu-solve")
needs = {"with_cupy": "cupy", "with_torch": "torch", "with_jax": "jax"}


def poisson(n):
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return sp.kronsum(line, line, format="csr")


def unsymmetric(n):
    line = sp.diags([-1.2, 2.0, -0.8], [-1, 0, 1], shape=(n, n))
    return sp.kronsum(line, line, format="csr")


def relative_residual(A, b, x):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


def find(report, key):
    """Returns the value of a key in nested dictionaries; None if it is not there."""
    if key in report:
        return report[key]
    values = (find(value, key) for value in report.values() if isinstance(value, dict))
    return next((value for value in values if value is not None), None)


class Examples(unittest.TestCase):
    pass


def add_example(path):
    def run(self):
        library = needs.get(path.stem)
        if library:
            try:
                module = __import__(library)
            except ImportError:
                self.skipTest(f"{library} is not installed")
            if library == "cupy" and module.cuda.runtime.getDeviceCount() == 0:
                self.skipTest("there is no GPU")
        if path.stem == "run_program" and not program:
            self.skipTest("the program femgpu was not built")
        done = subprocess.run([sys.executable, path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    setattr(Examples, f"test_{path.stem}", run)


for path in sorted(examples.glob("*.py")):
    add_example(path)


class Solves(unittest.TestCase):
    def test_methods_are_chosen_by_the_matrix(self):
        n = 40
        b = np.random.default_rng(0).standard_normal(n * n)
        indefinite = poisson(n) - 0.05 * sp.eye(n * n)
        saddle = sp.bmat([[poisson(20), sp.eye(400)], [sp.eye(400), None]], format="csr")
        for A, method in (
            (poisson(n), "pipelined-cg"),
            (unsymmetric(n), "pipelined-bicgstab"),
            (indefinite.tocsr(), "minres"),
            (saddle, "minres"),
        ):
            right = b[: A.shape[0]]
            x, info = femgpu.solve(A, right, rtol=1e-8)
            self.assertLessEqual(relative_residual(A, right, x), 1.01e-8)
            self.assertEqual(info.solver.split()[0], method)

    def test_formats_of_scipy_and_tuples(self):
        A, b = poisson(20), np.ones(400)
        expected, _ = femgpu.solve(A, b, solver="cg", preconditioner="jacobi")
        unsorted = A.copy()
        for i in range(400):
            row = slice(A.indptr[i], A.indptr[i + 1])
            unsorted.indices[row] = unsorted.indices[row][::-1]
            unsorted.data[row] = unsorted.data[row][::-1]
        unsorted.has_sorted_indices = False
        unsorted.has_canonical_format = False
        for other in (A.tocsc(), A.tocoo(), sp.csr_array(A), A.tobsr(), unsorted, (A.indptr, A.indices, A.data)):
            x, _ = femgpu.solve(other, b, solver="cg", preconditioner="jacobi")
            self.assertTrue(np.array_equal(x, expected), type(other))
        integers = sp.csr_matrix(A, dtype=int)
        x, _ = femgpu.solve(integers, b.astype(int), solver="cg", preconditioner="jacobi")
        self.assertTrue(np.array_equal(x, expected))

    def test_results_are_those_of_femgpu_solve(self):
        if not solve_program:
            self.skipTest("femgpu-solve was not built")
        A, b = poisson(50), np.random.default_rng(1).standard_normal(2500)
        with tempfile.TemporaryDirectory() as directory:
            directory = Path(directory)
            scipy.io.mmwrite(directory / "A.mtx", A, precision=17)
            scipy.io.mmwrite(directory / "b.mtx", b[:, None], precision=17)
            for solver, preconditioner in (("cg", "multigrid"), ("pipelined-cg", "jacobi"), ("gmres", "ilu")):
                subprocess.run(
                    [solve_program, directory / "A.mtx", "-b", directory / "b.mtx", "--solver", solver]
                    + ["--preconditioner", preconditioner, "--format", "csr", "--backend", "host"]
                    + ["--relative-tolerance", "1e-10", "--json", directory / "report.json", "--quiet"],
                    check=True,
                )
                report = json.loads((directory / "report.json").read_text())
                x, info = femgpu.solve(
                    A, b, solver=solver, preconditioner=preconditioner, backend="host", rtol=1e-10
                )
                self.assertEqual(info.iterations, find(report, "iterations"))
                self.assertEqual(info.true_residual, find(report, "true_residual"))

    def test_updates_keep_the_pattern(self):
        A, b = poisson(60), np.ones(3600)
        solver = femgpu.Solver(A, solver="cg", preconditioner="multigrid")
        x, _ = solver.solve(b)
        solver.update(3.0 * A.data)
        y, _ = solver.solve(b)
        self.assertTrue(np.allclose(x, 3.0 * y, rtol=1e-7))
        with self.assertRaisesRegex(femgpu.InputError, "entries, but there are"):
            solver.update(A.data[1:])

    def test_guesses_and_tolerances(self):
        A, b = poisson(40), np.ones(1600)
        solver = femgpu.Solver(A, solver="cg", preconditioner="jacobi")
        x, first = solver.solve(b)
        _, second = solver.solve(b, x)
        self.assertEqual(second.iterations, 0)
        _, loose = solver.solve(b, rtol=1e-3)
        self.assertLess(loose.iterations, first.iterations)
        self.assertEqual(len(first.history), first.iterations + 1)
        self.assertTrue(np.array_equal(b, np.ones(1600)))

    def test_products_and_preconditioners(self):
        A, v = unsymmetric(30), np.random.default_rng(0).standard_normal(900)
        solver = femgpu.Solver(A, solver="bicgstab", preconditioner="jacobi")
        self.assertTrue(np.allclose(solver @ v, A @ v, rtol=1e-13))
        self.assertTrue(np.allclose(solver.precondition(v), v / 4.0))
        self.assertEqual(solver.as_linear_operator().matvec(A @ v).shape, (900,))
        self.assertTrue(np.allclose(solver.as_linear_operator().matvec(A @ v), v, rtol=1e-6))

    def test_adjoint_solves_with_the_transpose(self):
        A, b = unsymmetric(30), np.ones(900)
        solver = femgpu.Solver(A, solver="bicgstab", preconditioner="ilu")
        x, _ = solver.adjoint().solve(b)
        self.assertLessEqual(relative_residual(A.T, b, x), 1.01e-10)
        solver.update(2.0 * A.data)
        y, _ = solver.adjoint().solve(b)
        self.assertTrue(np.allclose(x, 2.0 * y, rtol=1e-7))
        symmetric = femgpu.Solver(poisson(30), solver="cg", preconditioner="jacobi")
        self.assertIs(symmetric.adjoint(), symmetric)

    def test_coordinates_and_unknowns_per_node(self):
        n = 24
        points = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2)
        A = sp.kron(poisson(n), sp.eye(2), format="csr")
        x, info = femgpu.solve(
            A,
            np.ones(2 * n * n),
            solver="cg",
            preconditioner="multigrid",
            unknowns_per_node=2,
            coordinates=np.repeat(points, 2, axis=0),
        )
        self.assertTrue(info.converged)
        with self.assertRaisesRegex(femgpu.InputError, "a row for each unknown"):
            femgpu.Solver(A, preconditioner="multigrid", coordinates=points[1:])
        constants = np.tile(np.eye(2), (n * n, 1))
        _, with_constants = femgpu.solve(
            A, np.ones(2 * n * n), solver="cg", preconditioner="multigrid", unknowns_per_node=2, near_null=constants
        )
        self.assertLessEqual(with_constants.iterations, info.iterations + 1)

    def test_several_right_hand_sides(self):
        A, B = poisson(50), np.random.default_rng(0).standard_normal((2500, 6))
        B[:, 2] = 0.0
        B[:, 4] = 2.0 * B[:, 1]
        for solver in ("cg", "block-cg"):
            X, infos = femgpu.solve(A, B, solver=solver, preconditioner="jacobi")
            self.assertEqual(X.shape, B.shape)
            self.assertEqual(len(infos), 6)
            norms = np.linalg.norm(B, axis=0)
            self.assertTrue(np.all(np.linalg.norm(B - A @ X, axis=0) <= 1.01e-10 * norms), solver)
        with self.assertRaises(femgpu.NotConverged) as caught:
            femgpu.solve(A, B, solver="cg", preconditioner="jacobi", max_iterations=3)
        self.assertEqual(caught.exception.x.shape, B.shape)

    def test_adjoint_of_values_that_are_no_longer_symmetric(self):
        A, b = poisson(20), np.random.default_rng(0).standard_normal(400)
        values = A.data.copy()
        values[1] *= 1.01
        changed = sp.csr_matrix((values, A.indices, A.indptr), shape=A.shape)
        solver = femgpu.Solver(A)
        self.assertIs(solver.adjoint(), solver)
        solver.update(values)
        x, _ = solver.adjoint().solve(b)
        self.assertLessEqual(relative_residual(changed.T, b, x), 1.01e-10)
        solver = femgpu.Solver(A, solver="cg")
        solver.update(values)
        with self.assertRaisesRegex(femgpu.InputError, "needs a symmetric matrix"):
            solver.adjoint()

    def test_refused_values_change_nothing(self):
        A, b = unsymmetric(10), np.ones(100)
        solver = femgpu.Solver(A)
        with self.assertRaisesRegex(femgpu.InputError, "3 new values"):
            solver.update(np.ones(3))
        with self.assertRaisesRegex(femgpu.InputError, "one dimension"):
            solver.update(np.ones((3, 2)))
        with self.assertRaisesRegex(femgpu.InputError, "a vector has the shape"):
            solver @ np.ones((100, 2))
        self.assertLessEqual(relative_residual(A, b, solver.solve(b)[0]), 1.01e-10)
        self.assertLessEqual(relative_residual(A.T, b, solver.adjoint().solve(b)[0]), 1.01e-10)

    def test_other_methods_follow_as_in_femgpu_solve(self):
        A = sp.csr_matrix(np.diag(np.arange(6.0)) + np.diag(np.ones(5), 1))
        A[0, 1] = 0.0
        A.eliminate_zeros()  # row 0 is zero
        b = A @ np.ones(6)
        try:
            x, info = femgpu.solve(A, b, check=False)
            self.assertFalse(info.converged and relative_residual(A, b, x) > 1e-9)
        except femgpu.SolverError:  # without a direct solver, as on a GPU without cuDSS
            pass
        hard = poisson(60) - 0.05 * sp.eye(3600)
        solver = femgpu.Solver(hard.tocsr())
        first = solver.methods
        with self.assertRaises(femgpu.NotConverged):
            solver.solve(np.ones(3600), max_iterations=3)
        self.assertEqual(solver.methods, first)
        with self.assertRaises(femgpu.NotConverged):
            solver.solve(np.full(3600, np.nan))
        self.assertEqual(solver.methods, first)
        self.assertEqual(solver.solve(np.ones(3600), max_iterations=0, check=False)[1].iterations, 0)
        x, info = femgpu.solve(unsymmetric(10), np.ones(100), preconditioner="ilu")
        self.assertEqual(info.solver.split()[0], "pipelined-bicgstab")

    def test_batches(self):
        random = np.random.default_rng(0)
        A = poisson(8)
        values = A.data * (1.0 + np.arange(5)[:, None])
        b = random.standard_normal((5, 64))
        x, infos = femgpu.solve_batch((A.indptr, A.indices, values), b)
        self.assertEqual(x.shape, b.shape)
        for k in range(5):
            self.assertLess(np.linalg.norm((k + 1) * (A @ x[k]) - b[k]), 1.01e-10 * np.linalg.norm(b[k]))
            self.assertEqual(infos[k].solver, "cg")
            self.assertGreater(infos[k].iterations, 0)
        matrices = [poisson(3), unsymmetric(7), poisson(70)]
        right = [random.standard_normal(M.shape[0]) for M in matrices]
        x, infos = femgpu.solve_batch(matrices, right, solver="bicgstab")
        for M, v, r in zip(matrices, x, right):
            self.assertLessEqual(relative_residual(M, r, v), 1.01e-10)
        again, infos = femgpu.solve_batch(matrices, right, x, solver="bicgstab")
        self.assertEqual([info.iterations for info in infos], [0, 0, 0])
        singular = sp.csr_matrix(np.array([[1.0, 1.0], [1.0, 1.0]]))
        with self.assertRaisesRegex(femgpu.NotConverged, "1 of 2 systems failed.*system 1"):
            femgpu.solve_batch([poisson(2), singular], [np.ones(4), np.array([1.0, 0.0])])
        self.assertEqual(femgpu.solve_batch([], [])[1], [])
        for arguments, error, text in (
            (([A], [b[0], b[1]]), femgpu.InputError, "1 matrices, but 'b' has 2"),
            (([A], [b[0][1:]]), femgpu.InputError, "System 0 has 64 rows"),
            (([(A.indptr, A.indices[::-1], A.data)], [b[0]]), femgpu.InputError, "ascending"),
        ):
            with self.assertRaisesRegex(error, text):
                femgpu.solve_batch(*arguments)
        with self.assertRaisesRegex(femgpu.ParameterError, "does not support batches"):
            femgpu.solve_batch([A], [b[0]], solver="idr")

    def test_direct_solver(self):
        A, b = unsymmetric(30), np.random.default_rng(0).standard_normal((900, 3))
        solver = femgpu.Solver(A, solver="direct")
        x, infos = solver.solve(b)
        self.assertLess(np.linalg.norm(A @ x - b), 1e-11 * np.linalg.norm(b))
        self.assertEqual([info.iterations for info in infos], [0, 0, 0])
        solver.update(2 * A.data)
        y, _ = solver.solve(b[:, 0])
        self.assertLess(np.linalg.norm(2 * y - x[:, 0]), 1e-11 * np.linalg.norm(x[:, 0]))
        singular = sp.csr_matrix(np.array([[1.0, 1.0], [1.0, 1.0]]))
        with self.assertRaisesRegex(femgpu.NotConverged, "singular"):
            femgpu.solve(singular, np.array([1.0, 0.0]), solver="direct")

    def test_wrong_input_is_refused(self):
        A, b = poisson(10), np.ones(100)
        for matrix, error, text in (
            (A[:50], ValueError, "square"),
            (A.toarray(), TypeError, "scipy.sparse.csr_array"),
            (A.astype("float32"), TypeError, "double precision"),
            (A.astype(complex), TypeError, "double precision"),
            ((A.indptr, A.indices[::-1], A.data), femgpu.InputError, "ascending"),
            ((A.indptr[:-1], A.indices, A.data), femgpu.InputError, "end at"),
            ((A.indptr, A.indices[1:], A.data), femgpu.InputError, "as many columns"),
        ):
            with self.assertRaisesRegex(error, text):
                femgpu.solve(matrix, b)
        with self.assertRaisesRegex(femgpu.InputError, "rows, but b has the shape"):
            femgpu.solve(A, b[1:])
        with self.assertRaisesRegex(femgpu.InputError, "b has the shape"):
            femgpu.solve(A, np.zeros((100, 0)))
        with self.assertRaisesRegex(femgpu.InputError, "but x0 has"):
            femgpu.solve(A, np.ones((100, 2)), np.ones((2, 100)))
        with self.assertRaisesRegex(TypeError, "NumPy"):
            femgpu.Solver(A).solve([1.0] * 100)
        with self.assertRaisesRegex(femgpu.ParameterError, "use 0 or more"):
            femgpu.solve(A, b, solver="cg", max_iterations=-1)
        with self.assertRaisesRegex(femgpu.ParameterError, "There is no solver"):
            femgpu.solve(A, b, solver="magic")
        with self.assertRaisesRegex(femgpu.ParameterError, "backend"):
            femgpu.solve(A, b, backend="abacus")
        with self.assertRaises(femgpu.DeviceError):
            femgpu.solve(A, b, backend="cuda:99")
        self.assertTrue(issubclass(femgpu.NotConverged, femgpu.Error))

    def test_other_libraries_on_the_host(self):
        A, b = unsymmetric(20), np.random.default_rng(0).standard_normal(400)
        expected, _ = femgpu.solve(A, b, solver="bicgstab", preconditioner="jacobi")
        try:
            import torch
        except ImportError:
            torch = None
        if torch:
            tensor = torch.sparse_csr_tensor(A.indptr, A.indices, A.data, A.shape)
            x, _ = femgpu.solve(tensor, torch.tensor(b), solver="bicgstab", preconditioner="jacobi")
            self.assertTrue(np.array_equal(x.numpy(), expected))
        try:
            import jax
            import jax.experimental.sparse as jsp
        except ImportError:
            jax = None
        if jax:
            jax.config.update("jax_enable_x64", True)
            matrix = jsp.BCSR((A.data, A.indices, A.indptr), shape=A.shape)
            x, _ = femgpu.solve(matrix, jax.numpy.asarray(b), solver="bicgstab", preconditioner="jacobi")
            self.assertTrue(np.array_equal(np.asarray(x), expected))
        if not torch and not jax:
            self.skipTest("neither PyTorch nor JAX is installed")

    def test_threads_solve_at_the_same_time(self):
        from concurrent.futures import ThreadPoolExecutor

        A, b = poisson(60), np.ones(3600)
        expected, _ = femgpu.solve(A, b, solver="cg", preconditioner="jacobi", backend="host", threads=1)

        def solve(_):
            return femgpu.solve(A, b, solver="cg", preconditioner="jacobi", backend="host", threads=1)[0]

        with ThreadPoolExecutor(4) as pool:
            for x in pool.map(solve, range(8)):
                self.assertTrue(np.array_equal(x, expected))


class Program(unittest.TestCase):
    def test_errors_are_exceptions(self):
        with self.assertRaisesRegex(femgpu.InputError, "is not installed"):
            femgpu.run("a.prm", program="no-such-program")
        if not program:
            self.skipTest("the program femgpu was not built")
        with self.assertRaisesRegex(femgpu.InputError, "missing.prm"):
            femgpu.run("missing.prm")


class Device(unittest.TestCase):
    """Arrays in the memory of a GPU, by each library that is installed."""

    def setUp(self):
        if femgpu.n_cuda_devices() == 0:
            self.skipTest("there is no GPU")

    def check(self, move, back):
        A, b = poisson(200), np.random.default_rng(0).standard_normal(40000)
        options = dict(solver="cg", preconditioner="multigrid", rtol=1e-10)
        expected, on_host = femgpu.solve(A, b, backend="cuda", **options)
        arrays = tuple(move(array) for array in (A.indptr, A.indices, A.data))
        solver = femgpu.Solver(arrays, **options)
        x, info = solver.solve(move(b))
        self.assertEqual(info.iterations, on_host.iterations)
        self.assertTrue(np.array_equal(back(x), expected))
        self.assertEqual(info.bytes, 0)
        solver.update(move(2.0 * A.data))
        y, info = solver.solve(move(b))
        self.assertEqual(info.bytes, 0)
        self.assertTrue(np.allclose(back(y), 0.5 * expected, rtol=1e-6, atol=1e-9))
        B = unsymmetric(100)
        arrays = tuple(move(array) for array in (B.indptr, B.indices, B.data))
        adjoint = femgpu.Solver(arrays, solver="bicgstab", preconditioner="ilu").adjoint()
        z, _ = adjoint.solve(move(b[:10000]))
        self.assertLessEqual(relative_residual(B.T, b[:10000], back(z)), 1.01e-10)
        with self.assertRaises(femgpu.InputError):
            solver.update(move(A.data[1:]))
        with self.assertRaises(femgpu.Error):
            femgpu.solve(A, move(b))

    def test_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("CuPy is not installed")
        self.check(cupy.asarray, cupy.asnumpy)
        with cupy.cuda.Stream(non_blocking=True):
            self.check(cupy.asarray, cupy.asnumpy)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed")
        self.check(lambda a: torch.as_tensor(a).cuda(), lambda t: t.cpu().numpy())

    def test_jax(self):
        try:
            import jax
        except ImportError:
            self.skipTest("JAX is not installed")
        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() == "cpu":
            self.skipTest("JAX has no GPU")
        self.check(jax.numpy.asarray, np.asarray)


if __name__ == "__main__":
    unittest.main(verbosity=2)
