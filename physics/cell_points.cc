#include "physics/cell_points.h"

#include "physics/cell_products.h"

#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>

#include <algorithm>
#include <array>
#include <utility>

namespace femgpu
{
using namespace dealii;

template <int dim>
CellPoints<dim>::Points::Points(const FiniteElement<dim> &element,
                                const FiniteElement<dim> &geometry,
                                const std::vector<Point<dim>> &points, std::vector<double> weights,
                                const Tensor<1, dim> &normal, const bool has_second_derivatives)
    : shapes(element, points, has_second_derivatives),
      geometry(geometry, points, has_second_derivatives), first(element, {points.front()}, false),
      weights(std::move(weights)), normal(normal), offsets(points.size()), normals(points.size()),
      inverses(std::size_t(dim) * dim * points.size()), JxW(points.size())
{}

template <int dim>
CellPoints<dim>::CellPoints(const Discretization<dim> &discretization)
    : element(discretization.element().base_element(0)),
      n_components(discretization.element().n_components()), n_nodes(element.n_dofs_per_cell()),
      dofs(n_components)
{
  const unsigned int degree = discretization.geometry_degree();
  if (discretization.mesh().is_simplex)
    geometry = std::make_unique<FE_SimplexP<dim>>(degree);
  else
    geometry = std::make_unique<FE_Q<dim>>(degree);
  if (degree > 1)
    curved = std::make_unique<FEValues<dim>>(discretization.mapping(), *geometry,
                                             Quadrature<dim>(geometry->get_unit_support_points()),
                                             update_quadrature_points);
  nodes.resize(dim * std::size_t(geometry->n_dofs_per_cell()));
  points.is_simplex = discretization.mesh().is_simplex;
  points.degree = discretization.degree();
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int node = 0; node < n_nodes; ++node)
      dofs[c].push_back(discretization.element().component_to_system_index(c, node));
}

template <int dim>
CellPoints<dim>::CellPoints(const Discretization<dim> &discretization,
                            const Quadrature<dim> &quadrature, const bool has_second_derivatives)
    : CellPoints(discretization)
{
  has_second = has_second_derivatives;
  set_points(quadrature);
}

template <int dim>
void CellPoints<dim>::set_points(const Quadrature<dim> &quadrature)
{
  in_cells = std::make_unique<Points>(element, *geometry, quadrature.get_points(),
                                      quadrature.get_weights(), Tensor<1, dim>(), has_second);
}

template <int dim>
CellPoints<dim>::CellPoints(const Discretization<dim> &discretization,
                            const Quadrature<dim - 1> &quadrature)
    : CellPoints(discretization)
{
  on_faces = quadrature;
}

/// Returns the points on a face, in the order of the face's vertices, which is the same for both
/// adjacent cells.
template <int dim>
auto CellPoints<dim>::points_of(const ActiveCell<dim> &cell, const unsigned int face,
                                const unsigned int subface) -> Points &
{
  const auto side = cell->face(face);
  std::array<unsigned int, dim> corners{}; // the first vertex and the next one along each direction
  unsigned int key = subface + 1;
  for (unsigned int i = 0; i < dim; ++i) {
    corners[i] = side->corner(i);
    key = key * 8 + corners[i];
  }
  if (const auto known = face_points.find(key); known != face_points.end())
    return known->second;
  std::array<Tensor<1, dim>, dim - 1> tangents;
  const Point<dim> first = element.unit_support_point(corners[0]);
  for (unsigned int a = 0; a + 1 < dim; ++a)
    tangents[a] = element.unit_support_point(corners[a + 1]) - first;
  Tensor<1, dim> normal =
      dim == 2 ? cross_product_2d(tangents[0]) : cross_product_3d(tangents[0], tangents[dim - 2]);
  Point<dim> middle;
  for (unsigned int v = 0; v < cell->n_vertices(); ++v)
    middle += element.unit_support_point(v) / static_cast<double>(cell->n_vertices());
  if (normal * (first - middle) < 0.)
    normal *= -1.;
  std::vector<Point<dim>> on_face;
  for (const Point<dim - 1> &xi : on_faces.get_points()) {
    Point<dim> p = first;
    for (unsigned int a = 0; a + 1 < dim; ++a)
      p += tangents[a] * (subface == entire ? xi[a] : (xi[a] + (subface >> a & 1U)) / 2.);
    on_face.push_back(p);
  }
  if (subface != entire)
    normal /= 1U << (dim - 1);
  return face_points
      .emplace(std::piecewise_construct, std::forward_as_tuple(key),
               std::forward_as_tuple(element, *geometry, on_face, on_faces.get_weights(), normal,
                                     /* has_second_derivatives */ false))
      .first->second;
}

