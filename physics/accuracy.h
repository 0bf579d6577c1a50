#ifndef femgpu_physics_accuracy_h
#define femgpu_physics_accuracy_h

#include "linalg/dealii/group_system.h"
#include "physics/residual.h"

#include <string>

namespace femgpu
{
/// Collective. Measures the accuracy of @p solution. The cost is two products with the matrix and,
/// unless the evaluation is cached, DiscreteSolution::evaluation().
/// @param system the assembled equations of @p problem; x contains the free dofs of the solution
template <int dim>
Accuracy measure_accuracy(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                          const linalg::GroupSystem &system);

/// Returns a sentence for messages. It compares the residual, relative to the internal forces, with
/// @p tolerance.
std::string text_of(const Accuracy &accuracy, double tolerance);

/// Returns a sentence for messages about errors in the motions (constants or rigid-body motions) of
/// weakly supported parts, which linalg::ComponentDeflation corrects.
/// @param error energy error of the motions, relative to the energy norm of the solution
std::string motions_text(double error, double tolerance);
} // namespace femgpu

#endif
