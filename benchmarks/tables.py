#!/usr/bin/env python3
"""Writes Markdown tables from CSV files of benchmarks/results/ into pages of docs/.

    benchmarks/tables.py               # fill in all tables
    benchmarks/tables.py --check       # only compare; exits with 1 if a page is another
    benchmarks/tables.py --list        # the tables there are

A table stands between the lines

    <!-- table NAME FILE.csv -->
    <!-- end -->

FILE is relative to the root of the repository. Where there is no such file the page says so, and that
is no error. Numbers of tables are never typed.
"""

import argparse
import csv
import os
import re
import sys

import runs
from runs import markdown

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGES = [os.path.join(ROOT, "docs", name) for name in ("solvers.md", "papers.md")]
MARKED = re.compile(r"^(<!-- table (\S+) (\S+) -->\n)(.*?)^(<!-- end -->\n)", re.MULTILINE | re.DOTALL)
MISSING = "*not measured yet*"


def distinct(values):
    return list(dict.fromkeys(values))


def number(text, digits=3, factor=1.):
    """The number that @p text holds, times @p factor; – where it holds none."""
    return runs.number(factor * float(text) if text != "" else None, digits)


def count(text):
    return f"{int(text):,}" if text else "–"


def iterations(row):
    """The count, or how it ended where it did not converge, and with which ‖b − A x‖/‖b‖."""
    if row is None:
        return ""
    if row["outcome"] in ("converged", "converged_to_rounding"):
        return row["iterations"]
    outcome = row["outcome"].replace("_", " ")
    residual = row.get("relative_residual")
    return f"{outcome}, {float(residual):.0e}" if residual else outcome


def origin(rows):
    """Device and commit of the lines, in words."""
    devices = distinct(f"{row['backend']} ({row['device']})" if "backend" in row else row["device"]
                       for row in rows if row["device"])
    commits = distinct(f"`{row['git_revision']}`" for row in rows if row["git_revision"])
    return f"On {', '.join(devices)}, femgpu {', '.join(commits)}.\n\n"


def named(text):
    return f"`{text}`"


def sized(row):
    """`system`, n = 1,000"""
    return named(row["system"]) + (f", n = {count(row['n'])}" if row["n"] else "")


def per_entry(row):
    """Entries of M⁻¹ for each one of A."""
    if not row["preconditioner_nonzeros"]:
        return "–"
    return number(int(row["preconditioner_nonzeros"]) / int(row["nonzeros"]), 2)


# Tables of methods.py

def table_spd(rows):
    """Pipelined CG with every preconditioner: a line for each system and preconditioner."""
    rows = [row for row in rows if row["group"] == "spd" and row["solver"] == "pipelined-cg"]
    lines, last = [], ""
    for row in rows:
        system = sized(row)
        both = ""
        if row["solve_seconds"]:
            both = float(row["setup_seconds"]) + float(row["solve_seconds"])
        lines.append([system if system != last else "", named(row["preconditioner"]),
                      iterations(row), number(row["setup_seconds"], 3, 1e3),
                      number(row["solve_seconds"], 3, 1e3), number(both, 3, 1e3),
                      number(row["us_per_iteration"]), number(row["gigabytes_per_second"]),
                      per_entry(row)])
        last = system
    return origin(rows) + markdown(
        ["system", "preconditioner", "iterations", "setup ms", "solve ms", "both ms", "µs/iteration",
         "GB/s", "entries of M⁻¹ per one of A"], lines, n_words=2)


def pivot(rows, line_of, column_of, text_of):
    """A table with a line for each line_of(row), a column for each column_of(row)."""
    found = {(line_of(row), column_of(row)): row for row in rows}
    columns = distinct(column_of(row) for row in rows)
    lines = distinct(line_of(row) for row in rows)
    return columns, [[line] + [text_of(found.get((line, column))) for column in columns]
                     for line in lines]


def table_forms(rows):
    """The forms of conjugate gradients: iterations, and microseconds an iteration."""
    rows = [row for row in rows if row["group"] == "spd"]
    pairs = {(row["system"], row["preconditioner"]) for row in rows if row["solver"] == "cg"}
    rows = [row for row in rows if (row["system"], row["preconditioner"]) in pairs]

    def text(row):
        return f"{iterations(row)}, {number(row['us_per_iteration'])} µs" if row else ""

    columns, lines = pivot(rows, lambda row: f"`{row['system']}`, `{row['preconditioner']}`",
                           lambda row: named(row["solver"]), text)
    return origin(rows) + markdown(["system, preconditioner"] + columns, lines)