/// Computes the nodes of the mapping of @p cell: its vertices if no side is curved.
template <int dim>
void CellPoints<dim>::find_nodes(const ActiveCell<dim> &cell)
{
  if (index == cell->active_cell_index())
    return;
  index = cell->active_cell_index();
  if (curved)
    curved->reinit(typename Triangulation<dim>::cell_iterator(cell->block()));
  else if (!cell->is_deal_ii_cell() &&
           (block.state() != IteratorState::valid || block != cell->block())) {
    block = cell->block();
    cell->get_block_vertices(block_vertices);
  }
  const auto node_at = [&](const unsigned int k) {
    return curved                    ? curved->quadrature_point(k)
           : cell->is_deal_ii_cell() ? cell->vertex(k)
                                     : block_vertices[cell->block_vertex(k)];
  };
  const auto n = static_cast<unsigned int>(nodes.size()) / dim;
  origin = node_at(0);
  for (unsigned int k = 0; k < n; ++k) {
    const Point<dim> node = node_at(k);
    for (unsigned int d = 0; d < dim; ++d)
      nodes[d * n + k] = node[d] - origin[d];
  }
}

template <int dim>
bool CellPoints<dim>::has_cached_geometry() const
{
  constexpr double rounding = 1e-13;
  if (at->nodes.empty())
    return false;
  const std::size_t n = nodes.size() / dim;
  for (std::size_t k = 1; k < n; ++k) {
    double difference = 0., square = 0.;
    for (std::size_t i = k; i < nodes.size(); i += n) {
      difference += (nodes[i] - at->nodes[i]) * (nodes[i] - at->nodes[i]);
      square += nodes[i] * nodes[i];
    }
    if (!(difference <= rounding * rounding * square))
      return false;
  }
  return true;
}

/// Computes locations, Jacobians and JxW of the points from the nodes of the mapping.
template <int dim>
void CellPoints<dim>::map_points()
{
  const ShapeTable<dim> &table = at->geometry;
  const std::ptrdiff_t n = n_points, length = table.row_length;
  at->nodes = nodes;
  product.assign(dim * std::size_t(length), 0.);
  add_product(dim, length, table.n_nodes, nodes.data(), table.n_nodes, table.rows_by_node.data(),
              product.data());
  invert_jacobians(n, dim, product.data() + n, length, at->inverses.data(), at->JxW.data());
  if (has_second)
    at->second.reinit(n, at->inverses, product.data() + n, length);
  for (unsigned int q = 0; q < n_points; ++q) {
    for (unsigned int d = 0; d < dim; ++d)
      at->offsets[q][d] = product[std::size_t(d) * length + q];
    if (!in_cells) {
      // n dA = det J J⁻ᵀ n̂ dÂ, with n̂ dÂ of the reference cell
      Tensor<1, dim> normal;
      for (unsigned int a = 0; a < dim; ++a)
        for (unsigned int b = 0; b < dim; ++b)
          normal[a] += at->inverses[(std::size_t(b) * dim + a) * n + q] * at->normal[b];
      const double size = normal.norm();
      at->normals[q] = normal / size;
      at->JxW[q] *= size;
    }
    at->JxW[q] *= at->weights[q];
  }
}

template <int dim>
void CellPoints<dim>::move_to(const ActiveCell<dim> &cell, Points &to)
{
  translated = at == &to;
  at = &to;
  n_points = to.shapes.n_points;
  find_nodes(cell);
  if (!has_cached_geometry()) {
    map_points();
    translated = false;
  }
  evaluation_points.resize(n_points);
  for (unsigned int q = 0; q < n_points; ++q)
    evaluation_points[q] = origin + at->offsets[q];
  points.evaluation_points = &evaluation_points;
  points.normals = &at->normals;
  points.inverse_jacobians = at->inverses.data();
  points.material = cell->material_id();
}

template <int dim>
void CellPoints<dim>::reinit(const ActiveCell<dim> &cell)
{
  move_to(cell, *in_cells);
}

