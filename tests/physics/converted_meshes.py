"""Writes meshes in formats that femgpu converts by VTK or meshio: converted_meshes.py DIRECTORY

All but the curved ones contain the unit square of tests/physics/meshes, whose inner node is at
(1/3, 4/7).
"""
import os
import pathlib
import sys

import meshio
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkUnstructuredGrid
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridWriter

POINTS = np.array([[x / 2, y / 2, 0] for y in range(3) for x in range(3)])
POINTS[4] = [1 / 3, 4 / 7, 0]
QUADS = np.array([[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]])
LINES = np.array([[0, 3], [2, 5], [0, 1], [6, 7], [3, 6], [5, 8], [1, 2], [7, 8]])
MATERIALS, SIDES = [1, 1, 2, 2], [1, 2, 3, 4, 1, 2, 3, 4]


def write_by_meshio(name, array, **options):
    cells = [("quad", QUADS), ("line", LINES)]
    data = {array: [np.array(MATERIALS), np.array(SIDES)]}
    meshio.write(name, meshio.Mesh(POINTS, cells, cell_data=data), **options)


def write_med():
    """Families with several groups: materials and all cells, sides and opposite sides."""
    mesh = meshio.Mesh(POINTS, [("quad", QUADS), ("line", LINES)], point_data={"point_tags": np.eye(
        9, dtype=int)[8]}, cell_data={"cell_tags": [-np.array(MATERIALS), -2 - np.array(SIDES)]})
    mesh.point_tags = {1: ["corner"]}
    mesh.cell_tags = {-1: ["lower part", "all"], -2: ["upper part", "all"], -3: ["west", "x sides"],
                      -4: ["east", "x sides"], -5: ["south", "y sides"], -6: ["north", "y sides"]}
    meshio.write("square.med", mesh)


def grid(points, cells, arrays):
    """Returns a grid of VTK. `cells` are pairs of a type and nodes."""
    result, vtk_points = vtkUnstructuredGrid(), vtkPoints()
    vtk_points.SetData(numpy_to_vtk(np.array(points, float), deep=1))
    result.SetPoints(vtk_points)
    for kind, nodes in cells:
        result.InsertNextCell(kind, len(nodes), [int(node) for node in nodes])
    for name, values in arrays.items():
        array = numpy_to_vtk(np.array(values), deep=1)
        array.SetName(name)
        result.GetCellData().AddArray(array)
    return result


def write_vtu(name, vtk_grid, mode="Ascii", compressor=0, header="UInt32", order="LittleEndian"):
    writer = vtkXMLUnstructuredGridWriter()
    writer.SetFileName(name)
    writer.SetInputData(vtk_grid)
    writer.SetCompressorType(compressor)
    writer.SetEncodeAppendedData(False)
    for setting in ("DataModeTo" + mode, "HeaderTypeTo" + header, "ByteOrderTo" + order):
        getattr(writer, "Set" + setting)()
    writer.Write()


def squares(quad=9, quads=QUADS, name="material_id", values=tuple(MATERIALS + SIDES)):
    return grid(POINTS, [(quad, q) for q in quads] + [(3, line) for line in LINES], {name: values})


def write_pieces():
    """Two pieces, of which the second has a ghost cell of the first."""
    for piece, (cells, ghosts) in enumerate((([0, 1], [0, 0]), ([0, 2, 3], [1, 0, 0]))):
        lines = [line for line in range(8) if piece == (line in (3, 4, 5, 7))]
        write_vtu(f"piece{piece}.vtu", grid(
            POINTS, [(9, QUADS[c]) for c in cells] + [(3, LINES[line]) for line in lines],
            {"material_id": [MATERIALS[c] for c in cells] + [SIDES[line] for line in lines],
             "vtkGhostType": np.array(ghosts + [0] * len(lines), np.uint8)}))
    text, other = (pathlib.Path(f"piece{piece}.vtu").read_text() for piece in (0, 1))
    end = text.index("</UnstructuredGrid>")
    pathlib.Path("pieces.vtu").write_text(
        text[:end] + other[other.index("<Piece"):other.index("</UnstructuredGrid>")] + text[end:])


