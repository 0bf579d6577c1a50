#include "app/parameter_print.h"

#include "app/parameter_tree.h"
#include "app/pattern_text.h"
#include "linalg/base/error.h"

#include <deal.II/base/parameter_handler.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

namespace femgpu
{
namespace
{
using Json = nlohmann::ordered_json;

/// The text @p value as the JSON type its pattern calls for.
Json typed_value(const std::string &pattern, const std::string &value)
{
  const auto is = [&](const char *kind) { return pattern.rfind(kind, 0) == 0; };
  if (is("[Bool"))
    return value == "true";
  char *end = nullptr;
  if (is("[Integer")) {
    const long number = std::strtol(value.c_str(), &end, 10);
    if (end != value.c_str())
      return number;
  }
  if (is("[Double")) {
    const double number = std::strtod(value.c_str(), &end);
    if (end != value.c_str())
      return number;
  }
  return value;
}

Json section_json(const DeclaredSection &section)
{
  Json node = Json::object();
  for (const DeclaredParameter &parameter : section.parameters) {
    if (!parameter.alias_of.empty())
      continue;
    Json &entry = node[parameter.key];
    entry["value"] = typed_value(parameter.pattern, parameter.value);
    entry["default_value"] = typed_value(parameter.pattern, parameter.default_value);
    entry["documentation"] = parameter.documentation;
    entry["valid"] = valid_values(parameter.pattern);
    entry["pattern_description"] = parameter.pattern;
  }
  for (const DeclaredSection &below : section.sections)
    node[below.name] = section_json(below);
  return node;
}

/// Text for a cell of a table: one line, nothing that Markdown or HTML would take for markup.
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

std::string code(const std::string &text)
{
  return text.empty() ? "(empty)" : cell("`" + text + "`");
}

void section_markdown(std::ostream &out, const DeclaredSection &section)
{
  if (!section.keys().empty()) {
    out << "\n## " << (section.path.empty() ? "Top level" : section.path_text()) << "\n\n"
        << "| key | default | valid values | meaning |\n|---|---|---|---|\n";
    for (const DeclaredParameter &parameter : section.parameters)
      if (parameter.alias_of.empty())
        out << "| " << cell(parameter.key) << " | " << code(parameter.default_value) << " | "
            << cell(valid_values(parameter.pattern)) << " | " << cell(parameter.documentation)
            << " |\n";
  }
  for (const DeclaredSection &below : section.sections)
    section_markdown(out, below);
}
} // namespace

ParameterFormat parameter_format(const std::string &name)
{
  if (name == "prm")
    return ParameterFormat::prm;
  if (name == "json")
    return ParameterFormat::json;
  if (name == "md")
    return ParameterFormat::md;
  throw ParameterError("'" + name + "' is no format for parameters; choose prm, json or md");
}

void print_parameters(std::ostream &out, const dealii::ParameterHandler &prm,
                      ParameterFormat format)
{
  using Handler = dealii::ParameterHandler;
  std::ostringstream text;
  switch (format) {
  case ParameterFormat::prm:
    prm.print_parameters(text, Handler::OutputStyle(Handler::PRM | Handler::KeepDeclarationOrder));
    break;
  case ParameterFormat::json:
    text << section_json(declared_tree(prm)).dump(2) << '\n';
    break;
  case ParameterFormat::md:
    text << "# Parameters\n";
    section_markdown(text, declared_tree(prm));
    break;
  }
  out << text.str() << std::flush;
  if (!out)
    throw OutputError("the list of parameters could not be written; is the disk full or the pipe "
                      "closed?");
}
} // namespace femgpu