template <int dim>
void CellPoints<dim>::reinit(const ActiveCell<dim> &cell, const Quadrature<dim> &quadrature)
{
  set_points(quadrature);
  reinit(cell);
}

template <int dim>
void CellPoints<dim>::reinit(const ActiveCell<dim> &cell, const unsigned int face,
                             const unsigned int subface)
{
  move_to(cell, points_of(cell, face, subface));
  points.boundary = cell->side_id(face);
  points.is_at_boundary = cell->face(face)->at_boundary();
}

template <int dim>
void CellPoints<dim>::set_zero_solution()
{
  points.u.reinit(n_components, n_points);
  points.gradients.reinit(n_components * dim, n_points);
  points.second_derivatives.reinit(has_second ? n_components * dim : 0, n_points);
  for (unsigned int c = 0; c < n_components; ++c) {
    points.u[c]; // writes zeros
    for (unsigned int d = 0; d < dim; ++d)
      points.gradients[c * dim + d];
    for (unsigned int d = 0; has_second && d < dim; ++d)
      points.second_derivatives[c * dim + d];
  }
}

template <int dim>
void CellPoints<dim>::set_solution(const Vector<double> &u_cell)
{
  set_zero_solution();
  const ShapeTable<dim> &table = at->shapes;
  const std::ptrdiff_t n = n_points, length = table.row_length;
  left.resize(n_components * std::size_t(n_nodes));
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int m = 0; m < n_nodes; ++m)
      left[c * n_nodes + m] = u_cell(dofs[c][m]);
  product.assign(n_components * length, 0.);
  add_product(n_components, length, n_nodes, left.data(), n_nodes, table.rows_by_node.data(),
              product.data());
  for (unsigned int c = 0; c < n_components; ++c) {
    const double *const of_component = product.data() + c * length;
    std::copy_n(of_component, n, points.u[c]);
    transform(n, dim, at->inverses.data(), n, dim * n, of_component + n, n,
              points.gradients[c * dim], n);
    for (unsigned int d = 0; has_second && d < dim; ++d)
      at->second.add_values(d, of_component + n, points.second_derivatives[c * dim + d]);
  }
}

template <int dim>
void CellPoints<dim>::evaluate(const Vector<double> &w_cell, PointRows &w) const
{
  w.reinit(n_components, n_points);
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int m = 0; m < n_nodes; ++m) {
      const double *const shape = &at->shapes.rows_by_node[std::size_t(m) * at->shapes.row_length];
      double *const value = w[c];
      for (unsigned int q = 0; q < n_points; ++q)
        value[q] += w_cell(dofs[c][m]) * shape[q];
    }
}

template <int dim>
void CellPoints<dim>::add_divergence(const PointTerms &nodal_sigma, PointTerms &s)
{
  const ShapeTable<dim> &table = at->shapes;
  const std::ptrdiff_t n = n_points, length = table.row_length;
  std::vector<double> of_row(dim * n);
  for (const unsigned int r : nodal_sigma.values.written()) {
    product.assign(length, 0.);
    add_product(1, length, n_nodes, nodal_sigma.values[r], n_nodes, table.rows_by_node.data(),
                product.data());
    transform(n, dim, at->inverses.data(), n, dim * n, product.data() + n, n, of_row.data(), n);
    double *const value = s.value(r / dim);
    for (unsigned int q = 0; q < n_points; ++q)
      value[q] += of_row[r % dim * n + q];
  }
}

template <int dim>
double CellPoints<dim>::integral_of_square(const PointRows &v) const
{
  double sum = 0.;
  for (const unsigned int row : v.written())
    for (unsigned int q = 0; q < n_points; ++q)
      sum += v[row][q] * v[row][q] * at->JxW[q];
  return sum;
}

/// For each component c, adds Σ_k A_ck R_(first+k) to the dofs of c in @p f, with the matrix A in
/// @p rows, the rows R_i of rows_by_point and 0 <= k < @p n_terms.
template <int dim>
void CellPoints<dim>::integrate(const std::vector<double> &rows, const unsigned int first,
                                const unsigned int n_terms, Vector<double> &f)
{
  const ShapeTable<dim> &table = at->shapes;
  product.assign(n_components * std::size_t(table.n_columns), 0.);
  add_product(n_components, table.n_columns, n_terms, rows.data(), n_terms,
              table.rows_by_point.data() + std::size_t(first) * table.n_columns, product.data());
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int m = 0; m < n_nodes; ++m)
      f(dofs[c][m]) += product[c * table.n_columns + m];
}

