#ifndef femgpu_linalg_base_choice_h
#define femgpu_linalg_base_choice_h

#include <string>
#include <vector>

namespace femgpu
{
/// One value of a parameter that names a part of the program, and what it means.
struct Choice
{
  std::string name;
  std::string meaning;
};

/// "a, b or c": the names of @p choices for a message.
inline std::string names_of(const std::vector<Choice> &choices)
{
  std::string names;
  for (std::size_t i = 0; i < choices.size(); ++i)
    names += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i].name;
  return names;
}

/// "a|b|c": the names for a parameter that is one of them.
inline std::string selection_of(const std::vector<Choice> &choices)
{
  std::string names;
  for (const Choice &choice : choices)
    names += (names.empty() ? "" : "|") + choice.name;
  return names;
}

/// "a: what it means; b: …." for the description of a parameter.
inline std::string meanings_of(const std::vector<Choice> &choices)
{
  std::string text;
  for (const Choice &choice : choices)
    text += (text.empty() ? "" : "; ") + choice.name + ": " + choice.meaning;
  return text + ".";
}
} // namespace femgpu

#endif
