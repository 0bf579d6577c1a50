#ifndef femgpu_app_node_fields_h
#define femgpu_app_node_fields_h

#include "physics/residual.h"

#include <deal.II/lac/vector.h>

#include <cstdint>
#include <string>
#include <vector>

namespace femgpu
{
/// Numbers of a field, one row for each node or cell of this rank.
struct OutputField
{
  std::string name;
  unsigned int n_components;
  std::vector<double> values;
};

/**
 * A solution as files for ParaView have it: the nodes of a rank's cells, each once for every
 * material that it has there, cells by the numbers of their nodes in VTK's order, and fields.
 * Continuous fields have their values at the nodes; what is derived from gradients, which jump from
 * cell to cell, has the mean of the cells of a material around a node, those of other ranks too.
 * Vectors have 3 components, symmetric tensors 6: xx, yy, zz, xy, yz, xz.
 */
template <int dim>
class NodeFields
{
public:
  /**
   * Collective.
   * @param has_nodal_fields with Problem::nodal_fields()
   * @param indicators of active cells; empty: none
   */
  NodeFields(const Problem<dim> &problem, DiscreteSolution<dim> &solution, bool has_nodal_fields,
             const dealii::Vector<float> &indicators);

  std::size_t n_nodes() const
  {
    return places.size() / 3;
  }
  std::size_t n_cells() const
  {
    return n_nodes_of_cell == 0 ? 0 : nodes_of_cells.size() / n_nodes_of_cell;
  }

  unsigned int n_nodes_of_cell = 0;
  std::uint8_t cell_type = 0;               ///< VTK's number
  std::vector<double> places;               ///< 3 for each node
  std::vector<std::int64_t> nodes_of_cells; ///< of this rank, from 0
  std::vector<OutputField> at_nodes, in_cells;

private:
  class Builder;
};
} // namespace femgpu

#endif
