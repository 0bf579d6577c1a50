#ifndef femgpu_app_declared_parameters_h
#define femgpu_app_declared_parameters_h

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dealii
{
class ParameterHandler;
}

namespace femgpu
{
/// One declared parameter.
struct DeclaredParameter
{
  std::string section; ///< "Solver/Krylov"; empty at the top level
  std::string key;
  std::string value;         ///< current value
  std::string default_value; ///< value if the user does not set it
  std::string documentation; ///< the text given to declare_entry()
  std::string pattern;       ///< deal.II's description of the pattern, e.g. "[Bool]"

  /// Returns "Section/Key".
  std::string path() const;

  /// Describes the pattern: "an integer from 1 to 4", "one of: cg, gmres". Returns the pattern
  /// itself if it is of a kind that femgpu does not use.
  std::string valid_values() const;

  /// Returns the names that the pattern allows; empty if it allows other texts too.
  std::vector<std::string> choices() const;

  /// Returns whether @p text matches the pattern. Returns true for unknown kinds of pattern,
  /// because ParameterHandler::set() checks the text later.
  bool accepts(const std::string &text) const;

  /// Converts the value @p text to the JSON type that corresponds to the pattern.
  nlohmann::ordered_json json_of(const std::string &text) const;
};

/// Returns "Section/name", or @p name at the top level.
std::string path_in(const std::string &section, const std::string &name);

/// All parameters and sections declared in a ParameterHandler.
struct DeclaredParameters
{
  explicit DeclaredParameters(const dealii::ParameterHandler &prm);

  std::vector<DeclaredParameter> parameters; ///< grouped by section, in the order of declaration
  std::vector<std::string> sections;         ///< "Solver/Krylov"; the empty top level comes first

  /// Returns the parameter with exactly the name @p key in @p section; nullptr if there is none.
  const DeclaredParameter *find(const std::string &section, const std::string &key) const;

  bool has_section(const std::string &section, const std::string &name) const;

  std::vector<std::string> keys(const std::string &section) const;
  /// Returns the names of the sections directly inside @p section.
  std::vector<std::string> sections_in(const std::string &section) const;
};

/**
 * Returns all parameters with their current values, which are the defaults before a file is read.
 * @param format "prm": a commented file that can be read back; "json": objects nested by section
 *        with `value` and `default_value` (typed), `documentation`, `valid` (a description of the
 *        valid values) and `pattern_description`; "md": a Markdown table for each section
 */
std::string format_parameters(const std::string &format, const dealii::ParameterHandler &prm);
} // namespace femgpu

#endif
