#include "linalg/base/error.h"
#include "physics/expressions.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace femgpu
{
namespace
{
bool begins_name(const char c)
{
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_within_name(const char c)
{
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_number(const std::string &text)
{
  double value = 0.;
  const char *const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

bool is_name(const std::string &text)
{
  return !text.empty() && begins_name(text.front()) &&
         std::all_of(text.begin(), text.end(), is_within_name);
}

/// Where the number that begins at @p begin ends: "5.67e-8" is one, with no name e in it.
std::size_t end_of_number(const std::string &text, const std::size_t begin)
{
  double value = 0.;
  const auto result = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return std::max<std::size_t>(begin + 1, result.ptr - text.data());
}
} // namespace

NamedConstants::NamedConstants(const std::string &path, const std::string &text)
{
  for (const std::string &entry : split_expressions(text, ',')) {
    if (entry.empty())
      continue;
    const auto parts = split_expressions(entry, '=');
    if (parts.size() != 2 || !is_name(parts[0]) || !is_number(parts[1]))
      throw ParameterError(
          "The entry '" + entry + "' of " + path +
              " is no NAME=NUMBER; write entries such as 'sigma=5.67e-8, eps=0.8'.",
          path);
    for (const char *const taken : {"x", "y", "z", "u", "e", "pi"})
      if (parts[0] == taken)
        throw ParameterError("The name '" + parts[0] + "' in " + path +
                                 " has a meaning in expressions already; use another.",
                             path);
    if (!values.emplace(parts[0], parts[1]).second)
      throw ParameterError("The name '" + parts[0] + "' comes twice in " + path + ".", path);
  }
}

std::map<std::string, double> NamedConstants::numbers() const
{
  std::map<std::string, double> result;
  for (const auto &[name, value] : values)
    std::from_chars(value.data(), value.data() + value.size(), result[name]);
  return result;
}

std::string NamedConstants::insert_into(const std::string &expressions) const
{
  std::string result;
  for (std::size_t begin = 0, end = 0; begin < expressions.size(); begin = end) {
    const char c = expressions[begin];
    end = begin + 1;
    if (begins_name(c))
      while (end < expressions.size() && is_within_name(expressions[end]))
        ++end;
    else if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.')
      end = end_of_number(expressions, begin);
    const std::string word = expressions.substr(begin, end - begin);
    const auto value = values.find(word);
    result += value == values.end() ? word : "(" + value->second + ")";
  }
  return result;
}
} // namespace femgpu
