"""Runs the program femgpu, where it is installed, and reads its results."""

import csv
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from . import _core

_errors = {
    1: _core.ParameterError,
    2: _core.InputError,
    3: _core.SolverError,
    4: _core.DeviceError,
    5: _core.Error,
}


class Result:
    """The results of a run.

    directory   contains all files of the run
    summary     the contents of summary.json
    """

    def __init__(self, directory, temporary=None):
        self.directory = Path(directory)
        self.summary = json.loads((self.directory / "summary.json").read_text())
        self._temporary = temporary  # is deleted together with this object

    def table(self, name="convergence"):
        """Returns the columns of a table, such as "convergence" or "points", as arrays: numbers where
        all entries are numbers, otherwise text."""
        with open(self.directory / f"{name}.csv", newline="") as file:
            lines = [line for line in csv.reader(file) if line and not line[0].startswith("#")]
        columns = {}
        for k, head in enumerate(lines[0]):
            column = [line[k] if k < len(line) else "" for line in lines[1:]]
            try:
                columns[head] = np.array([float(entry) if entry else np.nan for entry in column])
            except ValueError:
                columns[head] = np.array(column)
        return columns

    def fields(self, cycle=-1):
        """Returns the points (n × 3) and the fields at points of a cycle, each as an array. The run
        must have `fields=True`; h5py must be installed."""
        import h5py

        files = sorted(self.directory.glob("*.vtkhdf"))
        if not files:
            raise _core.InputError(
                f"{self.directory} contains no .vtkhdf file. Call femgpu.run() with fields=True."
            )
        with h5py.File(files[cycle], "r") as file:
            root = file["VTKHDF"]
            return root["Points"][()], {name: data[()] for name, data in root["PointData"].items()}


def run(file, settings=None, *, directory=None, ranks=1, fields=False, program="femgpu", arguments=()):
    """Runs `femgpu FILE.prm` and returns a Result.

    file        path of a parameter file
    settings    parameters to override, by "Section/Key": {"Study/Cycles": 4}
    directory   directory for the results; default: a temporary one, deleted with the Result
    ranks       number of MPI ranks
    fields      whether to write files that Result.fields() reads
    Raises ParameterError, InputError, SolverError, DeviceError or Error, with the program's message.
    """
    path = shutil.which(program)
    if path is None:
        raise _core.InputError(
            f"The program '{program}' is not installed, or its directory is not in PATH. The Python "
            "package contains the solvers only; docs/installation.md says how to install the program."
        )
    temporary = None if directory else tempfile.TemporaryDirectory(prefix="femgpu-")
    output = Path(directory or temporary.name)
    values = {"Output/Format": "vtkhdf", **(settings or {})} if fields else settings or {}
    command = [path, str(file), "--output", str(output), "--quiet", *arguments]
    for key, value in values.items():
        command += ["--set", f"{key}={value}"]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        message = done.stderr.strip() or f"{program} ended with exit code {done.returncode}."
        raise _errors.get(done.returncode, _core.Error)(message)
    return Result(output, temporary)
