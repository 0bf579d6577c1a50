#ifndef femgpu_physics_base_expressions_h
#define femgpu_physics_base_expressions_h

#include "expressions/expression_tape.h"
#include "linalg/base/text.h"
#include "physics/base/point_batch.h"
#include "physics/base/regions.h"

#include <deal.II/base/function.h>
#include <deal.II/base/types.h>

#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// Is there nothing in @p text but blanks?
inline bool is_blank(const std::string &text)
{
  return text.find_first_not_of(" \t") == std::string::npos;
}

/// Splits at @p separator outside of parentheses, and trims blanks.
std::vector<std::string> split_expressions(const std::string &text, char separator);

/// The same without parts that are empty.
std::vector<std::string> entries_of(const std::string &text, char separator = ';');

/// The first "1,5" in @p text, digits on both sides of a comma without a blank; empty if there is
/// none.
std::string decimal_comma_in(const std::string &text);

/// For messages about a wrong number of expressions: " Decimals are separated by '.': 1.5, not
/// 1,5." if @p text has a decimal comma, else nothing.
std::string advice_on_decimal_comma(const std::string &text);

/// What the expressions of a parameter may have.
enum class Variables
{
  position,              ///< x, y and z
  position_and_solution, ///< and u
};

/**
 * A function of position, and perhaps of a scalar solution u, given by one expression of x, y (and
 * z, and u) for each component, as linalg::parse_expression() reads it. Expressions without
 * variables are evaluated once. Gradients and ∂/∂u are derivatives of the expressions. Several
 * threads may use it.
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
  Field(const std::string &path, const std::vector<std::string> &expressions,
        Variables variables = Variables::position,
        const linalg::ExpressionDefinitions &definitions = {});

  /// Is the expression without coordinates and u?
  bool is_constant(const unsigned int component = 0) const
  {
    return components[component].is_constant;
  }
  /// In u: 0, 1 for a + b u, or 2 for any other.
  int degree_in_u(const unsigned int component = 0) const
  {
    return components[component].degree_in_u;
  }
  /// Is it the number 0?
  bool is_zero(const unsigned int component = 0) const
  {
    return components[component].is_constant && components[component].constant == 0.;
  }

  // Each throws ParameterError with the place if a value is not finite.

  /// At the points of @p at, with the solution there.
  void evaluate(const PointBatch<dim> &at, double *values, unsigned int component = 0) const;
  /// ∂/∂u, in the same way.
  void evaluate_by_u(const PointBatch<dim> &at, double *values, unsigned int component = 0) const;

  // The following are for expressions without u.
  double value(const dealii::Point<dim> &p, unsigned int component = 0) const override;
  void value_list(const Points &points, std::vector<double> &values,
                  unsigned int component = 0) const override;
  void vector_value_list(const Points &points,
                         std::vector<dealii::Vector<double>> &values) const override;

  /// Of n points: values, then ∂_0, ..., in rows of n numbers; what both are made of is made once.
  /// Derivatives need a value at the first @p n_gradients points only.
  void value_and_gradient_rows(const Points &points, std::size_t n_gradients,
                               std::vector<double> &rows, unsigned int component = 0) const;

private:
  struct Component
  {
    std::string expression;
    bool is_constant = true;
    int degree_in_u = 0;
    double constant = 0.;
    linalg::ExpressionTape value, value_and_gradient, by_u;
  };

  void require_finite(const char *what, const Points &points, std::size_t n_points,
                      unsigned int component, const double *values) const;

  std::string path;
  std::vector<Component> components;
};

/// What a parameter says about parts of the boundary: for each id one expression a component.
using BoundaryExpressions = std::map<dealii::types::boundary_id, std::vector<std::string>>;

/**
 * Reads "ids: expression, ...; ids: ...": entries separated by ';', each with boundary ids, or
 * names of the mesh, separated by ',' and, after ':', one expression for each of @p n_components
 * components separated by ','.
 * @param lower_too may names be those of curves and points, too?
 * @throws ParameterError for anything else, for an id that comes twice, and for one that @p regions
 *         lacks
 */
BoundaryExpressions parse_boundary_expressions(const std::string &path, const std::string &text,
                                               unsigned int n_components,
                                               const MeshRegions &regions, bool lower_too = false);

/// What a parameter says about the materials: for each id one expression a component.
using MaterialExpressions = std::map<dealii::types::material_id, std::vector<std::string>>;

/**
 * Reads "expression, ...; ids: expression, ...": as parse_boundary_expressions() with material ids
 * or names; the entry without ids is for all materials that are not named.
 * @param or_one may an entry have one expression, too, which stands for all components?
 * @return for each material of the mesh its expressions
 * @throws ParameterError also if a material of the mesh has none
 */
MaterialExpressions parse_material_expressions(const std::string &path, const std::string &text,
                                               unsigned int n_components,
                                               const MeshRegions &regions, bool or_one = false);
} // namespace femgpu

#endif
