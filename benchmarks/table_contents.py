"""The cells, lines and columns of the tables that tables.py writes, by the name of the table."""

import re

import runs


# Cells: functions from a row of a CSV file to text.

def number(text, digits=3, factor=1.):
    return runs.number(factor * float(text) if text else None, digits)


def count(text):
    return f"{int(text):,}" if text else "–"


def plain(column):
    return lambda row: row[column] or "–"


def code(column):
    return lambda row: f"`{row[column]}`"


def integer(column):
    return lambda row: count(row[column])


def real(column, digits=3, factor=1.):
    return lambda row: number(row[column], digits, factor)


def joined(*cells, separator=", "):
    """Returns a cell function that joins @p cells; omits unknown values after the first."""
    def text(row):
        first, *others = (cell(row) for cell in cells)
        return separator.join([first] + [other for other in others if other != "–"])
    return text


def sized(column):
    """Returns the name of a system and its number of unknowns."""
    return lambda row: f"`{row[column]}`" + (f", n = {count(row['n'])}" if row["n"] else "")


def iterations(row):
    """Returns the iterations of a solve; without convergence, its outcome and relative residual."""
    if row["outcome"] in ("converged", "converged_to_rounding"):
        return row["iterations"]
    residual = row.get("relative_residual")
    return row["outcome"].replace("_", " ") + (f", {float(residual):.0e}" if residual else "")


def milliseconds(row):
    """Returns the milliseconds of set-up and solve."""
    if "setup_ms" in row:
        return f"{number(row['setup_ms'], 2)} + {number(row['solve_ms'])}"
    return f"{number(row['setup_seconds'], 2, 1e3)} + {number(row['solve_seconds'], 3, 1e3)}"


def solved(row):
    """Returns the iterations and the milliseconds of set-up (if there is one) and solve."""
    if row["outcome"] == "failed":
        return "failed"
    if row["preconditioner"] in ("identity", "jacobi"):
        return f"{iterations(row)}: {number(row['solve_seconds'], 3, 1e3)}"
    return f"{iterations(row)}: {milliseconds(row)}"


def of_convection(row):
    """Returns the iterations and the seconds of set-up and solve; – without convergence."""
    if not row["outcome"].startswith("converged"):
        return "–"
    seconds = number(float(row["setup_seconds"]) + float(row["solve_seconds"]), 2)
    return seconds if row["method"].startswith("direct") else f"{row['iterations']}: {seconds}"


def per_entry(row):
    """Returns the number of entries of M per entry of A."""
    if not row["preconditioner_nonzeros"]:
        return "–"
    return number(int(row["preconditioner_nonzeros"]) / int(row["nonzeros"]), 2)


# Tables: functions from the rows of a CSV file to Markdown.

def listing(columns, only=None, n_words=1):
    """Returns a table function with a line per row. An entry of the first column is not repeated."""
    def table_of(rows):
        lines, last = [], None
        for row in filter(only, rows):
            first, *others = (cell(row) for cell in columns.values())
            name = first.split(", n = ")[0]
            lines.append(["" if name == last else first, *others])
            last = name
        return runs.markdown(list(columns), lines, n_words)
    return table_of


def crossed(line_of, column_of, cell, only=None, title="", is_complete=False):
    """Returns a table function with a line per value of line_of(row) and a column per value of
    column_of(row). @param is_complete omit lines that lack an entry in a column"""
    def table_of(rows):
        rows = list(filter(only, rows))
        found = {(line_of(row), column_of(row)): cell(row) for row in rows}
        columns = list(dict.fromkeys(column_of(row) for row in rows))
        lines = [[line, *(found.get((line, column), "–") for column in columns)]
                 for line in dict.fromkeys(line_of(row) for row in rows)]
        return runs.markdown([title, *columns],
                             [line for line in lines if not is_complete or "–" not in line])
    return table_of


