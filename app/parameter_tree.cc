#include "app/parameter_tree.h"

#include <deal.II/base/parameter_handler.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace femgpu
{
namespace
{
using Json = nlohmann::ordered_json;

bool has_text(const Json &node, const char *name)
{
  return node.is_object() && node.contains(name) && node[name].is_string();
}

/// deal.II writes a parameter as an object with "value" or "alias", a section as any other object.
void read_section(const Json &node, DeclaredSection &section)
{
  if (!node.is_object()) // deal.II writes an empty section as ""
    return;
  for (const auto &[name, child] : node.items())
    if (has_text(child, "value"))
      section.parameters.push_back({name, child["value"], child["default_value"],
                                    child["documentation"], child["pattern_description"], ""});
    else if (has_text(child, "alias"))
      section.parameters.push_back({name, "", "", "", "", child["alias"]});
    else {
      DeclaredSection below;
      below.name = name;
      below.path = section.path;
      below.path.push_back(name);
      read_section(child, below);
      section.sections.push_back(std::move(below));
    }
}

template <typename Named>
const Named *find_named(const std::vector<Named> &list, std::string Named::*name,
                        const std::string &wanted)
{
  for (const Named &item : list)
    if (item.*name == wanted)
      return &item;
  return nullptr;
}
} // namespace

std::string DeclaredSection::path_text() const
{
  std::string text;
  for (const std::string &part : path)
    text += (text.empty() ? "" : "/") + part;
  return text;
}

std::string DeclaredSection::path_of(const std::string &key) const
{
  return path.empty() ? key : path_text() + "/" + key;
}

std::string DeclaredSection::place_text() const
{
  return path.empty() ? "at the top level" : "in section '" + path_text() + "'";
}

const DeclaredParameter *DeclaredSection::find_parameter(const std::string &key) const
{
  return find_named(parameters, &DeclaredParameter::key, key);
}

const DeclaredParameter *DeclaredSection::resolve(const std::string &key) const
{
  const DeclaredParameter *found = find_parameter(key);
  return found != nullptr && !found->alias_of.empty() ? find_parameter(found->alias_of) : found;
}

const DeclaredSection *DeclaredSection::find_section(const std::string &wanted) const
{
  return find_named(sections, &DeclaredSection::name, wanted);
}

std::vector<std::string> DeclaredSection::keys() const
{
  std::vector<std::string> names;
  for (const DeclaredParameter &parameter : parameters)
    if (parameter.alias_of.empty())
      names.push_back(parameter.key);
  return names;
}

std::vector<std::string> DeclaredSection::section_names() const
{
  std::vector<std::string> names;
  names.reserve(sections.size());
  for (const DeclaredSection &section : sections)
    names.push_back(section.name);
  return names;
}

DeclaredSection declared_tree(const dealii::ParameterHandler &prm)
{
  std::stringstream text;
  prm.print_parameters(
      text, dealii::ParameterHandler::OutputStyle(dealii::ParameterHandler::JSON |
                                                  dealii::ParameterHandler::KeepDeclarationOrder));
  DeclaredSection root;
  if (!text.str().empty())
    read_section(Json::parse(text), root);
  return root;
}
} // namespace femgpu
