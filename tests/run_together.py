#!/usr/bin/env python3
"""Runs femgpu many times without starting a process for each run; checks each like run_study.py.

    run_together.py --program build/bin/femgpu --many-runs build/bin/femgpu_many_runs RUNS [REGEX]

A run in the file RUNS consists of its name and the arguments of run_study.py, separated by the
control character 31 and terminated by 30. REGEX selects runs whose names match. Prints the names of
runs that fail; exits with 1 if there are any.
"""

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import run_study


class ManyRuns:
    """Runs femgpu by many_runs.cc instead of in separate processes."""

    def __init__(self, program, directory):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.files = [os.path.join(directory, name) for name in ("output.txt", "errors.txt")]

    def start(self, command, text):
        """Runs a command. Returns a result like subprocess.run()."""
        if text:
            raise ValueError("runs that read standard input need a process of their own")
        request = {"arguments": command, "output": self.files[0], "errors": self.files[1]}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        texts = []
        for name in self.files:
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
        return subprocess.CompletedProcess(command, code, *texts)

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def failed_expectations(words, options, many_runs, directory):
    """Returns the failed expectations of one run and its output."""
    study = run_study.parse_command_line(["--program", options.program] + words)
    study.start = many_runs.start
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        problems = run_study.check_all(study, directory)
    return problems, printed.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="femgpu's binary, for what it is called")
    parser.add_argument("--many-runs", required=True, help="femgpu_many_runs")
    parser.add_argument("runs", metavar="RUNS", help="file of runs")
    parser.add_argument("regex", metavar="REGEX", nargs="?", default="", help="of names")
    options = parser.parse_args()
    with open(options.runs, encoding="utf-8", newline="") as file:
        runs = [run.split("\x1f") for run in file.read().split("\x1e")[:-1]]
    runs = [run for run in runs if re.search(options.regex, run[0])]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="femgpu_together_") as directory:
        many_runs = ManyRuns(options.many_runs, directory)
        for name, *words in runs:
            os.mkdir(os.path.join(directory, name))
            problems, printed = failed_expectations(words, options, many_runs,
                                            os.path.join(directory, name))
            print(f"{'FAILED' if problems else 'passed'}: {name}", flush=True)
            if problems:
                failed += 1
                print("\n".join([printed] + [f"  {problem}" for problem in problems]), flush=True)
        ended = many_runs.end()
    print(f"{len(runs) - failed} of {len(runs)} runs are as they must be")
    return 1 if failed or ended != 0 or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
