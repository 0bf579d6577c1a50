#ifndef femgpu_physics_data_checks_h
#define femgpu_physics_data_checks_h

#include "physics/parameter_fields.h"

#include <string>

namespace femgpu
{
/**
 * Collective. Checks the sign of all components of @p fields, of parameter @p path, in the cells of
 * their materials: at nodes if @p may_be_zero, else at Gauss points. Skips fields that depend on u.
 * @throws ParameterError with the location and the value
 */
template <int dim>
void check_sign(bool may_be_zero, const std::string &path,
                const Discretization<dim> &discretization, const MaterialFields<dim> &fields);

/**
 * Collective. Returns the largest value of component 0 of @p fields at Gauss points of the
 * boundary.
 * @throws ParameterError with @p symbol, @p path and the location if a value is negative
 */
template <int dim>
double largest_coefficient(const std::string &symbol, const std::string &path,
                           const Discretization<dim> &discretization,
                           const BoundaryFields<dim> &fields);

/// Checks that the values @p c of parameter @p path at the points of @p at, where they depend on u,
/// are positive. @throws ParameterError with the location and u
template <int dim>
void require_positive(const std::string &path, const PointBatch<dim> &at,
                      const std::vector<double> &c);
} // namespace femgpu

#endif
