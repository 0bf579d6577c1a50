#!/usr/bin/env python3
"""Measures the results that docs/papers.md compares with figures and tables of papers.

    benchmarks/papers.py matrices/ --csv papers.csv          # a GPU and the cores of its host
    benchmarks/papers.py --only 'galiano-[34]' --sizes 24 --backends host --csv papers.csv
    benchmarks/papers.py --list

A figure is a list of runs, each with its line and column of a table (`tables.py`). Figures with
matrices from collections need the directory of their Matrix Market files. The set-up for these
matrices follows Dd13 (docs/papers.md): symmetric scaling, b = row sums of the scaled matrix,
x0 = 0, residual reduction 1e-5, at most 1000 iterations.

On a GPU, seconds are medians of --repeat solves in one process; on the host, the time of one solve.
Exits with 1 if a run fails other than by not converging.
"""

import re
import sys
import time

from collection import header_of, matrices_in, matrix_name
from known_counts import SET_UP
from runs import exit_code_of, parser_of, report_of, results_of, write_csv

COLUMNS = ["figure", "line", "column", "git_revision", "backend", "device", "threads", "system", "n",
           "nonzeros", "solver", "preconditioner", "format", "outcome", "iterations",
           "setup_seconds", "solve_seconds", "us_per_iteration", "preconditioner_nonzeros",
           "chosen_format", "remarks", "message"]
FIGURES = {}  # name: function of the options that yields runs
THREADS = [1, 4, 16]


def figure(function):
    """Registers a generator of runs under its name."""
    FIGURES[function.__name__.replace("_", "-")] = function
    return function


def run_of(line, column, system, place, **methods):
    """Returns a run: its line and column of the table, and the arguments of femgpu-solve."""
    backend, threads = place
    return {"line": line, "column": column, "system": system, "backend": backend,
            "threads": threads, **methods}


def host(threads):
    return "host", threads


def on_cores(threads):
    return f"{threads} thread{'s' if threads > 1 else ''}"


CUDA = ("cuda", None)


def bratu(size, line, column, place, preconditioner, format_="csr"):
    """Returns a run of nonlinear conjugate gradients for Bratu's problem of Galiano et al."""
    return run_of(line, column, f"poisson3d-7pt:{size}", place, nonlinear="bratu lambda=6",
                  nonlinear_method="nlcg", preconditioner=preconditioner, format=format_)


def two_stage(p, m, q):
    return f"two-stage blocks={p} outer={m} inner={q} level=0 triangular=auto"


@figure
def galiano_3(options):
    """NLCG on cores and on the GPU"""
    for size in options.sizes:
        for threads in THREADS if size < options.sizes[-1] else THREADS[-1:]:
            yield bratu(size, f"{size}³", on_cores(threads), host(threads), "identity")
        yield bratu(size, f"{size}³", "GPU", CUDA, "identity", "sell columns=short")


@figure
def galiano_4(options):
    """NLCG on the GPU: formats, and products of cuSPARSE"""
    for format_ in ("csr threads=1", "csr", "ellpack-r", "ellr-t threads=2", "sell",
                    "sell columns=short", "pcsr", "coo", "cusparse-csr", "cusparse-sell"):
        for size in options.sizes:
            yield bratu(size, f"`{format_}`", f"{size}³", CUDA, "identity", format_)


@figure
def galiano_6(options):
    """NLPCG on the GPU with two blocks, for several m (outer steps) and q (inner steps)"""
    for m in (1, 2, 3):
        for q in (1, 2, 3):
            yield bratu(options.sizes[-2], f"m = {m}", f"q = {q}", CUDA, two_stage(2, m, q))


@figure
def galiano_7(options):
    """NLPCG on the GPU for several numbers of blocks, outer steps m and inner steps q"""
    for m, q in ((1, 1), (1, 2), (2, 1), (2, 2)):
        for p in (1, 2, 4, 8, 16, 64, 256):
            yield bratu(options.sizes[0], f"m = {m}, q = {q}", f"p = {p}", CUDA, two_stage(p, m, q))


@figure
def galiano_8(options):
    """NLPCG on the GPU, m = q = 1, one block: products of cuSPARSE"""
    for format_ in ("sell columns=short", "cusparse-csr"):
        for size in options.sizes:
            yield bratu(size, f"product `{format_}`", f"{size}³", CUDA, two_stage(1, 1, 1), format_)


