#!/usr/bin/python3
"""Writes report.html to the output directory of a run or a parameter study of femgpu.

    scripts/report.py output/poisson [--no-pictures] [--output FILE.html]

The report is a single file that needs no network. It shows the problem, parameters that differ from
their defaults, mesh and convergence, quantities over time, residuals, times, solver and device,
pictures of the solution, measurements, other files, and how to repeat the run. Prints the name of the file. Exits with 1 for
a directory without femgpu's output. Requires matplotlib and, for pictures, what render.py requires.
"""

import argparse
import datetime
import io
import os
import shlex
import sys

import page
import report_pictures
import results

MOST_COLUMNS = 4  # columns of numbers in a table: cycles, points, or quantities of a study


def embedded(made, alternative, caption=None):
    """Returns one or more matplotlib figures as a piece of the page; nothing for None."""
    import figures
    pieces = []
    for one in figures.pages(made):
        stream = io.BytesIO()
        figures.save(one, stream, "svg")
        pieces.append(page.image(stream.getvalue(), "svg+xml", alternative, caption))
    return "".join(pieces)


def outcome(word):
    is_good = word in results.CONVERGED
    text = str(word).replace("_", " ")
    if not is_good and word != results.UNFINISHED:
        text += " (not converged)"
    return page.Markup(f'<span class="{"good" if is_good else "bad"}">{page.escape(text)}</span>')


def caveats(run):
    """Returns the notes at the top of the page: warnings, and cycles without a solution."""
    lines = [page.escape(text) for text in run.summary.get("warnings", [])]
    if run.is_unfinished:
        lines.append(f"The study is unfinished: it was interrupted or is still running. This page shows "
                     f"its first {'cycle' if len(run.cycles) == 1 else f'{len(run.cycles)} cycles'}.")
    bad = [str(cycle["cycle"]) for cycle in run.cycles if not results.is_converged(cycle)]
    if bad:
        lines.append(f"Cycle {', '.join(bad)} did not converge: its numbers and pictures show the best "
                     f"iterate, which is not a solution.")
    return f'<ul class="bad">{"".join(f"<li>{line}</li>" for line in lines)}</ul>' if lines else ""


def bytes_text(count):
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def top_facts(run):
    summary = run.summary
    last = run.cycles[-1] if run.cycles else {}
    mesh = summary.get("mesh", {})
    pairs = [("Outcome", outcome(summary["outcome"])), ("Element", summary["element"]),
             ("Cycles", len(run.cycles))]
    pairs += [(f"{name} of the last cycle", f"{last[name]:,}".replace(",", "\u2009"))
              for name in ("cells", "dofs") if name in last]
    pairs += [("Largest cell h", last["h"])] if "h" in last else []
    pairs += [(name.replace("_", " ").capitalize(), mesh[name])
              for name in ("boundary_ids", "material_ids") if mesh.get(name)]
    pairs += [("Ranks", summary.get("ranks")),
              ("Solved on", " – ".join(part for part in summary.get("backend", {}).values() if part)),
              ("Time", f"{summary.get('total_seconds', 0):.3g} s")]
    return page.facts(pairs)


def digits(value, form):
    """Formats a number, or returns None for anything else."""
    return page.Number(format(value, form)) if page.is_number(value) else None


def without_empty_columns(header, rows, names):
    """Removes the columns among @p names that are empty in all rows."""
    keep = [i for i, name in enumerate(header) if name not in names or any(row[i] for row in rows)]
    return [header[i] for i in keep], [[row[i] for i in keep] for row in rows]


def solve_table(run):
    header = ["cycle", "cells", "dofs", "h", "outcome", "nonlinear it.", "linear it.", "residual"]
    rows = []
    for cycle in run.cycles:
        solve = cycle["solve"]
        rows.append([cycle["cycle"], cycle.get("cells"), cycle["dofs"], cycle.get("h"),
                     outcome(solve["outcome"]), solve.get("nonlinear_iterations"),
                     solve.get("linear_iterations"), digits(solve.get("true_residual"), ".2e")])
    return page.table("Cycles", *without_empty_columns(header, rows, ["nonlinear it."]))


