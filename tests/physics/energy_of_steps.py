#!/usr/bin/env python3
"""Checks the energies by step of a dynamic analysis.

    energy_of_steps.py --program build/bin/femgpu FILE.prm --steps 20000 --constant 1e-9
                       --balance 1e-9

--constant limits the relative change of kinetic plus strain energy, --balance the balance error.
Exits with 1 and a line for each failed expectation.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--constant", type=float)
    parser.add_argument("--balance", type=float)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        command = [options.program, options.file, "--output", directory, "--quiet"]
        command += [word for text in options.set for word in ("--set", text)]
        if options.ranks > 1:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                       "-n", str(options.ranks)] + command
        subprocess.run(command, check=True)
        with open(os.path.join(directory, "steps.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    failures = []
    if len(rows) != options.steps:
        failures.append(f"{len(rows)} steps instead of {options.steps}")
    energies = [float(row["kinetic_energy"]) + float(row["strain_energy"]) for row in rows]
    change = (max(energies) - min(energies)) / max(energies)
    imbalance = max(abs(float(row["balance_error"])) for row in rows)
    print(f"relative change of the energy {change:.3g}, largest balance error {imbalance:.3g}")
    if options.constant is not None and not change <= options.constant:
        failures.append(f"the energy changes by {change}, more than {options.constant}")
    if options.balance is not None and not imbalance <= options.balance:
        failures.append(f"the balance error is {imbalance}, more than {options.balance}")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
