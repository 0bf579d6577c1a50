#!/usr/bin/env python3
"""Writes coarse meshes of bodies with curved sides as gmsh files with names.

    curved_meshes.py DIRECTORY

tube.msh: a quarter of a hollow cylinder, radii 1 and 2, length 1, about an axis through (0.5, 0, 0)
in the direction (0, 0.6, 0.8); sides inner, outer, flat_1 and flat_2 through the axis, bottom and
top. tube_tetrahedra.msh: the same body with tetrahedra. shell.msh: an eighth of a spherical shell,
radii 1 and 2, about (0.5, 0, 0); sides inner, outer, flat_x, flat_y and flat_z. vessel.msh: a
quarter of a hollow cylinder, radii 1 and 2, about the z axis from z = -1 to 0, below half a
spherical shell; sides so and si of the sphere, co and ci of the cylinder, end, flat_x and flat_y.
Only the nodes lie on the curved sides: refinement must know the surfaces.

ring_KIND.msh and pipe_KIND.msh: quarters of a ring, radii 1 and 2, and of a pipe of height 1, with
curved cells of second order (triangle6, quad8, quad9, tet10, hex20, hex27); sides inner, outer and
ends. warped_quad9.msh: two squares with straight edges and curved interiors. dome_hex27.msh: such a
pipe between two spheres. plate_hex8.msh and plate_hex27.msh: the outline of NAFEMS LE1, 0.1 thick,
sides inner, outer, flat_x, flat_y, bottom and top. funnel.msh: a quarter of the body between two
parallel cones about the z axis, radii 1 and 2 at z = 0 and 1.5 and 2.5 at z = 1; sides inner, outer
and ends.
"""

import itertools
import math
import os
import sys

