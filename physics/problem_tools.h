#ifndef femgpu_physics_problem_tools_h
#define femgpu_physics_problem_tools_h

#include "linalg/base/error.h"
#include "physics/expressions.h"
#include "physics/problem.h"

#include <map>
#include <memory>
#include <set>
#include <string>
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
                                         const unsigned int n_components)
{
  BoundaryFields<dim> fields;
  for (const auto &[id, expressions] : parse_boundary_expressions(path, text, n_components))
    fields[id] = std::make_shared<Field<dim>>(path, expressions);
  return fields;
}

/// The field of a parameter that may be empty, with an expression for each component.
template <int dim>
std::unique_ptr<Field<dim>> make_optional_field(const std::string &path, const std::string &text,
                                                const unsigned int n_components)
{
  if (text.find_first_not_of(" \t") == std::string::npos)
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

/// The conditions for all components.
template <int dim>
std::vector<DirichletCondition<dim>> conditions_of(const BoundaryFields<dim> &fields)
{
  std::vector<DirichletCondition<dim>> conditions;
  for (const auto &[id, field] : fields)
    conditions.push_back({{id}, field.get(), dealii::ComponentMask()});
  return conditions;
}
} // namespace femgpu

#endif
