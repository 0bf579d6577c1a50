#!/usr/bin/env python3
"""Compares femgpu's Python package with femgpu-solve, pyamg and the direct solver. Writes a CSV file.

    PYTHONPATH=build/python benchmarks/library.py --csv library.csv
    PYTHONPATH=build/python benchmarks/library.py --small --backend host --csv library.csv

Solves with conjugate gradients and multigrid to a relative residual of 1e-8:
  femgpu-solve    the program (only for systems that it generates)
  femgpu          femgpu.Solver with arrays of NumPy, from host memory
  femgpu, CuPy    with arrays in the GPU's memory; also the time of update() and the bytes copied
  pyamg           smoothed aggregation, with rigid-body modes for elasticity; on cores
  direct          the direct solver: UMFPACK on the host, cuDSS on a GPU
Peers that are not installed are left out. Seconds are medians of --repeat runs; the first run, which
loads kernels, is not counted.
"""

import statistics
import sys
import time

import numpy as np
import scipy.sparse as sp

import femgpu
from runs import parser_of, report_of, write_csv

COLUMNS = ["system", "n", "nonzeros", "peer", "setup_seconds", "solve_seconds", "update_seconds",
           "iterations", "relative_residual", "bytes_copied", "remark"]
TOLERANCE = 1e-8
METHODS = {"solver": "cg", "preconditioner": "multigrid"}


def box(n, dimensions):
    """Returns 26 (or 8) on the diagonal and -1 for each neighbour, as femgpu-solve generates it."""
    S = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n), format="csr")
    product = S
    for _ in range(dimensions - 1):
        product = sp.kron(product, S, format="csr")
    return (3.0**dimensions * sp.identity(n**dimensions, format="csr") - product).tocsr()


