"""Converts a mesh file to version 2.2 of gmsh's format: python3 mesh.py FILE RESULT

VTK reads .vtu, .vtk and Exodus files, and meshio the other formats. Both order the nodes of a cell
alike. femgpu stores this script in Output/Directory and runs it.
"""
import collections
import importlib
import itertools
import os
import sys
import traceback

MESHIO_FORMATS = {".med": "med", ".xdmf": "xdmf", ".xmf": "xdmf", ".avs": "avsucd",
                  ".ucd": "avsucd", ".su2": "su2", ".vol": "netgen", ".meshb": "medit"}
ID_ARRAYS = ["material_id", "MaterialID", "gmsh:physical", "avsucd:material", "su2:tag",
             "netgen:index", "medit:ref", "CellEntityIds"]
SHAPES = {  # dimension and VTK's types
    "vertex": (0, [1]), "line": (1, [3, 21, 68]), "triangle": (2, [5, 22, 69]),
    "quad": (2, [9, 23, 28, 70]), "tetra": (3, [10, 24, 71]), "hexahedron": (3, [12, 25, 29, 72]),
    "wedge": (3, [13, 26, 32, 73]), "pyramid": (3, [14, 27, 74]), "pixel": (2, [8]),
    "voxel": (3, [11])}
HEX20 = [*range(9), 11, 16, 9, 17, 10, 18, 19, 12, 15, 13, 14]
WEDGE15 = [*range(7), 8, 12, 7, 13, 14, 9, 11, 10]
PYRAMID13 = [*range(6), 8, 9, 6, 10, 7, 11, 12]
MED_HEX27 = [*range(20), 24, 22, 21, 23, 20, 25, 26]
TYPES = {  # gmsh's type and, unless it is VTK's, its order of nodes
    ("vertex", 1): (15,), ("line", 2): (1,), ("line", 3): (8,), ("triangle", 3): (2,),
    ("triangle", 6): (9,), ("quad", 4): (3,), ("quad", 8): (16,), ("quad", 9): (10,),
    ("tetra", 4): (4,), ("tetra", 10): (11, [*range(8), 9, 8]), ("hexahedron", 8): (5,),
    ("hexahedron", 20): (17, HEX20),
    ("hexahedron", 27): (12, HEX20 + [24, 22, 20, 21, 23, 25, 26]), ("wedge", 6): (6,),
    ("wedge", 15): (18, WEDGE15), ("wedge", 18): (13, WEDGE15 + [15, 17, 16]),
    ("pyramid", 5): (7,), ("pyramid", 13): (19, PYRAMID13), ("pyramid", 14): (14, PYRAMID13 + [13]),
    ("pixel", 4): (3, [0, 1, 3, 2]), ("voxel", 8): (5, [0, 1, 3, 2, 4, 5, 7, 6])}

groups = {}  # by dimension and number or name: (shape, array of nodes) of the elements
names = {}  # of groups with numbers
overlapping = set()  # dimensions whose groups may have common elements


def fail(message):
    sys.exit(f"Error   : {' '.join(message.split())}")


def add(shape, nodes, keys):
    """Adds elements to the groups with these numbers or names."""
    if (shape, nodes.shape[1]) not in TYPES:
        fail(f"a {shape} with {nodes.shape[1]} nodes is not supported; use order 1 or 2, and "
             "triangulate cells of other kinds")
    for key in keys or [0]:
        key = int(key) if str(key).isdigit() else key
        groups.setdefault((SHAPES[shape][0], key), []).append((shape, nodes))
    if len(keys) > 1:
        overlapping.add(SHAPES[shape][0])


def add_by_ids(shape, nodes, ids):
    for number in np.unique(ids):
        add(shape, nodes[ids == number], [number])


def ids_in(arrays, n_cells):
    """Returns the array of ids as integers, or zeros if no array has integers."""
    name = next((name for name in ID_ARRAYS if name in arrays), None)
    for other, values in arrays.items():
        if not name and values.dtype.kind in "iu" and not other.startswith("vtk"):
            fail(f"the cell array '{other}' may contain ids, but none is named "
                 f"{' or '.join(ID_ARRAYS[:2])}; rename or remove it")
    ids = arrays.get(name, np.zeros(n_cells)).reshape(n_cells, -1)
    if ids.shape[1] > 1 or (ids != np.rint(ids)).any():
        fail(f"the cell array '{name}' has values that are not integers; write the file again")
    return ids[:, 0].astype(int)


