#ifndef femgpu_linalg_base_method_h
#define femgpu_linalg_base_method_h

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/**
 * A method and its options as users write them, one text with blanks between the words:
 * `sell slice=32 values=float`. Whoever makes the method asks for its options; an option that
 * nobody has asked for is an error.
 */
class Method
{
public:
  /**
   * @param kind what the text chooses, for messages: "format"
   * @throws ParameterError if @p text is no name with options, or has one of them twice
   */
  Method(std::string kind, const std::string &text);

  /// A copy of the text with single blanks.
  const std::string &text() const
  {
    return words;
  }
  const std::string &name() const
  {
    return method_name;
  }

  /// The value of an option, or @p otherwise. @throws ParameterError if it is not in its range.
  int integer(const std::string &option, int otherwise, int least, int most);
  /// An integer, or @p word, which stands for @p for_word and is what there is without the option.
  int integer_or(const std::string &option, const std::string &word, int for_word, int least,
                 int most);
  double number(const std::string &option, double otherwise, double least, double most);
  std::string word(const std::string &option, const std::string &otherwise,
                   const std::vector<std::string> &allowed);
  /// Any text without blanks.
  std::string expression(const std::string &option, const std::string &otherwise);

  /// @throws ParameterError naming the options there are, if one was given that nobody asked for.
  void finish() const;

private:
  // The value as written; nullptr if the option is not there.
  const std::string *find(const std::string &option);
  [[noreturn]] void refuse(const std::string &option, const std::string &value,
                           const std::string &range) const;

  std::string kind, words, method_name;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> asked_for;
};
} // namespace femgpu

#endif