def unsymmetric(rows, text):
    """A line for each preconditioner, a column for each system."""
    rows = [row for row in rows if row["group"] == "unsymmetric"]
    columns, lines = pivot(rows, lambda row: named(row["preconditioner"]),
                           lambda row: named(row["system"]), text)
    return origin(rows) + markdown(["preconditioner"] + columns, lines)


def table_unsymmetric(rows):
    """Iterations of pipelined BiCGStab against the pattern of the approximate inverse."""
    return unsymmetric([row for row in rows if row["solver"] == "pipelined-bicgstab"], iterations)


def table_unsymmetric_classical(rows):
    """The same for the classical form."""
    return unsymmetric([row for row in rows if row["solver"] == "bicgstab"], iterations)


def table_unsymmetric_seconds(rows):
    """Milliseconds of setup + solve of pipelined BiCGStab, and entries of M for each one of A."""
    def text(row):
        if not row:
            return ""
        if row["outcome"] != "converged":
            return "–"
        return (f"{number(row['setup_seconds'], 2, 1e3)} + {number(row['solve_seconds'], 2, 1e3)} "
                f"({per_entry(row)})")

    return unsymmetric([row for row in rows if row["solver"] == "pipelined-bicgstab"], text)


# Tables of femgpu_solver_check

def formats(rows, text):
    """A line for each format, a column for each system; pipelined CG with Jacobi."""
    rows = [row for row in rows if row["solver"] == "pipelined-cg"]
    columns, lines = pivot(rows, lambda row: named(row["method"]),
                           lambda row: named(row["system"]), text)
    devices = distinct(row["device"] for row in rows)
    return f"On {', '.join(devices)}.\n\n" + markdown(["format"] + columns, lines)


def table_formats(rows):
    """Microseconds an iteration of pipelined CG in every format."""
    return formats(rows, lambda row: number(row["us_per_iteration"]) if row else "")


def table_formats_fraction(rows):
    """At which part of the speed of a copy the counted bytes move, in percent."""
    return formats(rows, lambda row: number(row["fraction_of_copy"], 2, 100.) if row else "")


def table_auto(rows):
    """What the format auto is, and its time beside that of csr and of the best format."""
    lines = []
    for system in distinct(row["system"] for row in rows):
        here = {row["asked"]: row for row in rows if row["system"] == system}
        best = min((row for name, row in here.items() if name not in ("auto", "default")),
                   key=lambda row: float(row["us_per_iteration"]))
        auto = here["auto"]
        lines.append([named(system.removesuffix(".mtx.gz")), f"{int(auto['n']):,}",
                      f"{int(auto['longest_row']):,}", auto["format"],
                      number(auto["us_per_iteration"]), number(here["csr"]["us_per_iteration"]),
                      f"{number(best['us_per_iteration'])} ({named(best['asked'])})",
                      number(auto["format_ms"], 2)])
    return markdown(["system", "n", "longest row", "`auto` is", "`auto`, µs/iteration", "`csr`",
                     "the fastest", "made in, ms"], lines, n_words=1)


# Others

def table_parasails(rows):
    """sai and fsai beside ParaSails of hypre with the same pattern."""
    lines, last = [], ""
    for row in rows:
        system = sized(row)
        method = re.sub(r" (tau=1|side=left)", "", row["method"])
        lines.append([system if system != last else "", named(method), count(row["nonzeros"]),
                      f"{float(row['difference']):.0e}", row["iterations"],
                      row["parasails_iterations"], number(row["setup_s_1_thread"], 2, 1e3),
                      number(row["parasails_setup_s"], 2, 1e3)])
        last = system
    return markdown(["system", "method", "entries", "difference", "iterations", "ParaSails' iterations",
                     "setup ms", "ParaSails' setup ms"], lines, n_words=2)


