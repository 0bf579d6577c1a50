#!/usr/bin/python3
"""Times iterations of femgpu and other libraries by femgpu_speed, and writes a table and plots.

    benchmarks/speed.py --program build/bin/femgpu_speed --output results      # a GPU, < 8 minutes
    benchmarks/speed.py --program build/bin/femgpu_speed --output results -- --quick
    benchmarks/speed.py --references build/bin --output results                # peers on the CPU
    benchmarks/speed.py --csv results/speed.csv results/cg_*.csv --output results

These options can be combined. Writes speed.csv, a cg_*.csv for each reference program that has been
built (cg_dealii, cg_petsc, cg_trilinos), speed.md and, with matplotlib, speed_time.png and
speed_roofline.png. Arguments after -- are passed to every program; see femgpu_speed --help. GMRES
is measured on request: -- --solvers cg,bicgstab,gmres.

speed_bars.csv contains the target times for one H100, and the times of the best peer and of
unmodified ViennaCL when the targets were set. Exits with 1 if a program failed or a solution was
wrong.
"""

import csv
import os
import subprocess
import sys

from runs import markdown, number, parser_of, pyplot, atomic_file

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = {"p2d": "P1 Poisson 2D", "e3d": "P1 elasticity 3D", "fd3": "7-point Poisson 3D",
            "q1": "27-point Poisson 3D"}
MOST_MILLISECONDS_30 = {("p2d", 225): 0.05}  # a whole solve of 30 iterations
MOST_BICGSTAB = 2.2                          # relative to CG on the same system
LARGEST_ON_CPU = 1100000
NEEDED = {"device", "git_revision", "system", "n", "program", "variant", "solver", "n_solves",
          "us_per_iteration", "ms_for_30_iterations", "floor_us", "copy_gb_per_s",
          "fraction_of_copy", "bit_identical", "verdict"}
NUMBERS = ["us_per_iteration", "ms_for_30_iterations", "floor_us", "copy_gb_per_s",
           "fraction_of_copy"]


# Measuring

def measure(options):
    """Runs the requested programs. Returns the tables written and whether all runs succeeded."""
    tables, good = [], True
    if options.program:
        tables.append(os.path.join(options.output, "speed.csv"))
        good = run([options.program, "--csv", tables[-1], *options.arguments])
    for name in ("cg_dealii", "cg_petsc", "cg_trilinos") if options.references else ():
        program = os.path.join(options.references, name)
        if not os.access(program, os.X_OK):
            print(f"no {program}: left out", file=sys.stderr)
            continue
        tables.append(os.path.join(options.output, name + ".csv"))
        arguments = ["--csv", tables[-1], *options.arguments]
        if not {"--largest", "--quick"} & set(options.arguments):
            arguments += ["--largest", str(LARGEST_ON_CPU)]
        launcher, environment = [], dict(os.environ)
        if name != "cg_dealii":  # deal.II uses threads instead of ranks
            launcher = [*options.mpirun.split(), "-n", str(options.ranks)]
            environment["OMP_NUM_THREADS"] = "1"
        good = run([*launcher, program, *arguments], environment) and good
    return tables, good


def run(command, environment=None):
    print(" ".join(command), flush=True)
    status = subprocess.run(command, env=environment, check=False).returncode
    if status not in (0, 3):  # 3: some results are invalid; the table marks them
        raise SystemExit(f"speed.py: {command[0]} ended with {status}")
    return status == 0


# Reading

