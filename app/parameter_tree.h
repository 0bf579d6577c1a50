#ifndef femgpu_app_parameter_tree_h
#define femgpu_app_parameter_tree_h

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
  std::string key;
  std::string value;         ///< present value
  std::string default_value; ///< value without any parameter file
  std::string documentation; ///< as given to declare_entry()
  std::string pattern;       ///< deal.II's description of the pattern, e.g. "[Bool]"
  std::string alias_of;      ///< key in the same section that this old name stands for, or empty
};

/// One declared section with all below it, in the order of declaration.
struct DeclaredSection
{
  std::string name;              ///< last part of the path; empty for the root
  std::vector<std::string> path; ///< names from the root to this section; empty for the root
  std::vector<DeclaredParameter> parameters;
  std::vector<DeclaredSection> sections;

  /// "Solver/Krylov"; empty for the root.
  std::string path_text() const;

  /// "Solver/Tolerance" for @p key in this section.
  std::string path_of(const std::string &key) const;

  /// For messages: "in section 'Solver/Krylov'" or "at the top level".
  std::string place_text() const;

  /// The parameter named exactly @p key here; nullptr if there is none.
  const DeclaredParameter *find_parameter(const std::string &key) const;

  /// Same as find_parameter(), with an alias replaced by the parameter it stands for.
  const DeclaredParameter *resolve(const std::string &key) const;

  /// The section named exactly @p name here; nullptr if there is none.
  const DeclaredSection *find_section(const std::string &name) const;

  std::vector<std::string> keys() const;          ///< keys here, without aliases
  std::vector<std::string> section_names() const; ///< names of the sections here
};

/**
 * What @p prm has declared. Pointers into the result stay valid as long as it is neither copied
 * nor changed.
 */
DeclaredSection declared_tree(const dealii::ParameterHandler &prm);
} // namespace femgpu

#endif