def error_table(run):
    norms = run.norms()
    has_estimate = any("estimate" in cycle for cycle in run.cycles)
    if not norms and not has_estimate:
        return ""
    header = ["cycle", "dofs"]
    for norm in norms:
        header += [f"{norm} error", "order"]
    header += ["estimated error", "order", "effectivity"] if has_estimate else []
    rows = []
    for cycle in run.cycles:
        row = [cycle["cycle"], cycle["dofs"]]
        for norm in norms:
            entry = cycle.get("errors", {}).get(norm, {})
            row += [digits(entry.get("error"), ".3e"), digits(entry.get("order"), ".2f")]
        if has_estimate:
            entry = cycle.get("estimate", {})
            row += [digits(entry.get("error"), ".3e"), digits(entry.get("order"), ".2f"),
                    digits(entry.get("effectivity"), ".3g")]
        rows.append(row)
    return page.table("Errors, and their orders between consecutive cycles",
                      *without_empty_columns(header, rows, ["effectivity"]))


def quantity_table(run):
    """Returns a table with a line per quantity and the last cycles as columns."""
    names, cycles = run.quantities(), run.cycles[-MOST_COLUMNS:]
    if not names:
        return ""
    header = ["quantity", *(f"cycle {cycle['cycle']}"
                            + ("" if results.is_converged(cycle) else " (not converged)")
                            for cycle in cycles), "last change"]
    rows = []
    for name in names:
        values = [cycle.get("quantities", {}).get(name) for cycle in cycles]
        known = [value for value in values if page.is_number(value)]
        change = known[-1] - known[-2] if len(known) > 1 else None
        rows.append([run.with_unit(name), *(digits(value, ".9g") for value in values), digits(change, ".3g")])
    more = len(run.cycles) > len(cycles)
    return page.table("Quantities" + (" at the end of the analysis" if run.time else "")
                      + (f" of the last {len(cycles)} cycles; convergence.csv has all" if more else ""),
                      *without_empty_columns(header, rows, ["last change"]))


STOPPED = {"target_error": "The study stopped because the error reached Study/Target error.",
           "maximum_dofs": "The study stopped because another cycle would exceed Study/Maximum dofs.",
           "nothing_to_refine": "The study stopped because no cell can be refined further.",
           "not_converged": "The study stopped because the last cycle did not converge."}


def stopped(by):
    """Explains why the study stopped; empty if all requested cycles were made."""
    text = STOPPED.get(by, "" if by == "cycles" else by)
    return f"<p>{page.escape(text)}</p>" if text else ""


def verdicts(run):
    lines = []
    for verdict in run.summary.get("verdicts", []):
        words = "as expected" if verdict.get("holds") else "not as expected"
        if verdict.get("rounding"):
            words = "the error is at the level of rounding"
        kind = "good" if verdict.get("holds") else "bad"
        text = f'order {verdict["observed"]:.2f}, expected {verdict["expected"]:.2f}'
        if verdict.get("by") == "dofs":
            text = (f'error falls like dofs^-{verdict["observed"]:.2f}, '
                    f'expected dofs^-{verdict["expected"]:.2f}')
        lines.append(f'<li>{page.escape(verdict["norm"])}: {text}: '
                     f'<span class="{kind}">{words}</span></li>')
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def split_to_page_width(entries):
    """Splits a list into groups that fit the width of the page."""
    return [entries[i:i + MOST_COLUMNS] for i in range(0, len(entries), MOST_COLUMNS)]


def entries_table(caption, entries):
    """Returns a list of objects as a table with a column for each key."""
    if not entries:
        return ""
    keys = list(dict.fromkeys(key for entry in entries for key in entry))
    rows = [[entry.get(key) if not isinstance(entry.get(key), (list, dict)) else str(entry[key])
             for key in keys] for entry in entries]
    return page.table(caption, [key.replace("_", " ") for key in keys], rows)


