"""Runs the parameter files that pages print between ```prm and ```.

    python3 tests/docs/parameter_blocks.py build/bin/femgpu docs/recipes.md ...

The program starts in the current directory, from which pages name meshes, and writes to a temporary
directory. Ends with 1 if a run fails, or if a page has no such block.
"""

import os
import re
import subprocess
import sys
import tempfile


def blocks(path):
    with open(path, encoding="utf-8") as stream:
        return re.findall(r"^```prm\n(.*?)^```$", stream.read(), flags=re.DOTALL | re.MULTILINE)


def main():
    program, *pages = sys.argv[1:]
    program = os.path.abspath(program)
    faults = 0
    for page in pages:
        texts = blocks(page)
        faults += not texts
        if not texts:
            print(f"{page}: has no ```prm block", file=sys.stderr)
        for number, text in enumerate(texts, 1):
            with tempfile.TemporaryDirectory() as directory:
                done = subprocess.run([program, "-", "--quiet", "--threads", "1", "--output",
                                       directory], input=text, text=True, capture_output=True,
                                      check=False)
            faults += done.returncode != 0
            if done.returncode != 0:
                print(f"{page}: block {number} ends with exit code {done.returncode}: "
                      f"{done.stderr}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
