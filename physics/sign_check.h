#ifndef femgpu_physics_sign_check_h
#define femgpu_physics_sign_check_h

#include "physics/problem_tools.h"

#include <string>

namespace femgpu
{
/// What a coefficient must be.
enum class Sign
{
  positive,
  not_negative
};

/**
 * Collective. That all components of @p fields, which are of parameter @p path, have the @p sign in
 * the cells of their materials: at Gauss points if they must be positive, at nodes else. Fields
 * with u are not looked at.
 * @throws ParameterError with the place and the value
 */
template <int dim>
void check_sign(const std::string &path, Sign sign, const Discretization<dim> &discretization,
                const MaterialFields<dim> &fields);

/**
 * Collective. The largest value at the boundary of component 0 of @p fields.
 * @throws ParameterError that names @p symbol, @p path and the place where it is negative
 */
template <int dim>
double largest_coefficient(const std::string &symbol, const std::string &path,
                           const Discretization<dim> &discretization,
                           const BoundaryFields<dim> &fields);
} // namespace femgpu

#endif
