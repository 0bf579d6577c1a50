#!/usr/bin/env python3
"""Kills runs of femgpu, continues them from their checkpoints, and compares the results.

    restart_test.py --program build/bin/femgpu FILE.prm --set 'Output/Checkpoint every=5 steps' --kill 2
    restart_test.py --program build/bin/femgpu FILE.prm --random 20
    restart_test.py --program build/bin/femgpu FILE.prm --kill 1 --ranks 1 --continue-ranks 3 --tolerance 1e-6

Runs FILE.prm once without interruption. Then, for each number K of --kill, runs it again, kills all
ranks by SIGKILL when checkpoint K is complete, and continues. With --random N, kills and continues
one run N times at random moments, until it ends. All files must equal those of the first run, bit
for bit apart from times; with --tolerance, quantities and errors must agree. Prints a line for each
failed expectation and then exits with 1.
"""
import argparse
import csv
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import time

FAILURES = []


def expect(condition, text):
    if not condition:
        FAILURES.append(text)
        print("FAILED:", text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("file")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--continue-ranks", type=int, default=0, help="default: --ranks")
    parser.add_argument("--kill", type=int, nargs="*", default=[], metavar="K")
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=0.)
    parser.add_argument("--changes", action="store_true", help="continue with other parameters")
    parser.add_argument("--damage", default="", metavar="FILE",
                        help="change this file of the last checkpoint before continuing")
    return parser.parse_args()


def command(options, directory, ranks, *more):
    words = [options.program, options.file, "--output", directory, *more]
    words += [word for text in options.set for word in ("--set", text)]
    if ranks > 1:
        words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n",
                 str(ranks)] + words
    return words


def kill_all(process, directory):
    subprocess.run(["pkill", "-KILL", "-f", "--", directory], check=False)
    process.wait()


def checkpoints(directory):
    """Returns the numbers of the complete checkpoints, in ascending order."""
    found = glob.glob(os.path.join(directory, "checkpoint_*", "state"))
    return sorted(int(os.path.dirname(name).rsplit("_", 1)[1]) for name in found)


def run_until(options, directory, more, condition):
    """Starts a run and kills it as soon as condition() is true. Returns whether it was killed."""
    ranks = options.ranks if not more or not options.continue_ranks else options.continue_ranks
    with open(directory + ".log", "a", encoding="utf-8") as log:
        process = subprocess.Popen(command(options, directory, ranks, *more), stdout=log, stderr=log)
        while process.poll() is None:
            if condition():
                kill_all(process, directory)
                return True
            time.sleep(0.002)
    if process.returncode != 0:
        with open(directory + ".log", encoding="utf-8") as log:
            print(log.read()[-2000:])
        sys.exit(f"{' '.join(process.args)} ended with {process.returncode}")
    return False


def damage(options, directory):
    name = os.path.join(directory, f"checkpoint_{checkpoints(directory)[-1]}", options.damage)
    with open(name, "r+b") as file:
        file.seek(os.path.getsize(name) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))


def table(name):
    """Returns the rows of a CSV file without costs of execution."""
    with open(name, encoding="utf-8", newline="") as file:
        return [{key: value for key, value in row.items() if "seconds" not in key and "bytes" not in key}
                for row in csv.DictReader(file)]


def compare_files(first, second, what):
    names = {os.path.relpath(name, first) for name in glob.glob(os.path.join(first, "*.*"))}
    others = {os.path.relpath(name, second) for name in glob.glob(os.path.join(second, "*.*"))}
    expect(names == others, f"{what}: files {sorted(names ^ others)}")
    for name in sorted(names & others):
        paths = os.path.join(first, name), os.path.join(second, name)
        if name.endswith(".csv"):
            expect(table(paths[0]) == table(paths[1]), f"{what}: {name} differs")
        elif name.endswith((".vtu", ".pvtu", ".pvd", ".vtkhdf", ".series")):
            contents = []
            for path in paths:
                with open(path, "rb") as file:
                    contents.append(file.read())
            expect(contents[0] == contents[1], f"{what}: {name} differs")


def numbers_of(directory):
    """Returns the reported numbers of all cycles by name."""
    with open(os.path.join(directory, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    numbers = {"cycles": len(summary["cycles"])}
    for k, cycle in enumerate(summary["cycles"]):
        numbers[f"dofs of cycle {k}"] = cycle["dofs"]
        for name, quantity in cycle["quantities"].items():
            if "defect" not in name:
                numbers[f"{name} in cycle {k}"] = quantity
        if "errors" in cycle:
            numbers[f"L2 error of cycle {k}"] = cycle["errors"]["L2"]["error"]
    return numbers


def compare_numbers(options, first, second, what):
    one, two = numbers_of(first), numbers_of(second)
    expect(one.keys() == two.keys(), f"{what}: {sorted(one.keys() ^ two.keys())}")
    size = max(abs(value) for value in one.values())
    for name in one.keys() & two.keys():
        expect(abs(one[name] - two[name]) <= options.tolerance * max(abs(one[name]), 1e-3 * size),
               f"{what}: {name} is {two[name]}, not {one[name]}")


def compare(options, first, second, what):
    if options.tolerance > 0.:
        compare_numbers(options, first, second, what)
    else:
        compare_files(first, second, what)


def check_changes(options, first):
    """Continues with other parameters: more time is possible, another mesh is an error."""
    for more, code, text in (
            (["--set", "Mesh/Initial refinements=1"], 1, "was '"),
            (["--set", "Output/Directory=" + first + "_that_does_not_exist"], 2,
             "There is no checkpoint in"),
            (["--set", "Output/Checkpoint every=3 miles"], 1, "is neither none nor a number of"),
            (["--validate"], 1, "--continue goes on with one run"),
            (["--set", "Output/Name=other"], 1, "Output/Name is 'other'"),
            (["--set", "Time/End time=0.1", "--set", "Time/Output times=all"], 1,
             "after Time/End time"),
            (["--set", "Time/End time=1.1"], 0, "Changed since the checkpoint: Time/End time is '1.1'")):
        run = subprocess.run(command(options, first, 1, "--continue") + more, capture_output=True,
                             text=True, check=False)
        expect(run.returncode == code, f"{more}: exit code {run.returncode}: {run.stderr}")
        expect(text in run.stdout + run.stderr, f"{more}: {run.stdout}{run.stderr}")


def main():
    options = arguments()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="restart") as directory:
        first = os.path.join(directory, "first_of_all")
        begin = time.monotonic()
        run_until(options, first, [], lambda: False)
        seconds = time.monotonic() - begin
        if options.changes:
            check_changes(options, first)
        for k in options.kill:
            again = os.path.join(directory, f"killed_after_{k}_of_all")
            was_killed = run_until(options, again, [],
                                   lambda: (checkpoints(again) or [0])[-1] >= k)
            expect(was_killed, f"the run ended before checkpoint {k}")
            if options.damage:
                damage(options, again)
            run_until(options, again, ["--continue"], lambda: False)
            compare(options, first, again, f"killed after checkpoint {k}")
        again = os.path.join(directory, "killed_at_random_of_all")
        n_continued = 0
        for _ in range(options.random):
            more = ["--continue"] if checkpoints(again) else []
            end = time.monotonic() + moments.uniform(0., seconds)
            n_continued += len(more)
            if not run_until(options, again, more, lambda: time.monotonic() > end):
                break
        if options.random:
            more = ["--continue"] if checkpoints(again) else []
            run_until(options, again, more, lambda: False)
            print(f"continued {n_continued} times")
            compare(options, first, again, "killed at random moments")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