@figure
def galiano_9(options):
    """NLCG and NLPCG (m = q = 1, a block for each core) on cores and on the GPU"""
    size = options.sizes[-2]
    for threads in THREADS:
        column = on_cores(threads)
        yield bratu(size, "NLCG", column, host(threads), "identity")
        yield bratu(size, "NLPCG", column, host(threads), two_stage(threads, 1, 1))
    yield bratu(size, "NLCG", "GPU", CUDA, "identity", "sell columns=short")
    yield bratu(size, "NLPCG", "GPU", CUDA, two_stage(1, 1, 1), "sell columns=short")


def uneven(options):
    """Yields (system, solver) for comparisons of matrix formats."""
    for name in ("bcsstk18", "crystm03"):
        yield from ((file, "pipelined-cg") for file in options.matrices if matrix_name(file) == name)
    yield "circuit:200000", "pipelined-bicgstab"
    yield "circuit:2000000", "pipelined-bicgstab"
    yield "elasticity3d-p1:40", "pipelined-cg"


def iterate(line, column, system, place, solver, format_):
    """Returns a run of 100 iterations, executed as a graph, because only then do all products use
    the format."""
    return run_of(line, column, system, place, solver=solver, preconditioner="jacobi",
                  format=format_, fixed_iterations=100, execution="graph")


@figure
def dehnavi_3(options):
    """PCSR with several paddings and prefetches, COO, CSR and SELL on the GPU; CSR on the cores"""
    formats = [f"pcsr prefetch={prefetch} padding={padding}"
               for prefetch in (1, 2, 4) for padding in (1, 2, 4, 8)]
    for system, solver in uneven(options):
        for format_ in [*formats, "coo", "csr threads=1", "csr threads=32", "csr",
                        "sell slice=32 window=4096"]:
            yield iterate(f"`{format_}`", name_of(system), system, CUDA, solver, format_)
        for threads in (1, THREADS[-1]):
            yield iterate(f"`csr`, {on_cores(threads)}", name_of(system), system, host(threads),
                          solver, "csr")


@figure
def dehnavi_4(options):
    """PCG with Jacobi: on cores, and on the GPU with a warp per row and with the chosen format"""
    size = options.sizes[-1]
    for system in f"poisson3d-7pt:{size}", f"elasticity3d-p1:{size // 3}":
        for threads in THREADS:
            yield iterate(system, on_cores(threads), system, host(threads), "pipelined-cg", "csr")
        for format_ in "csr threads=32", "csr", "auto":
            yield iterate(system, f"GPU, `{format_}`", system, CUDA, "pipelined-cg", format_)


def symmetric(options):
    return [file for file in options.matrices if header_of(file).split()[-1] == "symmetric"]


def places():
    """Yields (name, backend and threads, format) of each column in the tables of Dědeček."""
    yield "1 thread, `csr`", host(1), "csr"
    yield f"{on_cores(THREADS[-1])}, `csr`", host(THREADS[-1]), "csr"
    yield "GPU, `csr`", CUDA, "csr"
    yield "GPU, `coo`", CUDA, "coo"


@figure
def dedecek_2(options):
    """CG on CPU and GPU, CSR and COO"""
    for file in symmetric(options):
        for column, place, format_ in places():
            yield run_of(name_of(file), column, file, place, solver="cg", preconditioner="identity",
                         format=format_, execution="graph")


@figure
def dedecek_3(options):
    """PCG with SAINV on CPU and GPU, CSR and COO"""
    for file in symmetric(options):
        for drop in ("0.1", "0.01"):
            for column, place, format_ in places():
                yield run_of(f"{name_of(file)}, `drop={drop}`", column, file, place, solver="cg",
                             preconditioner=f"sainv drop={drop}", format=format_)


@figure
def dedecek_4(options):
    """Block AINV without dropping for several numbers of blocks, AINV and SAINV, on CPU and GPU"""
    methods = [f"ainv drop=0 blocks={blocks} partition=metis" for blocks in (16, 64, 256, 1024)]
    methods += [f"{name} drop={drop}" for name in ("ainv", "sainv") for drop in ("0.1", "0.01")]
    for file in symmetric(options):
        if matrix_name(file) not in ("1138_bus", "bcsstk16", "bodyy5", "Dubcova1"):
            continue
        for method in methods:
            for column, place in (("1 thread", host(1)), (on_cores(THREADS[-1]),
                                                          host(THREADS[-1])), ("GPU", CUDA)):
                yield run_of(f"{name_of(file)}, `{method}`", column, file, place, solver="cg",
                             preconditioner=method, format="csr")


