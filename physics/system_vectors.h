#ifndef femgpu_physics_system_vectors_h
#define femgpu_physics_system_vectors_h

#include "linalg/dealii/group_system.h"
#include "physics/discretization.h"

namespace femgpu
{
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
