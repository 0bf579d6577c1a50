"""Reads .vtu, .pvtu and .vtkhdf files with VTK's reader, for several scripts.

Requires Debian's python3-vtk9 and python3-numpy, and therefore /usr/bin/python3.
"""

import json
import os
import sys
import xml.etree.ElementTree

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import (vtkLogger, vtkOutputWindow,
                                          vtkStringOutputWindow)
    from vtkmodules.vtkFiltersCore import vtkCellDataToPointData
    from vtkmodules.vtkIOHDF import vtkHDFReader
    from vtkmodules.vtkIOXML import (vtkXMLPUnstructuredGridReader,
                                     vtkXMLUnstructuredGridReader)
except ImportError as error:
    sys.exit(f"{error}: install python3-vtk9 and python3-numpy, and use /usr/bin/python3")

READERS = {".vtu": vtkXMLUnstructuredGridReader, ".pvtu": vtkXMLPUnstructuredGridReader,
           ".vtkhdf": vtkHDFReader}

# VTK prints errors to a window and to standard error, and continues with the data that it has.
vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
_messages = vtkStringOutputWindow()
vtkOutputWindow.SetInstance(_messages)


class BadFile(Exception):
    """A file that cannot be used; the message names it and the reason."""


class Result:
    """An unstructured grid: VTK's `grid`, its points (n x 3), number of cells, and arrays by name.

    An array is n x components, in the precision of the file; field_arrays belong to the whole grid.
    """

    def __init__(self, path):
        extension = os.path.splitext(path)[1]
        if extension not in READERS:
            raise BadFile(f"{path}: not a .vtu, .pvtu or .vtkhdf file")
        if not os.path.isfile(path):
            raise BadFile(f"{path}: no such file")
        reader = READERS[extension]()
        if not reader.CanReadFile(path):
            raise BadFile(f"{path}: VTK cannot read it as a {extension} file")
        before = _messages.GetOutput() or ""
        reader.SetFileName(path)
        reader.Update()
        said = (_messages.GetOutput() or "")[len(before):]
        if reader.GetErrorCode() or "ERROR" in said:
            first = said.partition("ERROR:")[2].partition("ERROR:")[0].partition("): ")[2]
            raise BadFile(f"{path}: {' '.join(first.split()) or 'VTK cannot read it'}")
        grid = reader.GetOutput()
        self.path = path
        self.grid = grid
        self.cells = grid.GetNumberOfCells()
        has_points = grid.GetPoints() is not None
        self.points = vtk_to_numpy(grid.GetPoints().GetData()) if has_points else []
        self.point_arrays = _arrays(path, grid.GetPointData())
        self.cell_arrays = _arrays(path, grid.GetCellData())
        self.field_arrays = _field_arrays(grid.GetFieldData())


def arrays_at_points(result):
    """Returns the point arrays, and the cell arrays as averages over the cells around each point."""
    means = vtkCellDataToPointData()
    means.SetInputData(result.grid)
    means.Update()
    return {**result.point_arrays, **_arrays(result.path, means.GetOutput().GetPointData())}


def _arrays(path, data):
    arrays = {}
    for i in range(data.GetNumberOfArrays()):
        array = data.GetArray(i)
        if array is None:
            raise BadFile(f"{path}: array {i} has no numbers")
        arrays[array.GetName()] = vtk_to_numpy(array).reshape(
            array.GetNumberOfTuples(), array.GetNumberOfComponents())
    return arrays


def _field_arrays(data):
    """Returns the arrays of numbers by name; arrays of strings are ignored."""
    arrays = [data.GetArray(i) for i in range(data.GetNumberOfArrays())]
    return {array.GetName(): vtk_to_numpy(array) for array in arrays if array is not None}


def _attributes(path, tag, attribute):
    try:
        tree = xml.etree.ElementTree.parse(path)
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        raise BadFile(f"{path}: {error}") from error
    return [value for value in (element.get(attribute) for element in tree.iter(tag)) if value]


def _names(path, tag, attribute):
    return [os.path.join(os.path.dirname(path), name) for name in _attributes(path, tag, attribute)]


def is_collection(path):
    return path.endswith((".pvd", ".vtkhdf.series"))


def entries_of_collection(path):
    """Returns the times and files of a .pvd or a .vtkhdf.series, in order."""
    if path.endswith(".pvd"):
        return list(zip(_attributes(path, "DataSet", "timestep"), _names(path, "DataSet", "file")))
    try:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["files"]
        return [(entry["time"], os.path.join(os.path.dirname(path), entry["name"]))
                for entry in entries]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{path}: {error}") from error


def files_of_collection(path):
    """Returns the files of a .pvd or a .vtkhdf.series, in order."""
    names = [name for _, name in entries_of_collection(path)]
    if not names:
        raise BadFile(f"{path}: names no files")
    return names


def pieces(path):
    """Returns the pieces of a .pvtu."""
    return _names(path, "Piece", "Source")
