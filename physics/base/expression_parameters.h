#ifndef femgpu_physics_base_expression_parameters_h
#define femgpu_physics_base_expression_parameters_h

#include "expressions/expression_parser.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>

namespace femgpu
{
/// Section "Expressions": what all expressions of a parameter file may name.
class ExpressionParameters : public dealii::ParameterAcceptor
{
public:
  ExpressionParameters();

  /// @throws ParameterError for what is no constant or table, and for names that expressions have
  /// already; InputError for files that cannot be read
  linalg::ExpressionDefinitions definitions() const;

  std::string directory; ///< of the parameter file, beside which tables are looked for, too

private:
  std::string constants, tables;
};
} // namespace femgpu

#endif
