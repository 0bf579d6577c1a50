#include "physics/cell_points.h"

#include "physics/cell_products.h"

#include <algorithm>

namespace femgpu
{
using namespace dealii;

template <int dim>
CellPoints<dim>::CellPoints(const Discretization<dim> &discretization)
    : n_components(discretization.element().n_components()),
      n_nodes(discretization.element().base_element(0).n_dofs_per_cell()),
      is_given_by_vertices(discretization.has_straight_cells()), dofs(n_components),
      factors(n_nodes), block(std::size_t(n_nodes) * n_nodes), row(n_nodes)
{
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int node = 0; node < n_nodes; ++node)
      dofs[c].push_back(discretization.element().component_to_system_index(c, node));
}

template <int dim>
bool CellPoints<dim>::is_like_the_one_before(const ActiveCell<dim> &cell) const
{
  if (edges.empty() || cell->n_vertices() != edges.size() + 1)
    return false;
  const Point<dim> &first = cell->vertex(0);
  for (unsigned int v = 0; v < edges.size(); ++v) {
    constexpr double rounding = 1e-13;
    const Tensor<1, dim> difference = (cell->vertex(v + 1) - first) - edges[v];
    if (!(difference.norm_square() <= rounding * rounding * edges[v].norm_square()))
      return false;
  }
  return true;
}

template <int dim>
void CellPoints<dim>::keep_vertices(const ActiveCell<dim> &cell)
{
  const Point<dim> &first = cell->vertex(0);
  edges.clear();
  for (unsigned int v = 1; v < cell->n_vertices(); ++v)
    edges.push_back(cell->vertex(v) - first);
  offsets.clear();
  for (const Point<dim> &place : places)
    offsets.push_back(place - first);
}

template <int dim>
void CellPoints<dim>::reinit(const ActiveCell<dim> &cell, FEValues<dim> &fe)
{
  if (is_given_by_vertices && is_like_the_one_before(cell)) {
    const Point<dim> &first = cell->vertex(0);
    for (unsigned int q = 0; q < n_points; ++q)
      places[q] = first + offsets[q];
    points.material = cell->material_id();
    moved = true;
    return;
  }
  fe.reinit(cell_of(cell));
  load(cell, fe);
  if (is_given_by_vertices)
    keep_vertices(cell);
}

template <int dim>
void CellPoints<dim>::reinit(const ActiveCell<dim> &cell, const unsigned int face,
                             FEFaceValues<dim> &fe)
{
  fe.reinit(cell_of(cell), face);
  load(cell, fe, cell->face(face)->boundary_id());
}

