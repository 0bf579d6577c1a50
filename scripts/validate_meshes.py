#!/usr/bin/env python3
"""Checks which mesh and geometry files of a directory femgpu reads.

    scripts/validate_meshes.py DIR [--program build/bin/femgpu] [--time-limit 60]

Validates each file in 3D and, if that fails, in 2D, and prints a table: the file, the dimension,
the cells, the boundary and material ids, or the message. Exits with 1 if a
file is not read.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ENDINGS = {".avs", ".bdf", ".brep", ".cgns", ".e", ".ex2", ".exo", ".g", ".gen", ".geo", ".iges",
           ".igs", ".inp", ".med", ".mesh", ".meshb", ".msh", ".nas", ".step", ".stp", ".su2",
           ".ucd", ".unv", ".vol", ".vtk", ".vtu", ".xdmf", ".xmf"}
PARAMETERS = "set Physics = poisson\nsubsection Poisson\n  set Right-hand side = 0\nend\n"


def validate(program, file, dimension, time_limit):
    """Returns (is read, text) of a file in a dimension."""
    with tempfile.TemporaryDirectory() as directory:
        command = [program, "-", "--validate", "--set", f"Dimension={dimension}",
                   "--set", f"Mesh/File={file}", "--set", "Mesh/Natural boundaries=all",
                   "--set", "Mesh/Initial refinements=0",
                   "--set", f"Output/Directory={directory}", "--set",
                   f"Mesh/Meshing time limit={time_limit}"]
        result = subprocess.run(command, input=PARAMETERS, text=True, capture_output=True, check=False)
    text = " ".join((result.stdout if result.returncode == 0 else result.stderr).split())
    return result.returncode == 0, text


def row_of(program, file, time_limit):
    """Returns (is read, cells of the table's row after the name)."""
    is_read, text = validate(program, file, 3, time_limit)
    dimension = 3
    if not is_read:
        is_read, text_2d = validate(program, file, 2, time_limit)
        dimension = 2
        if is_read or "cells of dimension 3" in text:
            text = text_2d
    valid = re.search(r" on (\d+)(?: or more)? cells .*?; (boundary ids .*)", text)
    if not is_read or not valid:
        return False, ["", "", text.replace("femgpu: ", "", 1)]
    return True, [f"{dimension}D", valid[1], valid[2]]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--program", default="build/bin/femgpu")
    parser.add_argument("--time-limit", type=float, default=60., help="seconds for gmsh (60)")
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        sys.exit(f"{options.program} is not a program; build femgpu, or give --program")
    files = sorted(f for f in options.directory.rglob("*") if f.suffix.lower() in ENDINGS)
    if not files:
        sys.exit(f"{options.directory} has no mesh or geometry files")
    n_read = 0
    print("| file | dimension | cells | ids, or the reason why it is not read |")
    print("|---|---|---|---|")
    for file in files:
        is_read, cells = row_of(os.path.abspath(options.program), file, options.time_limit)
        n_read += is_read
        print(f"| {file.relative_to(options.directory)} | " + " | ".join(cells).replace("\n", " ") + " |",
              flush=True)
    print(f"\n{n_read} of {len(files)} files are read.")
    sys.exit(n_read < len(files))


if __name__ == "__main__":
    main()
