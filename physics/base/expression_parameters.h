#ifndef femgpu_physics_base_expression_parameters_h
#define femgpu_physics_base_expression_parameters_h

#include "expressions/expression_parser.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>

namespace femgpu
{
/// The parameters in section "Expressions": constants and tables for all expressions of a parameter
/// file.
class ExpressionParameters : public dealii::ParameterAcceptor
{
public:
  ExpressionParameters();

  /**
   * Returns the constants and tables, and reads the files of tables.
   * @throws ParameterError if an entry is not a valid constant or table, or if its name is invalid,
   * reserved in expressions or defined twice
   * @throws InputError if a file cannot be read
   */
  linalg::ExpressionDefinitions definitions() const;

  std::string directory; ///< directory of the parameter file, also searched for files of tables

private:
  std::string constants, tables;
};
} // namespace femgpu

#endif
