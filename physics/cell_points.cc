#include "physics/cell_points.h"

#include "physics/cell_products.h"

#include <algorithm>

namespace femgpu
{
using namespace dealii;

template <int dim>
CellPoints<dim>::CellPoints(const FiniteElement<dim> &element)
    : n_components(element.n_components()), n_nodes(element.base_element(0).n_dofs_per_cell()),
      dofs(n_components), block(std::size_t(n_nodes) * n_nodes), row(n_nodes)
{
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int node = 0; node < n_nodes; ++node)
      dofs[c].push_back(element.component_to_system_index(c, node));
}

template <int dim>
void CellPoints<dim>::reinit(const FEValuesBase<dim> &fe, const types::material_id material,
                             const types::boundary_id id)
{
  const UpdateFlags flags = fe.get_update_flags();
  moved = n_points > 0 && fe.get_cell_similarity() == CellSimilarity::translation;
  points.places = &fe.get_quadrature_points();
  points.normals = (flags & update_normal_vectors) != 0 ? &fe.get_normal_vectors() : nullptr;
  points.material = material;
  points.boundary = id;
  if (moved)
    return;
  n_points = fe.n_quadrature_points;
  weights.resize(n_points);
  shape_values.resize(std::size_t(n_points) * n_nodes);
  shape_gradients.resize(std::size_t(n_points) * n_nodes * dim);
  for (unsigned int q = 0; q < n_points; ++q) {
    if ((flags & update_JxW_values) != 0)
      weights[q] = fe.JxW(q);
    double *const value = shape_values.data() + std::size_t(q) * n_nodes;
    for (unsigned int m = 0; m < n_nodes; ++m)
      value[m] = fe.shape_value(m, q);
    if ((flags & update_gradients) == 0)
      continue;
    double *const gradient = shape_gradients.data() + std::size_t(q) * n_nodes * dim;
    for (unsigned int m = 0; m < n_nodes; ++m) {
      const Tensor<1, dim> &of_shape = fe.shape_grad(m, q);
      for (unsigned int d = 0; d < dim; ++d)
        gradient[d * n_nodes + m] = of_shape[d];
    }
  }
}

template <int dim>
void CellPoints<dim>::set_zero_solution()
{
  points.u.reinit(n_components, n_points);
  points.gradients.reinit(n_components * dim, n_points);
  for (unsigned int c = 0; c < n_components; ++c) {
    points.u[c]; // zeros
    for (unsigned int d = 0; d < dim; ++d)
      points.gradients[c * dim + d];
  }
}

template <int dim>
void CellPoints<dim>::set_solution(const Vector<double> &u_cell)
{
  set_zero_solution();
  const int n = static_cast<int>(n_nodes);
  for (unsigned int c = 0; c < n_components; ++c) {
    for (unsigned int m = 0; m < n_nodes; ++m)
      row[m] = u_cell(dofs[c][m]);
    for (unsigned int q = 0; q < n_points; ++q) {
      points.u[c][q] = sum_of_products(n, row.data(), values(q));
      for (unsigned int d = 0; d < dim; ++d)
        points.gradients[c * dim + d][q] = sum_of_products(n, row.data(), gradients(q, d));
    }
  }
}

template <int dim>
void CellPoints<dim>::add_source(const PointTerms &s, Vector<double> &f) const
{
  const int n = static_cast<int>(n_nodes);
  std::vector<double> of_nodes(n_nodes);
  for (const unsigned int c : s.values.written()) {
    std::fill(of_nodes.begin(), of_nodes.end(), 0.);
    for (unsigned int q = 0; q < n_points; ++q)
      add_multiple(n, s.values[c][q] * weights[q], values(q), of_nodes.data());
    for (unsigned int m = 0; m < n_nodes; ++m)
      f(dofs[c][m]) += of_nodes[m];
  }
}

template <int dim>
void CellPoints<dim>::subtract_flux(const PointTerms &sigma, Vector<double> &f) const
{
  const int n = static_cast<int>(n_nodes);
  std::vector<double> of_nodes(n_nodes);
  for (const unsigned int r : sigma.values.written()) {
    if (sigma.values.is_zero(r))
      continue;
    std::fill(of_nodes.begin(), of_nodes.end(), 0.);
    for (unsigned int q = 0; q < n_points; ++q)
      add_multiple(n, sigma.values[r][q] * weights[q], gradients(q, r % dim), of_nodes.data());
    for (unsigned int m = 0; m < n_nodes; ++m)
      f(dofs[r / dim][m]) -= of_nodes[m];
  }
}

