#ifndef femgpu_physics_problem_tools_h
#define femgpu_physics_problem_tools_h

#include "linalg/base/error.h"
#include "physics/expression_text.h"
#include "physics/expressions.h"
#include "physics/problem.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * What the physics share: data on the boundary made from parameters.
 */
namespace femgpu
{
/// One field for each boundary id that a parameter names.
template <int dim>
using BoundaryFields = std::map<dealii::types::boundary_id, std::shared_ptr<Field<dim>>>;

/// The fields of a parameter that parse_boundary_expressions() reads; it throws ParameterError.
template <int dim>
BoundaryFields<dim> make_boundary_fields(const std::string &path, const std::string &text,
                                         const unsigned int n_components,
                                         const MeshRegions &regions)
{
  BoundaryFields<dim> fields;
  for (const auto &[id, expressions] :
       parse_boundary_expressions(path, text, n_components, regions))
    fields[id] = std::make_shared<Field<dim>>(path, expressions);
  return fields;
}

/// One field for each material of the mesh.
template <int dim>
using MaterialFields = std::map<dealii::types::material_id, std::shared_ptr<Field<dim>>>;

/// The fields of a parameter that parse_material_expressions() reads; it throws ParameterError.
template <int dim>
MaterialFields<dim> make_material_fields(const std::string &path, const std::string &text,
                                         const unsigned int n_components,
                                         const MeshRegions &regions)
{
  MaterialFields<dim> fields;
  for (const auto &[id, expressions] :
       parse_material_expressions(path, text, n_components, regions))
    fields[id] = std::make_shared<Field<dim>>(path, expressions);
  return fields;
}

/// The field of a parameter that may be empty, with an expression for each component.
template <int dim>
std::unique_ptr<Field<dim>> make_optional_field(const std::string &path, const std::string &text,
                                                const unsigned int n_components)
{
  if (is_blank(text))
    return nullptr;
  const auto expressions = split_expressions(text, ',');
  if (expressions.size() != n_components)
    throw ParameterError(path + " has " + std::to_string(expressions.size()) +
                             " expressions, but needs " + std::to_string(n_components) +
                             ", one for each component, separated by ','.",
                         path);
  return std::make_unique<Field<dim>>(path, expressions);
}

template <int dim>
std::set<dealii::types::boundary_id> ids_of(const BoundaryFields<dim> &fields)
{
  std::set<dealii::types::boundary_id> ids;
  for (const auto &entry : fields)
    ids.insert(entry.first);
  return ids;
}

/// @throws ParameterError if @p fields of parameter @p path has a boundary id that @p others has.
template <int dim>
void refuse_overlap(const std::string &path, const BoundaryFields<dim> &fields,
                    const BoundaryFields<dim> &others)
{
  for (const auto &entry : fields)
    if (others.count(entry.first) > 0)
      throw ParameterError("Boundary id " + std::to_string(entry.first) + " of " + path +
                               " has another condition already. Name it in one place only.",
                           path);
}

/// The value of the field for boundary @p id; 0 if there is none.
template <int dim>
double value_or_zero(const BoundaryFields<dim> &fields, const dealii::types::boundary_id id,
                     const dealii::Point<dim> &point)
{
  const auto field = fields.find(id);
  return field == fields.end() ? 0. : field->second->value(point);
}

/// The boundary ids where component 0 of @p fields is not the number 0.
template <int dim>
std::set<dealii::types::boundary_id> ids_without_zeros(const BoundaryFields<dim> &fields)
{
  std::set<dealii::types::boundary_id> ids;
  for (const auto &[id, field] : fields)
    if (!field->is_constant() || field->value(dealii::Point<dim>()) != 0.)
      ids.insert(id);
  return ids;
}

inline std::set<dealii::types::boundary_id> ids_of(const std::vector<PeriodicSides> &sides)
{
  std::set<dealii::types::boundary_id> ids;
  for (const PeriodicSides &pair : sides)
    ids.insert({pair.first, pair.second});
  return ids;
}

/// Calls f(id, point) for the quadrature points of the faces on the boundary that this rank has.
template <int dim, class Function>
void for_each_boundary_point(const Discretization<dim> &discretization, const Function &f)
{
  dealii::FEFaceValues<dim> face(discretization.mapping(), discretization.element(),
                                 discretization.face_quadrature(),
                                 dealii::update_quadrature_points);
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned() || !cell->at_boundary())
      continue;
    for (const auto number : cell->face_indices())
      if (cell->face(number)->at_boundary()) {
        face.reinit(cell, number);
        for (const auto &p : face.get_quadrature_points())
          f(cell->face(number)->boundary_id(), p);
      }
  }
}

