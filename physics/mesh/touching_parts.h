#ifndef femgpu_physics_touching_parts_h
#define femgpu_physics_touching_parts_h

#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Merges boundary nodes of @p table. @p text, the value of Mesh/Merge nodes, is the largest
 * distance of nodes to be merged. Sides that then belong to two cells are no longer part of the
 * boundary. If @p text is 'refuse' (touching parts without common nodes are an error) or 'keep'
 * (they are intended: a crack, or separate bodies), no nodes are merged.
 * @return for each node, the node that replaces it; empty if no nodes are merged
 * @throws ParameterError if @p text is not 'refuse', 'keep' or a positive number
 * @throws InputError if, after merging, a cell would have a node twice, a face would belong to more
 * than two cells, or a curve would be in the interior
 */
std::vector<std::size_t> merge_nodes(MeshTable &table, const std::string &text, int dim);

/**
 * Rejects meshes with cells that overlap, or that touch without common nodes, where the solution
 * would be discontinuous as at a crack. Checks whether boundary nodes coincide, or lie in or on
 * other cells, and whether the centers of boundary cells and of boundary faces lie in other cells.
 * @param locations for each cell, the beginning of messages about it
 * @throws InputError with the location and the remedy if there are such cells
 */
template <int dim>
void refuse_touching_parts(const dealii::Triangulation<dim> &coarse,
                           const std::vector<std::string> &locations);
} // namespace femgpu

#endif
