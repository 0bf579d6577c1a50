#ifndef femgpu_physics_error_norms_h
#define femgpu_physics_error_norms_h

#include "physics/discretization.h"
#include "physics/mean_value.h"
#include "physics/results.h"

namespace femgpu
{
/// Collective. @p u has ghost values.
template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const ComparableSolution<dim> &exact);
} // namespace femgpu

#endif
