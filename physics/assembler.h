#ifndef femgpu_physics_assembler_h
#define femgpu_physics_assembler_h

#include "linalg/dealii/group_system.h"
#include "physics/problem.h"

namespace femgpu
{
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
