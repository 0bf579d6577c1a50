#ifndef femgpu_physics_expressions_h
#define femgpu_physics_expressions_h

#include "linalg/expressions/expression_tape.h"
#include "physics/mesh/regions.h"

#include <deal.II/base/function.h>
#include <deal.II/base/types.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * A function of position, given by one expression of x, y (and z) for each component, as
 * linalg::parse_expression() reads it. Expressions without coordinates are evaluated once.
 * Gradients are derivatives of the expressions. Several threads may use it.
 */
template <int dim>
class Field : public dealii::Function<dim>
{
public:
  using Points = std::vector<dealii::Point<dim>>;

  /**
   * @param path "Section/Key" of the parameter, for messages
   * @throws ParameterError with the column and what was expected if an expression cannot be read,
   * and for a constant that is not finite
   */
  Field(const std::string &path, const std::vector<std::string> &expressions);

  /// Is the expression without coordinates?
  bool is_constant(const unsigned int component = 0) const
  {
    return components[component].is_constant;
  }

  // Each throws ParameterError with the place if a value is not finite.
  double value(const dealii::Point<dim> &p, unsigned int component = 0) const override;
  void value_list(const Points &points, std::vector<double> &values,
                  unsigned int component = 0) const override;
  void vector_value(const dealii::Point<dim> &p, dealii::Vector<double> &values) const override;

  dealii::Tensor<1, dim> gradient(const dealii::Point<dim> &p,
                                  unsigned int component = 0) const override;
  void gradient_list(const Points &points, std::vector<dealii::Tensor<1, dim>> &gradients,
                     unsigned int component = 0) const override;

private:
  struct Component
  {
    std::string expression;
    bool is_constant = true;
    double constant = 0.;
    linalg::ExpressionTape value, gradient;
  };

  [[noreturn]] void refuse(const std::string &what, const dealii::Point<dim> &p,
                           unsigned int component, double value) const;

  std::string path;
  std::vector<Component> components;
};

/// Splits at @p separator outside of parentheses, and trims blanks.
std::vector<std::string> split_expressions(const std::string &text, char separator);

/**
 * Numbers with names that expressions may use, read from "sigma=5.67e-8, eps=0.8". Their values are
 * written into the expressions before these are read.
 */
class NamedConstants
{
public:
  /// @throws ParameterError that names @p path for anything but names and numbers, and for names
  /// that expressions have already
  NamedConstants(const std::string &path, const std::string &text);

  /// @p expressions with numbers in parentheses in place of names.
  std::string insert_into(const std::string &expressions) const;

  std::map<std::string, double> numbers() const;

private:
  std::map<std::string, std::string> values;
};

/// What a parameter says about parts of the boundary: for each id one expression a component.
using BoundaryExpressions = std::map<dealii::types::boundary_id, std::vector<std::string>>;

/**
 * Reads "ids: expression, ...; ids: ...": entries separated by ';', each with boundary ids, or
 * names of the mesh, separated by ',' and, after ':', one expression for each of @p n_components
 * components separated by ','.
 * @throws ParameterError for anything else, for an id that comes twice, and for one that @p regions
 *         lacks
 */
BoundaryExpressions parse_boundary_expressions(const std::string &path, const std::string &text,
                                               unsigned int n_components,
                                               const MeshRegions &regions);

/// What a parameter says about the materials: for each id one expression a component.
using MaterialExpressions = std::map<dealii::types::material_id, std::vector<std::string>>;

/**
 * Reads "expression, ...; ids: expression, ...": as parse_boundary_expressions() with material ids
 * or names; the entry without ids is for all materials that are not named.
 * @param repeats an entry may have one expression that stands for all components
 * @return for each material of the mesh its expressions
 * @throws ParameterError also if a material of the mesh has none
 */
MaterialExpressions parse_material_expressions(const std::string &path, const std::string &text,
                                               unsigned int n_components,
                                               const MeshRegions &regions, bool repeats = false);

/// The ids that @p expressions names.
std::set<dealii::types::boundary_id> ids_of(const BoundaryExpressions &expressions);
} // namespace femgpu

#endif
