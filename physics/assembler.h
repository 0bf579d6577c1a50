#ifndef femgpu_physics_assembler_h
#define femgpu_physics_assembler_h

#include "linalg/dealii/group_system.h"
#include "physics/problem.h"

#include <vector>

namespace femgpu
{
/**
 * Collective. Assembles @p problem, linearised at @p u, into @p system: A, b, and the weights w of
 * a reaction. The solution of the system is the next iterate of Newton's method. For a linear
 * problem, this iterate is the solution and does not depend on @p u. Each rank assembles its own
 * cells.
 *
 * Constraints are eliminated, u = C û + g: A = Cᵀ K C, b = Cᵀ (f − K g), w = Cᵀ w_cells.
 * Constrained rows have a positive diagonal entry and zero in b and w, so that their unknowns stay
 * zero. The unknowns of free dofs equal u.
 *
 * The reaction is lumped after the elimination of constraints: w_i is the integral of c
 * times the conforming shape function i by nodal quadrature. W stays diagonal, unlike
 * Cᵀ diag(w_cells) C. On the refined side of a face with hanging nodes, this amounts to the
 * Gauss-Lobatto rule of the whole face instead of the rules of its children. Both are exact for
 * polynomials of degree 2p − 1, so the orders of convergence are those of meshes without hanging
 * nodes (p + 1 in L2, p in H1).
 * @param u the function at which to linearise, with constraints and ghost values; nullptr for 0
 * @throws InputError if a weight is negative
 * @throws ParameterError if data cannot be evaluated at a point
 */
template <int dim>
void assemble(const Problem<dim> &problem, const Discretization<dim> &discretization,
              const FeVector *u, linalg::GroupSystem &system);

/**
 * Collective. Assembles the right-hand side of a linear problem in @p system, Cᵀ (f − K g), from a
 * part of the cells. The matrix is unchanged.
 * @param includes selects cells by their position in Discretization::owned_cells()
 * @throws ParameterError if data cannot be evaluated at a point
 */
template <int dim>
void assemble_rhs(const Problem<dim> &problem, const Discretization<dim> &discretization,
                  const std::vector<bool> &includes, linalg::GroupSystem &system);

/// Copies @p u to x of @p system as initial guess, with constrained unknowns set to zero.
void set_initial_guess(const FeVector &u, const dealii::AffineConstraints<double> &constraints,
                       linalg::GroupSystem &system);

/// Collective. Copies x of @p system to @p u, applies the constraints and updates ghost values.
void get_solution(const linalg::GroupSystem &system,
                  const dealii::AffineConstraints<double> &constraints, FeVector &u);

/**
 * Collective. Multiplies x by θ = (b, x)/(x, A x), which minimises the energy norm of the error
 * e = A⁻¹b − x. Then (x, A e) = 0, so the errors of the energy and of the work of the loads are
 * proportional to ‖e‖²_A, like the corresponding errors of the discretisation. Without the
 * scaling, this holds only if the iteration starts from 0.
 * @return ‖b − A x‖
 */
double scale_to_energy(linalg::GroupSystem &system);
} // namespace femgpu

#endif
