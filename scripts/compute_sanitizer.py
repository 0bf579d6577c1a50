#!/usr/bin/env python3
"""Runs tests of linalg under compute-sanitizer on a machine with a GPU, several at a time.

usage: scripts/compute_sanitizer.py [--tool memcheck] [--filter PATTERNS] [--jobs N] [--csv FILE]
                                    [--program build/bin/femgpu_linalg_tests]

Each test has its own process. The host drives the loops (FEMGPU_CUDA_LOOPS=stepwise), because
compute-sanitizer does not track the memory of kernels in the body of a conditional graph node. The
CSV file has a row for each test case. Exits with 1 if a test fails or times out, or if the tool
reports an error.
"""
import argparse
import collections
import concurrent.futures
import csv
import os
import re
import shutil
import subprocess
import sys
import time

USE_A_GPU = "*cuda*:*Cuda*:*Resident*:*OnDevice*:*onDevice*"
SUMMARY = {  # tool: pattern of its last line, which has the number of errors
    "memcheck": r"ERROR SUMMARY: (\d+) error",
    "initcheck": r"ERROR SUMMARY: (\d+) error",
    "synccheck": r"ERROR SUMMARY: (\d+) error",
    "racecheck": r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) error",
}
NO_CUDA = "terminated before first instrumented API call"
MOST_SHOWN = 4000  # largest number of characters shown of a test's output
COLUMNS = ["tool", "test_case", "tests", "skipped", "failed", "errors", "seconds"]

Outcome = collections.namedtuple("Outcome", "test skipped failed errors seconds output")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", default="build/bin/femgpu_linalg_tests")
    parser.add_argument("--sanitizer", default="compute-sanitizer", help="path of compute-sanitizer")
    parser.add_argument("--tool", choices=SUMMARY, default="memcheck")
    parser.add_argument("--filter", default=USE_A_GPU, help="patterns of tests, as for --gtest_filter")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time")
    parser.add_argument("--timeout", type=float, default=900, help="time limit of a test in seconds")
    parser.add_argument("--csv", help="write the table to this file")
    return parser.parse_args()


def tests_of(program, patterns):
    listing = subprocess.run([program, "--gtest_list_tests", "--gtest_filter=" + patterns],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
    tests = []
    for line in listing.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            tests.append(case + name.strip())
        elif name.endswith("."):
            case = name
    return tests


def text_of(output):
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def run(options, test):
    tool = [options.sanitizer, "--tool", options.tool]
    if options.tool == "memcheck":
        tool += ["--report-api-errors", "no"]  # some tests request more memory than exists
    command = tool + [options.program, "--gtest_filter=" + test]
    environment = dict(os.environ, FEMGPU_CUDA_LOOPS="stepwise")
    begin = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment, timeout=options.timeout, check=False)
        output, finished = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as late:
        output, finished = text_of(late.output) + f"\nended after {options.timeout:g} s", False
    summary = re.search(SUMMARY[options.tool], output)
    errors = int(summary.group(1)) if summary else 0
    skipped = "[  SKIPPED ]" in output
    # If a test never calls CUDA, the tool prints no summary and does not return the test's status.
    passed = "[  PASSED  ] 1 test" in output and (finished or NO_CUDA in output)
    return Outcome(test, skipped, not (passed or skipped), errors, time.monotonic() - begin, output)


def print_outcome(outcome, number, of):
    print(f"[{number}/{of}] {outcome.test}: {outcome.errors} errors, {outcome.seconds:.1f} s"
          + (", failed" if outcome.failed else ""), flush=True)
    if outcome.failed or outcome.errors:
        print(outcome.output[:MOST_SHOWN], flush=True)


def table(tool, outcomes):
    rows = {}
    for outcome in outcomes:
        case = outcome.test.split(".")[0]
        row = rows.setdefault(case, dict(zip(COLUMNS, [tool, case, 0, 0, 0, 0, 0.0])))
        for column, value in [("tests", 1), ("skipped", outcome.skipped), ("failed", outcome.failed),
                              ("errors", outcome.errors), ("seconds", outcome.seconds)]:
            row[column] += value
    return [dict(row, seconds=f"{row['seconds']:.1f}") for _, row in sorted(rows.items())]


def main():
    options = arguments()
    for program in (options.sanitizer, options.program):
        if not shutil.which(program):
            sys.exit(f"{program}: no such program; compute-sanitizer comes with CUDA, the tests with "
                     "FEMGPU_CUDA=ON scripts/build.sh")
    tests = tests_of(options.program, options.filter)
    if not tests:
        sys.exit(f"no test of {options.program} matches {options.filter}")
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, options, test) for test in tests]):
            outcomes.append(done.result())
            print_outcome(outcomes[-1], len(outcomes), len(tests))
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table(options.tool, outcomes))
    failed, errors = (sum(getattr(outcome, name) for outcome in outcomes) for name in ("failed", "errors"))
    skipped = sum(outcome.skipped for outcome in outcomes)
    print(f"{options.tool}: {len(tests)} tests, {skipped} skipped, {failed} failed, {errors} errors")
    sys.exit(bool(failed or errors))


if __name__ == "__main__":
    main()
