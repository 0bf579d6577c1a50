#ifndef femgpu_linalg_base_choice_h
#define femgpu_linalg_base_choice_h

#include <string>
#include <vector>

namespace femgpu
{
/// A value that a parameter can have, and its meaning.
struct Choice
{
  std::string name;
  std::string meaning;
};

/// Returns the names of @p choices for a message: "a, b or c".
inline std::string names_of(const std::vector<Choice> &choices)
{
  std::string names;
  for (std::size_t i = 0; i < choices.size(); ++i)
    names += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i].name;
  return names;
}

/// Returns the names of @p choices in the form of deal.II's Patterns::Selection: "a|b|c".
inline std::string selection_of(const std::vector<Choice> &choices)
{
  std::string names;
  for (const Choice &choice : choices)
    names += (names.empty() ? "" : "|") + choice.name;
  return names;
}

/// Returns the names and meanings of @p choices for the description of a parameter:
/// "a: meaning of a. b: meaning of b."
inline std::string meanings_of(const std::vector<Choice> &choices)
{
  std::string text;
  for (const Choice &choice : choices)
    text += (text.empty() ? "" : ". ") + choice.name + ": " + choice.meaning;
  return text + ".";
}
} // namespace femgpu

#endif
