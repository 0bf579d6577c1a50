#ifndef femgpu_physics_base_expression_parameters_h
#define femgpu_physics_base_expression_parameters_h

#include "expressions/expression_parser.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>

namespace femgpu
{
/// Section "Expressions": constants and tables that all expressions of a parameter file may use.
class ExpressionParameters : public dealii::ParameterAcceptor
{
public:
  ExpressionParameters();

  /// @throws ParameterError if an entry is neither a constant nor a table, or if its name is
  /// reserved in expressions; InputError if a file cannot be read
  linalg::ExpressionDefinitions definitions() const;

  std::string directory; ///< of the parameter file; also searched for tables

private:
  std::string constants, tables;
};
} // namespace femgpu

#endif
