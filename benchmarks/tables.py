#!/usr/bin/env python3
"""Generates the appendix pages of docs/ and the tables of docs/papers.md from benchmarks/results/.

    benchmarks/tables.py               # write the pages
    benchmarks/tables.py --check       # write nothing; exit with 1 if a page is out of date

benchmarks/appendix.md is the outline of the appendix pages: "# FILE: TITLE" starts a page, and each
line "table NAME DIRECTORY/FILE.csv" becomes a table with its device, date, commit and command, which
are taken from the README.md next to the CSV file. In docs/papers.md, a table stands between the lines
"<!-- table NAME PATH.csv -->" and "<!-- end -->".
"""

import argparse
import csv
import os
import re
import sys

import runs

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RESULTS = os.path.join(ROOT, "benchmarks", "results")
OUTLINE = os.path.join(ROOT, "benchmarks", "appendix.md")
PAPERS = os.path.join(ROOT, "docs", "papers.md")
COMMAND = re.compile(r"(\w+=\S+ )?(benchmarks/|femgpu|mpirun )\S* .*|\w+\.py .*")
MARKED = re.compile(r"^(<!-- table (\S+) (\S+) -->\n)(.*?)^(<!-- end -->\n)", re.MULTILINE | re.DOTALL)


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
    """Joins the texts of @p cells. Unknown values after the first are omitted."""
    def text(row):
        first, *others = (cell(row) for cell in cells)
        return separator.join([first] + [other for other in others if other != "–"])
    return text


def sized(column):
    """The name of a system and its number of unknowns."""
    return lambda row: f"`{row[column]}`" + (f", n = {count(row['n'])}" if row["n"] else "")


def iterations(row):
    """The iterations of a solve that has converged; otherwise its outcome and relative residual."""
    if row["outcome"] in ("converged", "converged_to_rounding"):
        return row["iterations"]
    residual = row.get("relative_residual")
    return row["outcome"].replace("_", " ") + (f", {float(residual):.0e}" if residual else "")


def milliseconds(row):
    """Set-up and solve in milliseconds."""
    if "setup_ms" in row:
        return f"{number(row['setup_ms'], 2)} + {number(row['solve_ms'])}"
    return f"{number(row['setup_seconds'], 2, 1e3)} + {number(row['solve_seconds'], 3, 1e3)}"


def solved(row):
    """Iterations, and the milliseconds of set-up, if there is one, and solve."""
    if row["outcome"] == "failed":
        return "failed"
    if row["preconditioner"] in ("identity", "jacobi"):
        return f"{iterations(row)}: {number(row['solve_seconds'], 3, 1e3)}"
    return f"{iterations(row)}: {milliseconds(row)}"


def per_entry(row):
    """Entries of M per entry of A."""
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
    """Returns a table function with a line per line_of(row) and a column per column_of(row).
    @param is_complete omit lines without an entry in each column"""
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
    """The number of matrices of each kind that each method solves."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows if row["kind"]))
    n_of = {kind: len({row["matrix"] for row in rows if row["kind"] == kind}) for kind in kinds}

    def n_solved(methods, kind):
        here = [row for row in rows if row["kind"] == kind and row["methods"] == methods]
        return str(sum(row["outcome"].startswith("converged") for row in here)) if here else "–"

    return runs.markdown(["methods"] + [f"{kind}, {n_of[kind]} matrices" for kind in kinds],
                         [[methods, *(n_solved(methods, kind) for kind in kinds)]
                          for methods in dict.fromkeys(row["methods"] for row in rows)])


def energy(rows):
    """Iterations until the residual, or the discretisation error, meets its tolerance."""
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
    """The format that auto chooses next to csr and the fastest format."""
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
    """The number of Jacobi sweeps of a run of sweeps.py."""
    asked = re.search(r"sweeps=(\w+)", row["preconditioner"])
    if asked:
        return f"{asked[1]} sweeps"
    return "automatic" if "triangular=sweeps" in row["preconditioner"] else "exact"


def swept(row):
    """Iterations, and what the sweeps leave of a residual, or how many were chosen."""
    kind = sweeps_of(row)
    note = {"exact": "", "automatic": row["sweeps"] or "exact"}.get(kind, row["left"])
    return iterations(row) + (f" ({note})" if note else "")


def nonlinear(row):
    """Iterations, of Newton's method also the linear ones, and milliseconds of the solve."""
    linear = "" if row["method"] == "nlcg" else f" ({row['linear_iterations']})"
    return f"{row['iterations']}{linear}: {number(row['solve_seconds'], 3, 1e3)}"


def orthogonality(row):
    """Errors of orthogonality and of the factorisation, from the remarks."""
    found = re.search(r"orthogonality error (\S+), factorisation error ([^;,\s]+)", row["remarks"])
    if not found:
        return "–"
    return f"{found[1]}, {found[2]}" + (", safer" if "safer" in row["remarks"] else "")


