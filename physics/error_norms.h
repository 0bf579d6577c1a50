#ifndef femgpu_physics_error_norms_h
#define femgpu_physics_error_norms_h

#include "physics/discretization.h"
#include "physics/results.h"

#include <deal.II/base/function.h>
#include <deal.II/lac/vector.h>

namespace femgpu
{
/// Collective. @p u has ghost values.
template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const dealii::Function<dim> &exact);

/**
 * Collective. Kelly's indicator (Kelly, Gago, Zienkiewicz, Babuska 1983) for each active cell, zero
 * for cells of other ranks; for quadrilaterals and hexahedra.
 */
template <int dim>
dealii::Vector<float> kelly_indicators(const Discretization<dim> &discretization,
                                       const FeVector &u);
} // namespace femgpu

#endif