# gmsh's element types by number of nodes, for cells and for faces
CELL_KINDS, FACE_KINDS = {4: 4, 8: 5}, {3: 2, 4: 3}
# The local nodes of the faces of a cell
FACES = {8: [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
         4: [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]}


def extrude(quadrilaterals, n_nodes):
    """Returns hexahedra between two layers of the same nodes."""
    return [q + tuple(node + n_nodes for node in q) for q in quadrilaterals]


def tetrahedra(nodes, hexahedra):
    """Divides each hexahedron into six tetrahedra at its node with the lowest number. Divides each
    face at its node with the lowest number, too, so that neighbours match."""
    cells = []
    for cell in hexahedra:
        lowest = min(cell)
        for places in FACES[8]:
            face = [cell[p] for p in places]
            if lowest in face:
                continue
            first = face.index(min(face))
            a, b, c, d = face[first:] + face[:first]
            for x, y, z in ((a, b, c), (a, c, d)):
                u, v, w = ([nodes[n][i] - nodes[lowest][i] for i in range(3)] for n in (x, y, z))
                det = sum(u[i] * (v[i - 2] * w[i - 1] - v[i - 1] * w[i - 2]) for i in range(3))
                cells.append((lowest, x, y, z) if det > 0 else (lowest, y, x, z))
    return cells


def boundary_faces(cells):
    """Returns the faces that belong to one cell only."""
    faces = {}
    for cell in cells:
        for places in FACES[len(cell)]:
            face = tuple(cell[p] for p in places)
            faces.setdefault(tuple(sorted(face)), []).append(face)
    return [found[0] for found in faces.values() if len(found) == 1]


def write(path, nodes, cells, sides, side_of):
    """Writes the mesh; side_of returns the name of a boundary face with given nodes."""
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(sides) + 1)]
    lines += [f'2 {i + 1} "{name}"' for i, name in enumerate(sides)] + ['3 1 "body"']
    lines += ["$EndPhysicalNames", "$Nodes", str(len(nodes))]
    lines += [f"{i + 1} " + " ".join(f"{x:.16g}" for x in node) for i, node in enumerate(nodes)]
    elements = [(FACE_KINDS[len(face)], sides.index(side_of(face)) + 1, face)
                for face in boundary_faces(cells)]
    elements += [(CELL_KINDS[len(cell)], 1, cell) for cell in cells]
    lines += ["$EndNodes", "$Elements", str(len(elements))]
    for i, (kind, group, element) in enumerate(elements):
        text = " ".join(str(node + 1) for node in element)
        lines.append(f"{i + 1} {kind} 2 {group} {group} {text}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["$EndElements"]) + "\n")


def write_cylinder(path, origin, axes, of_tetrahedra=False):
    """Writes a quarter of a hollow cylinder; the axes are its x, y and z directions."""
    r_angle_z = [(r, i * math.pi / 4., z) for z in (0., 1.) for i in range(3) for r in (1., 2.)]
    local = [(r * math.cos(angle), r * math.sin(angle), z) for r, angle, z in r_angle_z]
    nodes = [[origin[d] + sum(x[a] * axes[a][d] for a in range(3)) for d in range(3)]
             for x in local]
    cells = extrude([(0, 1, 3, 2), (2, 3, 5, 4)], 6)

    def side_of(face):
        named = {"inner": (0, 1.), "outer": (0, 2.), "flat_1": (1, 0.),
                 "flat_2": (1, math.pi / 2.), "bottom": (2, 0.), "top": (2, 1.)}
        for name, (coordinate, value) in named.items():
            if all(r_angle_z[node][coordinate] == value for node in face):
                return name
        raise ValueError(face)

    if of_tetrahedra:
        cells = tetrahedra(nodes, cells)
    write(path, nodes, cells, ["inner", "outer", "flat_1", "flat_2", "bottom", "top"], side_of)


def write_shell(path, origin):
    """Writes an eighth of a spherical shell: three hexahedra that meet in the middle."""
    directions = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]
    unit = [[x / math.hypot(*d) for x in d] for d in directions]
    radii = (1., 2.)
    nodes = [[origin[d] + r * u[d] for d in range(3)] for r in radii for u in unit]
    cells = extrude([(0, 3, 6, 5), (1, 4, 6, 3), (2, 5, 6, 4)], len(unit))

    def side_of(face):
        for d in range(3):
            if all(directions[node % len(unit)][d] == 0 for node in face):
                return "flat_" + "xyz"[d]
        return "inner" if max(face) < len(unit) else "outer"

    write(path, nodes, cells, ["inner", "outer", "flat_x", "flat_y", "flat_z"], side_of)


def write_vessel(path):
    """Writes two hexahedra of the cylinder below three of the shell."""
    directions = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]
    unit = [[x / math.hypot(*d) for x in d] for d in directions]
    nodes = [[r * x for x in u] for r in (1., 2.) for u in unit]
    cells = extrude([(0, 3, 6, 5), (1, 4, 6, 3), (2, 5, 6, 4)], len(unit))
    rim = [(i, i + len(unit)) for i in (0, 3, 1)]  # inside and outside
    below = {}
    for node in [node for pair in rim for node in pair]:
        below[node] = len(nodes)
        nodes.append(nodes[node][:2] + [-1.])
    for (a, b), (d, c) in zip(rim, rim[1:]):
        cells.append((below[a], below[b], below[c], below[d], a, b, c, d))

    def side_of(face):
        points = [nodes[node] for node in face]
        for name, d, value in (("end", 2, -1.), ("flat_x", 0, 0.), ("flat_y", 1, 0.)):
            if all(abs(p[d] - value) < 1e-12 for p in points):
                return name
        is_sphere = all(p[2] >= 0. for p in points)
        radius = math.hypot(*(points[0] if is_sphere else points[0][:2]))
        return ("s" if is_sphere else "c") + ("i" if radius < 1.5 else "o")

    write(path, nodes, cells, ["so", "si", "co", "ci", "end", "flat_x", "flat_y"], side_of)


# Elements on a lattice of cells of size 2: gmsh's type, number of corners, and the corners around
# each node that is not a corner. Below: the types of the faces of the elements
TRIANGLE, SQUARE = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]
CUBE = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)]
CUBE_MIDDLES = CUBE + [(0, 1, 2, 3), (0, 1, 4, 5), (0, 3, 4, 7), (1, 2, 5, 6), (2, 3, 6, 7),
                       (4, 5, 6, 7), tuple(range(8))]
