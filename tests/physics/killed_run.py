#!/usr/bin/env python3
"""Kills femgpu while it writes: every file that then has its final name must be complete.

    killed_run.py --program build/bin/femgpu parameters/poisson_3d.prm --ranks 2
                  --when solution_003.000.vtu

Runs are killed when they begin to write this file, a moment later each time; what is left must be readable by
VTK. At the end a run that is left alone must succeed in the same directory and tidy up.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
CHECK_VTU = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts",
                         "check_vtu.py")
DELAYS = 0., 0.02, 0.1  # seconds


def children(pid):
    """Processes below @p pid."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        if parent == pid:
            found += [int(entry)] + children(int(entry))
    return found


def partial_files(directory):
    return {name for name in os.listdir(directory) if name.endswith(".partial")}


def run_and_kill(command, directory, name, delay):
    """Ends the run @p delay seconds after it began to write @p name; False if it was faster."""
    for old in partial_files(directory):
        os.unlink(os.path.join(directory, old))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not any(partial.startswith(name + ".")
                                             for partial in partial_files(directory)):
        time.sleep(0.0005)
    time.sleep(delay)
    in_time = process.poll() is None
    for pid in children(process.pid) + [process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    return in_time


def check(directory):
    """What VTK says of the files that have their final names; empty if they are right."""
    files = [os.path.join(directory, name) for name in sorted(os.listdir(directory))
             if name.endswith((".vtu", ".pvtu", ".pvd"))]
    if not files:
        return ""
    process = subprocess.run(["/usr/bin/python3", CHECK_VTU] + files, capture_output=True,
                             text=True, check=False)
    return "" if process.returncode == 0 else process.stderr or "check_vtu.py fails"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.prm")
    parser.add_argument("--program", required=True, help="femgpu's binary")
    parser.add_argument("--ranks", type=int, default=1, metavar="N")
    parser.add_argument("--set", action="append", default=[], metavar="Section/Key=value")
    parser.add_argument("--when", required=True, metavar="NAME", help="file that must be begun")
    options = parser.parse_args()

    problems, half_written = [], 0
    with tempfile.TemporaryDirectory(prefix="femgpu_killed_") as directory:
        command = [options.program, options.file, "--output", directory]
        command += [word for text in options.set for word in ("--set", text)]
        if options.ranks > 1:
            command = MPIRUN + ["-n", str(options.ranks)] + command
        for delay in DELAYS:
            in_time = run_and_kill(command, directory, options.when, delay)
            partial = sorted(partial_files(directory))
            half_written += bool(partial)
            print(f"killed after {delay} s: {'' if in_time else 'too late; '}"
                  f"partial {', '.join(partial) or 'none'}")
            report = check(directory)
            if report:
                problems.append(f"killed {delay} s after {options.when} began:\n{report}")
        if half_written == 0:
            problems.append("no run was killed while it wrote: the test shows nothing")
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            problems.append(f"a run after the killed ones ends with {process.returncode}:\n"
                            f"{process.stderr}")
        elif check(directory):
            problems.append(f"a run after the killed ones leaves:\n{check(directory)}")
        elif partial_files(directory):
            problems.append(f"a run after the killed ones leaves {partial_files(directory)}")
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