def tally(rows):
    """Returns a table: how many matrices of each kind each combination of methods solves."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows if row["kind"]))
    n_of = {kind: len({row["matrix"] for row in rows if row["kind"] == kind}) for kind in kinds}

    def n_solved(methods, kind):
        here = [row for row in rows if row["kind"] == kind and row["methods"] == methods]
        return str(sum(row["outcome"].startswith("converged") for row in here)) if here else "–"

    return runs.markdown(["methods"] + [f"{kind}, {n_of[kind]} matrices" for kind in kinds],
                         [[methods, *(n_solved(methods, kind) for kind in kinds)]
                          for methods in dict.fromkeys(row["methods"] for row in rows)])


def energy(rows):
    """Returns a table of the iterations with the criteria `residual` and `discretisation error`."""
    lines = []
    for case in dict.fromkeys(row["case"] for row in rows):
        cycles = [row for row in rows if row["case"] == case]
        by_residual, by_error = ([int(row[column]) for row in cycles]
                                 for column in ("residual_iterations", "energy_iterations"))
        change = max(float(row["change_over_error"] or 0) for row in cycles)
        lines.append([case, count(cycles[-1]["dofs"]), f"{by_residual[-1]:,}", f"{by_error[-1]:,}",
                      f"{sum(by_residual):,}", f"{sum(by_error):,}", f"{change:.1g}"])
    return runs.markdown(["study", "dofs of the last cycle", "its iterations, `residual`",
                          "`discretisation error`", "iterations of all cycles, `residual`",
                          "`discretisation error`", "largest change of a quantity over its error"],
                         lines)


def chosen_formats(rows):
    """Returns a table that compares the choice of `auto` with csr and with the fastest format."""
    lines = []
    for system in dict.fromkeys(row["system"] for row in rows):
        here = {row["asked"]: row for row in rows if row["system"] == system}
        best = min((row for name, row in here.items() if name not in ("auto", "default")),
                   key=lambda row: float(row["us_per_iteration"]))
        auto, time = here["auto"], real("us_per_iteration")
        lines.append([f"`{system.removesuffix('.mtx.gz')}`", count(auto["n"]),
                      count(auto["longest_row"]), f"`{auto['format']}`", time(auto),
                      time(here["csr"]), f"{time(best)} (`{best['asked']}`)"])
    return runs.markdown(["system", "n", "longest row", "`auto` chooses", "`auto`, µs", "`csr`, µs",
                          "fastest, µs"], lines)


def sweeps_of(row):
    """Returns how a run of sweeps.py solves with triangles: `3 sweeps`, `automatic` or `exact`."""
    asked = re.search(r"sweeps=(\w+)", row["preconditioner"])
    if asked:
        return f"{asked[1]} sweeps"
    return "automatic" if "triangular=sweeps" in row["preconditioner"] else "exact"


def swept(row):
    """Returns the iterations and, for sweeps, the remaining fraction of a residual or, if their number
    is automatic, the chosen number."""
    kind = sweeps_of(row)
    note = {"exact": "", "automatic": row["sweeps"] or "exact"}.get(kind, row["left"])
    return iterations(row) + (f" ({note})" if note else "")


def nonlinear(row):
    """Returns nonlinear iterations, linear iterations of Newton in brackets, and milliseconds."""
    linear = "" if row["method"] == "nlcg" else f" ({row['linear_iterations']})"
    return f"{row['iterations']}{linear}: {number(row['solve_seconds'], 3, 1e3)}"


def orthogonality(row):
    """Returns the errors of orthogonality and of the factorisation from a solver's remarks."""
    found = re.search(r"orthogonality error (\S+), factorisation error ([^;,\s]+)", row["remarks"])
    if not found:
        return "–"
    return f"{found[1]}, {found[2]}" + (", safer" if "safer" in row["remarks"] else "")


def equals(**wanted):
    return lambda row: all(row[column] == value for column, value in wanted.items())


def figure(name, cell):
    """Returns a table function for the rows of a figure of papers.py."""
    return crossed(lambda row: row["line"], lambda row: row["column"], cell, equals(figure=name))


def remark(row):
    """Returns the condition number of the basis from a solver's remarks."""
    return row["remarks"].removeprefix("basis condition ").split(";")[0] or "–"