@figure
def yamazaki_3(options):
    """GMRES(30) and CA-GMRES(30) on cores and on the GPU"""
    system = f"convection-diffusion2d:{options.sizes[-1] * 7},1"
    for solver in "gmres restart=30", "pipelined-gmres restart=30", "ca-gmres restart=30 s=10":
        for column, place in [*((on_cores(threads), host(threads)) for threads in THREADS),
                              ("GPU", CUDA)]:
            yield run_of(f"`{system}`, `{solver}`", column, system, place, solver=solver,
                         preconditioner="jacobi", format="csr", fixed_iterations=90)


@figure
def yamazaki_13(options):
    """Errors of TSQR within CA-GMRES(30), for each variant"""
    unsymmetric = [file for file in options.matrices if file not in symmetric(options)]
    size = options.sizes[-1]
    for system in ["convection-diffusion2d:200,1", f"convection-diffusion2d:{size * 7},20",
                   *unsymmetric]:
        for tsqr in "mgs", "cgs", "cholqr", "svqr", "caqr":
            for passes in 1, 2:
                solver = f"ca-gmres restart=30 s=10 errors=yes passes={passes} tsqr={tsqr}"
                yield run_of(name_of(system), f"`{tsqr} passes={passes}`", system, host(1),
                             solver=solver, preconditioner="jacobi", format="csr")


def is_file(system):
    return ".mtx" in system


def name_of(system):
    return f"`{matrix_name(system) if is_file(system) else system}`"


def command_of(options, run):
    """Returns the command of femgpu-solve."""
    is_on_host = run["backend"] == "host"
    command = [options.program, *([] if is_file(run["system"]) else ["--generate"]), run["system"],
               "--backend", run["backend"], "--quiet",
               "--repeat", str(1 if is_on_host else options.repeat)]
    if is_on_host:
        command += ["--threads", str(run["threads"])]
    for argument in ("nonlinear", "nonlinear_method", "solver", "preconditioner", "format",
                     "fixed_iterations", "execution"):
        if argument in run:
            command += ["--" + argument.replace("_", "-"), str(run[argument])]
    if is_file(run["system"]) and "fixed_iterations" not in run:
        command += [*SET_UP, "--relative-tolerance", "1e-5", "--max-iterations", "1000"]
    return command


def measure(options, run):
    """Returns a row of the CSV file."""
    row = {column: run.get(column, "") for column in COLUMNS}
    row["system"] = name_of(run["system"]).strip("`")
    row["solver"] = run.get("solver", run.get("nonlinear_method"))
    report, outcome, message = report_of(command_of(options, run))
    if not report:
        return row | {"outcome": outcome, "message": message[-400:]}
    solve = report["solve"]
    row.update(us_per_iteration=0., chosen_format=solve["format"],
               remarks="; ".join(filter(None, (solve.get("solver_remarks"),
                                               solve["preconditioner_remarks"]))))
    return row | results_of(report, [column for column in COLUMNS if column != "threads"])


def run_all(options):
    begin, rows = time.monotonic(), []
    for name, runs in FIGURES.items():
        if not re.search(options.only, name):
            continue
        for run in runs(options):
            if run["backend"] not in options.backends:
                continue
            row = measure(options, run)
            row["figure"] = name
            rows.append(row)
            times = ("" if row["solve_seconds"] == "" else
                     f"{1e3 * row['setup_seconds']:9.2f} + {1e3 * row['solve_seconds']:9.2f} ms")
            print(f"{name:<12} {row['line']:<58} {row['column']:<22} {row['iterations']:>6} {times} "
                  f"{row['outcome']} {row['message']}".rstrip(), flush=True)
            write_csv(options.csv, COLUMNS, rows, 6)
        print(f"{time.monotonic() - begin:.0f} s", flush=True)
    return rows


def main():
    parser = parser_of(__doc__, "femgpu-solve")
    add = parser.add_argument
    add("directory", nargs="?", help="directory with *.mtx and *.mtx.gz")
    add("--backends", nargs="+", default=["host", "cuda"], help="backends to run on (host cuda)")
    add("--sizes", nargs="+", type=int, default=[72, 96, 144],
        help="two or more sizes, in points per direction, of the cubes (72 96 144)")
    add("--only", default="", metavar="REGEX", help="only figures whose name matches")
    add("--repeat", type=int, default=3, metavar="N", help="solves of a run on a GPU (%(default)s)")
    add("--list", action="store_true", help="list all figures")
    options = parser.parse_args()
    if options.list:
        for name, function in FIGURES.items():
            print(f"{name:<12} {function.__doc__}")
        return 0
    if len(options.sizes) < 2:
        parser.error("--sizes needs two or more")
    options.matrices = matrices_in(options.directory) if options.directory else []
    return exit_code_of(run_all(options))


if __name__ == "__main__":
    sys.exit(main())
