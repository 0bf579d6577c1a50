#ifndef femgpu_physics_assembler_h
#define femgpu_physics_assembler_h

#include "linalg/dealii/node_system.h"
#include "physics/problem.h"

namespace femgpu
{
/**
 * Collective. Gives @p system the sparsity pattern of the discretisation: couplings within cells,
 * hanging nodes and Dirichlet dofs eliminated.
 */
template <int dim>
void make_pattern(const Discretization<dim> &discretization, linalg::NodeSystem &system);

/// What assemble() computes.
enum class Assembly
{
  matrix_and_rhs,
  rhs ///< with homogeneous constraints only: others reach the right-hand side through the matrix
};

/**
 * Collective. Assembles @p problem into @p system. Each rank computes its cells, with the threads
 * that deal.II has; the result does not depend on their number. Constrained rows keep a positive
 * diagonal entry and zero on the right, so that their unknowns stay zero.
 * @param u the state of a nonlinear problem, with ghost values; nullptr for linear problems
 * @param constraints inhomogeneous for a linear problem, homogeneous for an update
 */
template <int dim>
void assemble(const Problem<dim> &problem, const Discretization<dim> &discretization,
              const dealii::AffineConstraints<double> &constraints, const FeVector *u,
              Assembly what, linalg::NodeSystem &system);
} // namespace femgpu

#endif
