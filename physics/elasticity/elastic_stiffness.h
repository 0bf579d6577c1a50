#ifndef femgpu_physics_elastic_stiffness_h
#define femgpu_physics_elastic_stiffness_h

#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>

#include <vector>

namespace femgpu
{
/**
 * Adds K_ij = ∫ λ ∂_a φ_i ∂_b φ_j + μ (∂_b φ_i ∂_a φ_j + δ_ab ∇φ_i·∇φ_j) for all shape functions of
 * a vector-valued element, where i has the component a and j has b; K becomes symmetric to the
 * last bit.
 * @param lambda at each quadrature point
 * @param mu at each quadrature point
 */
template <int dim>
void add_elastic_stiffness(const dealii::FEValues<dim> &fe, const std::vector<double> &lambda,
                           const std::vector<double> &mu, dealii::FullMatrix<double> &K);

/// The same with constant λ and μ, in half the time.
template <int dim>
void add_elastic_stiffness(const dealii::FEValues<dim> &fe, double lambda, double mu,
                           dealii::FullMatrix<double> &K);
} // namespace femgpu

#endif