def read_table(path):
    """Returns the rows of a table. Converts numeric cells to numbers, and empty ones to None."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or not NEEDED <= set(rows[0]):
        raise SystemExit(f"speed.py: {path} is not a table of femgpu_speed or is empty; it needs "
                         f"the columns {', '.join(sorted(NEEDED))}")
    for row in rows:
        row["n"], row["n_solves"] = int(row["n"]), int(row["n_solves"])
        for name in NUMBERS:
            row[name] = float(row[name]) if row[name] else None
    return rows


def read_bars():
    with open(os.path.join(HERE, "speed_bars.csv"), encoding="utf-8", newline="") as file:
        return {(row["system"], int(row["n"])):
                {name: float(row[name]) if row[name] else None
                 for name in ("best_peer_us", "viennacl_us", "bar_us")}
                for row in csv.DictReader(file)}


def is_femgpu(row):
    """Returns whether @p row is a row of femgpu with automatic format and execution."""
    return row["program"] == "femgpu" and row["variant"] == "auto"


def is_variant(row):
    return row["program"] == "femgpu" and row["variant"] != "auto"


def is_viennacl(row):
    return row["program"].startswith("ViennaCL")


def is_other(row):
    return row["program"] != "femgpu"


def any_row(_row):
    return True


def method_of(row):
    return next((name for name in ("bicgstab", "gmres") if name in row["solver"]), "cg")


class Results:
    """The rows of one or more tables, without rows that are marked as invalid."""

    def __init__(self, tables):
        self.rows = [row for table in tables for row in read_table(table)]
        self.devices = list(dict.fromkeys((row["device"], row["git_revision"],
                                           row["copy_gb_per_s"]) for row in self.rows))
        order = list(FAMILIES)
        self.systems = sorted({(row["system"], row["n"]) for row in self.rows},
                              key=lambda system: (order.index(system[0]), system[1]))
        self.bad = [row for row in self.rows if row["verdict"] != "ok"]
        self.main_device = next((row for row in self.rows if not is_other(row)), self.rows[0])["device"]

    def has(self, method):
        return any(method_of(row) == method for row in self.rows)

    def best(self, system, program, method="cg", column="us_per_iteration", device=None):
        """Returns the row with the least @p column among the selected programs, or None. Without
        @p device, considers the device of femgpu only."""
        device = device or self.main_device
        return min((row for row in self.rows
                    if (row["system"], row["n"]) == system and program(row)
                    and row["verdict"] == "ok" and row["device"] == device
                    and method_of(row) == method),
                   key=lambda row: row[column], default=None)


# Markdown

def plain(value):
    """Formats a value without rounding; – for None."""
    return "–" if value is None else f"{value:,.10g}"


def field(row, column="us_per_iteration"):
    return number(row[column]) if row else "–"


def program_label(row):
    return f"{row['program']}, {row['variant']}" if row else ""


def met(value, bar):
    """Returns `met` or `missed` and the ratio of @p value to its target @p bar; – without them."""
    if value is None or bar is None:
        return "–"
    return f"{'met' if value <= bar else 'missed'}, {value / bar:.2f}"


def conjugate_gradients(results, bars):
    """Returns a line for each system: femgpu, its target, and the best peer in the same run."""
    lines = []
    for system in results.systems:
        bar = bars.get(system, {})
        ours, peer = results.best(system, is_femgpu), results.best(system, is_other)
        viennacl = results.best(system, is_viennacl)
        anyone = ours or peer
        speedup = number(peer["us_per_iteration"] / ours["us_per_iteration"]) \
            if ours and peer else "–"
        lines.append([system[0], f"{system[1]:,}", field(anyone, "floor_us"), field(ours),
                      plain(bar.get("bar_us")),
                      met(ours and ours["us_per_iteration"], bar.get("bar_us")),
                      f"{100. * ours['fraction_of_copy']:.0f} %" if ours else "–", field(peer),
                      program_label(peer), speedup, field(viennacl), plain(bar.get("best_peer_us")),
                      plain(bar.get("viennacl_us"))])
    return markdown(["system", "n", "floor", "femgpu", "bar", "femgpu/bar", "of copy", "best peer",
                     "which", "times faster", "ViennaCL", "best peer before", "ViennaCL before"],
                    lines)


def whole_solves(results):
    """Returns a table with the milliseconds of a solve of 30 iterations for the smallest systems."""
    lines = []
    for system in results.systems:
        ours = results.best(system, is_femgpu, column="ms_for_30_iterations")
        peer = results.best(system, is_other, column="ms_for_30_iterations")
        bar = MOST_MILLISECONDS_30.get(system)
        if bar is None and system[1] > 20000:
            continue
        lines.append([system[0], f"{system[1]:,}", field(ours, "ms_for_30_iterations"),
                      plain(bar), met(ours and ours["ms_for_30_iterations"], bar),
                      field(peer, "ms_for_30_iterations"), program_label(peer)])
    return markdown(["system", "n", "femgpu", "bar", "femgpu/bar", "best peer", "which"], lines)


def bicgstab(results):
    """Compares pipelined BiCGStab with conjugate gradients for equal numbers of iterations."""
    lines = []
    for system in results.systems:
        ours = results.best(system, is_femgpu, "bicgstab")
        ours_cg = results.best(system, is_femgpu)
        peer = results.best(system, is_other, "bicgstab")
        if not ours:
            continue
        ratio = ours["us_per_iteration"] / ours_cg["us_per_iteration"] if ours_cg else None
        lines.append([system[0], f"{system[1]:,}", field(ours), number(ratio),
                      met(ratio, MOST_BICGSTAB), field(peer), program_label(peer)])
    return markdown(["system", "n", "femgpu", "times CG", f"bar {MOST_BICGSTAB}", "best peer",
                     "which"], lines) if lines else ""


def gmres(results):
    """Compares pipelined GMRES(30) without a preconditioner with ViennaCL's."""
    lines = []
    for system in results.systems:
        ours = results.best(system, is_femgpu, "gmres")
        peer = results.best(system, is_other, "gmres")
        if not (ours or peer):
            continue
        speedup = number(peer["us_per_iteration"] / ours["us_per_iteration"]) \
            if ours and peer else "–"
        lines.append([system[0], f"{system[1]:,}", field(ours or peer, "floor_us"), field(ours),
                      f"{100. * ours['fraction_of_copy']:.0f} %" if ours else "–", field(peer),
                      program_label(peer), speedup, field(ours, "ms_for_30_iterations"),
                      field(peer, "ms_for_30_iterations")])
    return markdown(["system", "n", "floor", "femgpu", "of copy", "best peer", "which",
                     "times faster", "ms for 30, femgpu", "ms for 30, peer"], lines) if lines else ""


