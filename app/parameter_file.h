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
 * Where each parameter got its value, for errors that are only found later (an expression that
 * does not parse, a boundary id the mesh does not have).
 */
struct ParameterPlaces
{
  /// By "Section/Key", of all that are declared; empty where the value is the default.
  std::map<std::string, std::string> places;
  /// By "Section/Key": what look_alike_in() says of values that were given, where it says anything.
  std::map<std::string, std::string> look_alikes;

  /// Whether a parameter "Section/Key" is declared.
  bool exists(const std::string &path) const
  {
    return places.count(path) > 0;
  }

  /// Whether the value of @p path was given by the user, not left at its default.
  bool is_given(const std::string &path) const
  {
    return exists(path) && !places.at(path).empty();
  }

  /**
   * Where the value of the parameter "Section/Key" comes from: "run.prm:12",
   * "--set 'Section/Key=value'" or "the default of Section/Key".
   * @throws ParameterError if there is no such parameter
   */
  std::string place_of(const std::string &path) const;
};

/**
 * Check the text of a parameter file and the command line's overrides against everything that
 * @p prm has declared and, only if all is right, set the values in @p prm (actions attached to the
 * parameters run, in the order of the file). @p prm must stand at its top level.
 *
 * The grammar is deal.II's: '#' begins a comment, `subsection NAME` … `end`, `set KEY = VALUE`, a
 * backslash at the end of a line joins it with the next. `include` is refused, and so is what
 * deal.II accepts in silence: a key that is set twice, a comment that ends in a backslash.
 *
 * @param overrides texts "Section/Sub/Key=value" ("Key=value" at the top level); they win over the
 *        file, later ones win over earlier ones
 * @return the place each value comes from
 * @throws ParameterError that lists every problem, one a line, each with "file:line:" or
 *         "--set 'text':", the nearest valid name and the valid values
 */
ParameterPlaces apply_parameters(dealii::ParameterHandler &prm, const ParameterSource &source,
                                 const std::vector<std::string> &overrides);

/// @throws ParameterError with all of @p problems, one a line; a flood is cut.
void throw_if_any(const std::vector<std::string> &problems);
} // namespace femgpu

#endif