template <int dim>
void CellPoints<dim>::add_source(const PointTerms &s, Vector<double> &f)
{
  if (s.values.written().empty())
    return;
  left.assign(n_components * std::size_t(n_points), 0.);
  for (const unsigned int c : s.values.written())
    for (unsigned int q = 0; q < n_points; ++q)
      left[c * n_points + q] = s.values[c][q] * at->JxW[q];
  integrate(left, 0, n_points, f);
}

template <int dim>
void CellPoints<dim>::subtract_flux(const PointTerms &sigma, Vector<double> &f)
{
  const std::ptrdiff_t n = n_points;
  const auto &written = sigma.values.written();
  if (std::all_of(written.begin(), written.end(),
                  [&](const unsigned int r) { return sigma.values.is_zero(r); }))
    return;
  right.assign(n * dim * n_components, 0.);
  for (const unsigned int r : written)
    for (unsigned int q = 0; q < n_points; ++q)
      right[r * n + q] = -sigma.values[r][q] * at->JxW[q];
  left.resize(right.size());
  for (unsigned int c = 0; c < n_components; ++c)
    transform(n, dim, at->inverses.data(), dim * n, n, right.data() + n * dim * c, n,
              left.data() + n * dim * c, n);
  integrate(left, n_points, dim * n_points, f);
}

template <int dim>
bool CellPoints<dim>::are_symmetric(const PointTerms *const sigma, const PointTerms &s)
{
  const unsigned int n = s.n_components;
  if (!s.gradient_derivatives.written().empty() ||
      (sigma != nullptr &&
       !(sigma->derivatives.written().empty() && sigma->second_derivatives.written().empty())))
    return false;
  const auto is_mirrored = [](const PointRows &rows, const unsigned int n_rows) {
    for (const unsigned int r : rows.written()) {
      const unsigned int other = r % n_rows * n_rows + r / n_rows;
      if (other != r && (rows.is_zero(other) ? !rows.is_zero(r) : !rows.are_equal(r, other)))
        return false;
    }
    return true;
  };
  return is_mirrored(s.derivatives, n) &&
         (sigma == nullptr || is_mirrored(sigma->gradient_derivatives, n * dim));
}

/**
 * Computes in `product` the block of K for component c of the test functions and component d of the
 * trial functions. Omits the values of the test functions or of the trial functions, and uses only
 * their derivatives, if all coefficients of these values are zero.
 * @return false if the block is zero
 */
