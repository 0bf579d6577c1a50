#!/usr/bin/env python3
"""Disturbs femgpu at a chosen moment: its files must be complete, its message one sentence.

    ended_run.py --program build/bin/femgpu parameters/poisson.prm --when summary.json --how KILL

The first run is not disturbed. In the second run, a full pipe replaces the partial file to which
femgpu first writes the file --when. femgpu blocks while it writes to this pipe, and is disturbed:

    KILL, TERM, INT  sends the signal: files of the first run must be unchanged or complete, and a
                     later run must succeed and clean up. With --finished N, the tables and
                     summary.json have at least N cycles of the second run, which is unfinished
    VANISH           removes the output directory: exit code 5, and the message names the file
    SECOND           starts another run in the directory: exit code 5, the message names the process
                     that has locked it, and that process succeeds

Without --when:

    FEWER            another run has one cycle fewer: it must not take files of the first run for
                     its own, and files that are not femgpu's must not change

    FULL             the output directory is on a disk of 20 KiB (77, skipped, if no disk can be
                     mounted): exit code 5, and no partial file remains
    CLOSED, READER   standard output is closed, or has lost its reader, as in `femgpu ... | head`:
                     the run exits with 0, and no file contains a line meant for the terminal
"""

import argparse
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
CHECK_VTU = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts",
                         "check_vtu.py")
PIPE_BYTES = 4096  # Linux's minimum
PATIENCE = 120.  # seconds


def children(pid):
    """Returns the processes below @p pid."""
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


def check(directory):
    """Returns VTK's complaints about the files with final names, or an empty string."""
    files = [os.path.join(directory, name) for name in sorted(os.listdir(directory))
             if name.endswith((".vtu", ".pvtu", ".pvd"))]
    if not files:
        return ""
    process = subprocess.run(["/usr/bin/python3", CHECK_VTU] + files, capture_output=True,
                             text=True, check=False)
    return "" if process.returncode == 0 else process.stderr or "check_vtu.py fails"


# Replaces the file that femgpu will write for "$0" by a pipe, then executes femgpu.
WITH_PIPE = ["sh", "-c", 'mkfifo "$0.$(uname -n).$$.partial" && exec "$@"']


def full_pipe(path):
    """Opens the pipe @p path and fills it, so that writing to it blocks."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.write(descriptor, b" " * PIPE_BYTES)
    return descriptor


def has_file_open(pid, path):
    try:
        return any(os.path.realpath(f"/proc/{pid}/fd/{entry}") == os.path.realpath(path)
                   for entry in os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # it has ended
        return False


def full_pipes(process, path, count):
    """Waits for one partial file of @p path per rank and fills these pipes."""
    directory, name = os.path.split(path)
    paths = []
    while process.poll() is None and len(paths) < count:
        time.sleep(0.01)
        paths = [os.path.join(directory, partial) for partial in partial_files(directory)
                 if partial.startswith(name + ".")]
    return [full_pipe(path) for path in paths], paths


def wait_for_writer(process, paths):
    """Returns the process that has one of the files open, or None if the run ends before."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        for pid in children(process.pid) + [process.pid]:
            if any(has_file_open(pid, path) for path in paths):
                time.sleep(0.1)
                return pid
        time.sleep(0.01)
    return None


