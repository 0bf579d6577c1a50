#!/usr/bin/env python3
"""Kills one rank of femgpu in each phase: all others must end soon, and not with code 0.

    killed_rank.py --program build/bin/femgpu parameters/poisson_3d.prm

Runs four ranks in two groups. An undisturbed run gives the seconds of each phase; later runs have
one rank killed in the middle of a phase, alternately a leader and another rank.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from ended_run import MPIRUN, children

RANKS, PATIENCE = 4, 30.  # seconds until all must have ended
SIZE = ["--set", "Mesh/Initial refinements=5", "--set", "Study/Cycles=1", "--set", "Solver/Backend=host",
        "--set", "Solver/Devices=2", "--set", "Solver/Preconditioner=identity"]


def command_of(options, directory):
    return MPIRUN + ["-n", str(RANKS), options.program, options.file, "--output", directory, *SIZE]


def ranks_of(process, program):
    """Returns the processes by rank, or an empty dictionary until all have started."""
    found = {}
    for pid in children(process.pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                variables = dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(program):
                found[int(variables[b"OMPI_COMM_WORLD_RANK"])] = pid
        except (OSError, KeyError):  # it has ended, or is not a rank
            pass
    return found if len(found) == RANKS else {}


def phases_of(options, directory):
    """Returns the name and the middle of each phase of a whole run, in seconds from the start."""
    begin = time.monotonic()
    subprocess.run(command_of(options, directory), stdout=subprocess.DEVNULL, check=True)
    total = time.monotonic() - begin
    with open(os.path.join(directory, "summary.json"), encoding="utf-8") as file:
        seconds = json.load(file)["cycles"][0]["seconds"]
    names = [name for name in seconds if name != "total"]
    at = total - sum(seconds[name] for name in names)  # start-up and mesh
    middles = [("start", 0.5 * at)]
    for name in names:
        middles.append((name, at + 0.5 * seconds[name]))
        at += seconds[name]
    return middles


def kill(options, directory, rank, second):
    """Kills @p rank at @p second. Returns what is wrong with the end of the run, or ''."""
    process = subprocess.Popen(command_of(options, directory), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    begin = time.monotonic()
    ranks = {}
    while not ranks and process.poll() is None:
        ranks = ranks_of(process, options.program)
        time.sleep(0.01)
    time.sleep(max(0., second - (time.monotonic() - begin)))
    if process.poll() is not None:
        return ""  # it was faster than the first run
    try:
        os.kill(ranks[rank], signal.SIGKILL)
    except ProcessLookupError:
        return ""
    try:
        code = process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        for pid in children(process.pid) + [process.pid]:
            os.kill(pid, signal.SIGKILL)
        return f"the run had not ended after {PATIENCE} s"
    left = [pid for pid in ranks.values() if os.path.exists(f"/proc/{pid}/exe")]
    if left:
        return f"processes {left} are still running"
    had_ended = os.path.exists(os.path.join(directory, "summary.json"))  # which is written last
    return "the run ended with exit code 0" if code == 0 and not had_ended else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory(prefix="femgpu_killed_rank_") as directory:
        for k, (name, second) in enumerate(phases_of(options, directory)):
            rank = k % RANKS  # alternates between leaders and other ranks
            problem = kill(options, os.path.join(directory, name), rank, second)
            print(f"{name}: rank {rank} at {second:.2f} s: {problem or 'all processes ended'}", flush=True)
            if problem:
                problems.append(name)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