def cross(n, dimensions):
    """Returns the Laplacian with 5 or 7 points."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csr")
    A = line
    for _ in range(dimensions - 1):
        A = sp.kronsum(A, line, format="csr")
    return A


def elasticity(n):
    """Returns linear elasticity of a cube that is held on one side, with n³ trilinear hexahedra, and
    the coordinates of the nodes."""
    nu, points = 0.3, np.array([-1.0, 1.0]) / np.sqrt(3.0)
    lam, mu = nu / ((1 + nu) * (1 - 2 * nu)), 1 / (2 * (1 + nu))
    D = np.diag([2 * mu] * 3 + [mu] * 3)
    D[:3, :3] += lam
    corners = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)])
    K = np.zeros((24, 24))
    for point in np.array(np.meshgrid(points, points, points)).reshape(3, -1).T:
        factors = 0.5 * (1 + (2 * corners - 1) * point)
        B = np.zeros((6, 24))
        for a in range(8):
            others = [factors[a, [1, 2]].prod(), factors[a, [0, 2]].prod(), factors[a, [0, 1]].prod()]
            x, y, z = (2 * corners[a] - 1) * others
            B[:, 3 * a:3 * a + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
        K += B.T @ D @ B / (8 * n)  # gradients in units of n, volume n⁻³ / 8
    m = n + 1
    node = np.arange(m**3).reshape(m, m, m)  # z, y, x
    cells = np.stack([node[k:n + k, j:n + j, i:n + i].ravel() for i, j, k in corners], axis=1)
    dofs = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), 24)
    A = sp.coo_matrix((np.tile(K.ravel(), len(cells)), (np.repeat(dofs, 24, axis=1).ravel(),
                                                        np.tile(dofs, (1, 24)).ravel()))).tocsr()
    free = np.flatnonzero(np.arange(3 * m**3) // 3 % m > 0)  # x > 0
    places = np.stack(np.unravel_index(np.arange(m**3), (m, m, m))[::-1], axis=1) / n
    return A[free][:, free].tocsr(), np.repeat(places, 3, axis=0)[free]


def rigid_body_modes(coordinates):
    n = len(coordinates)
    modes, (x, y, z) = np.zeros((n, 6)), (coordinates - coordinates.mean(axis=0)).T
    component = np.arange(n) % 3
    for k in range(3):
        modes[component == k, k] = 1.0
    for k, (a, b, u, v) in enumerate([(0, 1, -y, x), (1, 2, -z, y), (2, 0, -x, z)]):
        modes[component == a, 3 + k] = u[component == a]
        modes[component == b, 3 + k] = v[component == b]
    return modes


def median_of(run, repeat):
    """Returns the medians of the numbers that run() returns, without its first call."""
    run()
    return [statistics.median(numbers) for numbers in zip(*(run() for _ in range(repeat)))]


def timed(function):
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def residual(A, b, x):
    return float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))


def of_program(options, name, methods):
    arguments = [word for key, value in methods.items() for word in ("--" + key, value)]
    report, outcome, text = report_of(
        [options.program, "--generate", name, *arguments, "--relative-tolerance", str(TOLERANCE),
         "--backend", options.backend, "--repeat", str(options.repeat + 1)])
    if report is None:
        return {"remark": outcome + ": " + text}
    solves = report["repeats"][1:]
    return {"setup_seconds": report["seconds"]["format"] + report["seconds"]["setup"],
            "solve_seconds": statistics.median(r["solve_seconds"] + r["transfer_seconds"] for r in solves),
            "iterations": report["solve"]["iterations"],
            "relative_residual": report["solve"]["true_residual"] / report["solve"]["rhs_norm"],
            "remark": f"of it {report['seconds']['solve']:.4g} s in the solver"}


def of_package(options, A, b, host, unknowns, methods, repeat):
    """Measures femgpu.Solver. A and b are arrays of any library; host(x) copies to NumPy."""
    solver = femgpu.Solver(A, **methods, **unknowns, rtol=TOLERANCE, backend=options.backend)
    values = A.data

    def run():
        setup, other = timed(lambda: femgpu.Solver(A, **methods, **unknowns, rtol=TOLERANCE,
                                                   backend=options.backend))
        update, _ = timed(lambda: solver.update(values))
        solve, _ = timed(lambda: solver.solve(b))
        del other
        return setup, update, solve

    setup, update, solve = median_of(run, repeat)
    solver.update(values)
    x, info = solver.solve(b)
    return host(x), {"setup_seconds": setup, "update_seconds": update, "solve_seconds": solve,
                     "iterations": info.iterations, "bytes_copied": info.bytes,
                     "remark": f"of it {info.solve_seconds:.4g} s in the solver"}


def of_pyamg(A, b, modes, repeat):
    import pyamg

    def run():
        setup, ml = timed(lambda: pyamg.smoothed_aggregation_solver(A, B=modes))
        solve, _ = timed(lambda: ml.solve(b, tol=TOLERANCE, accel="cg"))
        return setup, solve

    history = []
    x = pyamg.smoothed_aggregation_solver(A, B=modes).solve(b, tol=TOLERANCE, accel="cg", residuals=history)
    setup, solve = median_of(run, repeat)
    return x, {"setup_seconds": setup, "solve_seconds": solve, "iterations": len(history) - 1}


def measurements(options, name, A, coordinates):
    """Yields the peers and what was measured."""
    n = A.shape[0]
    b = np.ones(n)
    unknowns = {} if coordinates is None else {"unknowns_per_node": 3, "coordinates": coordinates}
    if coordinates is None:
        yield "femgpu-solve", None, of_program(options, name, {**METHODS, "format": "csr"})
    x, row = of_package(options, A, b, np.asarray, unknowns, METHODS, options.repeat)
    yield "femgpu", x, row
    try:
        import cupy as cp
        import cupyx.scipy.sparse as csp
    except ImportError:
        cp = None
    if cp and options.backend != "host":
        on_device = csp.csr_matrix((cp.asarray(A.data), cp.asarray(A.indices), cp.asarray(A.indptr)), A.shape)
        x, row = of_package(options, on_device, cp.asarray(b), cp.asnumpy, unknowns, METHODS, options.repeat)
        yield "femgpu, CuPy", x, row
        del on_device
    if n <= options.direct_rows:
        try:
            x, row = of_package(options, A, b, np.asarray, {}, {"solver": "direct"}, 1)
            yield "direct", x, row
        except femgpu.Error as error:
            yield "direct", None, {"remark": str(error)}
    if options.pyamg_rows >= n:
        try:
            x, row = of_pyamg(A, b, None if coordinates is None else rigid_body_modes(coordinates), 1)
            yield "pyamg", x, row
        except ImportError:
            pass


def main():
    parser = parser_of(__doc__, "femgpu-solve", csv_required=True)
    parser.add_argument("--backend", default="cuda", help="(%(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--small", action="store_true", help="small systems, to try this script")
    parser.add_argument("--direct-rows", type=int, default=5_000_000, help="(%(default)s)")
    parser.add_argument("--pyamg-rows", type=int, default=10_000_000, help="(%(default)s)")
    parser.add_argument("--only", default="", help="part of a system's name")
    options = parser.parse_args()
    sizes = (30, 128, 20, 8) if options.small else (100, 2048, 200, 48)
    systems = [(f"poisson3d-27pt:{sizes[0]}", lambda: (box(sizes[0], 3), None)),
               (f"poisson2d-5pt:{sizes[1]}", lambda: (cross(sizes[1], 2), None)),
               (f"poisson3d-27pt:{sizes[2]}", lambda: (box(sizes[2], 3), None)),
               (f"elasticity Q1:{sizes[3]}", lambda: elasticity(sizes[3]))]
    rows = []
    for name, make in systems:
        if options.only not in name:
            continue
        A, coordinates = make()
        A.sort_indices()
        for peer, x, row in measurements(options, name, A, coordinates):
            row.update(system=name, n=A.shape[0], nonzeros=A.nnz, peer=peer)
            if x is not None:
                row["relative_residual"] = residual(A, np.ones(A.shape[0]), x)
            rows.append(row)
            texts = [row.get(column, "") for column in COLUMNS]
            print(*(f"{text:.4g}" if isinstance(text, float) else text for text in texts), flush=True)
            write_csv(options.csv, COLUMNS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