def fsai_setups(rows):
    """Returns a table of set-up times of FSAI: ParaSails, and femgpu on the host and on a GPU."""
    columns = {"parasails_setup_s": "ParaSails, 1 core", "setup_s_1_thread": "femgpu, 1 core"}
    times = [(row["system"], re.sub(" (tau|power)=1", "", row["method"]), column, row[name])
             for row in rows if "method" in row for name, column in columns.items()]
    times += [(row["matrix"], row["preconditioner"], "femgpu, 16 cores" if row["backend"] == "host"
               else "femgpu, GPU", row["setup_seconds"]) for row in rows if "matrix" in row]
    return crossed(lambda time: f"`{time[0]}`, `{time[1]}`", lambda time: time[2],
                   lambda time: number(time[3], 2, 1e3), None, "matrix, method", True)(times)


TIMES = {"set-up, ms": real("setup_seconds", 3, 1e3), "solve, ms": real("solve_seconds", 3, 1e3)}

TABLES = {
    "spd": listing({
        "system": sized("system"), "preconditioner": code("preconditioner"),
        "iterations": iterations, **TIMES, "µs an iteration": real("us_per_iteration"),
        "GB/s": real("gigabytes_per_second"), "entries of M per entry of A": per_entry},
                   equals(group="spd", solver="pipelined-cg"), 2),
    "forms": crossed(joined(code("system"), code("preconditioner")), code("solver"),
                     joined(iterations, real("us_per_iteration")), equals(group="spd"),
                     "system, preconditioner", True),
    "unsymmetric": crossed(
        code("preconditioner"), code("system"),
        lambda row: f"{solved(row)} ({per_entry(row)})",
        equals(group="unsymmetric", solver="pipelined-bicgstab"), "preconditioner"),
    "breakdowns": crossed(
        joined(code("system"), code("preconditioner")), code("solver"),
        joined(iterations, real("solve_seconds", 3, 1e3), separator=": "), None,
        "system, preconditioner"),
    "convection": crossed(
        joined(plain("system"), plain("flow"), integer("peclet")),
        lambda row: ", ".join(f"`{name}`" for name in row["method"].split("; ")
                              if name != "identity"), of_convection, None, "mesh, flow, Pe"),
    "formats": crossed(
        code("method"), code("system"),
        lambda row: f"{number(row['us_per_iteration'])}, {number(row['fraction_of_copy'], 2, 100)} %",
        equals(solver="pipelined-cg"), "format"),
    "chosen-formats": chosen_formats,
    "fsai-setups": fsai_setups,
    "parasails": listing({
        "system": sized("system"),
        "method": lambda row: "`" + re.sub(r" (tau=1|side=left)", "", row["method"]) + "`",
        "entries": integer("nonzeros"), "difference": lambda row: f"{float(row['difference']):.0e}",
        "iterations": plain("iterations"), "ParaSails' iterations": plain("parasails_iterations"),
        "set-up, ms": real("setup_s_1_thread", 2, 1e3),
        "ParaSails' set-up, ms": real("parasails_setup_s", 2, 1e3)}, None, 2),
    "ainv": listing({
        "matrix": sized("matrix"),
        "preconditioner": lambda row: f"`{row['preconditioner']}`" + (
            f" (compare `{row['beside']}`)" if row["beside"] else ""),
        "entries": integer("entries"), "rounds": plain("rounds"),
        "iterations": lambda row: iterations(row).replace("failed", "pivot breaks down"), **TIMES},
                    lambda row: "order=natural" not in row["preconditioner"] and (
                        row["beside"] or not row["preconditioner"].startswith("fsai")), 2),
    "sweeps": crossed(lambda row: f"{sized('matrix')(row)}, `{row['preconditioner'][4:11]}`",
                      sweeps_of, swept, None, "matrix, fill"),
    "collection": crossed(sized("matrix"), joined(code("solver"), code("preconditioner")),
                          iterations, None, "matrix"),
    "tally": tally,
    "preconditioners": crossed(lambda row: f"`{row['system'].removesuffix('.mtx.gz')}`, "
                               f"n = {count(row['rows'])}", code("preconditioner"), solved,
                               None, "system"),
    "energy": energy,
    "smoothers": crossed(
        joined(sized("problem"), code("smoother")), lambda row: f"`cycle={row['cycle']}`",
        lambda row: f"{iterations(row)}: {milliseconds(row)}; {number(row['products_per_digit'], 2)}"
        f"; {number(row['bytes_per_digit'], 2)}", None, "system, `smoother=`"),
    "growth": crossed(
        joined(code("file"), lambda row: f"degree {row['degree']}, {count(row['dofs'])} dofs"),
        lambda row: f"`coarsening={row['coarsening']}`",
        lambda row: f"{row['iterations'].removesuffix('.0')}: {number(row['setup_seconds'], 2)} + "
        f"{number(row['solve_seconds'], 2)}; {number(row['complexity'])}", None, "parameter file"),
    "multigrid": crossed(
        joined(code("system"), integer("rows")), joined(code("preconditioner"), code("format")),
        lambda row: f"{row['iterations']}: {milliseconds(row)}", None, "system, rows"),
    "multigrid-femgpu": listing({
        "run": plain("run"), "femgpu": code("git_revision"), "`coarsening=`": plain("coarsening"),
        "format": code("format"), "dofs": integer("dofs"), "iterations": plain("iterations"),
        "Newton steps": lambda row: count(row["newton_steps"].lstrip("0")),
        "set-up, ms": real("setup_ms"), "solve, ms": real("solve_ms")}, None, 4),
    "ca-gmres": crossed(
        lambda row: f"`{row['solver']}`" + (
            "" if row["ordering"] == "none" else f", ordering `{row['ordering']}`"),
        lambda row: "one GPU" if row["ranks"] == "1" else f"two GPUs, `{row['communicator']}`",
        joined(real("ms_a_restart"), plain("pipelined_times")), None, "solver"),
    "restarts": crossed(code("solver"), code("system"),
                        joined(real("ms_a_restart"), plain("pipelined_times"), remark), None, "solver"),
    "basis": crossed(
        lambda row: f"`{row['system']}`, {row['solver'].split('basis=')[1]}, "
        f"{row['reference_iterations']}", lambda row: re.search(r"\bs=\d+", row["solver"])[0],
        lambda row: f"{iterations(row)} ({float(row['basis_condition']):.0e})",
        lambda row: "basis=" in row["solver"], "system, basis, iterations of `gmres`"),
    "gmres-speed": crossed(joined(plain("system"), integer("n")), joined(plain("program"), plain("variant")),
                           real("us_per_iteration"), None, "system, rows"),
    "tsqr": crossed(lambda row: f"`{row['variant']}`, `passes={row['passes']}`",
                    lambda row: f"{row['p']} columns", lambda row: f"{float(row['microseconds']):.0f}, "
                    f"{number(row['fraction_of_copy'], 2, 100)} %", None, "variant"),
    "powers": crossed(
        lambda row: f"`{row['system']}`, s = {row['steps']}", plain("form"),
        lambda row: number(row["microseconds"], 4) + (
            f" ({number(row['against'], 2)})" if float(row["against"]) else ""), None, "system, steps"),
    "surfaces": crossed(
        lambda row: f"`{row['system']}`, {row['order']}", lambda row: f"s = {row['steps']}",
        joined(real("surface_mean", 2, 100), real("volume", 2)), equals(parts="3"), "system, ordering"),
    "beyond-memory": listing({
        "device memory": lambda row: row["device_memory"] or "all", "solver": code("solver"),
        "iterations": plain("iterations"), "set-up, s": real("setup_seconds", 2),
        "solve, s": real("solve_seconds"), "ms an iteration": real("ms_per_iteration")}, None, 2),
    "nonlinear": crossed(
        joined(integer("n"), code("preconditioner")), code("method"),
        nonlinear,
        lambda row: row["outcome"] == "converged" and row["triangular"] in ("", "sweeps"),
        "unknowns, preconditioner"),
    "two-stage": crossed(lambda row: f"`level={row['kappa']} outer={row['m']}`",
                         lambda row: f"`inner={row['q']}`", iterations),
    "blocks": crossed(lambda row: f"`level={row['kappa']}`", lambda row: f"`blocks={row['p']}`",
                      iterations),
    **{name: figure(name, solved) for name in (
        "galiano-3", "galiano-4", "galiano-6", "galiano-7", "galiano-8", "galiano-9", "dedecek-2",
        "dedecek-3")},
    **{name: figure(name, real("us_per_iteration")) for name in (
        "dehnavi-3", "dehnavi-4", "yamazaki-3")},
    "dedecek-4": figure("dedecek-4", joined(solved, integer("preconditioner_nonzeros"))),
    "yamazaki-13": figure("yamazaki-13", orthogonality),
}