KINDS = {"line3": (8, 2, [(0, 1)]), "triangle6": (9, 3, TRIANGLE), "quad8": (16, 4, SQUARE),
         "quad9": (10, 4, SQUARE + [(0, 1, 2, 3)]), "quad4": (3, 4, []), "hex8": (5, 8, []),
         "tet10": (11, 4, TRIANGLE + [(0, 3), (2, 3), (1, 3)]), "hex20": (17, 8, CUBE),
         "hex27": (12, 8, CUBE_MIDDLES)}
LATTICE_FACES = {"triangle6": "line3", "quad8": "line3", "quad9": "line3", "tet10": "triangle6",
                 "hex8": "quad4", "hex20": "quad8", "hex27": "quad9"}
CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]


def lattice_cells(kind, shape):
    """Yields the corners of the cells on a lattice with `shape` cells per direction."""
    n = KINDS[kind][1]
    for base in itertools.product(*(range(0, 2 * m, 2) for m in shape)):
        corners = [tuple(map(sum, zip(base, c))) for c in CORNERS[:2 ** len(shape)]]
        if kind == "triangle6":
            yield from ([corners[i] for i in cell] for cell in ((0, 1, 2), (0, 2, 3)))
        elif kind == "tet10":  # six around the diagonal from 0 to 6
            around = (1, 2, 3, 7, 4, 5)
            yield from ([corners[i] for i in (0, around[k - 1], around[k], 6)] for k in range(6))
        else:
            yield corners[:n]


def lattice_faces(cells, n_directions):
    """Returns the corners, in cyclic order, of faces that belong to one cell only."""
    faces = {}
    for cell in cells:
        if len(cell) == 8:
            places = FACES[8]
        else:  # all but one corner, or the sides of a quadrilateral
            places = SQUARE if len(cell) == 4 and n_directions == 2 else list(
                itertools.combinations(range(len(cell)), n_directions))
        for face in ([cell[p] for p in face] for face in places):
            faces.setdefault(tuple(sorted(face)), []).append(face)
    return [found[0] for found in faces.values() if len(found) == 1]


def write_lattice(path, kind, shape, point_of, sides):
    """Writes the image of a lattice under point_of(). A side has a name, a direction of the
    lattice, and a position in that direction; any other boundary face belongs to the last side."""
    cells = list(lattice_cells(kind, shape))
    numbers, elements = {}, []

    def add(kind, group, corners):
        number, _, middles = KINDS[kind]
        places = [tuple(map(float, corner)) for corner in corners]
        places += [tuple(sum(corners[i][d] for i in around) / len(around) for d in range(len(shape)))
                   for around in middles]
        elements.append((number, group, [numbers.setdefault(p, len(numbers) + 1) for p in places]))

    for corners in lattice_faces(cells, len(shape)):
        found = [i for i, (_, d, place) in enumerate(sides)
                 if d is not None and all(corner[d] == 2 * place for corner in corners)]
        add(LATTICE_FACES[kind], (found + [len(sides) - 1])[0] + 1, corners)
    n_sides = len(elements)
    for corners in cells:
        add(kind, 1, corners)
    if kind in ("triangle6", "quad8", "tet10", "hex20"):
        write_abaqus(path[:-3] + "inp", sides,
                     [point_of(*(p / 2. for p in place)) for place in numbers], elements, n_sides)
    dim = len(shape)
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(sides) + 1)]
    lines += [f'{dim - 1} {i + 1} "{side[0]}"' for i, side in enumerate(sides)]
    lines += [f'{dim} 1 "body"', "$EndPhysicalNames", "$Nodes", str(len(numbers))]
    for place, number in numbers.items():
        lines.append(f"{number} " + " ".join(f"{x:.16g}" for x in point_of(*(p / 2. for p in place))))
    lines += ["$EndNodes", "$Elements", str(len(elements))]
    lines += [f"{i + 1} {number} 2 {group} {group} " + " ".join(map(str, nodes))
              for i, (number, group, nodes) in enumerate(elements)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["$EndElements"]) + "\n")


