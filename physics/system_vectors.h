#ifndef femgpu_physics_system_vectors_h
#define femgpu_physics_system_vectors_h

#include "linalg/dealii/node_system.h"
#include "physics/discretization.h"

namespace femgpu
{
/// Writes @p u as initial guess to x of @p system; constrained unknowns are zero there.
void set_initial_guess(const FeVector &u, const dealii::AffineConstraints<double> &constraints,
                       linalg::NodeSystem &system);

/// Collective. Makes @p u of x, with its constraints and ghost values.
void get_solution(const linalg::NodeSystem &system,
                  const dealii::AffineConstraints<double> &constraints, FeVector &u);
} // namespace femgpu

#endif