def add_grid(grid, key=None):
    """Adds the cells of a grid of VTK to a group, or to groups by ids. Returns the dimension."""
    data = grid.GetCellData()
    arrays = {data.GetArrayName(a): vtk_to_numpy(data.GetArray(a))
              for a in range(data.GetNumberOfArrays()) if data.GetArray(a)}
    types = np.array([grid.GetCellType(cell) for cell in range(grid.GetNumberOfCells())])
    starts = vtk_to_numpy(grid.GetCells().GetOffsetsArray())
    nodes = vtk_to_numpy(grid.GetCells().GetConnectivityArray())
    is_ghost = arrays.get("vtkGhostType", np.zeros(len(types), int)) & 1
    kinds = np.c_[types, np.diff(starts)]
    dimension = 0
    for kind, size in np.unique(kinds[is_ghost == 0], axis=0):
        shape = next((s for s, (_, vtk_types) in SHAPES.items() if kind in vtk_types), None)
        if shape is None:
            fail(f"cells of VTK's type {kind} are not supported; triangulate them (in ParaView: "
                 "Triangulate)")
        cells = np.flatnonzero((kinds == (kind, size)).all(axis=1) & (is_ghost == 0))
        nodes_of_cells = nodes[starts[cells, None] + np.arange(size)]
        if key is None:
            add_by_ids(shape, nodes_of_cells, ids_in(arrays, len(types))[cells])
        else:
            add(shape, nodes_of_cells, [key])
        dimension = max(dimension, SHAPES[shape][0])
    return dimension


def end_at_error(_window, _event, text):
    """Ends the script at a message of VTK about an error. An exception would not leave VTK."""
    print("Error   : it is damaged, truncated or not supported by VTK; write or copy it again. "
          f"VTK reports: {' '.join(text.split('): ')[-1].split())}", flush=True)
    os._exit(1)


def read_vtk(file):
    """Reads a file of VTK. Returns VTK's points, like read_exodus()."""
    if file.lower().endswith(".vtk"):
        from vtkmodules.vtkIOLegacy import vtkUnstructuredGridReader
        reader = vtkUnstructuredGridReader()
        reader.ReadAllScalarsOn()
    else:
        from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
        reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(file)
    reader.Update()
    grid = reader.GetOutput()
    if grid.GetNumberOfCells() > 0:
        add_grid(grid)
    return grid.GetPoints()


def read_exodus(file):
    from vtkmodules.vtkIOExodus import vtkExodusIIReader
    reader = vtkExodusIIReader()
    reader.SetFileName(file)
    reader.UpdateInformation()
    reader.SetSqueezePoints(False)  # each block has all points
    blocks = {reader.ELEM_BLOCK: 0, reader.SIDE_SET: 4, reader.NODE_SET: 7}  # of VTK's output
    objects = [(kind, i) for kind in blocks for i in range(reader.GetNumberOfObjects(kind))]
    if reader.GetNumberOfObjects(reader.ELEM_SET) > 0:
        fail("it has element sets, which would be lost; make them blocks")
    for kind, i in objects:
        reader.SetObjectStatus(kind, i, 1)
    reader.Update()
    points = None
    for kind, i in objects:
        grid = reader.GetOutput().GetBlock(blocks[kind]).GetBlock(i)
        if grid and grid.GetNumberOfCells() > 0:
            number, name = reader.GetObjectId(kind, i), reader.GetObjectName(kind, i)
            dimension = add_grid(grid, number)
            if not name.startswith("Unnamed "):
                names[dimension, number] = name
            if kind != reader.ELEM_BLOCK:
                overlapping.add(dimension)
            points = grid.GetPoints()
    return points


