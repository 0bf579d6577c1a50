#include "solve/generators/registry.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/base/text.h"

#include <cmath>
#include <system_error>

namespace femgpu::linalg
{
namespace
{
/// Splits @p text at @p separator. Consecutive separators, and one at the end, yield empty strings.
std::vector<std::string> split(const std::string &text, const char separator)
{
  std::vector<std::string> tokens(1);
  for (const char c : text)
    if (c == separator)
      tokens.emplace_back();
    else
      tokens.back() += c;
  return tokens;
}

/// Returns the part after the first colon; empty if there is none.
std::string after_colon(const std::string &text)
{
  const std::size_t colon = text.find(':');
  return colon == std::string::npos ? "" : text.substr(colon + 1);
}
} // namespace

GeneratorArguments::GeneratorArguments(const std::string &text, const std::string &form,
                                       const RowShare &share)
    : text(text), form(form), rows(share), tokens(split(after_colon(text), ','))
{
  const std::string parameters = after_colon(form);
  const std::size_t max_count = split(parameters, ',').size();
  const std::size_t min_count = split(parameters.substr(0, parameters.find("[,")), ',').size();
  if (tokens.size() < min_count || tokens.size() > max_count)
    fail("it has " + std::to_string(tokens.size()) + " parameters instead of " +
         (min_count < max_count ? std::to_string(min_count) + " or " : "") +
         std::to_string(max_count));
}

Grid GeneratorArguments::grid(const int dimension) const
{
  const std::vector<std::string> sizes = split(tokens[0], 'x');
  if (sizes.size() != 1 && sizes.size() != static_cast<std::size_t>(dimension))
    fail("it has " + std::to_string(sizes.size()) + " sizes instead of 1 or " +
         std::to_string(dimension));
  const auto size = [&](const std::size_t direction) {
    return parse_size(sizes[sizes.size() == 1 ? 0 : direction], 1);
  };
  return {size(0), size(1), dimension == 3 ? size(2) : 1};
}

int GeneratorArguments::size(const int smallest) const
{
  return parse_size(tokens[0], smallest);
}

int GeneratorArguments::second_size(const int smallest) const
{
  return parse_size(tokens[1], smallest);
}

double GeneratorArguments::number() const
{
  double number = 0.;
  if (!read_number(tokens[1], number) || !std::isfinite(number))
    fail("'" + tokens[1] + "' is not a finite number");
  return number;
}

int GeneratorArguments::seed() const
{
  return tokens.size() < 2 ? 1 : parse_size(tokens[1], 0);
}

void GeneratorArguments::fail(const std::string &reason) const
{
  throw ParameterError("The model problem '" + text + "' is invalid: " + reason +
                       ". Use the form " + form + ".");
}

int GeneratorArguments::parse_size(const std::string &token, const int smallest) const
{
  int size = 0;
  if (!read_number(token, size) || size < smallest || size > max_indices)
    fail("'" + token + "' is not an integer from " + std::to_string(smallest) + " to " +
         std::to_string(max_indices));
  return size;
}

namespace
{
std::string form_of(const decltype(generators)::Entry &entry)
{
  return std::string(entry.name) + ':' + entry.traits.parameters;
}
} // namespace

std::vector<Choice> generator_choices()
{
  std::vector<Choice> choices;
  for (const auto &entry : generators)
    choices.push_back({form_of(entry), entry.meaning});
  return choices;
}

ModelProblem generate(const std::string &text, const RowShare &share)
{
  for (const auto &entry : generators)
    if (text.substr(0, text.find(':')) == entry.name) {
      ModelProblem problem = entry.make(GeneratorArguments(text, form_of(entry), share));
      problem.name = text;
      return problem;
    }
  throw ParameterError("There is no model problem '" + text + "'; use " +
                       names_of(generator_choices()) + ".");
}
} // namespace femgpu::linalg
