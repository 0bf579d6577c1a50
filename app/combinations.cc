#include "app/combinations.h"

namespace femgpu
{
Combinations::Combinations(const CommandLine &command_line, Parameters &parameters)
    : studied_parameters(parse_studies(command_line.study)), all(combinations(studied_parameters)),
      source(read_source(command_line)), common(as_overrides(command_line)), parameters(parameters)
{}

void Combinations::apply(const std::size_t i, const std::string &directory) const
{
  std::vector<std::string> overrides = common;
  for (std::size_t k = 0; k < studied_parameters.size(); ++k)
    overrides.push_back(studied_parameters[k].path + "=" + all[i].values[k]);
  if (!directory.empty())
    overrides.push_back("Output/Directory=" + directory + "/" + all[i].directory);
  parameters.apply(source, overrides, studied_physics());
}

std::vector<std::string> Combinations::studied_physics() const
{
  for (const StudiedParameter &parameter : studied_parameters)
    if (parameter.path == "Physics")
      return parameter.values;
  return {};
}

std::string Combinations::text(const std::size_t i) const
{
  const std::vector<std::string> names = short_names(studied_parameters);
  std::string result;
  for (std::size_t k = 0; k < names.size(); ++k)
    result += (k == 0 ? "" : ", ") + names[k] + " = " + all[i].values[k];
  return result;
}

std::string Combinations::named(const std::size_t i, std::string message) const
{
  for (std::size_t k = 0; k < studied_parameters.size(); ++k) {
    const std::string set = "--set '" + studied_parameters[k].path + "=" + all[i].values[k] + "'";
    for (std::size_t at = 0; (at = message.find(set, at)) != std::string::npos;)
      message.replace(at, 5, "--study");
  }
  return "combination " + text(i) + ": " + message;
}
} // namespace femgpu
