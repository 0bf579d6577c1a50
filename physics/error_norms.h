#ifndef femgpu_physics_error_norms_h
#define femgpu_physics_error_norms_h

#include "physics/discretization.h"
#include "physics/results.h"

#include <deal.II/base/function.h>

namespace femgpu
{
/// Collective. @p u has ghost values.
template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const dealii::Function<dim> &exact);
} // namespace femgpu

#endif