/**
 * Collective. The largest value at the boundary of component 0 of @p fields.
 * @throws ParameterError that names @p symbol, @p path and the place where it is negative
 */
template <int dim>
double largest_coefficient(const std::string &symbol, const std::string &path,
                           const Discretization<dim> &discretization,
                           const BoundaryFields<dim> &fields)
{
  std::string error;
  double largest = 0.;
  if (!fields.empty())
    for_each_boundary_point(discretization, [&](const auto id, const dealii::Point<dim> &p) {
      const auto field = fields.find(id);
      if (field == fields.end())
        return;
      const double value = field->second->value(p, 0);
      largest = std::max(largest, value);
      if (error.empty() && !(value >= 0.)) {
        std::ostringstream text;
        text << symbol << " of " << path << " is " << value << " at (" << p << ") on boundary id "
             << id << ", but must not be negative. Change the expression there.";
        error = text.str();
      }
    });
  const MPI_Comm comm = discretization.communicator();
  for (const std::string &text : dealii::Utilities::MPI::all_gather(comm, error))
    if (!text.empty())
      throw ParameterError(text, path);
  return dealii::Utilities::MPI::max(largest, comm);
}

/// The conditions for all components.
template <int dim>
std::vector<DirichletCondition<dim>> conditions_of(const BoundaryFields<dim> &fields)
{
  std::vector<DirichletCondition<dim>> conditions;
  for (const auto &[id, field] : fields)
    conditions.push_back({{id}, field.get(), dealii::ComponentMask()});
  return conditions;
}

/// @throws ParameterError if nodal quadrature of reactions has no positive weights on @p mesh.
template <int dim>
void require_nodal_quadrature(const std::string &what, const Mesh<dim> &mesh,
                              const DiscretizationParameters &parameters)
{
  if (mesh.is_simplex && parameters.degree > 1)
    throw ParameterError(what + " needs a nodal quadrature with positive weights, which triangles "
                                "and tetrahedra have for degree 1 only. Set Discretization/Degree "
                                "to 1, or use quadrilaterals or hexahedra.",
                         "Discretization/Degree");
}

/// Collective. @throws ParameterError with the place of a node where one of @p fields is negative
template <int dim>
void refuse_negative(const std::string &path, const Discretization<dim> &discretization,
                     const MaterialFields<dim> &fields)
{
  dealii::FEValues<dim> nodes(discretization.mapping(), discretization.element(),
                              discretization.nodal_quadrature(), dealii::update_quadrature_points);
  std::string error;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned() || !error.empty())
      continue;
    const Field<dim> &field = *fields.at(cell->material_id());
    if (field.is_constant() && field.value(cell->center()) >= 0.)
      continue;
    nodes.reinit(cell);
    for (const auto &p : nodes.get_quadrature_points())
      if (const double value = field.value(p); error.empty() && !(value >= 0.)) {
        std::ostringstream text;
        text << path << " is " << value << " at the node (" << p
             << "), but must not be negative. Change the expression there.";
        error = text.str();
      }
  }
  for (const std::string &text :
       dealii::Utilities::MPI::all_gather(discretization.communicator(), error))
    if (!text.empty())
      throw ParameterError(text, path);
}

/// Adds c JxW to the weight of each node; @p nodal has the nodes of a cell or a face as points.
template <int dim>
void add_nodal_weights(const dealii::FEValuesBase<dim> &nodal, const dealii::Function<dim> &c,
                       dealii::Vector<double> &w)
{
  for (const unsigned int q : nodal.quadrature_point_indices())
    for (unsigned int i = 0; i < nodal.dofs_per_cell; ++i)
      if (nodal.shape_value(i, q) > 0.5) // 0 or 1 but for rounding
        w(i) += c.value(nodal.quadrature_point(q)) * nodal.JxW(q);
}

/// Collective. The smallest and the largest value at the nodes; @p u is of one component.
inline std::pair<double, double> extrema(const FeVector &u, MPI_Comm communicator)
{
  double least = std::numeric_limits<double>::max(), largest = -least;
  for (const double u_i : u) {
    least = std::min(least, u_i);
    largest = std::max(largest, u_i);
  }
  return {dealii::Utilities::MPI::min(least, communicator),
          dealii::Utilities::MPI::max(largest, communicator)};
}
} // namespace femgpu

#endif
