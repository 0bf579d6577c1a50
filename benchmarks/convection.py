#!/usr/bin/env python3
"""Compares solvers and preconditioners for convection-diffusion systems with SUPG, as CSV.

    benchmarks/convection.py --csv convection.csv                    # all systems
    benchmarks/convection.py --only 3D --csv some.csv
    benchmarks/convection.py --methods 'gmres restart=60; ilu' 'auto; auto' --csv two.csv

The unit of length is 1 and the largest speed about 2: the Péclet number is the reciprocal of the
diffusivity. The flow `oblique` is constant and enters with u = 0 and 1; `recirculating` has one
vortex in a closed box, one side of which has u = 1. Finally prints, for each method, how many systems
it solves within the limits, and its time relative to the fastest method.
"""

import re
import statistics

from runs import parser_of, summary_of, write_csv

PECLET = [1, 100, 10000, 1000000]
# Name: dimension, degree, refinements.
MESHES = {"2D, 256², p = 1": (2, 1, 8), "2D, 128², p = 2": (2, 2, 7), "3D, 40³, p = 1": (3, 1, 3)}
FLOWS = {
    ("oblique", 2): ["Convection diffusion/Velocity=2, 1",
                     "Convection diffusion/Dirichlet=0: if(y > 0.25, 1, 0); 2: 0"],
    ("oblique", 3): ["Convection diffusion/Velocity=2, 1, 0.5",
                     "Convection diffusion/Dirichlet=0: if(y > 0.25, 1, 0); 2, 4: 0"],
    ("recirculating", 2): ["Convection diffusion/Velocity=8*x*(1-x)*(2*y-1), -8*y*(1-y)*(2*x-1)",
                           "Convection diffusion/Dirichlet=0, 2, 3: 0; 1: 1"],
    ("recirculating", 3): ["Convection diffusion/Velocity="
                           "8*x*(1-x)*(2*y-1), -8*y*(1-y)*(2*x-1), 0",
                           "Convection diffusion/Dirichlet=0, 2, 3, 4, 5: 0; 1: 1"],
}
METHODS = ["pipelined-bicgstab; jacobi", "pipelined-bicgstab; sai", "pipelined-bicgstab; multigrid",
           "pipelined-bicgstab; ilu level=1", "idr s=8; jacobi", "idr s=8; ilu",
           "idr s=8; ilu level=1", "gmres restart=100; ilu level=1", "ca-gmres restart=60; sai",
           "direct; identity"]
TEXT = """set Physics = convection_diffusion
subsection Mesh
  set Generator = subdivided_hyper_rectangle
end
subsection Output
  set Write VTU = false
end
"""
COLUMNS = ["system", "flow", "peclet", "method", "used", "dofs", "outcome", "iterations",
           "setup_seconds", "solve_seconds"]


def systems(only):
    """Yields name of the mesh, flow, Péclet number and the settings of each system."""
    for mesh, (dim, degree, refinements) in MESHES.items():
        cells, ones = ("5, 5, 5", "1, 1, 1") if dim == 3 else ("1, 1", "1, 1")
        zeros = ones.replace("1", "0")
        for flow in "oblique", "recirculating":
            for peclet in PECLET:
                if re.search(only, f"{mesh}, {flow}, {peclet}"):
                    yield mesh, flow, peclet, [
                        f"Dimension={dim}", f"Discretization/Degree={degree}",
                        f"Mesh/Arguments={cells} : {zeros} : {ones} : true",
                        f"Mesh/Initial refinements={refinements}",
                        f"Convection diffusion/Diffusivity={1 / peclet}",
                        *FLOWS[flow, dim]]


def measure(options, settings, method):
    solver, preconditioner = method.split("; ")
    summary, message = summary_of(
        [options.program, "-"],
        [*settings, f"Solver/Solver={solver}", f"Solver/Preconditioner={preconditioner}",
         "Solver/Fallback=none", f"Solver/Maximum iterations={options.iterations}",
         f"Solver/Backend={options.backend}", f"Solver/Threads={options.threads}"],
        TEXT, options.timeout)
    if not summary or not summary.get("cycles"):
        return {"outcome": "timeout" if message.startswith("not done") else "failed"}
    cycle = summary["cycles"][0]
    solve = cycle["solve"]
    return {"dofs": cycle["dofs"], "outcome": solve["outcome"], "iterations": solve["iterations"],
            "used": solve["solver"] + "; " + solve["preconditioner"],
            "setup_seconds": cycle["seconds"]["setup"], "solve_seconds": cycle["seconds"]["solve"]}


def main():
    parser = parser_of(__doc__, "femgpu")
    parser.add_argument("--methods", nargs="+", default=METHODS, metavar="'SOLVER; PRECONDITIONER'")
    parser.add_argument("--only", default="", help="regular expression of systems")
    parser.add_argument("--backend", default="host")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=2000, help="limit (%(default)s)")
    parser.add_argument("--timeout", type=float, default=25., help="seconds of a run (%(default)g)")
    options = parser.parse_args()
    rows, ratios = [], {method: [] for method in options.methods}
    for mesh, flow, peclet, settings in systems(options.only):
        of_system = []
        for method in options.methods:
            row = {"system": mesh, "flow": flow, "peclet": peclet, "method": method,
                   **measure(options, settings, method)}
            of_system.append(row)
            print(*(row.get(column, "") for column in COLUMNS), sep=", ", flush=True)
        seconds = [row["setup_seconds"] + row["solve_seconds"]
                   if row["outcome"].startswith("converged") else float("inf") for row in of_system]
        for method, time in zip(options.methods, seconds):
            if min(seconds) < float("inf"):
                ratios[method].append(time / min(seconds))
        rows += of_system
        write_csv(options.csv, COLUMNS, rows, 4)
    for method, of_method in ratios.items():
        finite = [ratio for ratio in of_method if ratio < float("inf")]
        if finite:
            print(f"{method}: solves {len(finite)} of {len(of_method)}; time relative to the best: "
                  f"median {statistics.median(of_method):.2f}, largest {max(finite):.2f}")


if __name__ == "__main__":
    main()