def named_entries(value):
    """Returns a list of objects; converts an object of objects to a list with their names."""
    if isinstance(value, dict):
        return [{"name": name, **entry} for name, entry in value.items() if isinstance(entry, dict)]
    return [entry for entry in value or [] if isinstance(entry, dict)]


def add_numbers(made, run):
    import figures
    import time_figures
    made.add("Over time",
             embedded(time_figures.time(run), "Quantities over time; time.csv has the numbers"),
             embedded(time_figures.steps(run), "Length and estimated error of the steps over time; "
                                               "steps.csv has the numbers"))
    made.add("Mesh and convergence",
             stopped(run.summary.get("stopped_by") or ""),
             *([solve_table(run), error_table(run)] if run.cycles else []), verdicts(run),
             embedded(figures.convergence(run), "Errors over the number of dofs on logarithmic axes; the "
                                                "table above has the numbers"),
             quantity_table(run),
             embedded(figures.quantities(run), "Quantities over the number of dofs, and their change "
                                               "between cycles; the table above has the numbers"),
             entries_table("Extrapolated from the last cycles",
                           named_entries(run.summary.get("extrapolated"))))
    continuation = run.summary.get("continuation", {})
    made.add("Branch of solutions",
             embedded(figures.branch(run), "max |u| over lambda along the branch, with its folds"),
             entries_table("Folds", continuation.get("folds")),
             entries_table("Solutions at the target values of lambda", continuation.get("targets")))


def add_solver(made, run):
    import figures
    solve = run.cycles[-1]["solve"] if run.cycles else {}
    names = ["solver", "preconditioner", "format", "scaling", "ordering", "backend", "execution",
             "norm", "restarts", "preconditioner_remarks", "solver_remarks"]
    rows = [(name.replace("_", " "), page.text(solve[name])) for name in names
            if solve.get(name) not in (None, "")]
    messages = "".join(f'<li>cycle {page.escape(cycle["cycle"])}: '
                       f'{page.escape(cycle["solve"].get("message"))}</li>' for cycle in run.cycles
                       if cycle["solve"].get("message"))
    made.add("Solver", page.table("Solver in the last cycle", ["what", "value"], rows) if rows else "",
             entries_table("Levels of multigrid, with their set-up times in seconds",
                           solve.get("preconditioner_levels")),
             embedded(figures.residuals(run), "Norm of the residual over iterations, one curve per cycle"),
             f"<details><summary>How each solve ended</summary><ul>{messages}</ul></details>"
             if messages else "")
    names = figures.phases(run)
    header = ["cycle", *names, "total"]
    rows = [[cycle["cycle"], *(cycle["seconds"].get(name) for name in names),
             cycle["seconds"].get("total")] for cycle in run.cycles]
    rows = [[row[0], *(float(f"{value:.3g}") if value is not None else None for value in row[1:])]
            for row in rows]
    memory = run.summary.get("peak_bytes", {})
    made.add("Time and memory",
             embedded(figures.times(run), "Seconds by phase, one bar per cycle; the table below has the "
                                          "numbers"),
             page.table("Seconds by phase", header, rows) if rows else "",
             f"<p>Largest memory: {bytes_text(memory.get('host', 0))} on the host for all ranks, "
             f"{bytes_text(memory.get('device', 0))} allocated by the solver on the device.</p>"
             if memory else "")


def parse_numbers(rows):
    """Converts texts in a table to numbers where possible, so that they are aligned and rounded."""
    return [[results.number(value) if results.number(value) is not None else value
             for value in row.values()] for row in rows]


def whole(values):
    return [int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15
            else value for value in values]


def last_points(run):
    """Returns the lines of points.csv for the last cycle that has any, and its last time."""
    rows = run.points or []
    return [row for row in rows if all(row.get(key) == rows[-1].get(key) for key in ("cycle", "time"))]


