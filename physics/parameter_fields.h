#ifndef femgpu_physics_parameter_fields_h
#define femgpu_physics_parameter_fields_h

#include "linalg/base/error.h"
#include "physics/base/fields.h"
#include "physics/problem.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Functions, shared by several physics, that make fields from parameters.
 */
namespace femgpu
{
/// The fields that a parameter defines, by boundary id.
template <int dim>
using BoundaryFields = std::map<dealii::types::boundary_id, std::shared_ptr<Field<dim>>>;

/// Parses @p text, the value of parameter @p path, by parse_boundary_expressions() into fields.
/// @throws ParameterError if @p text is invalid
template <int dim>
BoundaryFields<dim> make_boundary_fields(const std::string &path, const std::string &text,
                                         const unsigned int n_components,
                                         const MeshRegions &regions,
                                         const Variables variables = Variables::position,
                                         const Places places = Places::sides)
{
  BoundaryFields<dim> fields;
  for (const auto &[id, expressions] :
       parse_boundary_expressions(path, text, n_components, regions, places))
    fields[id] = std::make_shared<Field<dim>>(path, expressions, variables, regions.definitions,
                                              regions.clock);
  return fields;
}

/// The fields that a parameter defines, by material id.
template <int dim>
using MaterialFields = std::map<dealii::types::material_id, std::shared_ptr<Field<dim>>>;

/// Parses @p text, the value of parameter @p path, by parse_material_expressions() into fields.
/// @throws ParameterError if @p text is invalid
template <int dim>
MaterialFields<dim> make_material_fields(const std::string &path, const std::string &text,
                                         const unsigned int n_components,
                                         const MeshRegions &regions,
                                         const Variables variables = Variables::position,
                                         const bool allow_single = false)
{
  MaterialFields<dim> fields;
  for (const auto &[id, expressions] :
       parse_material_expressions(path, text, n_components, regions, allow_single))
    fields[id] = std::make_shared<Field<dim>>(path, expressions, variables, regions.definitions,
                                              regions.clock);
  return fields;
}

/// Parses @p text, the value of parameter @p path, into a field: expressions for all components,
/// separated by commas. Returns nullptr if @p text is blank.
template <int dim>
std::unique_ptr<Field<dim>> make_optional_field(const std::string &path, const std::string &text,
                                                const unsigned int n_components,
                                                const MeshRegions &regions)
{
  if (is_blank(text))
    return nullptr;
  const auto expressions = split_expressions(text, ',');
  if (expressions.size() != n_components)
    throw ParameterError(path + " has " + std::to_string(expressions.size()) +
                             (expressions.size() == 1 ? " expression" : " expressions") +
                             ", but needs " + std::to_string(n_components) +
                             ", one for each component, separated by ','." +
                             advice_on_decimal_comma(text),
                         path);
  return std::make_unique<Field<dim>>(path, expressions, Variables::position, regions.definitions,
                                      regions.clock);
}

template <int dim>
std::set<dealii::types::boundary_id> ids_of(const BoundaryFields<dim> &fields)
{
  std::set<dealii::types::boundary_id> ids;
  for (const auto &entry : fields)
    ids.insert(entry.first);
  return ids;
}

/// Checks that the @p fields of parameter @p path and @p others have no common boundary id.
/// @throws ParameterError if they have one
template <int dim>
void reject_overlap(const std::string &path, const BoundaryFields<dim> &fields,
                    const BoundaryFields<dim> &others)
{
  for (const auto &entry : fields)
    if (others.count(entry.first) > 0)
      throw ParameterError(
          "Boundary id " + std::to_string(entry.first) + " of " + path +
              " already has a condition in another parameter. Name it in only one of the two.",
          path);
}

/// Returns the ids (of boundaries or materials) whose field is not the constant 0 in component 0.
template <class Id, int dim>
std::set<Id> nonzero_ids(const std::map<Id, std::shared_ptr<Field<dim>>> &fields)
{
  std::set<Id> ids;
  for (const auto &[id, field] : fields)
    if (!field->is_zero())
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

/// Returns one Dirichlet condition, for all components, for each boundary of @p fields.
template <int dim>
std::vector<DirichletCondition<dim>> conditions_of(const BoundaryFields<dim> &fields)
{
  std::vector<DirichletCondition<dim>> conditions;
  for (const auto &[id, field] : fields)
    conditions.push_back({id, field.get(), dealii::ComponentMask()});
  return conditions;
}
} // namespace femgpu

#endif
