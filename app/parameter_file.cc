#include "app/parameter_file.h"

#include "app/parameter_check.h"
#include "app/parameter_tree.h"
#include "app/pattern_text.h"
#include "common/spelling.h"
#include "linalg/base/error.h"

#include <deal.II/base/parameter_handler.h>

#include <algorithm>

namespace femgpu
{
namespace
{
void declare_all(const DeclaredSection &section, ParameterPlaces &places)
{
  for (const std::string &key : section.keys())
    places.declare(section.path_of(key));
  for (const DeclaredSection &below : section.sections)
    declare_all(below, places);
}

/// Add @p next; an earlier value of the same parameter gives way.
void replace_or_append(std::vector<ParameterAssignment> &assignments,
                       const ParameterAssignment &next)
{
  const auto same = [&](const ParameterAssignment &a) { return a.parameter == next.parameter; };
  assignments.erase(std::remove_if(assignments.begin(), assignments.end(), same),
                    assignments.end());
  assignments.push_back(next);
}

/**
 * Hand one value to deal.II, which still refuses what the description of a pattern does not tell
 * (tuples, bounds with more than six digits). Its own text is replaced by ours.
 * @return what is wrong with the value, empty if it was accepted
 */
std::string set_value(dealii::ParameterHandler &prm, const ParameterAssignment &assignment)
{
  std::string problem;
  for (const std::string &name : assignment.section->path)
    prm.enter_subsection(name);
  try {
    prm.set(assignment.parameter->key, assignment.value);
  }
  catch (const Error &error) { // thrown by an action attached to the parameter
    problem = assignment.place + ": " + error.what();
  }
  catch (const std::exception &) {
    problem = assignment.place + ": value '" + assignment.value + "' of '" +
              assignment.section->path_of(assignment.parameter->key) +
              "' is not valid; valid: " + valid_values(assignment.parameter->pattern) +
              "; default: " + assignment.parameter->default_value;
  }
  for (std::size_t depth = 0; depth < assignment.section->path.size(); ++depth)
    prm.leave_subsection();
  return problem;
}
} // namespace

void throw_if_any(const std::vector<std::string> &problems)
{
  constexpr std::size_t most = 30;
  if (problems.empty())
    return;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, problems.size()); ++i)
    text += (i == 0 ? "" : "\n") + problems[i];
  if (problems.size() > most)
    text += "\n... and " + std::to_string(problems.size() - most) + " more problems";
  throw ParameterError(text);
}

void ParameterPlaces::declare(const std::string &path)
{
  places.emplace(path, "");
}

void ParameterPlaces::record(const std::string &path, const std::string &place)
{
  places[path] = place;
}

bool ParameterPlaces::exists(const std::string &path) const
{
  return places.count(path) > 0;
}

bool ParameterPlaces::is_given(const std::string &path) const
{
  const auto found = places.find(path);
  return found != places.end() && !found->second.empty();
}

std::string ParameterPlaces::place_of(const std::string &path) const
{
  const auto found = places.find(path);
  if (found != places.end())
    return found->second.empty() ? "the default of " + path : found->second;
  std::vector<std::string> paths;
  paths.reserve(places.size());
  for (const auto &[declared, place] : places)
    paths.push_back(declared);
  const std::string near_path = nearest(path, paths);
  throw ParameterError("there is no parameter '" + path + "'" +
                       (near_path.empty() ? "" : "; nearest: '" + near_path + "'"));
}

ParameterPlaces apply_parameters(dealii::ParameterHandler &prm, const ParameterSource &source,
                                 const std::vector<std::string> &overrides)
{
  const DeclaredSection root = declared_tree(prm);

  std::vector<ParameterProblem> in_file;
  const std::vector<ParameterStatement> statements = scan_parameter_text(source.text, in_file);
  std::vector<ParameterAssignment> assignments =
      check_statements(root, statements, source.name, in_file);
  std::stable_sort(in_file.begin(), in_file.end(),
                   [](const auto &a, const auto &b) { return a.line < b.line; });

  std::vector<std::string> problems;
  problems.reserve(in_file.size());
  for (const ParameterProblem &problem : in_file) {
    std::string text = source.name;
    text += ":" + std::to_string(problem.line) + ": " + problem.text;
    problems.push_back(std::move(text));
  }
  for (const std::string &text : overrides) {
    ParameterAssignment assignment;
    const std::string problem = check_override(root, text, assignment);
    if (problem.empty())
      replace_or_append(assignments, assignment);
    else
      problems.emplace_back("--set '" + text).append("': ").append(problem);
  }
  throw_if_any(problems);

  ParameterPlaces places;
  declare_all(root, places);
  for (const ParameterAssignment &assignment : assignments) {
    const std::string problem = set_value(prm, assignment);
    if (!problem.empty())
      problems.push_back(problem);
    places.record(assignment.section->path_of(assignment.parameter->key), assignment.place);
  }
  throw_if_any(problems);
  return places;
}
} // namespace femgpu