def variants(results):
    """Compares requested formats and executions with femgpu's automatic choices."""
    lines = []
    for row in filter(is_variant, results.rows):
        if row["verdict"] != "ok":
            continue
        auto = results.best((row["system"], row["n"]), is_femgpu, method_of(row))
        ratio = row["us_per_iteration"] / auto["us_per_iteration"] if auto else None
        lines.append([row["system"], f"{row['n']:,}", row["solver"], row["variant"], field(row),
                      number(ratio), f"{100. * row['fraction_of_copy']:.0f} %"])
    return markdown(["system", "n", "solver", "variant", "femgpu", "times auto", "of copy"], lines,
                    n_words=4) if lines else ""


def other_devices(results):
    """Returns a table with microseconds per iteration: a column for each device except the first."""
    others = [device for device, _, _ in results.devices if device != results.main_device]
    lines = []
    for system in results.systems:
        rows = [results.best(system, any_row, device=device) for device in others]
        if any(rows):
            lines.append([system[0], f"{system[1]:,}"] + [field(row) for row in rows])
    return markdown(["system", "n"] + others, lines) if lines else ""


def remarks(results):
    """Returns notes on rows that are invalid or whose repeated solves differ."""
    lines = [f"- {row['system']}, n = {row['n']:,}: {program_label(row)}, {row['solver']}: "
             f"{row['verdict']}\n" for row in results.bad]
    varying = sorted({program_label(row) for row in results.rows if row["bit_identical"] == "no"})
    if varying:
        lines.append(f"- Solves that were repeated did not give the same bits: {'; '.join(varying)}."
                     "\n")
    ours = [row for row in results.rows if not is_other(row) and row["verdict"] == "ok"]
    if ours and all(row["bit_identical"] == "yes" for row in ours):
        lines.append(f"- All {len(ours)} kinds of solves of femgpu gave the same bits each time.\n")
    solves = sorted({row["n_solves"] for row in results.rows if row["verdict"] == "ok"})
    if solves:
        lines.append(f"- Medians of {' or '.join(map(str, solves))} solves.\n")
    return "".join(lines)


def page(results, bars):
    origin = "".join(f"- {device}, femgpu `{revision}`, copy {number(copy, 4)} GB/s read and "
                     "written\n" for device, revision, copy in results.devices)
    parts = ["# Time an iteration\n\n"
             "Microseconds an iteration in double precision: whole solves called from the host, "
             "divided by their iterations. *floor*: the bytes an iteration cannot do without, at "
             "the speed of a plain copy in the same run; matrices below about 50 MB stay in the L2 "
             "cache, and are faster. *before*: figures of an H100 from when the bars were set.\n\n",
             origin]
    if results.has("cg"):
        parts += ["\n## Conjugate gradients with Jacobi\n\n", conjugate_gradients(results, bars),
                  "\n## Whole solves of 30 iterations, milliseconds\n\n", whole_solves(results)]
    for heading, table in (("Pipelined BiCGStab", bicgstab(results)),
                           ("Pipelined GMRES(30) without a preconditioner", gmres(results)),
                           ("Requested formats and ways to run", variants(results)),
                           ("Conjugate gradients elsewhere", other_devices(results))):
        if table:
            parts += [f"\n## {heading}\n\n", table]
    return "".join(parts) + "\n## Remarks\n\n" + remarks(results)


