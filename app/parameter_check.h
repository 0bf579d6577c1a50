#ifndef femgpu_app_parameter_check_h
#define femgpu_app_parameter_check_h

#include "app/parameter_scan.h"
#include "app/parameter_tree.h"

#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// A checked value: the section and key it belongs to (aliases resolved) and where it was given.
struct ParameterAssignment
{
  const DeclaredSection *section;
  const DeclaredParameter *parameter;
  std::string value;
  std::string place; ///< "run.prm:12" or "--set 'Section/Key=value'"
};

/**
 * What is wrong with @p value for the parameter @p parameter of @p section, with the valid values;
 * empty if it fits.
 */
std::string value_problem(const DeclaredSection &section, const DeclaredParameter &parameter,
                          const std::string &value);

/**
 * Check the statements of a parameter file against the declared tree.
 * @param problems receives everything that is wrong, in no particular order
 * @return the assignments that are right, in the order of the file
 */
std::vector<ParameterAssignment> check_statements(const DeclaredSection &root,
                                                  const std::vector<ParameterStatement> &statements,
                                                  const std::string &source_name,
                                                  std::vector<ParameterProblem> &problems);

/**
 * Check one override "Section/Sub/Key=value".
 * @param assignment receives the value if it is right
 * @return what is wrong with it, empty if nothing
 */
std::string check_override(const DeclaredSection &root, const std::string &text,
                           ParameterAssignment &assignment);
} // namespace femgpu

#endif
