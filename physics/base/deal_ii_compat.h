#ifndef femgpu_physics_base_deal_ii_compat_h
#define femgpu_physics_base_deal_ii_compat_h

/**
 * @file
 * Wrappers for interfaces that differ between deal.II 9.4 and 9.8. No other file of femgpu checks
 * deal.II's version.
 * - SolutionTransfer: one class for serial and distributed meshes since 9.7.
 * - AffineConstraints::reinit() also takes the owned dofs since 9.6.
 * - A triangulation's get_communicator() is called get_mpi_communicator() since 9.7.
 */

#include <deal.II/base/config.h>

#include <deal.II/base/index_set.h>
#include <deal.II/lac/affine_constraints.h>

#if DEAL_II_VERSION_GTE(9, 7, 0)
#include <deal.II/numerics/solution_transfer.h>
#else
#include <deal.II/distributed/solution_transfer.h>
#endif

namespace femgpu::compat
{
#if DEAL_II_VERSION_GTE(9, 7, 0)
template <int dim, class Vector>
using SolutionTransfer = dealii::SolutionTransfer<dim, Vector>;
#else
template <int dim, class Vector>
using SolutionTransfer = dealii::parallel::distributed::SolutionTransfer<dim, Vector>;
#endif

inline void reinit(dealii::AffineConstraints<double> &constraints, const dealii::IndexSet &owned,
                   const dealii::IndexSet &relevant)
{
#if DEAL_II_VERSION_GTE(9, 6, 0)
  constraints.reinit(owned, relevant);
#else
  (void)owned;
  constraints.reinit(relevant);
#endif
}

template <class Triangulation>
MPI_Comm communicator(const Triangulation &triangulation)
{
#if DEAL_II_VERSION_GTE(9, 7, 0)
  return triangulation.get_mpi_communicator();
#else
  return triangulation.get_communicator();
#endif
}
} // namespace femgpu::compat

#endif