template <int dim>
bool CellPoints<dim>::are_symmetric(const PointTerms *const sigma, const PointTerms &s)
{
  const unsigned int n = s.n_components;
  if (!s.gradient_derivatives.written().empty() ||
      (sigma != nullptr && !sigma->derivatives.written().empty()))
    return false;
  const auto is_mirrored = [](const PointRows &rows, const unsigned int n_rows) {
    for (const unsigned int r : rows.written()) {
      const unsigned int other = r % n_rows * n_rows + r / n_rows;
      if (rows.is_zero(other) ? !rows.is_zero(r) : !rows.are_equal(r, other))
        return false;
    }
    return true;
  };
  return is_mirrored(s.derivatives, n) &&
         (sigma == nullptr || is_mirrored(sigma->gradient_derivatives, n * dim));
}

template <int dim>
auto CellPoints<dim>::products_of(const PointTerms *const sigma, const PointTerms &s,
                                  const unsigned int c, const unsigned int d) const
    -> std::vector<Product>
{
  const unsigned int n = n_components;
  std::vector<Product> result;
  const auto add = [&](const PointRows &rows, const unsigned int r, const unsigned int test,
                       const unsigned int trial, const double sign) {
    if (!rows.is_zero(r))
      result.push_back({test, trial, rows[r], sign});
  };
  for (unsigned int a = 0; sigma != nullptr && a < dim; ++a) {
    const unsigned int of_component = (c * dim + a) * n + d;
    for (unsigned int b = 0; b < dim; ++b)
      add(sigma->gradient_derivatives, of_component * dim + b, a, b, 1.);
    add(sigma->derivatives, of_component, a, dim, 1.);
  }
  for (unsigned int b = 0; b < dim; ++b)
    add(s.gradient_derivatives, (c * n + d) * dim + b, dim, b, -1.);
  add(s.derivatives, c * n + d, dim, dim, -1.);
  return result;
}

/// Those with the same test function follow each other: a row for them all.
template <int dim>
void CellPoints<dim>::integrate(const std::vector<Product> &products)
{
  const int n = static_cast<int>(n_nodes);
  std::fill(block.begin(), block.end(), 0.);
  for (unsigned int q = 0; q < n_points; ++q)
    for (std::size_t k = 0; k < products.size();) {
      const unsigned int test = products[k].test;
      std::fill(row.begin(), row.end(), 0.);
      for (; k < products.size() && products[k].test == test; ++k)
        add_multiple(n, products[k].sign * products[k].coefficient[q] * weights[q],
                     shapes(q, products[k].trial), row.data());
      add_outer_product(n, shapes(q, test), row.data(), block.data());
    }
}

template <int dim>
void CellPoints<dim>::add_block(const unsigned int c, const unsigned int d, const bool mirrored,
                                FullMatrix<double> &K) const
{
  for (unsigned int m = 0; m < n_nodes; ++m)
    for (unsigned int k = 0; k < (mirrored && c == d ? m + 1 : n_nodes); ++k) {
      const double value = block[std::size_t(m) * n_nodes + k];
      const unsigned int i = dofs[c][m], j = dofs[d][k];
      K(i, j) += value;
      if (mirrored && i != j)
        K(j, i) += value;
    }
}

template <int dim>
void CellPoints<dim>::add_derivatives(const PointTerms *const sigma, const PointTerms &s,
                                      FullMatrix<double> &K)
{
  const bool mirrored = are_symmetric(sigma, s);
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int d = mirrored ? c : 0; d < n_components; ++d) {
      const auto products = products_of(sigma, s, c, d);
      if (products.empty())
        continue;
      integrate(products);
      add_block(c, d, mirrored, K);
    }
}

template <int dim>
void CellPoints<dim>::add_nodal_weights(const double *const c, Vector<double> &w) const
{
  for (unsigned int q = 0; q < n_points; ++q)
    for (unsigned int m = 0; m < n_nodes; ++m)
      if (values(q)[m] > 0.5) // 0 or 1 but for rounding
        w(dofs[0][m]) += c[q] * weights[q];
}

template class CellPoints<2>;
template class CellPoints<3>;
} // namespace femgpu
