#ifndef femgpu_physics_accuracy_h
#define femgpu_physics_accuracy_h

#include "linalg/dealii/group_system.h"
#include "physics/problem.h"

namespace femgpu
{
/// Collective. Judges @p u, whose free dofs are x of @p system, by one pass over the cells and two
/// over the matrix. @param system the assembled equations of @p problem at u; @param u has ghost
/// values
template <int dim>
Accuracy measure_accuracy(const Problem<dim> &problem, const Discretization<dim> &discretization,
                          const linalg::GroupSystem &system, const FeVector &u);
} // namespace femgpu

#endif