def write_curved(name, kind, n_nodes):
    """Two cells of second order below y = 1 + 0.8 x (1 - x), which has the area 1 + 2/15."""
    corners, edges = [(0, 0), (1, 0), (1, 1), (0, 1)], [(.5, 0), (1, .5), (.5, 1), (0, .5)]
    sides = [(0, .5), (1, .5), (.5, 0), (.5, 1)]
    if n_nodes < 10:
        nodes = [(*p, 0) for p in corners + edges + [(.5, .5)]]
    else:
        nodes = ([(*p, z) for z in (0, 1) for p in corners] +
                 [(*p, z) for z in (0, 1) for p in edges] + [(*p, .5) for p in corners] +
                 [(*p, .5) for p in sides] +
                 [(.5, .5, z) for z in (0, 1, .5)])
    points = []
    for x, y, z in [((p[0] + c) / 2, p[1], p[2]) for c in (0, 1) for p in nodes[:n_nodes]]:
        points.append((x, y * (1 + .8 * x * (1 - x)), z))
    points, numbers = np.unique(np.array(points), axis=0, return_inverse=True)
    cells = numbers.reshape(2, n_nodes)
    write_vtu(f"curved_{name}.vtu", grid(points, [(kind, n) for n in cells], {}))
    if name == "hex27":  # MED has another order of faces
        sys.modules["meshio.med._med"].meshio_to_med_type["hexahedron27"] = "H27"
        cells = cells[:, [*range(20), 24, 22, 21, 23, 20, 25, 26]]
        meshio.write("curved_hex27.med", meshio.Mesh(points, [("hexahedron27", cells)]))


def write_su2(name, tags):
    with open(name, "w", encoding="utf-8") as file:
        file.write("NDIME= 2\nNELEM= 4\n" + "".join("9 %d %d %d %d\n" % tuple(q) for q in QUADS) +
                   "NPOIN= 9\n" + "".join("%.17g %.17g\n" % tuple(p[:2]) for p in POINTS) +
                   f"NMARK= {len(tags)}\n")
        for number, tag in enumerate(tags, 1):
            lines = [line for line, side in zip(LINES, SIDES) if side == number]
            file.write(f"MARKER_TAG= {tag}\nMARKER_ELEMS= {len(lines)}\n" +
                       "".join("3 %d %d\n" % tuple(line) for line in lines))


os.makedirs(sys.argv[1], exist_ok=True)
os.chdir(sys.argv[1])
write_by_meshio("square.xdmf", "material_id")
write_by_meshio("square_text.xmf", "material_id", file_format="xdmf", data_format="XML")
write_by_meshio("square.avs", "avsucd:material", file_format="avsucd")
write_by_meshio("square.meshb", "medit:ref")
write_by_meshio("square.vol", "netgen:index", file_format="netgen")
write_by_meshio("square.vtk", "material_id", binary=True)
write_by_meshio("square_42.vtk", "material_id", file_format="vtk42", binary=False)
write_med()
write_su2("square.su2", [1, 2, 3, 4])
write_su2("named.su2", ["west", "east", "south", "north"])
write_vtu("square_lz4.vtu", squares(), "Appended", 2, "UInt64", "BigEndian")
write_vtu("square_lzma.vtu", squares(), "Binary", 3)
write_vtu("square_pixels.vtu", squares(8, QUADS[:, [0, 1, 3, 2]]))
write_vtu("unnamed.vtu", squares(name="flags"))
write_vtu("fractions.vtu", squares(values=[1.5] * 12))
write_vtu("polygons.vtu", squares(7))
write_vtu("cubic.vtu", grid(np.zeros((16, 3)), [(70, range(16))], {}))
write_pieces()
for curved in ("quad8", 23, 8), ("quad9", 28, 9), ("hex20", 25, 20), ("hex27", 29, 27), \
        ("lagrange9", 70, 9), ("lagrange27", 72, 27):
    write_curved(*curved)
