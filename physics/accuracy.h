#ifndef femgpu_physics_accuracy_h
#define femgpu_physics_accuracy_h

#include "linalg/dealii/group_system.h"
#include "physics/residual.h"

#include <string>

namespace femgpu
{
/// Collective. Measures the accuracy of @p solution, at the cost of an evaluation and two products
/// with the matrix.
/// @param system the assembled equations of @p problem, with the free dofs of the solution as x
template <int dim>
Accuracy measure_accuracy(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                          const linalg::GroupSystem &system);

/// Returns a sentence that reports @p accuracy, for messages.
std::string text_of(const Accuracy &accuracy, double tolerance);

/// Returns a sentence about the motions of linalg::ComponentDeflation, for messages.
/// @param error energy error of the motions, relative to the energy norm
std::string motions_text(double error, double tolerance);
} // namespace femgpu

#endif