def point_table(rows):
    """Returns a table with a line for each field and columns for a few points."""
    names = [name for name in rows[0] if name not in ("cycle", "time", "point")]
    numbers = [whole(parse_numbers([{name: row[name] for name in names}])[0]) for row in rows]
    time = f" at t = {page.text(results.number(rows[0]['time']))}" if "time" in rows[0] else ""
    return page.table(f"Points in cycle {rows[0]['cycle']}{time}; points.csv has all values",
                      ["field", *(row["point"] for row in rows)],
                      [[name, *(values[i] for values in numbers)] for i, name in enumerate(names)])


def add_measurements(made, run):
    import figures
    pieces = [point_table(rows) for rows in split_to_page_width(last_points(run))]
    for name in run.last_lines():
        rows = results.read_table(run.path(name))
        if rows:
            pieces.append(embedded(figures.along_line(run, rows), f"The fields along {name}", name))
    made.add("Measurements", *pieces)


def parameter_file(run):
    """Returns a parameter file with non-default values; None for old summaries."""
    changed = run.summary.get("changed_parameters")
    if changed is None:
        return None
    lines, sections = [], {}
    for entry in changed:
        section, _, key = entry["name"].rpartition("/")
        value = entry["value"]
        value = str(value).lower() if isinstance(value, bool) else str(value)
        sections.setdefault(section, []).append(f"set {key} = {value}")
    for section, entries in sections.items():
        names = section.split("/") if section else []
        lines += ["  " * i + f"subsection {name}" for i, name in enumerate(names)]
        lines += ["  " * len(names) + entry for entry in entries]
        lines += ["  " * i + "end" for i in reversed(range(len(names)))]
    return "\n".join(lines) + "\n"


def add_repetition(made, run):
    summary = run.summary
    text = parameter_file(run)
    ranks = summary.get("ranks", 1)
    command = (f"mpirun -n {ranks} --bind-to none " if ranks > 1 else "") + "femgpu run.prm"
    output = summary["parameters"].get("Output", {}).get("Directory")
    command += f" --output {shlex.quote(str(output))}" if output else ""
    versions = [(name.replace("_", " "), page.text(value) if value else "none")
                for name, value in summary.get("version", {}).items()]
    made.add("How to repeat the run",
             f"<p>Save this as run.prm (relative paths start at the working directory, then at the "
             f"directory of run.prm), and run:</p><pre>{page.escape(text)}</pre>"
             f"<pre>{page.escape(command)}</pre>"
             if text else f"<pre>{page.escape(command)}</pre>",
             page.table("Versions", ["what", "version"], versions) if versions else "")


def add_files(made, directory):
    names = sorted(name for name in os.listdir(directory)
                   if os.path.isfile(os.path.join(directory, name))
                   and not name.endswith((".partial", ".html")))
    pieces = [name for name in names if name.endswith((".vtu", ".pvtu"))]
    rows = [(page.link(name), bytes_text(os.path.getsize(os.path.join(directory, name))))
            for name in names if name not in pieces]
    size = sum(os.path.getsize(os.path.join(directory, name)) for name in pieces)
    made.add("Files", page.table("Files next to this page", ["file", "size"], rows),
             f"<p>Also {len(pieces)} .vtu and .pvtu files for ParaView, {bytes_text(size)}, which the "
             f".pvd lists.</p>" if pieces else "")


def changed_table(changed):
    if changed is None:
        return '<p class="soft">summary.json does not list the changed parameters.</p>'
    rows = [(entry["name"], page.text(entry["value"]), page.text(entry["default"]))
            for entry in changed]
    return page.table("Parameters that differ from their defaults", ["parameter", "value", "default"], rows)


def date_of(path):
    time = datetime.datetime.fromtimestamp(os.path.getmtime(path), datetime.timezone.utc)
    return time.strftime("%Y-%m-%d %H:%M UTC")


