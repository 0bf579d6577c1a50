#ifndef femgpu_physics_touching_parts_h
#define femgpu_physics_touching_parts_h

#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Merges boundary nodes of @p table whose distance is at most @p text, the value of Mesh/Merge
 * nodes. Sides that then belong to two cells are no longer part of the boundary. With 'refuse'
 * (touching parts without common nodes are an error) and 'keep' (they are intended: a crack, or
 * separate bodies), all nodes are kept.
 * @return for each node, the node that replaces it; empty if all nodes are kept
 * @throws ParameterError if @p text is not 'refuse', 'keep' or a positive number
 * @throws InputError if, after merging, a cell would have a node twice, a face would belong to more
 * than two cells, or a curve would be in the interior
 */
std::vector<std::size_t> merge_nodes(MeshTable &table, const std::string &text, int dim);

/**
 * Rejects meshes with cells that overlap, or that touch without common nodes, where the solution
 * would be discontinuous as at a crack. Searches for boundary nodes with equal coordinates and for
 * boundary nodes in or on other cells; for boundary cells, also for centers of the cell and of its
 * boundary faces in other cells.
 * @param locations for each cell, the beginning of messages about it
 * @throws InputError with the location and the remedy if there are such cells
 */
template <int dim>
void refuse_touching_parts(const dealii::Triangulation<dim> &coarse,
                           const std::vector<std::string> &locations);
} // namespace femgpu

#endif
