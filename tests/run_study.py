#!/usr/bin/env python3
"""Runs femgpu with a parameter file and checks the results.

    run_study.py --program build/bin/femgpu parameters/poisson.prm --ranks 2
                 --expect-order L2=2 H1=1 --same-as-ranks 1

Results go to a temporary directory. Without a parameter file, the arguments after `--` are the
whole command line. Prints a line for each failed expectation and then exits with 1.
"""

import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from compare_runs import OF_FLUXES, OF_RESIDUALS, differences

ORDER_BELOW, ORDER_ABOVE = 0.1, 0.35  # permitted deviation of an observed order
# Tolerance for errors and quantities of another method, which stops at a different iterate.
OF_ANOTHER_METHOD = 1e-9
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
# Redirects the file that femgpu will write for "$0" to a full disk, then executes femgpu.
WITH_FULL_DISK = ["sh", "-c", 'ln -s /dev/full "$0.$(uname -n).$$.partial" && exec "$@"']
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts")
CHECK_VTU = os.path.join(SCRIPTS, "check_vtu.py")
COMPARE_VTU = os.path.join(SCRIPTS, "compare_vtu.py")
POINT_VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "point_values.py")


class Run:
    """A finished run of femgpu."""

    def __init__(self, options, ranks, directory, on_stdin, more_set=()):
        command = [options.program] + options.arguments
        if options.file:
            command += ["-" if on_stdin else options.file]
            command += ["--output", options.output or directory]
            command += [word for text in [*options.set, *more_set] for word in ("--set", text)]
            command += [word for text in options.study for word in ("--study", text)]
        self.directory, self.ranks = directory, ranks
        if options.full_disk:
            full = self.path(options.full_disk)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            command = WITH_FULL_DISK + [full] + command
        if ranks > 1:
            command = MPIRUN + ["-n", str(ranks)] + command
        self.command = " ".join(command)
        print(self.command, flush=True)
        text = ""
        if on_stdin:
            with open(options.file, encoding="utf-8") as file:
                text = file.read()
        process = options.start(command, text)
        self.code, self.output, self.errors = process.returncode, process.stdout, process.stderr

    def path(self, name):
        return os.path.join(self.directory, name)

    def summary(self):
        with open(self.path("summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def table(self):
        """Returns convergence.csv without the columns of times."""
        with open(self.path("convergence.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        kept = [i for i, name in enumerate(rows[0]) if not name.endswith("_seconds")]
        return [[row[i] for i in kept] for row in rows]

    def vtu_files(self):
        return sorted(name for name in os.listdir(self.directory)
                      if name.endswith((".vtu", ".vtkhdf")))


def start_process(command, text):
    return subprocess.run(command, capture_output=True, text=True, check=False, input=text)


def named_number(text):
    """Parses `L2=3` as ("L2", 3.0)."""
    name, _, value = text.rpartition("=")
    return name, float(value)


def named_range(text):
    """Parses `max u=1.39±0.01` as ("max u", 1.39, 0.01); accepts +- for ±."""
    name, _, value = text.rpartition("=")
    middle, _, width = value.replace("+-", "±").partition("±")
    return name, float(middle), float(width)


def check_end(run, options):
    if run.code != options.expect_exit:
        yield f"exit code {run.code}, expected {options.expect_exit}"
    for regex in options.expect_message:
        if not re.search(regex, run.errors):
            yield f"standard error has no match for '{regex}'"
    for regex in options.expect_text:
        if not re.search(regex, run.output):
            yield f"standard output has no match for '{regex}'"
    for regex in options.expect_no_text:
        if re.search(regex, run.output):
            yield f"standard output has a match for '{regex}'"


def check_orders(cycles, expected):
    for norm, order in expected:
        if "errors" not in cycles[-1]:
            yield "no errors were computed"
            return
        observed = cycles[-1]["errors"][norm]["order"]
        if observed is None or not -ORDER_BELOW <= observed - order <= ORDER_ABOVE:
            errors = ", ".join(f"{cycle['errors'][norm]['error']:.3e}" for cycle in cycles)
            yield (f"order in {norm} is {observed}, expected {order} "
                   f"(-{ORDER_BELOW}, +{ORDER_ABOVE}); errors {errors}")


def last_cycles(cycles):
    """Returns the cycles with at least an eighth of the dofs of the last one."""
    return [cycle for cycle in cycles if 8 * cycle["dofs"] >= cycles[-1]["dofs"]]


def rate_by_dofs(cycles, norm):
    """Returns the s for which the error falls like dofs^-s, by least squares over the cycles."""
    points = [(math.log(cycle["dofs"]), -math.log(cycle["errors"][norm]["error"]))
              for cycle in cycles]
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    return (sum((x - x_mean) * (y - y_mean) for x, y in points) /
            sum((x - x_mean)**2 for x, _ in points))


def check_transfers(cycles, backend):
    """Checks that transfer time = time hidden by the assembly + time of the phase "transfer"."""
    of_an_entry = 0 if backend == "host" else 12
    for cycle in cycles:
        transfer, waited = cycle["solve"]["transfer"], cycle["seconds"].get("transfer", 0.)
        hidden = transfer["overlapped_seconds"]
        if hidden < 0. or abs(transfer["seconds"] - hidden - waited) > 1e-9:
            yield (f"{transfer['seconds']} s of transfer, {hidden} s of it hidden, but {waited} s "
                   f"in its phase")
        if transfer["bytes"] < of_an_entry * cycle["nonzeros"]:
            yield f"{transfer['bytes']} bytes were moved for {cycle['nonzeros']} entries"


def check_numbers(run, options):
    summary = run.summary()
    cycles = summary["cycles"]
    if options.expect_outcome and summary["outcome"] != options.expect_outcome:
        yield f"outcome {summary['outcome']}, expected {options.expect_outcome}"
    if options.expect_no_warnings and summary["warnings"]:
        yield f"femgpu warns: {summary['warnings']}"
    if options.expect_cycles is not None and len(cycles) != options.expect_cycles:
        yield f"{len(cycles)} cycles, expected {options.expect_cycles}"
    if len(run.table()) != len(cycles) + 1:
        yield f"{len(cycles)} cycles, but {len(run.table()) - 1} lines in convergence.csv"
    yield from check_orders(cycles, options.expect_order)
    if options.expect_stopped_by and summary["stopped_by"] != options.expect_stopped_by:
        yield f"stopped by {summary['stopped_by']}, expected {options.expect_stopped_by}"
    for norm, rate, width in options.expect_rate_by_dofs:
        observed = rate_by_dofs(last_cycles(cycles), norm)
        if not abs(observed - rate) <= width:
            yield f"error in {norm} falls like dofs^-{observed:.3f}, expected -{rate} ± {width}"
    for name, middle, width in options.expect_extrapolated:
        found = {entry["name"]: entry["value"] for entry in summary["extrapolated"]}
        if found.get(name) is None or not abs(found[name] - middle) <= width:
            yield f"{name} extrapolated is {found.get(name)}, expected {middle} ± {width}"
    for column, middle, width in options.expect_estimate:
        value = cycles[-1].get("estimate", {}).get(column)
        if value is None or not abs(value - middle) <= width:
            yield f"{column} of the estimate is {value}, expected {middle} ± {width}"
    for norm, bound in options.expect_error_below:
        error = cycles[-1]["errors"][norm]["error"]
        if not error <= bound:
            yield f"error in {norm} is {error}, expected at most {bound}"
    yield from check_transfers(cycles, summary["backend"]["name"])
    yield from check_file_lines(run, options.expect_file)
    for name, middle, width in options.expect_quantity:
        value = cycles[-1]["quantities"].get(name)
        if value is None:
            yield f"no quantity '{name}'; there is {', '.join(cycles[-1]['quantities']) or 'none'}"
        elif not abs(value - middle) <= width:
            yield f"{name} is {value}, expected {middle} ± {width}"
    for name in options.expect_falling:
        values = [cycle["quantities"].get(name, math.nan) for cycle in cycles]
        if not all(b < a for a, b in zip(values, values[1:])):
            yield f"{name} does not fall from cycle to cycle: {values}"


def check_no_files(run):
    """Checks that the output directory is still empty."""
    left = sorted(os.listdir(run.directory))
    if left:
        yield f"femgpu has written {', '.join(left)}"


def check_lines(run, options):
    """Checks lines of text files in the output directory."""
    for name, regex in options.expect_line:
        if not os.path.exists(run.path(name)):
            yield f"there is no {name}"
            continue
        with open(run.path(name), encoding="utf-8") as file:
            if not any(re.search(regex, line) for line in file):
                yield f"{name} has no line with a match for '{regex}'"


def check_file_lines(run, expected):
    """Checks the files that summary.json names, and their numbers of lines."""
    named = run.summary()["files"]
    for name, n_lines in expected:
        if name not in named:
            yield f"summary.json names no file {name}"
            continue
        with open(run.path(name), encoding="utf-8") as file:
            found = len(file.read().splitlines())
        if found != n_lines:
            yield f"{name} has {found} lines, expected {n_lines:.0f}"


def has_device():
    try:
        process = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return False
    return process.returncode == 0 and "GPU" in process.stdout


def check_files_are_complete(run):
    """Checks that files with final names are complete, however the run ended."""
    names = [name for name in os.listdir(run.directory) if name.endswith((".vtu", ".pvtu", ".pvd"))]
    left = [name for name in os.listdir(run.directory) if name.endswith(".partial")]
    full_disks = [name for name in left if os.path.islink(run.path(name))]
    if len(left) > len(full_disks) or len(full_disks) >= run.ranks:  # a used link is removed
        yield f"partial files are left: {', '.join(left)}"
    if names:
        process = subprocess.run(["/usr/bin/python3", CHECK_VTU] + [run.path(n) for n in names],
                                 capture_output=True, text=True, check=False)
        if process.returncode != 0:
            yield f"half a file is left:\n{process.stderr.strip()}"


def check_ranges(report, expected):
    """Checks the smallest value of arrays in the last file that check_vtu.py reports."""
    last = report.strip().splitlines()[-1]
    for name, middle, width in expected:
        found = re.search(r"(?:^|[ ;,])" + re.escape(name) + r" \[([^,]+), ([^\]]+)\]", last)
        if not found:
            yield f"no array {name} in: {last}"
        elif not abs(float(found[1]) - middle) <= width:
            yield f"smallest {name} is {found[1]}, expected {middle} ± {width}"


def check_points(run, expected):
    """Checks values at nodes of the last file."""
    last = sorted(name for name in os.listdir(run.directory)
                  if name.endswith((".pvtu", ".vtkhdf")))[-1]
    process = subprocess.run(["/usr/bin/python3", POINT_VALUES, run.path(last)] +
                             [name for name, _, _ in expected],
                             capture_output=True, text=True, check=False)
    if process.returncode != 0:
        yield f"point_values.py fails:\n{process.stderr.strip()}"
        return
    for (name, middle, width), value in zip(expected, process.stdout.split(), strict=True):
        if not abs(float(value) - middle) <= width:
            yield f"{name} is {value}, expected {middle} ± {width}"


def check_files(run, options):
    pvd = [name for name in os.listdir(run.directory) if name.endswith((".pvd", ".series"))]
    pvd = [max(pvd)] if pvd and all("_cycle" in name for name in pvd) else pvd  # the last cycle
    if len(pvd) != 1:
        yield f"expected one .pvd or .series in the output directory, found {pvd}"
        return
    with open(run.path(pvd[0]), encoding="utf-8") as file:
        steps = set(re.findall(r'timestep="([^"]*)"|"time": ([^,\s]*)', file.read()))
    if options.expect_steps is not None and len(steps) != options.expect_steps:
        yield f"{len(steps)} time steps in {pvd[0]}, expected {options.expect_steps}"
    command = ["/usr/bin/python3", CHECK_VTU, run.path(pvd[0])]
    if os.path.exists(run.path("summary.json")):
        command += ["--summary", run.path("summary.json")]
    command += [word for name in options.expect_array for word in ("--expect-array", name)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        yield f"check_vtu.py fails:\n{process.stderr.strip()}"
    else:
        yield from check_ranges(process.stdout, options.expect_minimum)
        if options.expect_at:
            yield from check_points(run, options.expect_at)
    left = [name for name in os.listdir(run.directory) if name.endswith(".partial")]
    if left:
        yield f"partial files are left: {', '.join(left)}"


def check_same_numbers(run, other, ranks, options):
    """Checks that both runs have the same numbers up to rounding."""
    for problem in differences(run.directory, other.directory, options.absolute_for_quantities,
                               options.relative_for_residuals):
        yield f"{problem} with {ranks} ranks"


def check_same_fields(run, other, ranks):
    """Checks that VTK finds the same values at the same points in the files of both runs."""
    if not run.vtu_files():
        return
    process = subprocess.run(["/usr/bin/python3", COMPARE_VTU, run.directory, other.directory],
                             capture_output=True, text=True, check=False)
    if process.returncode != 0:
        yield (f"the files for ParaView differ from those with {ranks} ranks:\n"
               f"{process.stdout}{process.stderr.strip()}")


def check_same_solution(run, other):
    """Checks that two methods agree in errors and quantities within their tolerances."""
    ours, others = run.summary()["cycles"], other.summary()["cycles"]
    if len(ours) != len(others):
        yield f"{len(ours)} cycles, but {len(others)} with another method"
        return
    for a, b in zip(ours, others, strict=True):
        pairs = [(f"error in {norm}", a["errors"][norm]["error"], b["errors"][norm]["error"])
                 for norm in a.get("errors", {})]
        pairs += [(name, a["quantities"][name], b["quantities"][name]) for name in a["quantities"]]
        if not pairs:
            yield f"cycle {a['cycle']} has neither errors nor quantities: nothing is compared"
        if a["dofs"] != b["dofs"]:
            yield f"cycle {a['cycle']}: {a['dofs']} dofs, but {b['dofs']} with another method"
        for name, x, y in pairs:
            relative = OF_FLUXES if name.startswith("flux through") else OF_ANOTHER_METHOD
            if not abs(x - y) <= relative * max(1., abs(x)):
                yield (f"cycle {a['cycle']}: {name} is {x!r}, but {y!r} with another method "
                       f"(differs by {abs(x - y):.1e})")


def check_identical(run, again):
    """Checks that both runs have the same bits, except times."""
    lines, others = run.table(), again.table()
    if len(lines) != len(others):
        yield f"convergence.csv has {len(lines)} lines, and {len(others)} in a second run"
        return
    for a, b in zip(lines, others, strict=True):
        if a != b:
            yield f"a second run gives another line of convergence.csv:\n  {a}\n  {b}"
    if run.vtu_files() != again.vtu_files():
        yield f"a second run writes other files: {run.vtu_files()}, {again.vtu_files()}"
    for name in run.vtu_files():
        with open(run.path(name), "rb") as a, open(again.path(name), "rb") as b:
            if a.read() != b.read():
                yield f"a second run writes another {name}"


def check_all(options, directory):
    def start(name, ranks, on_stdin=options.on_stdin, more_set=()):
        path = os.path.join(directory, name)
        os.mkdir(path)
        return Run(options, ranks, path, on_stdin, more_set)

    run = start("run", options.ranks)
    problems = list(check_end(run, options))
    if options.full_disk:
        problems += check_files_are_complete(run)
    if options.expect_no_files:
        problems += check_no_files(run)
    if not problems and os.path.exists(run.path("summary.json")):
        problems += check_numbers(run, options)
    elif not problems and options.needs_summary:
        problems.append("there is no summary.json")
    if not problems:
        problems += check_lines(run, options)
    if not problems and options.check_vtu:
        problems += check_files(run, options)
    if not problems and options.same_as_ranks:
        other = start("other", options.same_as_ranks, on_stdin=False)
        problems += check_end(other, options)
        if not problems:
            problems += check_same_numbers(run, other, options.same_as_ranks, options)
        if not problems and options.check_vtu:
            problems += check_same_fields(run, other, options.same_as_ranks)
    if not problems and options.same_with:
        other = start("method", options.ranks, on_stdin=False, more_set=options.same_with)
        problems += check_end(other, options)
        if not problems:
            problems += check_same_solution(run, other)
    if not problems and options.repeat_identical:
        again = start("again", options.ranks)
        problems += check_end(again, options)
        if not problems:
            problems += check_identical(run, again)
    print(run.output, end="")
    print(run.errors, end="", file=sys.stderr)
    return problems


def parse_command_line(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE.prm", help="parameter file")
    add("--program", required=True, help="femgpu's binary")
    add("--ranks", type=int, default=1, metavar="N", help="run with mpirun -n N (1: without)")
    add("--set", action="append", default=[], metavar="Section/Key=value",
        help="passed on (repeatable)")
    add("--study", action="append", default=[], metavar="Section/Key=value,value",
        help="passed on (repeatable)")
    add("--on-stdin", action="store_true",
        help="the parameter file comes on standard input; not in the run that is compared with")
    add("--output", metavar="DIR", help="the output directory, instead of a temporary one")
    add("--expect-exit", type=int, default=0, metavar="CODE", help="exit code (0)")
    add("--expect-outcome", metavar="NAME", help="outcome of the last cycle, as `converged`")
    add("--expect-no-warnings", action="store_true", help="the summary has no warnings")
    add("--expect-cycles", type=int, metavar="N", help="number of cycles")
    add("--expect-order", nargs="+", type=named_number, default=[], metavar="NORM=ORDER",
        help=f"observed order of the last cycle, -{ORDER_BELOW} +{ORDER_ABOVE}")
    add("--expect-rate-by-dofs", nargs="+", type=named_range, default=[], metavar="NORM=S±WIDTH",
        help="the error falls like dofs^-S over the cycles with an eighth of the last dofs or more")
    add("--expect-stopped-by", metavar="WORD", help="why there is no further cycle")
    add("--expect-extrapolated", action="append", type=named_range, default=[],
        metavar="NAME=VALUE±WIDTH", help="Richardson's value of a quantity or norm (repeatable)")
    add("--expect-estimate", action="append", type=named_range, default=[],
        metavar="NAME=VALUE±WIDTH",
        help="error, relative or effectivity of the last cycle's estimate (repeatable)")
    add("--expect-line", nargs=2, action="append", default=[], metavar=("FILE", "REGEX"),
        help="a line of a file in the output directory has a match (repeatable)")
    add("--expect-error-below", nargs="+", type=named_number, default=[], metavar="NORM=BOUND",
        help="error of the last cycle")
    add("--expect-quantity", action="append", type=named_range, default=[],
        metavar="NAME=VALUE±WIDTH", help="quantity of the last cycle (repeatable)")
    add("--expect-falling", action="append", default=[], metavar="NAME",
        help="quantity that is smaller in each cycle (repeatable)")
    add("--expect-file", action="append", type=named_number, default=[], metavar="NAME=LINES",
        help="summary.json names this file, which has so many lines (repeatable)")
    add("--expect-message", action="append", default=[], metavar="REGEX",
        help="on standard error (repeatable)")
    add("--expect-text", action="append", default=[], metavar="REGEX",
        help="on standard output (repeatable)")
    add("--expect-no-text", action="append", default=[], metavar="REGEX",
        help="not on standard output (repeatable)")
    add("--expect-no-files", action="store_true", help="nothing is written")
    add("--same-as-ranks", type=int, default=0, metavar="N",
        help="a run with N ranks has the same numbers up to rounding")
    add("--relative-for-residuals", type=float, default=OF_RESIDUALS, metavar="WIDTH",
        help="with --same-as-ranks: how far residuals may differ, relative to the right-hand side")
    add("--absolute-for-quantities", type=float, default=0., metavar="WIDTH",
        help="with --same-as-ranks, quantities may differ by this: those that are zero but for the "
        "solver's tolerance")
    add("--same-with", action="append", default=[], metavar="Section/Key=value",
        help="a run with this parameter, too, has the same errors and quantities (repeatable)")
    add("--repeat-identical", action="store_true",
        help="a second run has the same bits in convergence.csv (but times) and .vtu files")
    add("--check-vtu", action="store_true", help="VTK reads the files for ParaView")
    add("--expect-steps", type=int, metavar="N", help="time steps in the .pvd, with --check-vtu")
    add("--expect-array", action="append", default=[], metavar="NAME",
        help="of the files for ParaView (repeatable)")
    add("--expect-minimum", action="append", type=named_range, default=[],
        metavar="NAME=VALUE±WIDTH",
        help="smallest value of an array, over its components, in the last file (repeatable)")
    add("--expect-at", action="append", type=named_range, default=[],
        metavar="ARRAY.COMPONENT@X,Y=VALUE±WIDTH",
        help="an array's value at the nearest node of the last file, or cell_size, the size of the "
        "cell there, with --check-vtu (repeatable)")
    add("--full-disk", metavar="NAME",
        help="no space is left when this file is written; all that are there must be complete")
    add("--skip-with-device", action="store_true", help="ends with 77 where nvidia-smi shows a GPU")
    arguments = []
    if "--" in words:
        at = words.index("--")
        words, arguments = words[:at], words[at + 1:]
    options = parser.parse_args(words)
    options.arguments = arguments
    options.start = start_process
    options.needs_summary = bool(options.expect_order or options.expect_quantity or
                                 options.expect_outcome or options.expect_rate_by_dofs or
                                 options.expect_error_below or options.expect_cycles or
                                 options.expect_falling or options.expect_file or
                                 options.expect_stopped_by or options.expect_no_warnings or
                                 options.expect_extrapolated or options.expect_estimate or
                                 (options.same_as_ranks and not options.study) or options.same_with)
    if not options.file and not arguments:
        parser.error("give FILE.prm, or femgpu's arguments after --")
    return options


def main():
    options = parse_command_line(sys.argv[1:])
    if options.skip_with_device and has_device():
        print("skipped: there is a device")
        return 77
    with tempfile.TemporaryDirectory(prefix="femgpu_study_") as directory:
        problems = check_all(options, directory)
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
