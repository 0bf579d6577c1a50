#!/usr/bin/env python3
"""Disturbs femgpu at a chosen moment: what it leaves must be complete, and what it says be a sentence.

    ended_run.py --program build/bin/femgpu parameters/poisson.prm --when summary.json --how KILL

A first run is left alone. In the second, the partial file of --when is a pipe that is full, so that
femgpu is surely writing it when it meets its end:

    KILL, TERM, INT  the signal: files that the first run has written are as they were or complete
    VANISH           the output directory is removed: exit code 5, which names the file

Without --when:

    FULL             the output directory is on a disk of 20 KiB (77, skipped, where no disk can be
                     mounted): exit code 5, and no partial file is left
    CLOSED, READER   standard output is closed, or has lost its reader, as in `femgpu ... | head`:
                     the run ends with 0, and no file has a line that belongs on the terminal
"""

import argparse
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from killed_run import MPIRUN, check, children, partial_files

PIPE_BYTES = 4096  # the smallest that Linux has
PATIENCE = 120.  # seconds


def full_pipe(path):
    """A pipe under the name @p path into which nothing more can be written, opened."""
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.write(descriptor, b" " * PIPE_BYTES)
    return descriptor


def has_open(pid, path):
    try:
        return any(os.path.realpath(f"/proc/{pid}/fd/{entry}") == os.path.realpath(path)
                   for entry in os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # it has ended
        return False


def wait_for_writer(process, path):
    """True as soon as femgpu has the file open; False if it ends before."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        if any(has_open(pid, path) for pid in children(process.pid) + [process.pid]):
            time.sleep(0.1)
            return True
        time.sleep(0.01)
    return False


def drain(process, descriptor):
    """Lets femgpu write on, until it ends."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        try:
            os.read(descriptor, 1 << 16)
        except BlockingIOError:
            time.sleep(0.01)


def snapshot(directory):
    return {name: os.stat(os.path.join(directory, name)).st_size
            for name in os.listdir(directory) if not name.endswith(".partial")}


def text_files_are_complete(directory):
    """Files that femgpu gives their names at once: JSON that parses, and lines of equal length."""
    for name in sorted(os.listdir(directory)):
        if not name.endswith((".json", ".csv")):  # a pipe would keep us waiting
            continue
        with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
            if name.endswith(".json"):
                try:
                    json.load(file)
                except ValueError as error:
                    yield f"{name} is not complete: {error}"
            else:
                lines = file.read().split("\n")
                if lines[-1] != "" or len({line.count(",") for line in lines[:-1]}) != 1:
                    yield f"{name} is not complete"
    report = check(directory)
    if report:
        yield report


def end_by_signal(process, how):
    number = getattr(signal, "SIG" + how)
    if how == "KILL":  # mpirun does not hand it on
        for pid in children(process.pid):
            os.kill(pid, number)
    try:
        process.send_signal(number)
    except ProcessLookupError:
        pass


def disturb(options, command, directory):
    """Ends a second run while it writes."""
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    if first.returncode != 0:
        yield f"the first run ends with {first.returncode}:\n{first.stderr}"
        return
    before = snapshot(directory)
    path = os.path.join(directory, options.when + ".partial")
    descriptor = full_pipe(path)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    if not wait_for_writer(process, path):
        yield f"{options.when} was never written: the test shows nothing"
        process.kill()
        return
    if options.how == "VANISH":
        shutil.rmtree(directory)
        drain(process, descriptor)
    else:
        end_by_signal(process, options.how)
    errors = process.communicate(timeout=PATIENCE)[1]
    os.close(descriptor)
    print(f"ends with {process.returncode}: {errors}")
    if options.how == "VANISH":
        yield from expect_exit(process.returncode, errors, 5, options.when)
        return
    if process.returncode == 0:
        yield "it ends with 0"
    if options.how != "KILL":
        if "files that have their names are complete" not in errors:
            yield "it does not say how it ended"
        if partial_files(directory):
            yield f"partial files are left: {partial_files(directory)}"
    if options.how == "KILL" and os.path.exists(path):
        os.unlink(path)
    if not set(before) <= set(snapshot(directory)):
        yield f"files have gone: {sorted(set(before) - set(snapshot(directory)))}"
    yield from text_files_are_complete(directory)


def expect_exit(code, errors, expected, words):
    if code != expected:
        yield f"exit code {code}, expected {expected}"
    if words not in errors or "femgpu: " not in errors:
        yield f"standard error does not name {words}:\n{errors}"


def fill_disk(command, directory):
    """Writes to a disk that is too small."""
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20k", "tmpfs", directory],
                           capture_output=True, text=True, check=False)
    if mount.returncode != 0:
        print("skipped: no disk can be mounted")
        sys.exit(77)
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        print(run.stderr)
        yield from expect_exit(run.returncode, run.stderr, 5, "free some space")
        if partial_files(directory):
            yield f"partial files are left: {partial_files(directory)}"
    finally:
        subprocess.run(["umount", directory], check=False)


def close_output(how, command, directory):
    """Runs without anybody who reads standard output."""
    if how == "CLOSED":
        run = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh"] + command, stderr=subprocess.PIPE,
                             text=True, check=False)
    else:
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writer)
    if run.returncode != 0:
        yield f"it ends with {run.returncode}: {run.stderr}"
    if not os.path.exists(os.path.join(directory, "summary.json")):
        yield "there is no summary.json"
    yield from text_files_are_complete(directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.prm")
    parser.add_argument("--program", required=True, help="femgpu's binary")
    parser.add_argument("--ranks", type=int, default=1, metavar="N")
    parser.add_argument("--set", action="append", default=[], metavar="Section/Key=value")
    parser.add_argument("--when", metavar="NAME", help="file that is being written")
    parser.add_argument("--how", required=True,
                        choices=["KILL", "TERM", "INT", "VANISH", "FULL", "CLOSED", "READER"])
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="femgpu_ended_") as above:
        directory = os.path.join(above, "output")
        os.mkdir(directory)
        command = [options.program, options.file, "--output", directory]
        command += [word for text in options.set for word in ("--set", text)]
        if options.ranks > 1:
            command = MPIRUN + ["-n", str(options.ranks)] + command
        if options.how == "FULL":
            problems = list(fill_disk(command, directory))
        elif options.how in ("CLOSED", "READER"):
            problems = list(close_output(options.how, command, directory))
        else:
            problems = list(disturb(options, command, directory))
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
