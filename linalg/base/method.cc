#include "linalg/base/method.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <sstream>

namespace femgpu
{
namespace
{
std::string number_text(const double value)
{
  std::ostringstream text;
  text << value;
  return text.str();
}
} // namespace

Method::Method(std::string kind_, const std::string &text) : kind(std::move(kind_))
{
  std::istringstream stream(text);
  stream >> method_name;
  if (method_name.empty() || method_name.find('=') != std::string::npos)
    throw ParameterError("The " + kind + " '" + text +
                         "' does not begin with a name. Write NAME or NAME OPTION=VALUE ….");
  words = method_name;
  for (std::string word; stream >> word;) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == word.size())
      throw ParameterError("'" + word + "' in the " + kind + " '" + text +
                           "' is not an option. Write OPTION=VALUE, without blanks around '='.");
    const std::string option = word.substr(0, sign);
    for (const auto &[other, value] : options)
      if (other == option)
        throw ParameterError("The " + kind + " '" + text + "' has the option '" + option +
                             "' twice. Remove one of them.");
    options.emplace_back(option, word.substr(sign + 1));
    words += ' ' + word;
  }
}

const std::string *Method::find(const std::string &option)
{
  asked_for.push_back(option);
  for (const auto &[name, value] : options)
    if (name == option)
      return &value;
  return nullptr;
}

void Method::refuse(const std::string &option, const std::string &value,
                    const std::string &range) const
{
  throw ParameterError("Option '" + option + "' of the " + kind + " '" + method_name + "' is '" +
                       value + "', but must be " + range + ".");
}

int Method::integer(const std::string &option, const int otherwise, const int least, const int most)
{
  return integer_or(option, "", otherwise, least, most);
}

int Method::integer_or(const std::string &option, const std::string &word, const int for_word,
                       const int least, const int most)
{
  const std::string *const text = find(option);
  if (text == nullptr || *text == word)
    return for_word;
  int value = 0;
  if (!read_number(*text, value) || value < least || value > most)
    refuse(option, *text,
           (word.empty() ? "" : word + " or ") + "an integer from " + std::to_string(least) +
               " to " + std::to_string(most));
  return value;
}

double Method::number(const std::string &option, const double otherwise, const double least,
                      const double most)
{
  const std::string *const text = find(option);
  if (text == nullptr)
    return otherwise;
  double value = 0.;
  if (!read_number(*text, value) || !(value >= least && value <= most))
    refuse(option, *text, "a number from " + number_text(least) + " to " + number_text(most));
  return value;
}

std::string Method::word(const std::string &option, const std::string &otherwise,
                         const std::vector<std::string> &allowed)
{
  const std::string *const text = find(option);
  if (text == nullptr)
    return otherwise;
  if (std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
    std::string names;
    for (std::size_t i = 0; i < allowed.size(); ++i)
      names += (i == 0 ? "" : i + 1 == allowed.size() ? " or " : ", ") + allowed[i];
    refuse(option, *text, names);
  }
  return *text;
}

std::string Method::expression(const std::string &option, const std::string &otherwise)
{
  const std::string *const text = find(option);
  return text == nullptr ? otherwise : *text;
}

void Method::finish() const
{
  for (const auto &[option, value] : options) {
    if (std::find(asked_for.begin(), asked_for.end(), option) != asked_for.end())
      continue;
    std::string known;
    for (const std::string &name : asked_for)
      known += (known.empty() ? "" : ", ") + name;
    throw ParameterError("The " + kind + " '" + method_name + "' has no option '" + option + "'; " +
                         (known.empty() ? "it takes none" : "use " + known) + ".");
  }
}
} // namespace femgpu