def read_meshio(file, name):
    """Reads a file by meshio, all whose warnings are errors. Returns the points."""
    read = importlib.import_module("meshio." + name).read
    for module in list(sys.modules.values()):
        if module.__name__.startswith("meshio.") and hasattr(module, "warn"):
            module.warn = lambda text, *_args, **_options: fail(
                f"meshio would lose data: {text.strip()} Save the mesh in another format")
    if name == "med":
        sys.modules["meshio.med._med"].med_to_meshio_type.update(QU9="quad9", H27="hexahedron27")
    mesh = read(file)
    data = mesh.cell_data
    if name != "med":
        for key, (number, dimension) in mesh.field_data.items():
            names[int(dimension), int(number)] = key
        ids = ids_in({key: np.concatenate(data[key]) for key in data},
                     sum(len(block.data) for block in mesh.cells))
    end = 0
    for block, families in zip(mesh.cells, data.get("cell_tags", itertools.repeat(None))):
        shape, nodes = block.type.rstrip("0123456789"), np.asarray(block.data)
        end += len(nodes)
        if name == "med" and block.type == "hexahedron27":
            nodes = nodes[:, MED_HEX27]
        if name != "med":
            add_by_ids(shape, nodes, ids[end - len(nodes):end])
        elif families is None:
            add(shape, nodes, [])
        else:
            for family in np.unique(families):
                add(shape, nodes[families == family], mesh.cell_tags.get(family, []))
    for family, keys in getattr(mesh, "point_tags", {}).items():
        add("vertex", np.argwhere(mesh.point_data["point_tags"] == family), keys)
    return np.asarray(mesh.points)


def write_rows(file, rows, form):
    for begin in range(0, len(rows), 100000):  # faster than numpy.savetxt()
        file.writelines(form % tuple(row) for row in rows[begin:begin + 100000].tolist())


def write(points, file):
    """Writes all groups. Names that several numbers have are ambiguous, and omitted."""
    numbers = {key: key[1] for key in groups if not isinstance(key[1], str)}
    for dimension, name in [key for key in groups if key not in numbers]:
        taken = {n for (d, _), n in numbers.items() if d == dimension}
        number = next(n for n in itertools.count(1) if n not in taken)
        numbers[dimension, name] = number
        names[dimension, number] = name
    uses = collections.Counter((dimension, name) for (dimension, _), name in names.items())
    lines = [f'{dimension} {number} "{name}"\n' for (dimension, number), name in names.items()
             if uses[dimension, name] == 1 and name and not name.isdigit()]
    file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(lines)}\n")
    file.writelines(lines)
    file.write(f"$EndPhysicalNames\n$Nodes\n{len(points)}\n")
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    write_rows(file, np.c_[1:len(points) + 1, points], "%d %.17g %.17g %.17g\n")
    n_elements = sum(len(nodes) for elements in groups.values() for _, nodes in elements)
    file.write(f"$EndNodes\n$Elements\n{n_elements}\n")
    first = 1
    for key, elements in groups.items():
        for shape, nodes in elements:
            kind, *order = TYPES[shape, nodes.shape[1]]
            entity = 1 if key[0] in overlapping else numbers[key]
            tags = np.tile((kind, 2, numbers[key], entity), (len(nodes), 1))
            nodes = nodes[:, order[0]] if order else nodes
            rows = np.c_[first:first + len(nodes), tags, nodes + 1]
            write_rows(file, rows, " ".join(["%d"] * rows.shape[1]) + "\n")
            first += len(nodes)
    file.write("$EndElements\n")


for variable in ("OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"):
    os.environ.pop(variable, None)  # otherwise Debian's h5py may start MPI
try:
    import numpy as np
    mesh_file, result = sys.argv[1:]
    extension = os.path.splitext(mesh_file)[1].lower()
    if extension in MESHIO_FORMATS:
        import meshio
        reader = f"meshio {meshio.__version__}"
        all_points = read_meshio(mesh_file, MESHIO_FORMATS[extension])
    else:
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkVersion
        end_at_error.CallDataType = "string0"
        vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", end_at_error)
        reader = f"VTK {vtkVersion.GetVTKVersion()}"
        all_points = (read_vtk if extension in (".vtu", ".vtk") else read_exodus)(mesh_file)
        all_points = vtk_to_numpy(all_points.GetData()) if groups else None
    if not groups:
        fail("it has no cells; check the file")
    with open(result, "w", encoding="utf-8") as stream:
        write(all_points, stream)
    print(reader)
except ModuleNotFoundError as error:
    package = error.name.split(".")[0]
    debian = {"vtkmodules": "vtk9"}.get(package, package.lower())
    pip = {"vtkmodules": "vtk"}.get(package, package)
    fail(f"this format needs the package {pip} of Python (Debian: apt install python3-{debian}; "
         f"otherwise: pip install {pip}); the environment variable FEMGPU_PYTHON selects another "
         f"Python than {sys.executable}")
except Exception as error:  # pylint: disable=broad-except
    traceback.print_exc()
    fail(f"{type(error).__name__}: {error}")
