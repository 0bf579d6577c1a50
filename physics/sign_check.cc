#include "physics/sign_check.h"

#include "linalg/base/error.h"
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
/// Remembers the first value of a parameter that has not the sign it must have.
class SignCheck
{
public:
  SignCheck(std::string what, std::string path, const Sign sign)
      : what(std::move(what)), path(std::move(path)), sign(sign)
  {}

  /// @p place is written behind " at ".
  template <int dim, class Text>
  void check(const std::vector<Point<dim>> &points, const std::vector<double> &values,
             const Text &place)
  {
    for (std::size_t q = 0; q < points.size() && error.empty(); ++q) {
      if (sign == Sign::positive ? values[q] > 0. : values[q] >= 0.)
        continue;
      std::ostringstream text;
      text << what << " is " << values[q] << " at ";
      place(text, points[q]);
      text << ", but must " << (sign == Sign::positive ? "be positive" : "not be negative")
           << ". Change the expression there.";
      error = text.str();
    }
  }
  bool has_failed() const
  {
    return !error.empty();
  }
  /// Collective.
  void refuse_together(const MPI_Comm communicator) const
  {
    for (const std::string &text : Utilities::MPI::all_gather(communicator, error))
      if (!text.empty())
        throw ParameterError(text, path);
  }

private:
  std::string what, path;
  Sign sign;
  std::string error;
};
} // namespace

template <int dim>
void check_sign(const std::string &path, const Sign sign, const Discretization<dim> &discretization,
                const MaterialFields<dim> &fields)
{
  const bool at_nodes = sign == Sign::not_negative;
  CellPoints<dim> inside(discretization, at_nodes ? discretization.nodal_quadrature()
                                                  : discretization.cell_quadrature());
  SignCheck check(path, path, sign);
  std::vector<double> values;
  std::set<types::material_id> seen; ///< whose constants need no second look
  for (const auto &cell : discretization.owned_cells()) {
    if (check.has_failed())
      break;
    const auto material = cell->material_id();
    const bool is_new = seen.insert(material).second;
    const Field<dim> &field = *fields.at(material);
    const auto check_at = [&](const std::vector<Point<dim>> &points, const unsigned int c) {
      field.value_list(points, values, c);
      check.check(points, values, [&](std::ostream &text, const Point<dim> &p) {
        text << (at_nodes ? "the node (" : "(") << p << ')';
        if (!at_nodes)
          text << " in material id " << material;
      });
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
  check.refuse_together(discretization.communicator());
}

template <int dim>
double largest_coefficient(const std::string &symbol, const std::string &path,
                           const Discretization<dim> &discretization,
                           const BoundaryFields<dim> &fields)
{
  CellPoints<dim> on_face(discretization, discretization.face_quadrature());
  SignCheck check(symbol + " of " + path, path, Sign::not_negative);
  std::vector<double> values;
  double largest = 0.;
  for (const auto &cell : discretization.owned_cells()) {
    if (fields.empty() || !cell->at_boundary())
      continue;
    for (const auto number : cell->face_indices()) {
      const auto id = cell->face(number)->boundary_id();
      const auto field = fields.find(id);
      if (!cell->face(number)->at_boundary() || field == fields.end())
        continue;
      on_face.reinit(cell, number);
      const std::vector<Point<dim>> &points = on_face.batch().points();
      field->second->value_list(points, values);
      largest = std::max(largest, *std::max_element(values.begin(), values.end()));
      check.check(points, values, [&](std::ostream &text, const Point<dim> &p) {
        text << '(' << p << ") on boundary id " << id;
      });
    }
  }
  check.refuse_together(discretization.communicator());
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
