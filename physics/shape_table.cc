#include "physics/shape_table.h"

#include "physics/cell_products.h"

#include <algorithm>

namespace femgpu
{
using namespace dealii;

template <int dim>
ShapeTable<dim>::ShapeTable(const FiniteElement<dim> &element,
                            const std::vector<Point<dim>> &points,
                            const bool has_second_derivatives)
    : n_nodes(element.n_dofs_per_cell()), n_points(static_cast<unsigned int>(points.size())),
      row_length(padded((1 + dim + (has_second_derivatives ? n_second : 0)) * n_points)),
      n_columns(padded(n_nodes)), rows_by_node(std::size_t(n_nodes) * row_length),
      rows_by_point(std::size_t(row_length) * n_columns), has_constant_gradients(true)
{
  for (unsigned int m = 0; m < n_nodes; ++m)
    for (unsigned int q = 0; q < n_points; ++q) {
      const auto set = [&](const unsigned int b, const double value) {
        rows_by_node[std::size_t(m) * row_length + std::size_t(b) * n_points + q] = value;
        rows_by_point[(std::size_t(b) * n_points + q) * n_columns + m] = value;
      };
      const Tensor<1, dim> gradient = element.shape_grad(m, points[q]);
      has_constant_gradients &=
          (gradient - element.shape_grad(m, points[0])).norm() <= 1e-14 * gradient.norm();
      set(0, element.shape_value(m, points[q]));
      for (unsigned int b = 0; b < dim; ++b)
        set(1 + b, gradient[b]);
      if (!has_second_derivatives)
        continue;
      const Tensor<2, dim> second = element.shape_grad_grad(m, points[q]);
      unsigned int row = 1 + dim;
      for (unsigned int j = 0; j < dim; ++j)
        for (unsigned int k = j; k < dim; ++k)
          set(row++, second[j][k]);
    }
}

template <int dim>
void SecondDerivatives<dim>::reinit(const std::size_t n_points, const std::vector<double> &inverses,
                                    const double *const mapping, const std::size_t stride)
{
  n = n_points;
  M.assign(std::size_t(dim) * n_terms * n, 0.);
  const auto inverse = [&](const unsigned int b, const unsigned int a) {
    return inverses.data() + (std::size_t(b) * dim + a) * n;
  };
  for (unsigned int a = 0; a < dim; ++a) {
    double *const of_a = M.data() + std::size_t(a) * n_terms * n;
    unsigned int t = dim;
    for (unsigned int j = 0; j < dim; ++j)
      for (unsigned int k = j; k < dim; ++k, ++t)
        for (std::size_t q = 0; q < n; ++q)
          of_a[t * n + q] = (j == k ? 1. : 2.) * inverse(j, a)[q] * inverse(k, a)[q];
    // 0 = ∂²x_c/∂x_a² = Σ_i ∂x_c/∂ξ_i ∂²ξ_i/∂x_a² + (second derivatives of the mapping)
    for (unsigned int c = 0; c < dim; ++c)
      for (t = dim; t < n_terms; ++t) {
        const double *const second = mapping + c * stride + t * n;
        for (unsigned int i = 0; i < dim; ++i)
          for (std::size_t q = 0; q < n; ++q)
            of_a[i * n + q] -= inverse(i, c)[q] * of_a[t * n + q] * second[q];
      }
  }
}

template <int dim>
void SecondDerivatives<dim>::add_values(const unsigned int a, const double *const reference,
                                        double *const values) const
{
  for (unsigned int t = 0; t < n_terms; ++t)
    for (std::size_t q = 0; q < n; ++q)
      values[q] += M[(a * n_terms + t) * n + q] * reference[t * n + q];
}

template <int dim>
void SecondDerivatives<dim>::add_coefficients(const unsigned int a, const std::vector<double> &c,
                                              double *const reference) const
{
  for (unsigned int t = 0; t < n_terms; ++t)
    for (std::size_t q = 0; q < n; ++q)
      reference[t * n + q] += M[(a * n_terms + t) * n + q] * c[q];
}

template struct ShapeTable<2>;
template struct ShapeTable<3>;
template class SecondDerivatives<2>;
template class SecondDerivatives<3>;
} // namespace femgpu
