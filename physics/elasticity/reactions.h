#ifndef femgpu_physics_reactions_h
#define femgpu_physics_reactions_h

#include "physics/elasticity/elastic_supports.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/tensor.h>

#include <map>

namespace femgpu
{
/// A force and its moment about a point that is the same for all; in 2D force_z, moment_x and
/// moment_y are zero.
struct Wrench
{
  dealii::Tensor<1, 3> force, moment;

  /// Adds the component @p c of a force that acts @p arm away from the point.
  template <int dim>
  void add(const dealii::Tensor<1, dim> &arm, const unsigned int c, const double value)
  {
    dealii::Tensor<1, 3> f, x;
    f[c] = value;
    for (unsigned int a = 0; a < dim; ++a)
      x[a] = arm[a];
    force += f;
    moment += cross_product_3d(x, f);
  }
};

/// Collective. The sum of what the ranks have.
Wrench sum_of(const Wrench &wrench, MPI_Comm communicator);

/// What the supports exert.
struct Reactions
{
  std::map<dealii::types::boundary_id, Wrench> by_id;
  double sum_of_magnitudes = 0.; ///< of all components at all nodes, in N
};

/**
 * Collective. The forces of the supports, minus the residual f − K u at the nodes on each part of
 * the boundary that is held there. A component at a node that several parts hold counts for the
 * one with the smallest id, so that nothing counts twice.
 * @param residual of the dofs that this rank owns
 */
template <int dim>
Reactions compute_reactions(const ElasticSupports<dim> &supports,
                            const Discretization<dim> &discretization, const FeVector &residual,
                            const dealii::Point<dim> &moment_point);
} // namespace femgpu

#endif
