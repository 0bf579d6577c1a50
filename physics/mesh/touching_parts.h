#ifndef femgpu_physics_touching_parts_h
#define femgpu_physics_touching_parts_h

#include "physics/mesh/mesh_table.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * The largest distance of nodes that become one, as @p text of Mesh/Merge nodes says it; 0 for
 * 'refuse', where parts that touch without common nodes are an error, and 'keep', where they are
 * meant: a crack, or bodies beside each other.
 * @throws ParameterError for what is neither of these nor a positive number
 */
double merge_tolerance(const std::string &text);

/**
 * Makes one of all nodes on the boundary of @p coarse that are not farther apart than @p tolerance.
 * Faces that two cells have then are no part of the boundary any more. Cells keep their order.
 * @param middles nodes of second order, whose corners move with the nodes
 * @param places the beginning of messages for each cell
 * @return the number of nodes that have gone
 * @throws InputError if a cell would have a node twice, or a face more than two cells
 */
template <int dim>
unsigned int merge_nodes(dealii::Triangulation<dim> &coarse, double tolerance,
                         std::vector<MiddleNode> &middles, const std::vector<std::string> &places);

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