# Plots

def series(results, family, program, column, device=None):
    """Returns two lists for a family of systems: n, and @p column of the best row for this n."""
    points = [(system[1], results.best(system, program, device=device))
              for system in results.systems if system[0] == family]
    points = [(n, row[column]) for n, row in points if row]
    return [n for n, _ in points], [value for _, value in points]


def programs_of(results):
    """Returns (label, test, device) of every curve."""
    curves = [("femgpu", is_femgpu, None)]
    names = dict.fromkeys(row["program"] for row in results.rows
                          if is_other(row) and row["device"] == results.main_device)
    curves += [(name, lambda row, name=name: row["program"] == name, None) for name in names]
    return curves + [(device, any_row, device) for device, _, _ in results.devices
                     if device != results.main_device]


def draw(results, bars, pyplot, column, name, output):
    families = [family for family in FAMILIES if any(family == system[0]
                                                     for system in results.systems)]
    figure, panels = pyplot.subplots(1, len(families), figsize=(1 + 4 * len(families), 4.4),
                                     squeeze=False, sharey=True)
    for family, axes in zip(families, panels[0]):
        for label, program, device in programs_of(results):
            if column == "fraction_of_copy" and device:
                continue
            n, values = series(results, family, program, column, device)
            axes.plot(n, values, marker="o", markersize=4, label=label,
                      linewidth=2.2 if label == "femgpu" else 1.2)
        axes.set_title(FAMILIES[family])
        axes.set_xscale("log")
        axes.set_xlabel("unknowns")
        axes.grid(True, linewidth=0.4)
        if column == "us_per_iteration":
            n, values = series(results, family, any_row, "floor_us")
            axes.plot(n, values, "k:", linewidth=1, label="bytes at the speed of a copy")
            n = [system[1] for system in results.systems if system in bars and system[0] == family]
            axes.plot(n, [bars[family, m]["bar_us"] for m in n], "k_", markersize=12, label="bar")
            axes.set_yscale("log")
        else:
            axes.axhline(1., color="k", linestyle=":", linewidth=1)
            axes.set_ylim(0., 1.6)
    panels[0][0].set_ylabel("microseconds an iteration" if column == "us_per_iteration"
                            else "floor / time (above 1: in the L2 cache)")
    panels[0][0].legend(fontsize="small")
    figure.suptitle(results.main_device)
    figure.tight_layout()
    figure.savefig(os.path.join(output, name), dpi=130, metadata={"Software": None})
    pyplot.close(figure)


def draw_all(results, bars, output):
    plots = pyplot()
    if plots:
        draw(results, bars, plots, "us_per_iteration", "speed_time.png", output)
        draw(results, bars, plots, "fraction_of_copy", "speed_roofline.png", output)


def parse_command_line():
    parser = parser_of(__doc__, csv_required=None)
    add = parser.add_argument
    add("--program", metavar="FILE", help="run this femgpu_speed")
    add("--references", metavar="DIR", help="run cg_dealii, cg_petsc and cg_trilinos of DIR")
    add("--csv", nargs="+", default=[], metavar="FILE", help="read these existing tables")
    add("--output", required=True, metavar="DIR", help="directory of all written files")
    add("--mpirun", default="mpirun", help="command with options (%(default)s)")
    add("--ranks", type=int, default=len(os.sched_getaffinity(0)), help="MPI ranks (%(default)s)")
    add("arguments", nargs="*", metavar="-- OPTION", help="options of the programs")
    options = parser.parse_args()
    if not (options.program or options.references or options.csv):
        parser.error("nothing to do: give --program, --references or --csv")
    return options


def main():
    options = parse_command_line()
    os.makedirs(options.output, exist_ok=True)
    tables, good = measure(options)
    results, bars = Results(tables + options.csv), read_bars()
    path = os.path.join(options.output, "speed.md")
    with atomic_file(path) as file:
        file.write(page(results, bars))
    if results.has("cg"):
        draw_all(results, bars, options.output)
    print(path)
    return 0 if good and not results.bad else 1


if __name__ == "__main__":
    sys.exit(main())
