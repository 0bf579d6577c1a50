#ifndef femgpu_app_parameter_file_h
#define femgpu_app_parameter_file_h

#include "app/parameter_scan.h"

#include <map>
#include <string>
#include <vector>

namespace dealii
{
class ParameterHandler;
}

namespace femgpu
{
/**
 * The location that set each parameter. An error found after parsing the file, such as an invalid
 * expression or a missing boundary id, names the location of its parameter.
 */
struct ParameterLocations
{
  /// Locations by "Section/Key", for all declared parameters; empty if the value is the default.
  std::map<std::string, std::string> locations;
  /// By "Section/Key": descriptions of look-alike characters in values that the user has set, see
  /// confusable_in(). Parameters without such characters have no entry.
  std::map<std::string, std::string> confusables;

  /// Is the parameter @p path ("Section/Key") declared?
  bool exists(const std::string &path) const
  {
    return locations.count(path) > 0;
  }

  /// Did the user set the value of @p path?
  bool is_set(const std::string &path) const
  {
    return exists(path) && !locations.at(path).empty();
  }

  /**
   * Returns the location that set the parameter "Section/Key": "run.prm:12",
   * "--set 'Section/Key=value'" or "the default of Section/Key".
   * @throws ParameterError if there is no such parameter
   */
  std::string location_of(const std::string &path) const;
};

/**
 * Checks a parameter file and the overrides of the command line against the declarations in @p prm.
 * If there is no problem, sets the values in @p prm, which runs the actions attached to the
 * parameters in the order of the file. @p prm must be at its top level.
 *
 * The grammar is deal.II's: '#' begins a comment, `subsection NAME` … `end`, `set KEY = VALUE`, a
 * backslash at the end of a line joins the line with the next. `include` is rejected, and so are
 * two mistakes that deal.II accepts silently: a key that is set twice, and a comment that ends in a
 * backslash.
 *
 * @param overrides texts "Section/Sub/Key=value" ("Key=value" at the top level); they take
 *        precedence over the file, and later ones over earlier ones
 * @return the location that set each value
 * @throws ParameterError that lists all problems, one per line, each with "file:line:" or
 *         "--set 'text':", the nearest valid name and the valid values
 */
ParameterLocations apply_parameters(dealii::ParameterHandler &prm, const ParameterSource &source,
                                    const std::vector<std::string> &overrides);

/// Throws unless @p problems is empty.
/// @throws ParameterError that lists @p problems, one per line; only the first ones of a long list
void throw_problems(const std::vector<std::string> &problems);
} // namespace femgpu

#endif