# Abaqus' types by gmsh's types, for cells and for their sides, with the positions of their nodes in
# gmsh; only corners for sides
ABAQUS_CELLS = {9: ("CPS6", range(6)), 16: ("CPS8", range(8)), 11: ("C3D10", (*range(8), 9, 8)),
                17: ("C3D20", (*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15))}
ABAQUS_SIDES = {8: ("T3D2", range(2)), 9: ("S3", range(3)), 16: ("S4", range(4))}


def write_abaqus(path, sides, points, elements, n_sides):
    """Writes an Abaqus file; the first n_sides elements are sides."""
    lines = ["*NODE"]
    lines += [", ".join([str(i + 1), *(f"{x:.16g}" for x in p)]) for i, p in enumerate(points)]
    for i, (number, group, nodes) in enumerate(elements):
        kind, order = (ABAQUS_SIDES if i < n_sides else ABAQUS_CELLS)[number]
        name = sides[group - 1][0] if i < n_sides else "body"
        words = [str(i + 1), *(str(nodes[k]) for k in order)]
        lines.append(f"*ELEMENT, TYPE={kind}, ELSET={name}")
        lines += [", ".join(words[:11]) + ("," if len(words) > 11 else "")]
        lines += [", ".join(words[11:])] if len(words) > 11 else []
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def write_lattices(directory):
    """Writes the bodies that are images of a lattice."""
    def path(name):
        return os.path.join(directory, name + ".msh")

    def cone(growth):
        return lambda i, j, k=0.: ((1. + i + growth * k) * math.cos(j * math.pi / 4.),
                                   (1. + i + growth * k) * math.sin(j * math.pi / 4.), k)

    def plate(i, j, k):
        s, t = i / 3., j * math.pi / 16.
        return (2. + 1.25 * s) * math.cos(t), (1. + 1.75 * s) * math.sin(t), 0.1 * k

    def dome(i, j, k):
        t, s = j * math.pi / 4., k * math.pi / 4.
        return ((1. + i) * math.cos(t) * math.cos(s), (1. + i) * math.sin(t) * math.cos(s),
                (1. + i) * math.sin(s))

    around = [("inner", 0, 0), ("outer", 0, 1), ("ends", None, None)]
    for kind in ("triangle6", "quad8", "quad9"):
        write_lattice(path("ring_" + kind), kind, (1, 2), cone(0.), around)
    for kind in ("tet10", "hex20", "hex27"):
        write_lattice(path("pipe_" + kind), kind, (1, 2, 1), cone(0.), around)
    write_lattice(path("warped_quad9"), "quad9", (1, 2), lambda i, j: (
        i + 0.1 * math.sin(math.pi * i) * math.sin(math.pi * j), j, 0.), around)
    write_lattice(path("dome_hex27"), "hex27", (1, 2, 1), dome, around)
    write_lattice(path("funnel"), "hex8", (1, 2, 1), cone(0.5), around)
    for kind in ("hex8", "hex27"):
        write_lattice(path("plate_" + kind), kind, (3, 8, 1), plate,
                      [("inner", 0, 0), ("outer", 0, 3), ("flat_y", 1, 0), ("flat_x", 1, 8),
                       ("bottom", 2, 0), ("top", 2, 1)])


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for name, of_tetrahedra in (("tube.msh", False), ("tube_tetrahedra.msh", True)):
        write_cylinder(os.path.join(directory, name), (0.5, 0., 0.),
                       ((1., 0., 0.), (0., 0.8, -0.6), (0., 0.6, 0.8)), of_tetrahedra)
    write_shell(os.path.join(directory, "shell.msh"), (0.5, 0., 0.))
    write_vessel(os.path.join(directory, "vessel.msh"))
    write_lattices(directory)


if __name__ == "__main__":
    main()