def table_ainv(rows):
    """SAINV and AINV in their usual order over a directory, beside the nearest form of fsai."""
    lines, last = [], ""
    for row in rows:
        method = row["preconditioner"]
        if method.startswith("fsai") and not row["beside"] or "order=natural" in method:
            continue
        matrix = f"{named(row['matrix'])}, n = {count(row['n'])}" if row["n"] else named(row["matrix"])
        beside = f" (beside `{row['beside']}`)" if row["beside"] else ""
        end = "pivot breaks down" if row["outcome"] == "failed" else iterations(row)
        lines.append([matrix if row["matrix"] != last else "", named(method) + beside,
                      count(row["entries"]) if method != "identity" else "–", row["rounds"] or "–",
                      end, number(row["setup_seconds"], 3, 1e3) if method != "identity" else "–",
                      number(row["solve_seconds"], 3, 1e3)])
        last = row["matrix"]
    return markdown(["matrix", "preconditioner", "entries", "rounds", "iterations", "setup ms",
                     "solve ms"], lines, n_words=2)


def table_sweeps(rows):
    """Iterations with sweeps of each number and with exact solves; what sweeps leave of a residual."""
    lines = {}
    for row in rows:
        level = re.search(r"level=(\d+)", row["preconditioner"])[1]
        matrix = f"{named(row['matrix'])}, n = {count(row['n'])}" if row["n"] else named(row["matrix"])
        asked = re.search(r"sweeps=(\w+)", row["preconditioner"])
        way = (asked[1] if asked else
               "automatic" if "triangular=sweeps" in row["preconditioner"] else "exact")
        text = iterations(row) + (f" ({row['left']})" if row["left"] and asked else "")
        if way == "automatic":
            text += f" ({row['sweeps'] or 'exact'})"
        lines.setdefault((matrix, level), {})[way] = text
    ways = distinct(way for line in lines.values() for way in line)
    ways.sort(key=lambda way: (int(way) if way.isdigit() else 99, way != "automatic"))
    return markdown(["matrix", "level", *(f"{way} sweeps" if way.isdigit() else way for way in ways)],
                    [[matrix, level, *(line.get(way, "–") for way in ways)]
                     for (matrix, level), line in lines.items()], n_words=1)


def table_collection(rows):
    """Iterations over a directory of matrices: a line for each matrix."""
    columns, lines = pivot(rows, lambda row: f"{named(row['matrix'])}, n = {count(row['n'])}"
                           if row["n"] else named(row["matrix"]),
                           lambda row: f"`{row['solver']}`, `{row['preconditioner']}`", iterations)
    return markdown(["matrix"] + columns, [[cell or "–" for cell in line] for line in lines])


def table_energy(rows):
    """Iterations of solves that stop at the residual and at the discretisation error."""
    header = ["study", "dofs of the last cycle", "its iterations, `residual`",
              "`discretisation error`", "iterations of all cycles, `residual`",
              "`discretisation error`", "largest change of a quantity, part of its error"]
    lines = []
    for case in distinct(row["case"] for row in rows):
        cycles = [row for row in rows if row["case"] == case]

        def total(column, cycles=cycles):
            return f"{sum(int(row[column]) for row in cycles):,}"

        last = cycles[-1]
        changes = [float(row["change_over_error"]) for row in cycles if row["change_over_error"]]
        lines.append([case, count(last["dofs"]), count(last["residual_iterations"]),
                      count(last["energy_iterations"]), total("residual_iterations"),
                      total("energy_iterations"), f"{max(changes):.1g}"])
    return markdown(header, lines)


def table_smoothers(rows):
    """Smoothers of multigrid, with both cycles."""
    header = ["problem", "`smoother=`", "iterations, V", "W", "products a digit, V", "W",
              "bytes a digit, V", "W", "set-up ms", "solve ms, V", "W"]
    lines = []
    for problem in distinct(row["problem"] for row in rows):
        of_problem = [row for row in rows if row["problem"] == problem]
        label = f"{named(problem)}, n = {count(of_problem[0]['n'])}"
        for smoother in distinct(row["smoother"] for row in of_problem):
            V, W = (next(row for row in of_problem
                         if row["smoother"] == smoother and row["cycle"] == cycle) for cycle in "VW")
            lines.append([label, named(smoother)] +
                         [iterations(row) for row in (V, W)] +
                         [number(row[column], 2) for column in ("products_per_digit",
                                                                "bytes_per_digit")
                          for row in (V, W)] +
                         [number(min(V["setup_seconds"], W["setup_seconds"], key=float), 3, 1e3)] +
                         [number(row["solve_seconds"], 3, 1e3) for row in (V, W)])
            label = ""
    return markdown(header, lines, 2)


