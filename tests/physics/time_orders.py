#!/usr/bin/env python3
"""Checks the order of convergence of a transient analysis in the length of its steps.

    time_orders.py --program build/bin/femgpu FILE.prm --steps 0.2 0.1 0.05 --order 2

Runs femgpu once for each length, and compares the L2 errors at the end, and the errors of
quantities whose exact values are given (--quantity NAME=VALUE). Prints a line for each failed
expectation and then exits with 1.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("file")
    parser.add_argument("--steps", nargs="+", type=float, required=True, help="in descending order")
    parser.add_argument("--order", type=float, required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--quantity", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    return parser.parse_args()


def errors_of(options, step, directory):
    command = [options.program, options.file, "--output", directory, "--quiet",
               "--set", f"Time/Step={step}"]
    command += [word for text in options.set for word in ("--set", text)]
    if options.ranks > 1:
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                   "-n", str(options.ranks)] + command
    subprocess.run(command, check=True)
    with open(os.path.join(directory, "summary.json"), encoding="utf-8") as file:
        cycle = json.load(file)["cycles"][-1]
    n_steps = round(1. / step)
    if cycle["time"]["steps"] != n_steps or cycle["time"]["rejected_steps"] != 0:
        sys.exit(f"{cycle['time']['steps']} steps instead of {n_steps}")
    errors = {"L2": cycle["errors"]["L2"]["error"]}
    for text in options.quantity:
        name, value = text.rsplit("=", 1)
        errors[name] = abs(cycle["quantities"][name] - float(value))
    return errors


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as directory:
        runs = [errors_of(options, step, os.path.join(directory, str(step)))
                for step in options.steps]
    failures = []
    for name in runs[0]:
        errors = [run[name] for run in runs]
        orders = [math.log(errors[k] / errors[k + 1]) /
                  math.log(options.steps[k] / options.steps[k + 1]) for k in range(len(errors) - 1)]
        print(name, "errors", errors, "orders", orders)
        if not abs(orders[-1] - options.order) <= 0.15:
            failures.append(f"the order of {name} is {orders[-1]} instead of {options.order}")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
