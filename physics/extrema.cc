#include "physics/extrema.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace femgpu
{
using namespace dealii;

template <int dim>
CellMaximum<dim>::CellMaximum(const Discretization<dim> &discretization)
    : element(discretization.element().base_element(0)),
      is_simplex(discretization.mesh().is_simplex),
      n_components(discretization.element().n_components())
{
  for (unsigned int node = 0; node < element.n_dofs_per_cell(); ++node)
    for (unsigned int c = 0; c < n_components; ++c)
      dofs.push_back(discretization.element().component_to_system_index(c, node));
}

template <int dim>
Point<dim> CellMaximum<dim>::MeshEntity::unit_point(const std::array<double, 3> &x,
                                                    const bool is_simplex) const
{
  Point<dim> point = origin;
  double rest = 1.; // the extent of the simplex that is left by the coordinates so far
  for (unsigned int a = 0; a < n_coordinates; ++a) {
    point += rest * x[a] * tangents[a];
    if (is_simplex)
      rest *= 1. - x[a];
  }
  return point;
}

/// Returns the cell or face that @p corners span: the vertex at the origin, and its neighbour along
/// each coordinate direction.
template <int dim>
auto CellMaximum<dim>::make_entity(const std::vector<unsigned int> &corners) const -> MeshEntity
{
  const auto n_coordinates = static_cast<unsigned int>(corners.size() - 1);
  const unsigned int p = element.degree, n_nodes = element.n_dofs_per_cell();
  MeshEntity entity{n_coordinates,
                    element.unit_support_point(corners[0]),
                    {},
                    {},
                    0.,
                    PolynomialMaximum(n_coordinates, p, n_components)};
  for (unsigned int a = 1; a < corners.size(); ++a)
    entity.tangents.push_back(element.unit_support_point(corners[a]) - entity.origin);
  const std::vector<double> by_values = PolynomialMaximum::coefficients_by_values(n_coordinates, p);
  const auto n = static_cast<unsigned int>(std::lround(std::sqrt(by_values.size())));
  std::vector<double> values; // values of the shape functions at the lattice points
  for (unsigned int l = 0; l < n; ++l) {
    std::array<double, 3> x{};
    unsigned int rest = l;
    for (unsigned int a = 0; a < n_coordinates; ++a, rest /= p + 1)
      x[a] = static_cast<double>(rest % (p + 1)) / p;
    for (unsigned int m = 0; m < n_nodes; ++m)
      values.push_back(element.shape_value(m, entity.unit_point(x, is_simplex)));
  }
  entity.coefficients_by_nodes.assign(std::size_t(n) * n_nodes, 0.);
  for (unsigned int i = 0; i < n; ++i) {
    double *const row = entity.coefficients_by_nodes.data() + std::size_t(i) * n_nodes;
    for (unsigned int l = 0; l < n; ++l)
      for (unsigned int m = 0; m < n_nodes; ++m)
        row[m] += by_values[std::size_t(i) * n + l] * values[std::size_t(l) * n_nodes + m];
    entity.norm =
        std::max(entity.norm, std::accumulate(row, row + n_nodes, 0.,
                                              [](double s, double x) { return s + std::abs(x); }));
  }
  return entity;
}

template <int dim>
auto CellMaximum<dim>::entity_of(const ActiveCell<dim> &cell, const unsigned int face)
    -> MeshEntity &
{
  std::vector<unsigned int> corners;
  if (face != entire)
    for (unsigned int i = 0; i < dim; ++i)
      corners.push_back(cell->face(face)->corner(i));
  else
    for (unsigned int a = 0; a <= dim; ++a) // vertices of cubes are numbered by binary digits
      corners.push_back(is_simplex || a == 0 ? a : 1U << (a - 1));
  const auto known = entities.find(corners);
  return known != entities.end() ? known->second
                                 : entities.emplace(corners, make_entity(corners)).first->second;
}

template <int dim>
auto CellMaximum<dim>::find(const ActiveCell<dim> &cell, const unsigned int face,
                            const Vector<double> &u_cell, const Objective &objective,
                            const double above, const double tolerance) -> std::optional<Found>
{
  if (!may_exceed_nodes(objective))
    return {};
  const unsigned int n_nodes = element.n_dofs_per_cell();
  at_nodes.resize(dofs.size());
  for (std::size_t i = 0; i < dofs.size(); ++i)
    at_nodes[i] = u_cell(dofs[i]);
  // The rows of coefficients_by_nodes sum to 1, and the objective has Lipschitz constant 1. So the
  // objective of a coefficient exceeds that of the first node by at most entity.norm times the
  // largest distance of a nodal value from that of the first node.
  double largest_square = 0.;
  for (unsigned int m = 1; m < n_nodes; ++m) {
    double square = 0.;
    for (unsigned int c = 0; c < n_components; ++c)
      square += std::pow(at_nodes[m * n_components + c] - at_nodes[c], 2);
    largest_square = std::max(largest_square, square);
  }
  MeshEntity &entity = entity_of(cell, face);
  const double first = objective.value(at_nodes.data(), n_components);
  if (!(first + entity.norm * std::sqrt(largest_square) > above + tolerance))
    return {};
  const std::size_t n = entity.coefficients_by_nodes.size() / n_nodes;
  coefficients.assign(n * n_components, 0.);
  for (unsigned int c = 0; c < n_components; ++c)
    for (std::size_t i = 0; i < n; ++i)
      for (unsigned int m = 0; m < n_nodes; ++m)
        coefficients[c * n + i] +=
            entity.coefficients_by_nodes[i * n_nodes + m] * at_nodes[m * n_components + c];
  const auto found = entity.maximum.find(coefficients, objective, above, tolerance);
  if (!found)
    return {};
  return Found{found->value, entity.unit_point(found->at, is_simplex)};
}

template <int dim>
double largest_value(const Discretization<dim> &discretization, const FeVector &u,
                     const Objective &objective, const double at_nodes, const double scale)
{
  const MPI_Comm communicator = discretization.communicator();
  const double above = Utilities::MPI::max(at_nodes, communicator);
  CellMaximum<dim> maximum(discretization);
  if (!maximum.may_exceed_nodes(objective))
    return above;
  double largest = above;
  Vector<double> u_cell(discretization.element().n_dofs_per_cell());
  for (const auto &cell : discretization.owned_cells()) {
    cell->get_dof_values(u, u_cell);
    if (const auto found = maximum.find(cell, CellMaximum<dim>::entire, u_cell, objective, above,
                                        equal_values * scale))
      largest = std::max(largest, found->value);
  }
  return Utilities::MPI::max(largest, communicator);
}

template <int dim>
std::pair<double, double> extrema(const Discretization<dim> &discretization, const FeVector &u)
{
  double smallest = std::numeric_limits<double>::max(), largest = -smallest;
  for (const double u_i : u) {
    smallest = std::min(smallest, u_i);
    largest = std::max(largest, u_i);
  }
  const double scale =
      Utilities::MPI::max(std::max(-smallest, largest), discretization.communicator());
  return {0. - largest_value(discretization, u, {0, -1.}, -smallest, scale), // avoids −0
          largest_value(discretization, u, {0, 1.}, largest, scale)};
}

template class CellMaximum<2>;
template class CellMaximum<3>;
template double largest_value(const Discretization<2> &, const FeVector &, const Objective &,
                              double, double);
template double largest_value(const Discretization<3> &, const FeVector &, const Objective &,
                              double, double);
template std::pair<double, double> extrema(const Discretization<2> &, const FeVector &);
template std::pair<double, double> extrema(const Discretization<3> &, const FeVector &);
} // namespace femgpu
