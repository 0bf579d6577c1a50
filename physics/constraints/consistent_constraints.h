#ifndef femgpu_physics_consistent_constraints_h
#define femgpu_physics_consistent_constraints_h

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>
#include <deal.II/lac/affine_constraints.h>

namespace femgpu
{
/**
 * Collective. Gives @p constraints, which are not closed yet, the owners' lines for all other dofs:
 * the relevant ones, those that their lines depend on, and so on. Every rank sees all cells around
 * the dofs it owns, so its lines for these are complete. For a ghost they need not be: it may be on
 * a boundary or depend on a cell that only others see.
 * AffineConstraints::make_consistent_in_parallel() of deal.II 9.4.1 leaves some of them as they
 * are: tests/physics/hanging_nodes_at_corner.prm has a mesh where that shows with 4 ranks.
 */
void take_lines_of_owners(const dealii::IndexSet &owned, const dealii::IndexSet &relevant,
                          MPI_Comm communicator, dealii::AffineConstraints<double> &constraints);
} // namespace femgpu

#endif
