#ifndef femgpu_physics_rigid_body_modes_h
#define femgpu_physics_rigid_body_modes_h

#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// A support that prescribes d·u at a point.
template <int dim>
struct SupportedDirection
{
  dealii::Point<dim> point;
  dealii::Tensor<1, dim> direction; ///< d
};

/**
 * Finds the rigid-body motions u = t + ω × x (3 in 2D, 6 in 3D) for which d·u is zero at all
 * supports: the null space of the conditions on t and ω, from LAPACK's singular value
 * decomposition.
 * @return descriptions of a basis, such as "translation in x" and "rotation about the z axis";
 * empty if the supports prevent all motions
 */
template <int dim>
std::vector<std::string>
free_rigid_body_modes(const std::vector<SupportedDirection<dim>> &supports);
} // namespace femgpu

#endif
