#include "app/declared_parameters.h"

#include "linalg/base/text.h"

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/patterns.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <sstream>
#include <utility>

namespace femgpu
{
namespace
{
using Json = nlohmann::ordered_json;

bool is_kind(const std::string &pattern, const char *kind)
{
  return pattern.rfind(kind, 0) == 0;
}

/// Describes the range of @p pattern, such as "a real number from 0 to 1". Omits a bound that is
/// @p lowest or @p highest.
std::string describe_range(const std::string &kind, const std::string &pattern,
                           const std::string &lowest, const std::string &highest)
{
  static const std::regex bounds(R"(.* (.+)\.\.\.(.+) \(inclusive\)\])");
  std::smatch found;
  if (!std::regex_match(pattern, found, bounds))
    return kind;
  const std::string lower = found[1], upper = found[2];
  if (lower == lowest)
    return upper == highest ? kind : kind + " <= " + upper;
  return upper == highest ? kind + " >= " + lower : kind + " from " + lower + " to " + upper;
}

std::string describe_pattern(const std::string &pattern);

std::string describe_list(const std::string &pattern)
{
  static const std::regex list(
      R"(\[List of <(.*)> of length (\d+)\.\.\.(\d+) \(inclusive\)(?: separated by <(.*)>)?\])");
  std::smatch found;
  if (!std::regex_match(pattern, found, list))
    return pattern;
  const std::string min_count = found[2], max_count = found[3];
  const bool is_open = max_count == std::to_string(std::numeric_limits<unsigned int>::max());
  const std::string count = is_open ? (min_count == "0" ? "" : min_count + " or more ")
                            : min_count == max_count ? "exactly " + min_count + " "
                            : min_count == "0"       ? "at most " + max_count + " "
                                                     : min_count + " to " + max_count + " ";
  if (min_count == "0" && max_count == "1")
    return "empty, or " + describe_pattern(found[1]);
  return count + "items separated by '" + (found[4].matched ? found[4].str() : ",") + "', each " +
         describe_pattern(found[1]);
}

/// Returns the names of a Selection pattern; empty for other patterns.
std::vector<std::string> names_of(const std::string &pattern)
{
  const std::string begin = "[Selection ", end = " ]";
  if (!is_kind(pattern, begin.c_str()))
    return {};
  return dealii::Utilities::split_string_list(
      pattern.substr(begin.size(), pattern.size() - begin.size() - end.size()), '|');
}

std::string describe_pattern(const std::string &pattern)
{
  if (is_kind(pattern, "[Integer"))
    return describe_range("an integer", pattern, std::to_string(std::numeric_limits<int>::min()),
                          std::to_string(std::numeric_limits<int>::max()));
  if (is_kind(pattern, "[Double"))
    return describe_range("a real number", pattern, "-MAX_DOUBLE", "MAX_DOUBLE");
  if (is_kind(pattern, "[Selection ")) {
    std::string text;
    for (const std::string &name : names_of(pattern))
      text += (text.empty() ? "one of: " : ", ") + (name.empty() ? "(nothing)" : name);
    return text;
  }
  if (is_kind(pattern, "[List of "))
    return describe_list(pattern);
  for (const auto &[kind, description] :
       {std::pair("[Bool", "true or false"), std::pair("[FileName", "a file name"),
        std::pair("[DirectoryName", "a directory name"), std::pair("[Anything", "any text")})
    if (is_kind(pattern, kind))
      return description;
  return pattern;
}

/// Reads the declarations of a section. In deal.II's JSON, an object with "value" is a parameter;
/// any other object is a section.
void read_section(const Json &node, const std::string &section, DeclaredParameters &declared)
{
  const auto is_parameter = [](const Json &child) {
    return child.is_object() && child.contains("value") && child["value"].is_string();
  };
  declared.sections.push_back(section);
  if (!node.is_object()) // deal.II writes an empty section as ""
    return;
  for (const auto &[name, child] : node.items())
    if (is_parameter(child))
      declared.parameters.push_back({section, name, child["value"], child["default_value"],
                                     child["documentation"], child["pattern_description"]});
  for (const auto &[name, child] : node.items())
    if (!is_parameter(child))
      read_section(child, path_in(section, name), declared);
}
} // namespace

std::string path_in(const std::string &section, const std::string &name)
{
  return section.empty() ? name : section + "/" + name;
}

std::string DeclaredParameter::path() const
{
  return path_in(section, key);
}

std::string DeclaredParameter::valid_values() const
{
  return describe_pattern(pattern);
}

std::vector<std::string> DeclaredParameter::choices() const
{
  return is_kind(pattern, "[Bool") ? std::vector<std::string>{"true", "false"} : names_of(pattern);
}

bool DeclaredParameter::accepts(const std::string &text) const
{
  // Patterns that deal.II's pattern_factory() can create from their description.
  static const std::regex known(
      R"(^(\[List of <)*\[(Integer|Double|Selection|Bool|Anything|FileName|DirectoryName)\b)");
  return !std::regex_search(pattern, known) ||
         dealii::Patterns::pattern_factory(pattern)->match(text);
}

Json DeclaredParameter::json_of(const std::string &text) const
{
  if (is_kind(pattern, "[Bool"))
    return text == "true";
  const bool may_be_integer = is_kind(pattern, "[Integer") || is_kind(pattern, "[Selection ");
  if (long number = 0; may_be_integer && read_number(text, number))
    return number;
  if (is_kind(pattern, "[Double"))
    if (const auto number = finite_number(text))
      return *number;
  return text;
}

DeclaredParameters::DeclaredParameters(const dealii::ParameterHandler &prm)
{
  using Handler = dealii::ParameterHandler;
  std::stringstream text;
  prm.print_parameters(text, Handler::OutputStyle(Handler::JSON | Handler::KeepDeclarationOrder));
  read_section(text.str().empty() ? Json() : Json::parse(text), "", *this);
}

const DeclaredParameter *DeclaredParameters::find(const std::string &section,
                                                  const std::string &key) const
{
  for (const DeclaredParameter &parameter : parameters)
    if (parameter.section == section && parameter.key == key)
      return &parameter;
  return nullptr;
}

bool DeclaredParameters::has_section(const std::string &section, const std::string &name) const
{
  const std::vector<std::string> names = sections_in(section);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> DeclaredParameters::keys(const std::string &section) const
{
  std::vector<std::string> names;
  for (const DeclaredParameter &parameter : parameters)
    if (parameter.section == section)
      names.push_back(parameter.key);
  return names;
}

std::vector<std::string> DeclaredParameters::sections_in(const std::string &section) const
{
  std::vector<std::string> names;
  for (const std::string &path : sections) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!path.empty() && path == path_in(section, name))
      names.push_back(name);
  }
  return names;
}

