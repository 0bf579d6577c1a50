#ifndef femgpu_physics_error_norms_h
#define femgpu_physics_error_norms_h

#include "physics/discretization.h"
#include "physics/results.h"
#include "physics/solution_norms.h"

#include <deal.II/base/function.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

namespace femgpu
{
/// Collective. @p u has ghost values.
template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const dealii::Function<dim> &exact);

/// Collective. @p u has ghost values.
template <int dim>
SolutionNorms solution_norms(const Discretization<dim> &discretization, const FeVector &u);

/// Distance of the points of gradient_by_differences() in @p cell: a part of the cell's size, so
/// that differences see singularities as the mesh does, and never leave the cell.
template <class Cell>
double difference_step(const Cell &cell)
{
  return 0.01 * cell.minimum_vertex_distance();
}

/// ∂_a of a component at @p p, by differences of fourth order over distances up to 2 @p step.
template <int dim>
dealii::Tensor<1, dim> gradient_by_differences(const dealii::Function<dim> &function,
                                               const dealii::Point<dim> &p, unsigned int component,
                                               double step);
} // namespace femgpu

#endif
