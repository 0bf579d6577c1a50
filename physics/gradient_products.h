#ifndef femgpu_physics_gradient_products_h
#define femgpu_physics_gradient_products_h

#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>

namespace femgpu
{
/**
 * Adds K_ij += weight ∇φ_i·∇φ_j at quadrature point @p q for all shape functions of a scalar
 * element; K stays symmetric to the last bit. Most of the time that assembling takes at higher
 * degree goes here.
 */
template <int dim>
void add_gradient_products(const dealii::FEValues<dim> &fe, unsigned int q, double weight,
                           dealii::FullMatrix<double> &K);

/// The same with a weight for each direction: K_ij += Σ_d weight_d ∂_d φ_i ∂_d φ_j.
template <int dim>
void add_gradient_products(const dealii::FEValues<dim> &fe, unsigned int q,
                           const dealii::Tensor<1, dim> &weights, dealii::FullMatrix<double> &K);
} // namespace femgpu

#endif
