#ifndef femgpu_physics_assembler_h
#define femgpu_physics_assembler_h

#include "linalg/dealii/group_system.h"
#include "physics/base/parameters.h"
#include "physics/problem.h"

/**
 * @file
 * A system and the discretisation that it is of: its pattern, what is known of its unknowns, its
 * values, and its solution.
 */
namespace femgpu
{
/**
 * Collective. Gives @p system the sparsity pattern of the discretisation: couplings within cells,
 * hanging nodes, periodic sides and Dirichlet dofs eliminated.
 */
template <int dim>
void make_pattern(const Discretization<dim> &discretization, linalg::GroupSystem &system);

/**
 * Collective. Tells @p system, which has the pattern of @p discretization, of its unknowns.
 *
 * Those of degree p are given by those of degree p/2, and so on down to 1, and those by linear
 * elements on coarser and coarser meshes, as far as cells come from refinement: P = I C_H with the
 * interpolation I on each cell and the constraints C_H of the coarser space. Rows of constrained
 * unknowns are zero, but each coarser one that is constrained is one of them: they all stand alone
 * with a positive diagonal, in A and so in PᵀAP.
 */
template <int dim>
void describe_unknowns(const Problem<dim> &problem, const Discretization<dim> &discretization,
                       WantedOfUnknowns wanted, linalg::GroupSystem &system);

/**
 * Collective. Assembles @p problem, linearised at @p u, into @p system: A, b, and the weights w of
 * a reaction. Its solution is Newton's next iterate, or, of a linear problem, which does not depend
 * on @p u, the solution. Each rank computes its cells.
 *
 * The constraints are eliminated, u = C û + g: A = Cᵀ K C, b = Cᵀ (f − K g), w = Cᵀ w_cells.
 * Constrained rows keep a positive diagonal entry and zero in b and w, so that their unknowns stay
 * zero; those of free dofs are u itself.
 *
 * So the reaction is lumped after the constraints: w_i is the integral of c times the conforming
 * shape function i by nodal quadrature, and W stays diagonal where Cᵀ diag(w_cells) C would not be.
 * On the refined side of a face with hanging nodes this puts Gauss-Lobatto's rule of the unrefined
 * side in place of that of its children; both are exact for degree 2 p − 1, so orders of
 * convergence stay what they are on meshes without hanging nodes (p + 1 in L2, p in H1).
 * @param u with constraints and ghost values; nullptr for 0
 * @throws InputError if a weight is negative; ParameterError for data without a value somewhere
 */
template <int dim>
void assemble(const Problem<dim> &problem, const Discretization<dim> &discretization,
              const FeVector *u, linalg::GroupSystem &system);

/// Writes @p u as initial guess to x of @p system; constrained unknowns are zero there.
void set_initial_guess(const FeVector &u, const dealii::AffineConstraints<double> &constraints,
                       linalg::GroupSystem &system);

/// Collective. Makes @p u of x, with its constraints and ghost values.
void get_solution(const linalg::GroupSystem &system,
                  const dealii::AffineConstraints<double> &constraints, FeVector &u);

/**
 * Collective. x ← θ x with the θ = (b, x)/(x, A x) for which the error e = A⁻¹b − x is smallest in
 * the energy norm. Then (x, A e) = 0, so that the energy and the work of the loads have an error of
 * ‖e‖²_A only, as the discretisation error has; an iteration that begins elsewhere than at 0 does
 * not see to that.
 * @return ‖b − A x‖
 */
double scale_to_energy(linalg::GroupSystem &system);
} // namespace femgpu

#endif
