#ifndef femgpu_physics_rigid_body_modes_h
#define femgpu_physics_rigid_body_modes_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// d·u is given at a point.
template <int dim>
struct SupportedDirection
{
  dealii::Point<dim> point;
  dealii::Tensor<1, dim> direction; ///< d
};

/**
 * The rigid-body motions u = t + ω × x, 3 in 2D and 6 in 3D, that leave d·u zero at all supports:
 * the null space of the conditions on t and ω, from LAPACK's singular values.
 * @return a basis in words, such as "translation in x" and "rotation about the z axis"; empty if
 *         the body is held
 */
template <int dim>
std::vector<std::string>
free_rigid_body_modes(const std::vector<SupportedDirection<dim>> &supports);
} // namespace femgpu

#endif
