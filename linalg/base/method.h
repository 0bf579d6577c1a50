#ifndef femgpu_linalg_base_method_h
#define femgpu_linalg_base_method_h

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/**
 * The name of a method and its options in the form that users write, separated by blanks: `sell
 * slice=32 values=float`. The code that makes the method queries the options that it knows; an
 * option that is never queried is an error.
 */
class Method
{
public:
  /**
   * @param kind the kind of the method, for messages: "format"
   * @throws ParameterError if @p text is not a name followed by options, or repeats an option
   */
  Method(std::string kind, const std::string &text);

  /// The name and the options, separated by single blanks.
  const std::string &text() const
  {
    return normalized_text;
  }
  const std::string &name() const
  {
    return method_name;
  }

  /// Returns the value of an integer option, or @p default_value if the option was not given.
  /// @throws ParameterError if the value is not an integer or out of range
  int integer(const std::string &option, int default_value, int min_value, int max_value);
  /// Returns the value of an integer option, or @p word_value if the option was not given or its
  /// value is @p word.
  int integer_or(const std::string &option, const std::string &word, int word_value, int min_value,
                 int max_value);
  double number(const std::string &option, double default_value, double min_value,
                double max_value);
  std::string word(const std::string &option, const std::string &default_value,
                   const std::vector<std::string> &allowed);
  /// Returns the value of an option as text, or @p default_value if the option was not given. The
  /// value can be any text without blanks.
  std::string expression(const std::string &option, const std::string &default_value);

  /// Checks that all options that were given have been queried.
  /// @throws ParameterError otherwise; the message names the known options
  void finish() const;

private:
  // Returns the value of the option as text; nullptr if the option was not given.
  const std::string *find(const std::string &option);
  [[noreturn]] void reject(const std::string &option, const std::string &value,
                           const std::string &range) const;

  std::string kind, normalized_text, method_name;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> queried;
};
} // namespace femgpu

#endif
