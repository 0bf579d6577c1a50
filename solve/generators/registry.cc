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
/// Splits @p text, with empty strings between consecutive separators and after the last one.
std::vector<std::string> split(const std::string &text, const char separator)
{
  std::vector<std::string> words(1);
  for (const char c : text)
    if (c == separator)
      words.emplace_back();
    else
      words.back() += c;
  return words;
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
    : text(text), form(form), rows(share), words(split(after_colon(text), ','))
{
  const std::string parameters = after_colon(form);
  const std::size_t most = split(parameters, ',').size();
  const std::size_t least = split(parameters.substr(0, parameters.find("[,")), ',').size();
  if (words.size() < least || words.size() > most)
    fail("it has " + std::to_string(words.size()) + " parameters instead of " +
         (least < most ? std::to_string(least) + " or " : "") + std::to_string(most));
}

Grid GeneratorArguments::grid(const int dimension) const
{
  const std::vector<std::string> sizes = split(words[0], 'x');
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
  return parse_size(words[0], smallest);
}

int GeneratorArguments::second_size(const int smallest) const
{
  return parse_size(words[1], smallest);
}

double GeneratorArguments::number() const
{
  double number = 0.;
  if (!read_number(words[1], number) || !std::isfinite(number))
    fail("'" + words[1] + "' is not a finite number");
  return number;
}

int GeneratorArguments::seed() const
{
  return words.size() < 2 ? 1 : parse_size(words[1], 0);
}

void GeneratorArguments::fail(const std::string &reason) const
{
  throw ParameterError("The model problem '" + text + "' is invalid: " + reason +
                       ". Use the form " + form + ".");
}

int GeneratorArguments::parse_size(const std::string &word, const int smallest) const
{
  int size = 0;
  if (!read_number(word, size) || size < smallest || size > most_indices)
    fail("'" + word + "' is not an integer from " + std::to_string(smallest) + " to " +
         std::to_string(most_indices));
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
