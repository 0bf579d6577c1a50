"""Runs the parameter files that pages print between ```prm and ```.

    python3 tests/docs/parameter_blocks.py build/bin/femgpu docs/recipes.md ...

Each run starts in a temporary directory with a link to meshes/ and, if the page has a block ```inp,
with this block as model.inp. Ends with 1 if a run fails, or if a page has no parameter file.
"""

import os
import re
import subprocess
import sys
import tempfile


def blocks(page, language):
    with open(page, encoding="utf-8") as stream:
        return re.findall(rf"^```{language}\n(.*?)^```$", stream.read(),
                          flags=re.DOTALL | re.MULTILINE)


def run(program, text, models):
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(os.path.abspath("meshes"), os.path.join(directory, "meshes"))
        for model in models:
            with open(os.path.join(directory, "model.inp"), "w", encoding="utf-8") as stream:
                stream.write(model)
        return subprocess.run([program, "-", "--quiet", "--threads", "1"], input=text, text=True,
                              cwd=directory, capture_output=True, check=False)


def main():
    program, *pages = sys.argv[1:]
    program = os.path.abspath(program)
    faults = 0
    for page in pages:
        texts = blocks(page, "prm")
        if not texts:
            faults += 1
            print(f"{page}: has no ```prm block", file=sys.stderr)
        for number, text in enumerate(texts, 1):
            done = run(program, text, blocks(page, "inp"))
            if done.returncode != 0:
                faults += 1
                print(f"{page}: block {number} ends with exit code {done.returncode}: "
                      f"{done.stderr}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