template <int dim>
void CellPoints<dim>::load(const ActiveCell<dim> &cell, const FEValuesBase<dim> &fe,
                           const types::boundary_id id)
{
  const UpdateFlags flags = fe.get_update_flags();
  moved = false;
  places = fe.get_quadrature_points();
  points.places = &places;
  if ((flags & update_normal_vectors) != 0) {
    normals = fe.get_normal_vectors();
    points.normals = &normals;
  }
  points.material = cell->material_id();
  points.boundary = id;
  n_points = fe.n_quadrature_points;
  weights.resize(n_points);
  shape_values.resize(std::size_t(n_points) * n_nodes);
  shape_gradients.resize(std::size_t(n_points) * n_nodes * dim);
  values_of_nodes.resize(shape_values.size());
  gradients_of_nodes.resize(shape_gradients.size());
  has_gradients = (flags & update_gradients) != 0;
  for (unsigned int q = 0; q < n_points; ++q) {
    if ((flags & update_JxW_values) != 0)
      weights[q] = fe.JxW(q);
    double *const value = shape_values.data() + std::size_t(q) * n_nodes;
    for (unsigned int m = 0; m < n_nodes; ++m)
      value[m] = values_of_nodes[std::size_t(m) * n_points + q] = fe.shape_value(m, q);
    if (!has_gradients)
      continue;
    double *const gradient = shape_gradients.data() + std::size_t(q) * n_nodes * dim;
    for (unsigned int m = 0; m < n_nodes; ++m) {
      const Tensor<1, dim> &of_shape = fe.shape_grad(m, q);
      for (unsigned int d = 0; d < dim; ++d)
        gradient[d * n_nodes + m] = gradients_of_nodes[(std::size_t(m) * dim + d) * n_points + q] =
            of_shape[d];
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
  const int n = static_cast<int>(n_points), n_terms = static_cast<int>(n_nodes);
  for (unsigned int c = 0; c < n_components; ++c) {
    for (unsigned int m = 0; m < n_nodes; ++m)
      factors[m] = u_cell(dofs[c][m]);
    add_combination(n, n_terms, factors.data(), values_of_nodes.data(), n, points.u[c]);
    if (has_gradients) // the rows of a component follow each other
      add_combination(n * dim, n_terms, factors.data(), gradients_of_nodes.data(),
                      static_cast<std::ptrdiff_t>(n) * dim, points.gradients[c * dim]);
  }
}

template <int dim>
double CellPoints<dim>::integral_of_square(const PointRows &v) const
{
  double sum = 0.;
  for (const unsigned int row : v.written())
    for (unsigned int q = 0; q < n_points; ++q)
      sum += v[row][q] * v[row][q] * weights[q];
  return sum;
}

/// ∫ v ψ_m for all m, with ψ_m(q) at @p shapes and, from point to point, @p rows rows of nodes on.
template <int dim>
std::vector<double> CellPoints<dim>::integrate(const double *const v, const double *const shapes,
                                               const unsigned int rows) const
{
  std::vector<double> factors_of_points(n_points), of_nodes(n_nodes, 0.);
  for (unsigned int q = 0; q < n_points; ++q)
    factors_of_points[q] = v[q] * weights[q];
  const int n = static_cast<int>(n_nodes);
  add_combination(n, static_cast<int>(n_points), factors_of_points.data(), shapes,
                  n * static_cast<std::ptrdiff_t>(rows), of_nodes.data());
  return of_nodes;
}

template <int dim>
void CellPoints<dim>::add_source(const PointTerms &s, Vector<double> &f) const
{
  for (const unsigned int c : s.values.written()) {
    const std::vector<double> of_nodes = integrate(s.values[c], shape_values.data(), 1);
    for (unsigned int m = 0; m < n_nodes; ++m)
      f(dofs[c][m]) += of_nodes[m];
  }
}

template <int dim>
void CellPoints<dim>::subtract_flux(const PointTerms &sigma, Vector<double> &f) const
{
  for (const unsigned int r : sigma.values.written()) {
    if (sigma.values.is_zero(r))
      continue;
    const std::vector<double> of_nodes = integrate(sigma.values[r], gradients(0, r % dim), dim);
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
      for (; k < products.size() && products[k].test == test; ++k) {
        const double factor = products[k].sign * products[k].coefficient[q] * weights[q];
        add_combination(n, 1, &factor, shapes(q, products[k].trial), 0, row.data());
      }
      add_outer_product(n, shapes(q, test), row.data(), block.data());
    }
}

/// The integrals of all products of derivatives, which coefficients that are the same at all points
/// are multiplied with.
template <int dim>
void CellPoints<dim>::integrate_gradients()
{
  const int n = static_cast<int>(n_nodes);
  integrals.assign(std::size_t(dim) * dim * n_nodes * n_nodes, 0.);
  for (unsigned int q = 0; q < n_points; ++q)
    for (unsigned int a = 0; a < dim; ++a) {
      std::fill(row.begin(), row.end(), 0.);
      add_combination(n, 1, &weights[q], gradients(q, a), 0, row.data());
      for (unsigned int b = 0; b < dim; ++b)
        add_outer_product(n, row.data(), gradients(q, b),
                          integrals.data() + std::size_t(a * dim + b) * n_nodes * n_nodes);
    }
}

template <int dim>
void CellPoints<dim>::combine_integrals(const std::vector<Product> &products)
{
  std::fill(block.begin(), block.end(), 0.);
  for (const Product &product : products) {
    const double factor = product.sign * product.coefficient[0];
    add_combination(static_cast<int>(block.size()), 1, &factor,
                    integrals.data() +
                        std::size_t(product.test * dim + product.trial) * block.size(),
                    0, block.data());
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
  const bool by_integrals =
      n_components > 1 && sigma != nullptr && sigma->derivatives.written().empty() &&
      s.derivatives.written().empty() && s.gradient_derivatives.written().empty() &&
      sigma->gradient_derivatives.are_constant();
  if (by_integrals)
    integrate_gradients();
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int d = mirrored ? c : 0; d < n_components; ++d) {
      const auto products = products_of(sigma, s, c, d);
      if (products.empty())
        continue;
      if (by_integrals)
        combine_integrals(products);
      else
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