def run_page(directory, with_pictures):
    run = results.Run(directory)
    summary = run.summary
    made = page.Page(f"{summary['physics']} in {summary['dimension']}D",
                     f"{os.path.basename(os.path.abspath(directory))}, {date_of(run.path('summary.json'))}")
    made.head += [top_facts(run), caveats(run)]
    made.add("Pictures", report_pictures.pictures(run) if with_pictures else "")
    made.add("Parameters", changed_table(summary.get("changed_parameters")))
    add_numbers(made, run)
    add_measurements(made, run)
    add_solver(made, run)
    add_files(made, directory)
    add_repetition(made, run)
    return made


OF_A_SOLVE = ("cycle", "cells", "dofs", "h", "outcome", "nonlinear_iterations", "linear_iterations",
              "true_residual", "total_seconds")


def study_row(study, line, columns):
    """Returns the fields of a line of study.csv as displayed."""
    def shown(name):
        if name == "outcome":
            return outcome(line[name])
        return line[name] if name in study.parameters else whole(parse_numbers([{name: line[name]}])[0])[0]
    return [shown(name) for name in columns]


def study_tables(study):
    """Returns the cost and the results of each combination, in tables that fit the page."""
    directory, last_rows = study.directory, study.last_rows()
    has_files = bool(last_rows[0].get("directory"))
    columns = study.parameters + [name for name in OF_A_SOLVE if name in study.columns
                                  and any(row[name] not in ("", "0") for row in last_rows)]
    rows = [study_row(study, line, columns) for line in last_rows]
    for row, line in zip(rows, last_rows if has_files else []):
        inner = os.path.join(line["directory"], "report.html")
        target = inner if os.path.exists(os.path.join(directory, inner)) else line["directory"] + "/"
        row.append(page.link(target, "report" if target == inner else "files"))
    header = [study.short_names().get(name, name.replace("_", " ")) for name in columns]
    tables = [page.table("study.csv has all cycles", header + ["files"] * has_files, rows)]
    found = study.quantities() + [name for name in study.columns if name not in study.parameters
                                  and name.endswith(("_error", "_norm", "effectivity"))
                                  and study.has_numbers(name)]
    for names in split_to_page_width(found):
        columns = study.parameters + ["outcome"] + names
        tables.append(page.table("Quantities, errors and norms",
                                 [study.short_names().get(name, name) for name in columns],
                                 [study_row(study, line, columns) for line in last_rows]))
    return tables


def study_page(directory):
    import study_figures
    study = results.ParameterStudy(directory)
    last_rows = study.last_rows()
    converged = sum(row["outcome"] in results.CONVERGED for row in last_rows)
    made = page.Page(f"Study over {study.title()}",
                     f"{os.path.basename(os.path.abspath(directory))}, "
                     f"{date_of(os.path.join(directory, 'study.csv'))}")
    total = f"{len(last_rows)} of {len(last_rows) + study.n_remaining}" if study.n_remaining else len(last_rows)
    made.head.append(page.facts([("Combinations", total), ("Converged", converged),
                                 ("Studied", ", ".join(study.parameters))]))
    made.add("Comparison", embedded(study_figures.comparison(study), "Time, iterations and errors of the "
                                    "combinations; the table below has the numbers"),
             embedded(study_figures.quantities(study), "Quantities of the combinations; the table below "
                                                       "has the numbers"))
    made.add("Last cycle of each combination", *study_tables(study))
    add_files(made, directory)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="output directory of a run or study")
    parser.add_argument("--no-pictures", action="store_true", help="no pictures of the solution")
    parser.add_argument("--output", metavar="FILE.html", help="name of the page (default: DIR/report.html)")
    options = parser.parse_args()
    target = options.output or os.path.join(options.directory, "report.html")
    try:
        if results.is_study(options.directory):
            made = study_page(options.directory)
        else:
            made = run_page(options.directory, not options.no_pictures)
        made.write(target)
    except (results.BadResult, OSError) as error:
        sys.exit(f"report.py: {error}")
    print(target)


if __name__ == "__main__":
    main()
