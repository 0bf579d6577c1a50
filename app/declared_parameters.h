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
  std::string value;         ///< present value
  std::string default_value; ///< value without any parameter file
  std::string documentation; ///< as given to declare_entry()
  std::string pattern;       ///< deal.II's description of the pattern, e.g. "[Bool]"

  /// "Section/Key"
  std::string path() const;

  /// What the pattern means, in words: "an integer from 1 to 4", "one of: cg, gmres". The pattern
  /// itself if it is of a kind that femgpu declares nowhere.
  std::string valid_values() const;

  /// The names that the pattern allows; empty unless these are all.
  std::vector<std::string> choices() const;

  /// Whether @p text fits the pattern. All does where the kind of the pattern is unknown;
  /// ParameterHandler::set() still checks it.
  bool accepts(const std::string &text) const;

  /// @p text, a value, as the JSON type that the pattern calls for.
  nlohmann::ordered_json json_of(const std::string &text) const;
};

/// "Section/name"; @p name alone at the top level.
std::string path_in(const std::string &section, const std::string &name);

/// What a ParameterHandler has declared.
struct DeclaredParameters
{
  explicit DeclaredParameters(const dealii::ParameterHandler &prm);

  std::vector<DeclaredParameter> parameters; ///< in the order of declaration, by sections
  std::vector<std::string> sections;         ///< "Solver/Krylov"; the empty top level comes first

  /// The parameter named exactly @p key in @p section; nullptr for none.
  const DeclaredParameter *find(const std::string &section, const std::string &key) const;

  bool has_section(const std::string &section, const std::string &name) const;

  std::vector<std::string> keys(const std::string &section) const;
  std::vector<std::string> sections_in(const std::string &section) const; ///< their names
};

/**
 * All parameters with their present values, which are the defaults as long as no file was read.
 * @param format "prm": a commented file that can be read back; "json": in the nesting of sections
 *        `value` and `default_value` (numbers and booleans as such), `documentation`, `valid` (in
 *        words) and `pattern_description` of each; "md": a Markdown table for each section
 */
std::string parameters_as(const std::string &format, const dealii::ParameterHandler &prm);
} // namespace femgpu

#endif
