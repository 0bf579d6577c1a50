#ifndef femgpu_physics_deal_ii_compat_h
#define femgpu_physics_deal_ii_compat_h

/**
 * @file
 * Where deal.II's interface differs between 9.4 and 9.8; nothing else in femgpu asks for a version.
 * - SolutionTransfer: one class for serial and distributed meshes since 9.7.
 * - Tests of the reference cell: the mixed-mesh functions moved and changed their names.
 * - VtkFlags: the defaults changed, so femgpu sets every member it relies on.
 */

#include <deal.II/base/config.h>

#include <deal.II/base/data_out_base.h>

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

/// Fast compression, and cells of degree > 1 if @p higher_order.
inline dealii::DataOutBase::VtkFlags vtk_flags(const bool higher_order)
{
  dealii::DataOutBase::VtkFlags flags;
#if DEAL_II_VERSION_GTE(9, 5, 0)
  flags.compression_level = dealii::DataOutBase::CompressionLevel::best_speed;
#else
  flags.compression_level = dealii::DataOutBase::VtkFlags::best_speed;
#endif
  flags.write_higher_order_cells = higher_order;
  flags.print_date_and_time = false; // the same run gives the same bits
  return flags;
}
} // namespace femgpu::compat

#endif