def table_growth(rows):
    """Iterations on a coarse and a fine mesh by the source of the coarser levels, and seconds."""
    header = ["parameter file", "degree", "dofs", "iterations, coarser meshes", "aggregation",
              "entries of all matrices", "aggregation", "set-up + solve, s", "aggregation"]
    lines = []
    for file, degree in distinct((row["file"], row["degree"]) for row in rows):
        def pair(coarsening):
            return sorted((row for row in rows if (row["file"], row["degree"], row["coarsening"]) ==
                           (file, degree, coarsening)), key=lambda row: int(row["dofs"]))
        both = pair("auto"), pair("aggregation")
        lines.append([named(file), degree, " → ".join(count(row["dofs"]) for row in both[0])] +
                     [" → ".join(row["iterations"].removesuffix(".0") for row in two)
                      for two in both] + [number(two[-1]["complexity"]) for two in both] +
                     [f"{number(two[-1]['setup_seconds'], 2)} + {number(two[-1]['solve_seconds'], 2)}"
                      for two in both])
    return markdown(header, lines)


def table_multigrid(rows):
    """Iterations: milliseconds of set-up + solve with Jacobi and multigrid, by format and values."""
    kinds = [("jacobi", "auto"), ("multigrid", "csr"), ("multigrid", "auto"),
             ("multigrid values=double", "auto")]
    lines = []
    for system in distinct(row["system"] for row in rows):
        here = {(row["preconditioner"], row["format"]): row for row in rows
                if row["system"] == system}
        lines.append([named(system), count(here[kinds[0]]["rows"])] +
                     [f"{row['iterations']}: {number(row['setup_ms'])} + {number(row['solve_ms'])}"
                      for row in map(here.get, kinds)])
    return origin(rows) + markdown(
        ["system", "unknowns"] + [f"{named(name)}, {named(format)}" for name, format in kinds], lines)


def table_multigrid_femgpu(rows):
    """Whole problems of femgpu on a GPU: iterations, and milliseconds of set-up and solve."""
    header = ["run", "femgpu", "coarser levels", "format", "dofs", "iterations", "set-up, ms", "solve, ms"]
    lines = [[row["run"], named(row["git_revision"]), row["coarsening"], named(row["format"]),
              count(row["dofs"]),
              row["iterations"] + (f" in {row['newton_steps']} Newton steps"
                                   if row["newton_steps"] != "0" else ""),
              number(row["setup_ms"]), number(row["solve_ms"])] for row in rows
             if row["outcome"].startswith("converged")]
    return origin(rows) + markdown(header, lines, 4)


def table_ca_gmres(rows):
    """Milliseconds of a cycle of forms of GMRES by parts and communicators, beside pipelined GMRES."""
    def place(row):
        return "one GPU" if row["ranks"] == "1" else f"two, `{row['communicator']}`"

    def text(row):
        if not row:
            return "–"
        times = f" ({row['pipelined_times']})" if row["pipelined_times"] else ""
        return number(row["ms_a_restart"]) + times

    columns, lines = pivot(rows, lambda row: named(row["solver"]) + (
        "" if row["ordering"] == "none" else f", order `{row['ordering']}`"), place, text)
    return markdown(["solver"] + columns, lines)


def table_beyond_memory(rows):
    """Solves with a matrix in the memory of the host and of the device."""
    return markdown(
        ["memory granted", "solver", "iterations", "set-up, s", "solve, s", "ms an iteration"],
        [[row["device_memory"] or "all", named(row["solver"]), row["iterations"],
          number(row["setup_seconds"], 2), number(row["solve_seconds"]),
          number(row["ms_per_iteration"])] for row in rows], n_words=2)


# Tables of papers.py

def solved(row):
    """Iterations: milliseconds of set-up, if there is one, and solve."""
    if not row or row["outcome"] == "failed":
        return "failed" if row else "–"
    has_factors = row["preconditioner"] not in ("identity", "jacobi")
    setup = f"{number(row['setup_seconds'], 2, 1e3)} + " if has_factors else ""
    return f"{iterations(row)}: {setup}{number(row['solve_seconds'], 3, 1e3)}"


