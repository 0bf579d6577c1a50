#!/usr/bin/env python3
"""Runs femgpu with too little address space: it must exit with 4 and one sentence, wherever memory
runs out, and continue if only a thread lacks memory.

    memory_limit.py --program build/bin/femgpu parameters/poisson_3d.prm

The limits are relative to the least limit under which `femgpu --version` runs, so that the size of
the program and of its libraries does not matter.
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile

MIB = 1 << 20
FORESEEN = r"need more than .* GB, but the limit 'ulimit -v'"
REFINEMENTS, WHERE = "Mesh/Initial refinements=", "Mesh/Initial refinement where="
# Setting, MiB beyond the need of the program itself, and a pattern of the message. With meshes of
# 2.1 million cells, memory runs out during the run; larger meshes are refused. A mesh of 262144
# cells may fit.
MAY_SUFFICE = "memory|ulimit"
CASES = [(REFINEMENTS + "7", 60, "."), (REFINEMENTS + "7", 100, "."),
         (REFINEMENTS + "7", 400, "."), (REFINEMENTS + "8", 400, FORESEEN),
         (WHERE + "40*(x<0.5)", 800, FORESEEN + ".*" + WHERE[:-1])]
CASES += [(REFINEMENTS + "6", more, MAY_SUFFICE) for more in (32, 36)]


def run(command, limit):
    """Runs @p command with standard output and errors combined."""
    set_limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, preexec_fn=set_limit)


def least_limit(program):
    """Returns the least address space in which the program starts, to 8 MiB."""
    below, enough = 0, 256 * MIB
    while run([program, "--version"], enough).returncode != 0:
        below, enough = enough, 2 * enough
    while enough - below > 8 * MIB:
        middle = (below + enough) // 2
        if run([program, "--version"], middle).returncode == 0:
            enough = middle
        else:
            below = middle
    return enough


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.prm")
    parser.add_argument("--program", required=True, help="femgpu's binary")
    options = parser.parse_args()

    failed = False
    least = least_limit(options.program)
    print(f"the program itself needs {least // MIB} MiB")
    with tempfile.TemporaryDirectory(prefix="femgpu_memory_") as directory:
        for setting, more, words in CASES:
            process = run([options.program, options.file, "--output", directory, "--quiet",
                           "--backend", "host", "--threads", "1", "--set", "Study/Cycles=1",
                           "--set", setting], least + more * MIB)
            print(f"{more} MiB more, {setting}: {process.returncode}, {process.stdout}", end="",
                  flush=True)
            lines = process.stdout.splitlines()
            if words == MAY_SUFFICE and process.returncode == 0 and not lines:
                print("it sufficed")
                continue
            if (process.returncode != 4 or len(lines) != 1 or
                    not re.match(r"femgpu: .*(memory|ulimit)", lines[0]) or
                    not re.search(words, lines[0])):
                print(f"FAILED: expected exit code 4 and one sentence with '{words}'",
                      file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
