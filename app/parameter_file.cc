#include "app/parameter_file.h"

#include "app/declared_parameters.h"
#include "app/key_hints.h"
#include "common/confusables.h"
#include "common/spelling.h"
#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace femgpu
{
namespace
{
/// A valid value for a parameter.
struct Assignment
{
  const DeclaredParameter *parameter;
  std::string value;
  std::string location;   ///< "run.prm:12" or "--set 'Section/Key=value'"
  std::string confusable; ///< description of a look-alike character, if any
};

/// Returns the names in quotes, separated by commas: "'a', 'b'".
std::string quoted_list(const std::vector<std::string> &names)
{
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// Returns "in section 'Solver/Krylov'" or "at the top level".
std::string within(const std::string &section)
{
  return section.empty() ? "at the top level" : "in section '" + section + "'";
}

/// Returns, for each section with keys spelled similarly to @p key, the path of the closest key.
std::vector<std::string> similar_keys(const DeclaredParameters &declared, const std::string &key)
{
  std::vector<std::string> paths;
  for (const std::string &section : declared.sections)
    if (const std::string nearest_key = nearest(key, declared.keys(section)); !nearest_key.empty())
      paths.push_back(path_in(section, nearest_key));
  return paths;
}

/// Returns the message for @p key, which section @p this_section does not declare.
std::string unknown_key(const DeclaredParameters &declared, const std::string &this_section,
                        const std::string &key)
{
  const std::vector<std::string> keys = declared.keys(this_section),
                                 sections = declared.sections_in(this_section);
  const std::string nearest_key = nearest(key, keys), hint = key_hint(this_section, key);
  std::string text = "unknown key '" + key + "' " + within(this_section), elsewhere;
  for (const std::string &section : declared.sections)
    if (declared.find(section, key) != nullptr)
      elsewhere += (elsewhere.empty() ? "" : ", ") +
                   (section.empty() ? "the top level" : "'" + section + "'");
  if (declared.has_section(this_section, key))
    text += "; '" + key + "' is a section: write 'subsection " + key + "'";
  else if (!hint.empty())
    return text + "; " + hint;
  else if (!nearest_key.empty())
    text += "; nearest valid key: '" + nearest_key + "' (" +
            declared.find(this_section, nearest_key)->valid_values() + ")";
  else if (!elsewhere.empty())
    return text + "; this key is valid in " + elsewhere;
  else if (const auto similar = similar_keys(declared, key); !similar.empty() && similar.size() < 4)
    text += "; nearest valid keys: " + quoted_list(similar);
  else if (!keys.empty())
    text += "; valid keys: " + quoted_list(keys);
  else
    text += "; this section has no keys, only subsections: " + quoted_list(sections);
  return elsewhere.empty() ? text : text + "; this key is valid in " + elsewhere;
}

/// Returns the message for subsection @p name, which section @p this_section does not declare.
std::string unknown_section(const DeclaredParameters &declared, const std::string &this_section,
                            const std::string &name)
{
  const std::vector<std::string> sections = declared.sections_in(this_section);
  const std::string nearest_name = nearest(name, sections), hint = key_hint(this_section, name);
  std::string text = "unknown subsection '" + name + "' " + within(this_section);
  if (declared.find(this_section, name) != nullptr)
    text += "; '" + name + "' is a key: write 'set " + name + " = VALUE'";
  else if (!hint.empty())
    return text + "; " + hint;
  else if (!nearest_name.empty())
    text += "; nearest valid subsection: '" + nearest_name + "'";
  else if (!sections.empty())
    text += "; valid subsections: " + quoted_list(sections);
  else
    text += "; this section has no subsections";
  std::string elsewhere;
  for (const std::string &section : declared.sections)
    if (!section.empty() && section.substr(section.rfind('/') + 1) == name)
      elsewhere += (elsewhere.empty() ? "'" : ", '") + section + "'";
  return elsewhere.empty() ? text : text + "; sections of this name: " + elsewhere;
}

/// Is @p text valid UTF-8? Values are written to JSON and XML files, which must be valid UTF-8.
bool is_utf8(const std::string &text)
{
  try {
    return !nlohmann::json(text).dump().empty();
  }
  catch (const nlohmann::json::type_error &) {
    return false;
  }
}

std::string unquoted(const std::string &value)
{
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '"' || value.front() == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::string invalid_value(const DeclaredParameter &parameter, const std::string &value)
{
  return "value '" + value + "' of '" + parameter.path() +
         "' is not valid; valid: " + parameter.valid_values() +
         "; default: " + parameter.default_value;
}

/// Returns the message for an invalid @p value, with the valid values; empty if @p value is valid.
std::string value_problem(const DeclaredParameter &parameter, const std::string &value)
{
  if (!is_utf8(value))
    return "the value of '" + parameter.path() + "' is not UTF-8 text; save the file as UTF-8";
  if (parameter.accepts(value))
    return {};
  const std::string bare = unquoted(value), choice = nearest(bare, parameter.choices());
  if (bare != value && parameter.accepts(bare))
    return invalid_value(parameter, value) + "; did you mean " + bare +
           " (without quotation marks)?";
  return invalid_value(parameter, value) +
         (choice.empty() ? "" : "; did you mean '" + choice + "'?");
}

/// Checks the statements of a parameter file. Maintains a stack of open sections.
class StatementChecker
{
public:
  StatementChecker(const DeclaredParameters &declared, const ParameterSource &source,
                   ParameterProblems &found)
      : declared(declared), source(source), problems(found)
  {}

  /// Returns the valid assignments in the order of the file.
  std::vector<Assignment> check(const std::vector<ParameterStatement> &statements)
  {
    using Kind = ParameterStatement::Kind;
    for (const ParameterStatement &statement : statements)
      if (statement.kind == Kind::open)
        enter_section(statement);
      else if (statement.kind == Kind::close)
        leave_section(statement.line);
      else
        assign(statement);
    for (std::size_t depth = 1; depth < open.size(); ++depth)
      problems.emplace(open[depth].line,
                       "'subsection " + open[depth].name + "' is never closed; add its 'end'");
    return std::move(assignments);
  }

private:
  struct OpenSection
  {
    std::string path, name;
    bool is_known;
    unsigned line;
  };

  /**
   * Enters a subsection. If only an enclosing section declares it, an 'end' is probably missing:
   * this is reported, and parsing continues in the enclosing section to avoid further problems.
   */
  void enter_section(const ParameterStatement &statement)
  {
    const std::string &name = statement.name;
    const OpenSection inside = open.back();
    std::size_t depth = inside.is_known ? open.size() : 0; // of the declaring section
    while (depth > 0 && !declared.has_section(open[depth - 1].path, name))
      --depth;
    if (depth > 0 && depth < open.size()) {
      problems.emplace(statement.line, "unknown subsection '" + name + "' " + within(inside.path) +
                                           "; it is valid " + within(open[depth - 1].path) +
                                           ": is the 'end' of 'subsection " + inside.name +
                                           "' (line " + std::to_string(inside.line) + ") missing?");
      n_ignored_ends += open.size() - depth;
      open.resize(depth);
    }
    else if (depth == 0 && inside.is_known && !name.empty())
      problems.emplace(statement.line, unknown_section(declared, inside.path, name));
    open.push_back({path_in(open.back().path, name), name, depth > 0, statement.line});
  }

  void leave_section(const unsigned line)
  {
    if (open.size() > 1)
      open.pop_back();
    else if (n_ignored_ends > 0)
      --n_ignored_ends;
    else
      problems.emplace(line, "'end' without an open 'subsection'; remove it");
  }

  void assign(const ParameterStatement &statement)
  {
    if (!open.back().is_known) // the unknown section has been reported
      return;
    const std::string &this_section = open.back().path;
    const DeclaredParameter *parameter = declared.find(this_section, statement.name);
    if (parameter == nullptr) {
      problems.emplace(statement.line, unknown_key(declared, this_section, statement.name));
      return;
    }
    const auto [first, is_new] = first_set_line.emplace(parameter, statement.line);
    const std::string problem =
        is_new ? value_problem(*parameter, statement.value)
               : "'" + parameter->path() + "' is set a second time, first at " + source.name + ":" +
                     std::to_string(first->second) + "; remove one of the two lines";
    if (problem.empty())
      assignments.push_back({parameter, statement.value,
                             source.name + ":" + std::to_string(statement.line),
                             confusable_in_statement(source.text, statement.line)});
    else
      problems.emplace(statement.line, problem);
  }

  const DeclaredParameters &declared;
  const ParameterSource &source;
  ParameterProblems &problems;
  std::vector<Assignment> assignments;
  std::vector<OpenSection> open = {{"", "", true, 0}};
  std::map<const DeclaredParameter *, unsigned> first_set_line;
  std::size_t n_ignored_ends = 0; ///< surplus 'end's, consequences of a reported problem
};

/// Checks an override "Section/Sub/Key=value".
/// @param assignment receives the value if it is valid
/// @return the problem; empty if there is none
std::string check_override(const DeclaredParameters &declared, const std::string &text,
                           Assignment &assignment)
{
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    return "there is no '=' in it; write --set 'Section/Key=value'";
  const std::string path = trimmed(text.substr(0, equals));
  const std::string value = trimmed(text.substr(equals + 1));
  if (path.empty())
    return "there is no key before '='; write --set 'Section/Key=value'";
  if (value.find_first_of("#\n") != std::string::npos)
    return "the value contains '#' or a line break, which parameter files cannot hold; remove it";
  std::string section;
  std::size_t at = 0;
  for (std::size_t slash; (slash = path.find('/', at)) != std::string::npos; at = slash + 1) {
    const std::string name = trimmed(path.substr(at, slash - at));
    if (!declared.has_section(section, name))
      return unknown_section(declared, section, name);
    section = path_in(section, name);
  }
  const std::string key = trimmed(path.substr(at));
  const DeclaredParameter *parameter = declared.find(section, key);
  if (parameter == nullptr)
    return unknown_key(declared, section, key);
  assignment = {parameter, value, "--set '" + text + "'", confusable_in(text)};
  return value_problem(*parameter, value);
}

/**
 * Sets one value in @p prm. deal.II may still reject the value, because the description of a
 * pattern is incomplete (tuples, bounds with more than six digits); a message of femgpu then
 * replaces deal.II's.
 * @return the problem; empty if the value was accepted
 */
std::string set_value(dealii::ParameterHandler &prm, const Assignment &assignment)
{
  const std::vector<std::string> sections =
      dealii::Utilities::split_string_list(assignment.parameter->section, '/');
  std::string problem;
  for (const std::string &name : sections)
    prm.enter_subsection(name);
  try {
    prm.set(assignment.parameter->key, assignment.value);
  }
  catch (const Error &error) { // thrown by an action attached to the parameter
    problem = assignment.location + ": " + error.what();
  }
  catch (const std::exception &) {
    problem = assignment.location + ": " + invalid_value(*assignment.parameter, assignment.value);
  }
  for (std::size_t depth = 0; depth < sections.size(); ++depth)
    prm.leave_subsection();
  return problem;
}
} // namespace

void throw_problems(const std::vector<std::string> &problems)
{
  constexpr std::size_t max_listed = 30;
  if (problems.empty())
    return;
  std::string text;
  for (std::size_t i = 0; i < std::min(max_listed, problems.size()); ++i)
    text += (i == 0 ? "" : "\n") + problems[i];
  if (problems.size() > max_listed)
    text += "\n... and " + std::to_string(problems.size() - max_listed) + " more problems";
  throw ParameterError(text);
}

std::string ParameterLocations::location_of(const std::string &path) const
{
  if (!exists(path))
    throw ParameterError("there is no parameter '" + path + "'");
  return is_set(path) ? locations.at(path) : "the default of " + path;
}

ParameterLocations apply_parameters(dealii::ParameterHandler &prm, const ParameterSource &source,
                                    const std::vector<std::string> &overrides)
{
  const DeclaredParameters declared(prm);
  ParameterProblems in_file;
  const std::vector<ParameterStatement> statements = scan_parameter_text(source.text, in_file);
  std::vector<Assignment> assignments =
      StatementChecker(declared, source, in_file).check(statements);
  std::vector<std::string> problems;
  const auto with_clause = [](const std::string &problem, const std::string &clause) {
    return clause.empty() ? problem : problem + "; " + clause;
  };
  for (const auto &[line, problem] : in_file)
    problems.push_back(source.name + ":" + std::to_string(line) + ": " +
                       with_clause(problem, confusable_in_statement(source.text, line)));
  for (const std::string &text : overrides) {
    Assignment next;
    const std::string problem = check_override(declared, text, next);
    if (!problem.empty()) {
      problems.push_back("--set '" + text + "': " + with_clause(problem, confusable_in(text)));
      continue;
    }
    // The last override takes precedence.
    assignments.erase(
        std::remove_if(assignments.begin(), assignments.end(),
                       [&](const Assignment &a) { return a.parameter == next.parameter; }),
        assignments.end());
    assignments.push_back(next);
  }
  throw_problems(problems);

  ParameterLocations result;
  for (const DeclaredParameter &parameter : declared.parameters)
    result.locations[parameter.path()];
  for (const Assignment &assignment : assignments) {
    const std::string problem = set_value(prm, assignment);
    if (!problem.empty())
      problems.push_back(with_clause(problem, assignment.confusable));
    result.locations[assignment.parameter->path()] = assignment.location;
    if (!assignment.confusable.empty())
      result.confusables[assignment.parameter->path()] = assignment.confusable;
  }
  throw_problems(problems);
  return result;
}
} // namespace femgpu
