#ifndef femgpu_app_node_fields_h
#define femgpu_app_node_fields_h

#include "app/output_array.h"
#include "physics/residual.h"

#include <deal.II/lac/vector.h>

#include <vector>

namespace femgpu
{
/// How a solution is written.
struct NodeFieldOptions
{
  bool shares_nodes;     ///< have cells nodes in common, or each its own?
  FileNumber real;       ///< of coordinates and fields
  bool has_nodal_fields; ///< with Problem::nodal_fields()
};

/**
 * A solution as files for ParaView have it: nodes, cells by the numbers of their nodes in VTK's
 * order, and fields. Cells that share their nodes have each once for every material that a rank has
 * there; what is derived from gradients, which jump from cell to cell, then is the mean of the
 * cells of a material around a node, those of other ranks too. Vectors have 3 components, symmetric
 * tensors 6: xx, yy, zz, xy, yz, xz.
 */
struct NodeFields
{
  std::size_t n_cells() const
  {
    return connectivity.n_rows() / n_nodes_of_cell;
  }
  /// VTK's number of the type of all cells, for each.
  OutputArray types() const
  {
    return arithmetic_sequence("types", FileNumber::uint8, cell_type, 0, n_cells());
  }

  unsigned int cell_type = 0; ///< VTK's number
  std::size_t n_nodes_of_cell = 0;
  OutputArray points;       ///< 3 coordinates of each node
  OutputArray connectivity; ///< nodes of each cell by their numbers on this rank, from 0
  std::vector<OutputArray> at_nodes, in_cells;
};

/// Collective, by one pass over the cells. @param indicators of active cells; empty: none
template <int dim>
NodeFields node_fields(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                       const NodeFieldOptions &options, const dealii::Vector<float> &indicators);
} // namespace femgpu

#endif
