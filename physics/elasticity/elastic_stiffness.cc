#include "physics/elasticity/elastic_stiffness.h"

#include <deal.II/base/utilities.h>

#include <array>

namespace femgpu
{
using namespace dealii;

namespace
{
/// M_ij = ∫ weight ∂_a φ_i ∂_b φ_j for j <= i, where i has the component a and j has b. All that
/// stiffness is made of: a point costs one product of a column with a row.
template <int dim>
FullMatrix<double> derivative_products(const FEValues<dim> &fe, const std::vector<double> &weights)
{
  constexpr unsigned int most_dofs = dim * Utilities::pow(5, dim); // FE_Q(4)
  const unsigned int n = fe.dofs_per_cell;
  AssertIndexRange(n, most_dofs + 1);
  FullMatrix<double> M(n, n);
  std::array<double, most_dofs> derivatives;
  for (const unsigned int q : fe.quadrature_point_indices()) {
    for (unsigned int i = 0; i < n; ++i)
      derivatives[i] = fe.shape_grad(i, q)[fe.get_fe().system_to_component_index(i).first];
    const double weight = weights[q] * fe.JxW(q);
    for (unsigned int i = 0; i < n; ++i) {
      double *const row = &M(i, 0);
      const double factor = weight * derivatives[i];
      for (unsigned int j = 0; j <= i; ++j)
        row[j] += factor * derivatives[j];
    }
  }
  return M;
}

/// K += stiffness of the two matrices that derivative_products() gives.
template <int dim>
void add_products(const FEValues<dim> &fe, const FullMatrix<double> &with_lambda,
                  const FullMatrix<double> &with_mu, const double lambda, const double mu,
                  FullMatrix<double> &K)
{
  const FiniteElement<dim> &element = fe.get_fe();
  const unsigned int n_nodes = fe.dofs_per_cell / dim;
  // by node and component; M is symmetric and has its lower half
  std::vector<std::array<unsigned int, dim>> dofs(n_nodes);
  for (unsigned int node = 0; node < n_nodes; ++node)
    for (unsigned int c = 0; c < dim; ++c)
      dofs[node][c] = element.component_to_system_index(c, node);
  const auto entry = [](const FullMatrix<double> &M, const unsigned int i, const unsigned int j) {
    return i >= j ? M(i, j) : M(j, i);
  };
  for (unsigned int node = 0; node < n_nodes; ++node)
    for (unsigned int other = 0; other <= node; ++other) {
      double product = 0.;
      for (unsigned int c = 0; c < dim; ++c)
        product += entry(with_mu, dofs[node][c], dofs[other][c]);
      for (unsigned int a = 0; a < dim; ++a)
        for (unsigned int b = 0; b < dim; ++b) {
          const unsigned int i = dofs[node][a], j = dofs[other][b];
          if (node == other && b > a)
            continue;
          const double value =
              lambda * entry(with_lambda, i, j) +
              mu * (entry(with_mu, dofs[node][b], dofs[other][a]) + (a == b ? product : 0.));
          K(i, j) += value;
          if (i != j)
            K(j, i) += value;
        }
    }
}
} // namespace

template <int dim>
void add_elastic_stiffness(const FEValues<dim> &fe, const std::vector<double> &lambda,
                           const std::vector<double> &mu, FullMatrix<double> &K)
{
  add_products(fe, derivative_products(fe, lambda), derivative_products(fe, mu), 1., 1., K);
}

template <int dim>
void add_elastic_stiffness(const FEValues<dim> &fe, const double lambda, const double mu,
                           FullMatrix<double> &K)
{
  const FullMatrix<double> M =
      derivative_products(fe, std::vector<double>(fe.n_quadrature_points, 1.));
  add_products(fe, M, M, lambda, mu, K);
}

template void add_elastic_stiffness<2>(const FEValues<2> &, const std::vector<double> &,
                                       const std::vector<double> &, FullMatrix<double> &);
template void add_elastic_stiffness<3>(const FEValues<3> &, const std::vector<double> &,
                                       const std::vector<double> &, FullMatrix<double> &);
template void add_elastic_stiffness<2>(const FEValues<2> &, double, double, FullMatrix<double> &);
template void add_elastic_stiffness<3>(const FEValues<3> &, double, double, FullMatrix<double> &);
} // namespace femgpu