template <int dim>
bool CellPoints<dim>::integrate_derivatives(const PointTerms *const sigma, const PointTerms &s,
                                            const unsigned int c, const unsigned int d)
{
  const bool has_test_values = sigma == nullptr || !s.derivatives.written().empty() ||
                               !s.gradient_derivatives.written().empty();
  const bool has_trial_values = !s.derivatives.written().empty() ||
                                (sigma != nullptr && !sigma->derivatives.written().empty());
  const bool has_second_terms = sigma != nullptr && !sigma->second_derivatives.written().empty();
  const unsigned int first_row = has_test_values ? 0 : 1, first_term = has_trial_values ? 0 : 1;
  const std::size_t n_rows = (sigma == nullptr ? 1 : 1 + dim) - first_row,
                    n_terms =
                        1 + (has_second_terms ? SecondDerivatives<dim>::n_terms : dim) - first_term;
  const bool is_one_point = at->shapes.has_constant_gradients && !has_test_values &&
                            !has_trial_values && !has_second_terms;
  const ShapeTable<dim> &table = is_one_point ? at->first : at->shapes;
  const std::size_t n = table.n_points;
  bool is_zero = true;
  left.assign(n_rows * n_terms * n, 0.);
  const auto take = [&](const PointRows &rows, const unsigned int r, const unsigned int test,
                        const unsigned int trial, const double sign) {
    if (rows.is_zero(r))
      return;
    is_zero = false;
    double *const to = left.data() + ((test - first_row) * n_terms + (trial - first_term)) * n;
    for (unsigned int q = 0; q < n_points; ++q)
      to[is_one_point ? 0 : q] += sign * rows[r][q] * at->JxW[q];
  };
  for (unsigned int a = 0; sigma != nullptr && a < dim; ++a) {
    const unsigned int row = (c * dim + a) * n_components + d;
    for (unsigned int b = 0; b < dim; ++b)
      take(sigma->gradient_derivatives, row * dim + b, 1 + a, 1 + b, 1.);
    take(sigma->derivatives, row, 1 + a, 0, 1.);
  }
  for (unsigned int b = 0; b < dim; ++b)
    take(s.gradient_derivatives, (c * n_components + d) * dim + b, 0, 1 + b, -1.);
  take(s.derivatives, c * n_components + d, 0, 0, -1.);
  for (unsigned int r = 0; has_second_terms && r < dim; ++r)
    for (unsigned int b = 0; b < dim; ++b)
      is_zero &= sigma->second_derivatives.is_zero(((c * dim + r) * n_components + d) * dim + b);
  if (is_zero)
    return false;
  const std::ptrdiff_t stride = n_points; // between entries of the inverses
  right = left;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::size_t first = (row * n_terms + 1 - first_term) * n;
    transform(n, dim, at->inverses.data(), dim * stride, stride, left.data() + first, n,
              right.data() + first, n);
  }
  std::vector<double> of_point(n_points);
  for (unsigned int a = 0; has_second_terms && a < dim; ++a)
    for (unsigned int b = 0; b < dim; ++b) {
      const unsigned int r = ((c * dim + a) * n_components + d) * dim + b;
      if (sigma->second_derivatives.is_zero(r))
        continue;
      for (unsigned int q = 0; q < n_points; ++q)
        of_point[q] = sigma->second_derivatives[r][q] * at->JxW[q];
      at->second.add_coefficients(
          b, of_point, right.data() + ((1 - first_row + a) * n_terms + 1 - first_term) * n);
    }
  coefficients = right;
  for (std::size_t term = 0; sigma != nullptr && term < n_terms; ++term) {
    const std::size_t first = ((1 - first_row) * n_terms + term) * n;
    const std::ptrdiff_t row_stride = n_terms * n;
    transform(n, dim, at->inverses.data(), dim * stride, stride, right.data() + first, row_stride,
              coefficients.data() + first, row_stride);
  }
  const std::ptrdiff_t n_columns = table.n_columns;
  right.resize(n_rows * n * n_columns);
  combine_rows(n_rows, n_columns, n_terms, n, coefficients.data(),
               table.rows_by_point.data() + first_term * n * n_columns, right.data());
  product.assign(std::size_t(n_nodes) * n_columns, 0.);
  add_product(n_nodes, n_columns, n_rows * n, table.rows_by_node.data() + first_row * n,
              table.row_length, right.data(), product.data());
  return true;
}

template <int dim>
void CellPoints<dim>::add_block(const unsigned int c, const unsigned int d, const bool mirrored,
                                FullMatrix<double> &K) const
{
  for (unsigned int m = 0; m < n_nodes; ++m)
    for (unsigned int k = 0; k < (mirrored && c == d ? m + 1 : n_nodes); ++k) {
      const double value = product[std::size_t(m) * at->shapes.n_columns + k];
      const unsigned int i = dofs[c][m], j = dofs[d][k];
      K(i, j) += value;
      if (mirrored && i != j)
        K(j, i) += value;
    }
}

template <int dim>
void CellPoints<dim>::subtract_derivatives(const PointTerms *const sigma, const PointTerms &s,
                                           FullMatrix<double> &K)
{
  const bool mirrored = are_symmetric(sigma, s);
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int d = mirrored ? c : 0; d < n_components; ++d)
      if (integrate_derivatives(sigma, s, c, d))
        add_block(c, d, mirrored, K);
}

template <int dim>
void CellPoints<dim>::add_nodal_weights(const double *const c, Vector<double> &w) const
{
  const ShapeTable<dim> &table = at->shapes;
  for (unsigned int q = 0; q < n_points; ++q)
    for (unsigned int m = 0; m < n_nodes; ++m)
      if (table.rows_by_point[std::size_t(q) * table.n_columns + m] > 0.5) // 0 or 1 up to rounding
        w(dofs[0][m]) += c[q] * at->JxW[q];
}

template class CellPoints<2>;
template class CellPoints<3>;
} // namespace femgpu
