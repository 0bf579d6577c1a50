#include "physics/data_checks.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/cell_points.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Checks that @p values are positive, or zero if @p may_be_zero, at all @p points.
/// @throws ParameterError for parameter @p path if not: "@p what is ... at ... @p region @p id"
template <int dim>
void require_sign(const bool may_be_zero, const std::string &what, const std::string &path,
                  const std::vector<Point<dim>> &points, const std::vector<double> &values,
                  const char *const region, const unsigned int id)
{
  for (std::size_t q = 0; q < points.size(); ++q) {
    if (may_be_zero ? values[q] >= 0. : values[q] > 0.)
      continue;
    std::ostringstream text;
    text << what << " is " << values[q] << " at (" << points[q] << ") " << region << ' ' << id
         << ", but must " << (may_be_zero ? "not be negative" : "be positive")
         << ". Change the expression.";
    throw ParameterError(text.str(), path);
  }
}
} // namespace

template <int dim>
void check_sign(const bool may_be_zero, const std::string &path,
                const Discretization<dim> &discretization, const MaterialFields<dim> &fields)
{
  CellPoints<dim> inside(discretization, may_be_zero ? discretization.nodal_quadrature()
                                                     : discretization.cell_quadrature());
  std::vector<double> values;
  std::set<types::material_id> seen; // materials whose constants were checked
  rethrow_on_all_ranks<ParameterError>(discretization.communicator(), [&] {
    for (const auto &cell : discretization.owned_cells()) {
      const auto material = cell->material_id();
      const bool is_new = seen.insert(material).second;
      const Field<dim> &field = *fields.at(material);
      const auto check_at = [&](const std::vector<Point<dim>> &points, const unsigned int c) {
        field.value_list(points, values, c);
        require_sign(may_be_zero, path, path, points, values, "in material id", material);
      };
      bool has_points = false;
      for (unsigned int c = 0; c < field.n_components; ++c)
        if (field.is_constant(c)) {
          if (is_new)
            check_at({cell->center()}, c);
        }
        else if (field.degree_in_u(c) == 0) {
          if (!std::exchange(has_points, true))
            inside.reinit(cell);
          check_at(inside.batch().points(), c);
        }
    }
  });
}

template <int dim>
double largest_coefficient(const std::string &symbol, const std::string &path,
                           const Discretization<dim> &discretization,
                           const BoundaryFields<dim> &fields)
{
  CellPoints<dim> on_face(discretization, discretization.face_quadrature());
  const std::string what = symbol + " of " + path;
  std::vector<double> values;
  double largest = 0.;
  rethrow_on_all_ranks<ParameterError>(discretization.communicator(), [&] {
    for (const auto &cell : discretization.owned_cells())
      cell->for_each_side([&](const unsigned int number, const types::boundary_id id) {
        const auto field = fields.find(id);
        if (field == fields.end())
          return;
        on_face.reinit(cell, number);
        field->second->value_list(on_face.batch().points(), values);
        largest = std::max(largest, *std::max_element(values.begin(), values.end()));
        require_sign(/* may be zero */ true, what, path, on_face.batch().points(), values,
                     "on boundary id", id);
      });
  });
  return Utilities::MPI::max(largest, discretization.communicator());
}

template <int dim>
void require_positive(const std::string &path, const PointBatch<dim> &at,
                      const std::vector<double> &c)
{
  const auto bad = std::find_if(c.begin(), c.end(), [](const double c_q) { return !(c_q > 0.); });
  if (bad == c.end())
    return;
  const std::size_t q = bad - c.begin();
  std::ostringstream text;
  text << path << " is " << *bad << " at (" << at.points()[q] << "), where u is " << at.u[0][q]
       << ", but must be positive. Change the expression, or start closer to the solution.";
  throw ParameterError(text.str(), path);
}

template void check_sign(bool, const std::string &, const Discretization<2> &,
                         const MaterialFields<2> &);
template void check_sign(bool, const std::string &, const Discretization<3> &,
                         const MaterialFields<3> &);
template double largest_coefficient(const std::string &, const std::string &,
                                    const Discretization<2> &, const BoundaryFields<2> &);
template double largest_coefficient(const std::string &, const std::string &,
                                    const Discretization<3> &, const BoundaryFields<3> &);
template void require_positive(const std::string &, const PointBatch<2> &,
                               const std::vector<double> &);
template void require_positive(const std::string &, const PointBatch<3> &,
                               const std::vector<double> &);
} // namespace femgpu
