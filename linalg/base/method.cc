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
  normalized_text = method_name;
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
    normalized_text += ' ' + word;
  }
}

const std::string *Method::find(const std::string &option)
{
  queried.push_back(option);
  for (const auto &[name, value] : options)
    if (name == option)
      return &value;
  return nullptr;
}

void Method::reject(const std::string &option, const std::string &value,
                    const std::string &range) const
{
  throw ParameterError("Option '" + option + "' of the " + kind + " '" + method_name + "' is '" +
                       value + "', but must be " + range + ".");
}

int Method::integer(const std::string &option, const int default_value, const int min_value,
                    const int max_value)
{
  return integer_or(option, "", default_value, min_value, max_value);
}

int Method::integer_or(const std::string &option, const std::string &word, const int word_value,
                       const int min_value, const int max_value)
{
  const std::string *const text = find(option);
  if (text == nullptr || *text == word)
    return word_value;
  int value = 0;
  if (!read_number(*text, value) || value < min_value || value > max_value)
    reject(option, *text,
           (word.empty() ? "" : word + " or ") + "an integer from " + std::to_string(min_value) +
               " to " + std::to_string(max_value));
  return value;
}

double Method::number(const std::string &option, const double default_value, const double min_value,
                      const double max_value)
{
  const std::string *const text = find(option);
  if (text == nullptr)
    return default_value;
  double value = 0.;
  if (!read_number(*text, value) || !(value >= min_value && value <= max_value))
    reject(option, *text,
           "a number from " + number_text(min_value) + " to " + number_text(max_value));
  return value;
}

std::string Method::word(const std::string &option, const std::string &default_value,
                         const std::vector<std::string> &allowed)
{
  const std::string *const text = find(option);
  if (text == nullptr)
    return default_value;
  if (std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
    std::string names;
    for (std::size_t i = 0; i < allowed.size(); ++i)
      names += (i == 0 ? "" : i + 1 == allowed.size() ? " or " : ", ") + allowed[i];
    reject(option, *text, names);
  }
  return *text;
}

std::string Method::expression(const std::string &option, const std::string &default_value)
{
  const std::string *const text = find(option);
  return text == nullptr ? default_value : *text;
}

void Method::finish() const
{
  for (const auto &[option, value] : options) {
    if (std::find(queried.begin(), queried.end(), option) != queried.end())
      continue;
    std::string known;
    for (const std::string &name : queried)
      known += (known.empty() ? "" : ", ") + name;
    throw ParameterError("The " + kind + " '" + method_name + "' has no option '" + option + "'; " +
                         (known.empty() ? "it takes none" : "use " + known) + ".");
  }
}
} // namespace femgpu