def iterated(row):
    """Microseconds of an iteration."""
    return number(row["us_per_iteration"]) if row and row["us_per_iteration"] else "–"


def with_entries(row):
    """The same as solved(), with the entries of M."""
    return f"{solved(row)}, {count(row['preconditioner_nonzeros'])}" if row else "–"


def errors(row):
    """Of orthogonality and of the factorisation, as the remarks tell them."""
    found = re.search(r"orthogonality error (\S+), factorisation error ([^;,\s]+)",
                      row["remarks"] if row else "")
    safer = ", safer" if found and "safer" in row["remarks"] else ""
    return f"{found[1]}, {found[2]}{safer}" if found else "–"


def paper_table(figure, text):
    """A function for the table of a figure of papers.py."""
    def table_of(rows):
        rows = [row for row in rows if row["figure"] == figure]
        columns, lines = pivot(rows, lambda row: row["line"], lambda row: row["column"], text)
        return markdown([""] + columns, lines)
    table_of.__doc__ = f"{figure} of papers.py: {text.__doc__[0].lower()}{text.__doc__[1:]}"
    return table_of


PAPER_TABLES = {figure: paper_table(figure, text) for figure, text in {
    "galiano-3": solved, "galiano-4": solved, "galiano-6": solved, "galiano-7": solved,
    "galiano-8": solved, "galiano-9": solved, "dehnavi-3": iterated, "dehnavi-4": iterated,
    "dedecek-2": solved, "dedecek-3": solved, "dedecek-4": with_entries, "yamazaki-3": iterated,
    "yamazaki-13": errors}.items()}


# The table of femgpu_surfaces

def table_surfaces(rows):
    """Rows of others that three parts compute again, in percent of the entries of own ones, and
    elements that are exchanged beside those of s products."""
    rows = [row for row in rows if row["parts"] == "3"]
    columns, lines = pivot(rows, lambda row: f"`{row['system']}`, {row['order']}",
                           lambda row: f"s = {row['steps']}",
                           lambda row: f"{number(row['surface_mean'], 2, 100.)}, "
                                       f"{number(row['volume'], 2)}")
    return markdown(["system, order"] + columns, lines)


TABLES = {name[len("table_"):].replace("_", "-"): function
          for name, function in list(globals().items()) if name.startswith("table_")} | PAPER_TABLES


def table(name, file):
    """The text between the markers."""
    if name not in TABLES:
        raise SystemExit(f"There is no table '{name}'; there are {', '.join(TABLES)}.")
    path = os.path.join(ROOT, file)
    if not os.path.exists(path):
        return f"{MISSING}\n"
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    try:
        return TABLES[name](rows)
    except KeyError as error:
        raise SystemExit(f"{file} has no column {error}, which table '{name}' needs.") from error


def filled(page):
    """@p page with all tables as the files give them. Refuses markers that it would not find."""
    n_markers = len(re.findall(r"^<!-- table ", page, re.MULTILINE))
    if n_markers != len(MARKED.findall(page)) or n_markers != page.count("<!-- end -->"):
        raise SystemExit("A table of the page has no line '<!-- end -->', or is not "
                         "'<!-- table NAME FILE.csv -->'.")
    return MARKED.sub(lambda match: f"{match[1]}\n{table(match[2], match[3])}\n{match[5]}", page)


def write_page(name, only_check):
    """1 if the page is another than its files give, and is only to be checked; else 0."""
    with open(name, encoding="utf-8") as stream:
        page = stream.read()
    new_page = filled(page)
    if only_check:
        if new_page != page:
            print(f"{os.path.relpath(name, ROOT)} is not what the files of benchmarks/results/ "
                  "give: run benchmarks/tables.py.", file=sys.stderr)
        return int(new_page != page)
    with open(name + ".partial", "w", encoding="utf-8") as stream:
        stream.write(new_page)
    os.replace(name + ".partial", name)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="*", default=PAGES, help="(those of docs/ with tables)")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--list", action="store_true", help="the names of the tables")
    options = parser.parse_args()
    if options.list:
        for name, function in TABLES.items():
            print(f"{name:<22} {function.__doc__.splitlines()[0]}")
        return 0
    return max(write_page(name, options.check) for name in options.page)


if __name__ == "__main__":
    sys.exit(main())
