#ifndef femgpu_physics_simplex_split_h
#define femgpu_physics_simplex_split_h

#include "physics/mesh/mesh_table.h"

/**
 * @file
 * Splits the cells of a mesh file into triangles or tetrahedra. Does not depend on deal.II.
 */
namespace femgpu
{
/// Returns whether the cells of dimension @p dim are of several kinds, prisms or pyramids, which
/// deal.II's elements and refinement do not support.
bool must_be_split(const MeshTable &table, int dim);

/**
 * Splits the cells of @p table into triangles or tetrahedra, and quadrilaterals on the boundary
 * into triangles. The parts have the ids and locations of the original elements.
 *
 * Each quadrilateral face is split along the diagonal through its node of lowest rank, so that both
 * adjacent cells get the same triangles (Dompierre, Labbé, Vallet and Camarero, "How to subdivide
 * pyramids, prisms and hexahedra into tetrahedra", 1999). A cell is then split into tetrahedra from
 * its node of lowest rank to the triangles of the other faces: 2 for a pyramid, 3 for a prism, 6
 * for a hexahedron, or 5 if no diagonal ends at the opposite node. The rank of a node is its index,
 * unless a quadrilateral meets two triangles of neighbours: ranks are then chosen such that the
 * quadrilateral gets these triangles. If a part would be inverted because faces are warped, the
 * cell is split from a new node at its centre. In 2D, quadrilaterals are split along the diagonal
 * with the larger smallest part. Mid-side nodes remain nodes of their edges.
 * @param is_requested whether Mesh/Cells requests simplices, for the warning that is added
 * @throws InputError if a cell is curved by nodes of second order, if its parts would be inverted,
 * or if no order of the nodes fits triangles that meet quadrilaterals
 */
void split_into_simplices(MeshTable &table, int dim, bool is_requested);
} // namespace femgpu

#endif
