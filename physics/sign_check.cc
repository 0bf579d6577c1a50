#include "physics/sign_check.h"

#include "physics/cell_points.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// What to say of the first of @p values that has not the @p sign it must have; empty: nothing.
/// @p node and @p region are written before and behind the point.
template <int dim>
std::string sign_error(const std::string &what, const Sign sign,
                       const std::vector<Point<dim>> &points, const std::vector<double> &values,
                       const std::string &node, const std::string &region)
{
  for (std::size_t q = 0; q < points.size(); ++q) {
    if (sign == Sign::positive ? values[q] > 0. : values[q] >= 0.)
      continue;
    std::ostringstream text;
    text << what << " is " << values[q] << " at " << node << '(' << points[q] << ')' << region
         << ", but must " << (sign == Sign::positive ? "be positive" : "not be negative")
         << ". Change the expression there.";
    return text.str();
  }
  return "";
}
} // namespace

template <int dim>
void check_sign(const std::string &path, const Sign sign, const Discretization<dim> &discretization,
                const MaterialFields<dim> &fields)
{
  const bool at_nodes = sign == Sign::not_negative;
  CellPoints<dim> inside(discretization, at_nodes ? discretization.nodal_quadrature()
                                                  : discretization.cell_quadrature());
  std::string error;
  std::vector<double> values;
  std::set<types::material_id> seen; ///< whose constants need no second look
  for (const auto &cell : discretization.owned_cells()) {
    if (!error.empty())
      break;
    const auto material = cell->material_id();
    const bool is_new = seen.insert(material).second;
    const Field<dim> &field = *fields.at(material);
    const auto check_at = [&](const std::vector<Point<dim>> &points, const unsigned int c) {
      field.value_list(points, values, c);
      if (error.empty())
        error = sign_error(path, sign, points, values, at_nodes ? "the node " : "",
                           at_nodes ? "" : " in material id " + std::to_string(material));
    };
    bool has_points = false;
    for (unsigned int c = 0; c < field.n_components; ++c) {
      if (field.is_constant(c)) {
        if (is_new)
          check_at({cell->center()}, c);
        continue;
      }
      if (field.degree_in_u(c) > 0)
        continue;
      if (!has_points)
        inside.reinit(cell);
      has_points = true;
      check_at(inside.batch().points(), c);
    }
  }
  refuse_together(discretization.communicator(), error, path);
}

template <int dim>
double largest_coefficient(const std::string &symbol, const std::string &path,
                           const Discretization<dim> &discretization,
                           const BoundaryFields<dim> &fields)
{
  CellPoints<dim> on_face(discretization, discretization.face_quadrature());
  std::string error;
  std::vector<double> values;
  double largest = 0.;
  for (const auto &cell : discretization.owned_cells())
    cell->for_each_face_at_boundary([&](const unsigned int number, const types::boundary_id id) {
      const auto field = fields.find(id);
      if (field == fields.end())
        return;
      on_face.reinit(cell, number);
      const std::vector<Point<dim>> &points = on_face.batch().points();
      field->second->value_list(points, values);
      largest = std::max(largest, *std::max_element(values.begin(), values.end()));
      if (error.empty())
        error = sign_error(symbol + " of " + path, Sign::not_negative, points, values, "",
                           " on boundary id " + std::to_string(id));
    });
  refuse_together(discretization.communicator(), error, path);
  return Utilities::MPI::max(largest, discretization.communicator());
}

template void check_sign(const std::string &, Sign, const Discretization<2> &,
                         const MaterialFields<2> &);
template void check_sign(const std::string &, Sign, const Discretization<3> &,
                         const MaterialFields<3> &);
template double largest_coefficient(const std::string &, const std::string &,
                                    const Discretization<2> &, const BoundaryFields<2> &);
template double largest_coefficient(const std::string &, const std::string &,
                                    const Discretization<3> &, const BoundaryFields<3> &);
} // namespace femgpu
