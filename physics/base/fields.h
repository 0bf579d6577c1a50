#ifndef femgpu_physics_base_fields_h
#define femgpu_physics_base_fields_h

#include "expressions/expression_tape.h"
#include "linalg/base/text.h"
#include "physics/base/point_batch.h"
#include "physics/base/regions.h"

#include <deal.II/base/function.h>
#include <deal.II/base/types.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// Returns whether @p text contains only blanks.
inline bool is_blank(const std::string &text)
{
  return text.find_first_not_of(" \t") == std::string::npos;
}

/// Splits @p text at each @p separator outside parentheses, and trims the blanks of each part.
std::vector<std::string> split_expressions(const std::string &text, char separator);

/// Splits @p text at each @p separator outside parentheses, and omits empty parts.
std::vector<std::string> entries_of(const std::string &text, char separator = ';');

/// Returns the first number in @p text with a decimal comma and no blanks, such as "1,5"; empty if
/// there is none.
std::string decimal_comma_in(const std::string &text);

/// Returns a hint for messages about a wrong number of expressions if @p text has a decimal comma:
/// " Decimals are separated by '.': write 1.5 for 1,5."; otherwise returns an empty string.
std::string advice_on_decimal_comma(const std::string &text);

/// The variables that a parameter's expressions may use, besides the time t.
enum class Variables
{
  position,              ///< x, y and z
  position_and_solution, ///< x, y, z and u
};

/**
 * A function of position and, optionally, of a scalar solution u and of the time t. Each component
 * is an expression in x, y (and z, u, t) in the syntax of linalg::parse_expression(). Expressions
 * without variables are evaluated once. Gradients and ∂/∂u are symbolic derivatives. Thread-safe
 * while the clock stands still.
 */
template <int dim>
class Field : public dealii::Function<dim>
{
public:
  using Points = std::vector<dealii::Point<dim>>;

  /**
   * @param path "Section/Key" of the parameter, for messages
   * @throws ParameterError with the column and the expected token if an expression cannot be
   * parsed, if a constant is not finite, and if an expression depends on t without a @p clock
   */
  Field(const std::string &path, const std::vector<std::string> &expressions,
        Variables variables = Variables::position,
        const linalg::ExpressionDefinitions &definitions = {}, Clock clock = nullptr);

  /// Returns whether the expression contains neither coordinates nor u nor t.
  bool is_constant(const unsigned int component = 0) const
  {
    return components[component].is_constant;
  }
  /// Returns 0 if the expression does not depend on u, 1 if it is a + b u, and 2 otherwise.
  int degree_in_u(const unsigned int component = 0) const
  {
    return components[component].degree_in_u;
  }
  bool depends_on_time(const unsigned int component = 0) const
  {
    return components[component].depends_on_time;
  }
  /// Returns whether any component depends on t.
  bool any_depends_on_time() const
  {
    return std::any_of(components.begin(), components.end(),
                       [](const Component &c) { return c.depends_on_time; });
  }
  /// Returns whether the expression is the constant 0.
  bool is_zero(const unsigned int component = 0) const
  {
    return components[component].is_constant && components[component].constant == 0.;
  }

  // The functions below throw ParameterError with the position if a value is not finite.

  /// Evaluates the expression at the points of @p at, with the values of the solution in @p at.
  void evaluate(const PointBatch<dim> &at, double *values, unsigned int component = 0) const;
  /// Evaluates the derivative of the expression with respect to u at the points of @p at.
  void evaluate_u_derivative(const PointBatch<dim> &at, double *values,
                             unsigned int component = 0) const;

  // The following functions require expressions without u, unless u is given.
  double value(const dealii::Point<dim> &p, unsigned int component = 0) const override;
  void value_list(const Points &points, std::vector<double> &values,
                  unsigned int component = 0) const override;
  void vector_value_list(const Points &points,
                         std::vector<dealii::Vector<double>> &values) const override;

  /// Evaluates the expression and its derivatives at n points. Fills @p rows with one row of n
  /// numbers for the values, then one for each derivative ∂_0, ∂_1, ... Common subexpressions are
  /// evaluated once. Derivatives must be finite only at the first @p n_gradients points.
  /// @param u values of the solution at the points; nullptr for expressions without u
  void value_and_gradient_rows(const Points &points, std::size_t n_gradients,
                               std::vector<double> &rows, unsigned int component = 0,
                               const double *u = nullptr) const;

private:
  struct Component
  {
    std::string expression;
    bool is_constant = true;
    int degree_in_u = 0;
    bool depends_on_time = false;
    double constant = 0.;
    linalg::ExpressionTape value, value_and_gradient, u_derivative;
  };

  void require_finite(const char *what, const Points &points, std::size_t n_points,
                      unsigned int component, const double *values) const;
  void evaluate_tape(const linalg::ExpressionTape &tape, const Points &points, const double *u,
                     double *results) const;

  std::string path;
  Clock clock;
  std::vector<Component> components;
};

/// For each boundary id, the expressions of a parameter, one for each component.
using BoundaryExpressions = std::map<dealii::types::boundary_id, std::vector<std::string>>;

/**
 * Parses "ids: expression, ...; ids: ...". Entries are separated by ';'. An entry is a list of
 * boundary ids or names of the mesh, separated by ',', then ':' and @p n_components expressions,
 * separated by ','.
 * @throws ParameterError on a syntax error, if an id occurs twice or is not in @p regions, or if
 * a name denotes a place that @p places excludes
 */
BoundaryExpressions parse_boundary_expressions(const std::string &path, const std::string &text,
                                               unsigned int n_components,
                                               const MeshRegions &regions,
                                               Places places = Places::sides);

/// For each material id, the expressions of a parameter, one for each component.
using MaterialExpressions = std::map<dealii::types::material_id, std::vector<std::string>>;

/**
 * Parses "expression, ...; ids: expression, ...", like parse_boundary_expressions() but with
 * material ids or names. The entry without ids applies to all materials that no other entry names.
 * @param allow_single whether one expression is accepted instead of @p n_components
 * @return the expressions of each material of the mesh
 * @throws ParameterError on a syntax error, if an id occurs twice or is not in @p regions, or if a
 * material of the mesh has no expressions
 */
MaterialExpressions parse_material_expressions(const std::string &path, const std::string &text,
                                               unsigned int n_components,
                                               const MeshRegions &regions,
                                               bool allow_single = false);
} // namespace femgpu

#endif