def drain(process, descriptors):
    """Reads the pipes until femgpu ends."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        for descriptor in descriptors:
            try:
                os.read(descriptor, 1 << 16)
            except BlockingIOError:
                time.sleep(0.01)


def snapshot(directory):
    return {name: os.stat(os.path.join(directory, name)).st_size
            for name in os.listdir(directory) if not name.endswith(".partial")}


def text_files_are_complete(directory):
    """Yields incomplete files with final names: JSON must parse, lines must have equal lengths."""
    for name in sorted(os.listdir(directory)):
        if not name.endswith((".json", ".csv")):  # reading a pipe would block
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


def has_finished_cycles(directory, least):
    """Checks that the summary describes an unfinished study and tables have the same cycles."""
    with open(os.path.join(directory, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    n = len(summary["cycles"])
    if summary["outcome"] != "unfinished" or summary["stopped_by"] is not None or n < least:
        yield (f"outcome {summary['outcome']}, stopped by {summary['stopped_by']}, {n} cycles; expected "
               f"an unfinished study of {least}")
    for name in summary["files"]:
        if not os.path.exists(os.path.join(directory, name)):
            yield f"summary.json names {name}, which is missing"
    for name, begin in ("csv", ""), ("md", r"\| *"), ("tex", ""):
        with open(os.path.join(directory, "convergence." + name), encoding="utf-8") as file:
            text = file.read()
        for cycle in range(n):
            if not re.search(rf"^{begin}{cycle} *[,|&]", text, re.MULTILINE):
                yield f"convergence.{name} has no line of cycle {cycle}"


def end_by_signal(process, how):
    number = getattr(signal, "SIG" + how)
    if how == "KILL":  # mpirun does not forward it
        for pid in children(process.pid):
            os.kill(pid, number)
    try:
        process.send_signal(number)
    except ProcessLookupError:
        pass


def stderr_file(directory):
    return directory + ".stderr"


def exit_code_file(directory):
    return directory + ".codes"


def mpi_command(options, command, directory):
    """Returns the command under mpirun, which stores standard error and exit codes in files.

    Open MPI 5 drops what ranks print at their end, and Open MPI 4 may crash in PMIx_server_finalize
    if a rank ends with a code other than 0.
    """
    script = (f"trap : TERM INT; \"$@\" 2>>{stderr_file(directory)}; code=$?; "
              f"echo $code >>{exit_code_file(directory)}; exit $code")
    return MPIRUN + ["-n", str(options.ranks), "sh", "-c", script, "sh"] + command


def exit_code(options, process, directory):
    """Returns the code of the rank that ended first, because mpirun ends the others."""
    if options.ranks == 1:
        return process.returncode
    with open(exit_code_file(directory), encoding="utf-8") as file:
        return int(file.readline())


def stderr_of_ranks(options, directory):
    if options.ranks == 1:
        return ""
    with open(stderr_file(directory), encoding="utf-8") as file:
        return file.read()


def interrupt_second_run(options, command, directory):
    """Disturbs a second run while it writes."""
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    if first.returncode != 0:
        yield (f"the first run ends with {first.returncode}:\n{first.stderr}"
               f"{stderr_of_ranks(options, directory)}")
        return
    if options.ranks > 1:
        os.unlink(exit_code_file(directory))
    before = snapshot(directory)
    when = os.path.join(directory, options.when)
    at = command.index(options.program)
    process = subprocess.Popen(command[:at] + WITH_PIPE + [when] + command[at:],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    descriptors, paths = full_pipes(process, when, options.ranks)
    writer = wait_for_writer(process, paths)
    if writer is None:
        yield f"{options.when} was never written: the test shows nothing"
        process.kill()
        return
    if options.how == "SECOND":
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        said = second.stderr + stderr_of_ranks(options, directory)
        yield from expect_exit(exit_code(options, second, directory), said, 5,
                               f"another run, process {writer} on host {socket.gethostname()}")
        if second.returncode == 0 or "started 20" not in said:
            yield f"the second run does not report when the first one started:\n{said}"
    if options.how == "VANISH":
        shutil.rmtree(directory)
    if options.how in ("SECOND", "VANISH"):
        drain(process, descriptors)
    else:
        end_by_signal(process, options.how)
    errors = process.communicate(timeout=PATIENCE)[1] + stderr_of_ranks(options, directory)
    unused = {os.path.basename(path) for path in paths if f".{writer}.partial" not in path}
    for descriptor in descriptors:
        os.close(descriptor)
    print(f"ends with {process.returncode}: {errors}")
    if options.how == "SECOND":
        if process.returncode != 0:
            yield f"the first run ends with {process.returncode}"
        return
    if options.how == "VANISH":
        yield from expect_exit(exit_code(options, process, directory), errors, 5, options.when)
        return
    if process.returncode == 0:
        yield "the run ends with 0"
    if options.how != "KILL":
        if "result files that exist are complete" not in errors:
            yield "the run does not report how it ended"
        left = partial_files(directory) - unused
        if left:
            yield f"partial files are left: {left}"
    for path in filter(os.path.exists, paths):
        os.unlink(path)
    if not set(before) <= set(snapshot(directory)):
        yield f"files are missing: {sorted(set(before) - set(snapshot(directory)))}"
    yield from text_files_are_complete(directory)
    if options.finished:
        yield from has_finished_cycles(directory, options.finished)
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    if again.returncode != 0:
        yield f"a later run ends with {again.returncode}:\n{again.stderr}"
    if partial_files(directory):
        yield f"a later run leaves {partial_files(directory)}"
    yield from text_files_are_complete(directory)


def expect_exit(code, errors, expected, words):
    if code != expected:
        yield f"exit code {code}, expected {expected}"
    if words not in errors or "femgpu: " not in errors:
        yield f"standard error does not name {words}:\n{errors}"


def run_again_with_fewer_cycles(command, directory):
    """Tests FEWER; each run also has a measured line and a point of its own."""
    measured = ["--set", "Measurements/Lines={0}: 0,0 -> 1,1 : 3", "--set",
                "Measurements/Points={0}: 0.5,0.5"]
    runs = [command + [word.format("old") for word in measured], command + ["--set",
                                                                            "Study/Cycles=1"]]
    foreign = ["solution_001.000.vtu.bak", "my_solution_001.000.vtu", "solution_1.vtu",
               "line_mine_001.csv", "solution_017.pvtu"]
    for name in foreign:
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write("not femgpu's\n")
    for run in runs:
        process = subprocess.run(run, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            yield f"a run ends with {process.returncode}:\n{process.stderr}"
            return
    found = set(os.listdir(directory))
    for name in sorted(set(foreign) - found):
        yield f"{name}, which is not femgpu's, was removed"
    with open(os.path.join(directory, "summary.json"), encoding="utf-8") as file:
        named = set(json.load(file)["files"])
    tables = {"convergence.csv", "convergence.md", "convergence.tex", "history.csv", "summary.json"}
    if found != named | tables | set(foreign):
        yield f"files of the first run are left: {sorted(found - named - tables - set(foreign))}"


def fill_disk(command, directory):
    """Tests FULL: writes to a disk that is too small."""
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
    """Tests CLOSED and READER: runs without a reader of standard output."""
    if how == "CLOSED":
        run = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh"] + command, stderr=subprocess.PIPE,
                             text=True, check=False)
    else:
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writer)
    if run.returncode != 0:
        yield f"the run ends with {run.returncode}: {run.stderr}"
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
    parser.add_argument("--finished", type=int, default=0, metavar="N")
    parser.add_argument("--how", required=True,
                        choices=["KILL", "TERM", "INT", "VANISH", "SECOND", "FEWER", "FULL", "CLOSED",
                                 "READER"])
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="femgpu_ended_") as above:
        directory = os.path.join(above, "output")
        os.mkdir(directory)
        command = [options.program, options.file, "--output", directory]
        command += [word for text in options.set for word in ("--set", text)]
        if options.ranks > 1:
            command = mpi_command(options, command, directory)
        if options.how == "FULL":
            problems = list(fill_disk(command, directory))
        elif options.how == "FEWER":
            problems = list(run_again_with_fewer_cycles(command, directory))
        elif options.how in ("CLOSED", "READER"):
            problems = list(close_output(options.how, command, directory))
        else:
            problems = list(interrupt_second_run(options, command, directory))
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