def equals(**wanted):
    return lambda row: all(row[column] == value for column, value in wanted.items())


def figure(name, cell):
    """A table of papers.py."""
    return crossed(lambda row: row["line"], lambda row: row["column"], cell, equals(figure=name))


def remark(row):
    """The condition of the basis, without the words around it."""
    return row["remarks"].removeprefix("basis condition ").split(";")[0] or "–"


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
    "formats": crossed(
        code("method"), code("system"),
        lambda row: f"{number(row['us_per_iteration'])}, {number(row['fraction_of_copy'], 2, 100)} %",
        equals(solver="pipelined-cg"), "format"),
    "chosen-formats": chosen_formats,
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


def table(name, path):
    """The Markdown of table @p name for a CSV file."""
    if name not in TABLES:
        raise SystemExit(f"There is no table '{name}'. The tables are {', '.join(TABLES)}.")
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    try:
        return TABLES[name](rows)
    except KeyError as error:
        raise SystemExit(f"{path} has no column {error}, which table '{name}' needs.") from error


def origin(folder, name):
    """The title, device, commits and commands that README.md gives for a CSV file."""
    with open(os.path.join(RESULTS, folder, "README.md"), encoding="utf-8") as stream:
        text = stream.read()
    title, first = re.match(r"# (.*)\n\n((?:[^\n].*\n)*)", text).groups()
    device = "" if re.match(r"[|`]|.*\.csv`", first) else re.split(r"\.\s", first)[0].replace("\n", " ")
    header, row = None, None
    for line in re.findall(r"^\|.*", text, re.MULTILINE):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[0] == "file":
            header = cells
        elif header and f"`{name}`" in cells[0]:
            row = dict(zip(header, cells))
            break
    if row is None:
        raise SystemExit(f"{folder}/README.md does not say how {name} was made.")
    commits = [found for part in row.get("commit", "").split(";")
               for found in re.findall(r"\b[0-9a-f]{7}\b", part)[:1]]
    spans = re.findall(r"`([^`]+)`", row.get("made by") or row["command"])
    commands = [span.replace("\\|", "|") for span in spans if COMMAND.match(span)]
    return title, device, commits, commands


def source(folder, name, seen):
    """The paragraph above a table. Device and command are omitted if @p seen on this page."""
    title, device, commits, commands = origin(folder, name)
    link = f"../benchmarks/results/{folder}"
    device = f" {device}." if device and folder not in seen else ""
    commit = "".join(f", `{found}`" for found in commits)
    text = (f"*{title}.*{device}\nData: [{name}]({link}/{name}){commit}; "
            f"[details]({link}/README.md).\n")
    if commands and (folder, name) not in seen:
        text += "\n```\n" + "\n".join(commands) + "\n```\n"
    seen |= {folder, (folder, name)}
    return text


def appendix_pages():
    """File name and text of each page that the outline describes."""
    with open(OUTLINE, encoding="utf-8") as stream:
        outline = stream.read()
    for page, title, body in re.findall(r"^# (\S+): ([^\n]*)\n(.*?)(?=^# |\Z)", outline,
                                        re.MULTILINE | re.DOTALL):
        seen = set()

        def replacement(match, seen=seen):
            name, folder, file = match.groups()
            return f"{source(folder, file, seen)}\n{table(name, os.path.join(RESULTS, folder, file))}"

        text = re.sub(r"^table (\S+) (\S+)/(\S+)\n", replacement, body, flags=re.MULTILINE)
        yield (os.path.join(ROOT, "docs", page),
               f"<!-- Generated by benchmarks/tables.py. -->\n\n# {title}\n{text.rstrip()}\n")


def papers_page():
    """docs/papers.md with its tables filled in."""
    with open(PAPERS, encoding="utf-8") as stream:
        page = stream.read()
    n_markers = len(re.findall(r"^<!-- table ", page, re.MULTILINE))
    if n_markers != len(MARKED.findall(page)) or n_markers != page.count("<!-- end -->"):
        raise SystemExit("docs/papers.md: a table has no line '<!-- end -->', or does not begin with "
                         "'<!-- table NAME PATH.csv -->'.")
    return MARKED.sub(lambda match: f"{match[1]}\n{table(match[2], os.path.join(ROOT, match[3]))}\n"
                      f"{match[5]}", page)


def is_current(path, text):
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as stream:
        return stream.read() == text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    outdated = [(path, text) for path, text in (*appendix_pages(), (PAPERS, papers_page()))
                if not is_current(path, text)]
    for path, text in outdated:
        if options.check:
            print(f"{os.path.relpath(path, ROOT)} is out of date: run benchmarks/tables.py.",
                  file=sys.stderr)
        else:
            with runs.whole_file(path) as stream:
                stream.write(text)
    return int(options.check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