namespace
{
std::string json(const DeclaredParameters &declared)
{
  Json root = Json::object();
  for (const DeclaredParameter &parameter : declared.parameters)
    root[Json::json_pointer("/" + parameter.path())] = {
        {"value", parameter.json_of(parameter.value)},
        {"default_value", parameter.json_of(parameter.default_value)},
        {"documentation", parameter.documentation},
        {"valid", parameter.valid_values()},
        {"pattern_description", parameter.pattern}};
  return root.dump(2) + "\n";
}

/// Converts @p text for a table cell: one line, with Markdown and HTML markup escaped.
std::string cell(const std::string &text)
{
  std::string escaped;
  bool in_code = false;
  for (const char c : text) {
    in_code = c == '`' ? !in_code : in_code;
    if (c == '|')
      escaped += "\\|";
    else if (c == '\n')
      escaped += ' ';
    else if (!in_code && c == '<')
      escaped += "&lt;";
    else if (!in_code && (c == '*' || c == '_'))
      escaped += std::string("\\") + c;
    else
      escaped += c;
  }
  return escaped;
}

std::string markdown(const DeclaredParameters &declared)
{
  std::string text = "# Parameters\n";
  const std::string *section = nullptr;
  for (const DeclaredParameter &parameter : declared.parameters) {
    if (section == nullptr || *section != parameter.section)
      text += "\n## " + (parameter.section.empty() ? "Top level" : parameter.section) +
              "\n\n| key | default | valid values | meaning |\n|---|---|---|---|\n";
    section = &parameter.section;
    const std::string &value = parameter.default_value;
    text += "| " + cell(parameter.key) + " | " +
            (value.empty() ? "(empty)" : cell("`" + value + "`")) + " | " +
            cell(parameter.valid_values()) + " | " + cell(parameter.documentation) + " |\n";
  }
  return text;
}
} // namespace

std::string format_parameters(const std::string &format, const dealii::ParameterHandler &prm)
{
  if (format == "json")
    return json(DeclaredParameters(prm));
  if (format == "md")
    return markdown(DeclaredParameters(prm));
  using Handler = dealii::ParameterHandler;
  std::ostringstream text;
  prm.print_parameters(text, Handler::OutputStyle(Handler::PRM | Handler::KeepDeclarationOrder));
  return text.str();
}
} // namespace femgpu
