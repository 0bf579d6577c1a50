#include "physics/gradient_products.h"

#include <deal.II/base/utilities.h>

#include <array>

namespace femgpu
{
using namespace dealii;

template <int dim>
void add_gradient_products(const FEValues<dim> &fe, const unsigned int q, const double weight,
                           FullMatrix<double> &K)
{
  constexpr unsigned int most_dofs = Utilities::pow(5, dim); // FE_Q(4)
  const unsigned int n = fe.dofs_per_cell;
  AssertIndexRange(n, most_dofs + 1);
  // By component, so that the loop over j is one of vector operations.
  std::array<std::array<double, most_dofs>, dim> gradients;
  for (unsigned int j = 0; j < n; ++j)
    for (int d = 0; d < dim; ++d)
      gradients[d][j] = fe.shape_grad(j, q)[d];
  for (unsigned int i = 0; i < n; ++i) {
    double *const row = &K(i, 0);
    for (unsigned int j = 0; j < n; ++j) {
      double product = gradients[0][i] * gradients[0][j];
      for (int d = 1; d < dim; ++d)
        product += gradients[d][i] * gradients[d][j];
      row[j] += weight * product;
    }
  }
}

template <int dim>
void add_gradient_products(const FEValues<dim> &fe, const unsigned int q,
                           const Tensor<1, dim> &weights, FullMatrix<double> &K)
{
  const unsigned int n = fe.dofs_per_cell;
  for (unsigned int i = 0; i < n; ++i)
    for (unsigned int j = 0; j < n; ++j) {
      double product = 0.;
      for (int d = 0; d < dim; ++d)
        product += weights[d] * (fe.shape_grad(i, q)[d] * fe.shape_grad(j, q)[d]);
      K(i, j) += product;
    }
}

template void add_gradient_products<2>(const FEValues<2> &, unsigned int, double,
                                       FullMatrix<double> &);
template void add_gradient_products<3>(const FEValues<3> &, unsigned int, double,
                                       FullMatrix<double> &);
template void add_gradient_products<2>(const FEValues<2> &, unsigned int, const Tensor<1, 2> &,
                                       FullMatrix<double> &);
template void add_gradient_products<3>(const FEValues<3> &, unsigned int, const Tensor<1, 3> &,
                                       FullMatrix<double> &);
} // namespace femgpu
