#!/usr/bin/env python3
"""Solves a 27-point Poisson problem on N^3 points with several formats and checks the solution.

usage: benchmarks/large.py [--program build/bin/femgpu-solve] [--backend cuda] N [FORMAT ...]

N = 431 is the smallest N with more than 2^31 entries, N = 543 the smallest with more than 2^32. The
check does not store the matrix. It reads the solution and computes residuals at the points of some
planes and at random points. It also compares the solution with its mirror image, which must be
equal although its values come from rows at other positions. The default formats are csr and 'sell
columns=short'. Exits with 1 if a check fails.
"""
import array
import math
import os
import random
import sys
import tempfile
import time

from runs import parser_of, report_of

TOLERANCE = 1e-8  # relative tolerance of the solver


def read_vector(path, n):
    """Returns the numbers of a dense Matrix Market file with one column."""
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if not line.startswith("%"):
                break
        if line.split() != [str(n), "1"]:
            sys.exit(f"{path}: the size line is {line.strip()!r} instead of '{n} 1'")
        return array.array("d", map(float, lines))


class Solution:
    """The values of u at the points of an N x N x N grid, x fastest; 0 outside the grid."""

    def __init__(self, values, points):
        self.u, self.N = values, points

    def at(self, x, y, z):
        N = self.N
        inside = 0 <= x < N and 0 <= y < N and 0 <= z < N
        return self.u[(z * N + y) * N + x] if inside else 0.0

    def residual(self, x, y, z):
        """Returns 1 - (A u) at a point; A has 26 on the diagonal and -1 for each neighbour."""
        around = sum(self.at(x + i, y + j, z + k)
                     for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1))
        return 1.0 - (27.0 * self.at(x, y, z) - around)

    def asymmetry(self, x, y, z):
        last = self.N - 1
        return abs(self.at(x, y, z) - self.at(last - x, y, last - z))


def first_plane_behind(entry, N):
    """Returns the plane z whose rows contain matrix entry @p entry, or None if there is none."""
    of_full_plane = (3 * N - 2) ** 2
    z = int((entry + of_full_plane) / (3 * of_full_plane))
    return z if z < N else None


def points_to_check(N, samples):
    random.seed(1)
    places = [(random.randrange(N), random.randrange(N), random.randrange(N)) for _ in range(samples)]
    planes = {0, N - 1}
    for k in range(1, 11):  # planes around multiples of 2^31
        z = first_plane_behind(k << 31, N)
        if z is not None:
            planes.update(min(N - 1, max(0, z + step)) for step in (-1, 0, 1))
    step = max(1, N // 61)
    for z in planes:
        places += [(x, y, z) for y in range(0, N, step) for x in range(N)]
    return places


def check(path, N, samples):
    """Returns the errors found, as text."""
    solution = Solution(read_vector(path, N**3), N)
    if len(solution.u) != N**3:
        return [f"{len(solution.u)} numbers instead of {N**3}"]
    places = points_to_check(N, samples)
    target = TOLERANCE * math.sqrt(N**3)  # bound of the norm of all residuals
    residual = max(abs(solution.residual(*p)) for p in places)
    largest = max(abs(solution.at(*p)) for p in places)
    asymmetry = max(solution.asymmetry(*p) for p in places) / largest
    print(f"    {len(places)} points: residual {residual:.2e} (norm allowed: {target:.2e}), "
          f"u up to {largest:.5g}, asymmetry {asymmetry:.2e}", flush=True)
    problems = []
    if not residual <= target:
        problems.append(f"residual {residual:.2e} at a point")
    if not asymmetry <= 1e-4:
        problems.append(f"asymmetry {asymmetry:.2e}")
    return problems


def solve(arguments, method, directory):
    """Returns ((report, solution file), None), or (None, message) if the run failed."""
    solution = os.path.join(directory, "x.mtx")
    begin = time.time()
    report, _, message = report_of(
        [arguments.program, "--generate", f"poisson3d-27pt:{arguments.N}", "--format", method,
         "--backend", arguments.backend, "--relative-tolerance", str(TOLERANCE), "--quiet",
         "--solution", solution])
    if not (report and report["succeeded"]):
        return None, message
    print(f"{method}: {time.time() - begin:.0f} s in all", flush=True)
    return (report, solution), None


def numbers(report, wanted):
    """Returns the first value of each name in @p wanted, at any depth of the report."""
    found = {}

    def visit(node):
        if isinstance(node, dict):
            for name, value in node.items():
                if name in wanted and not isinstance(value, (dict, list)):
                    found.setdefault(name, value)
                visit(value)
        elif isinstance(node, list):
            for value in node[:1]:
                visit(value)

    visit(report)
    return found


def main():
    parser = parser_of(__doc__, "femgpu-solve", csv_required=None)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--samples", type=int, default=20000, help="random points to check")
    parser.add_argument("N", type=int)
    parser.add_argument("formats", nargs="*", metavar="FORMAT")
    arguments = parser.parse_args()
    problems = []
    wanted = ("rows", "nonzeros", "outcome", "iterations", "solve_seconds", "transfer_seconds",
              "format_seconds", "matrix_bytes", "matrix_stored", "backward_error")
    with tempfile.TemporaryDirectory() as directory:
        for method in arguments.formats or ["csr", "sell columns=short"]:
            result, problem = solve(arguments, method, directory)
            if result is None:
                problems.append(f"{method}: {problem}")
                continue
            report, solution = result
            print("    " + ", ".join(f"{k} {v}" for k, v in numbers(report, wanted).items()))
            problems += [f"{method}: {p}" for p in check(solution, arguments.N, arguments.samples)]
            os.remove(solution)
    for problem in problems:
        print("WRONG " + problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
