#ifndef femgpu_physics_touching_parts_h
#define femgpu_physics_touching_parts_h

#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Makes one of all nodes on the boundary of @p table that are not farther apart than @p text, of
 * Mesh/Merge nodes, says. Sides that two cells have then are no part of the boundary any more. With
 * 'refuse', where parts that touch without common nodes are an error, and 'keep', where they are
 * meant, a crack or bodies beside each other, all stay.
 * @return the node that is in the place of each; nothing if all stay
 * @throws ParameterError for what is neither of these nor a positive number; InputError if a cell
 *         would have a node twice, or a face more than two cells, or if a curve would lie inside
 */
std::vector<std::size_t> merge_nodes(MeshTable &table, const std::string &text, int dim);

/**
 * Refuses cells that touch others without having nodes in common, which the solution would take
 * for a crack, and cells that lie in each other: nodes of the boundary at the same place, and nodes
 * or centres of its faces in or on cells that they do not belong to.
 * @throws InputError with the place and the cure
 */
template <int dim>
void refuse_touching_parts(const dealii::Triangulation<dim> &coarse,
                           const std::vector<std::string> &places);
} // namespace femgpu

#endif
