#include "physics/mesh/mesh_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace femgpu
{
namespace
{
const std::string end_of_table = "$EndPhysicalNames";

/// What stands between the quotation marks at the end of the line.
std::string read_name(MeshText &text)
{
  const std::string_view rest = text.rest();
  if (rest.size() < 2 || rest.front() != '"' || rest.back() != '"')
    text.fail("the line of a physical group must be DIMENSION NUMBER \"NAME\", but " +
              in_quotes(rest) + " is no name in quotation marks.");
  std::string name(rest.substr(1, rest.size() - 2));
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  if (name.empty())
    text.fail("the name of a physical group is empty. Name it, or leave its line out.");
  const bool is_number = std::all_of(name.begin(), name.end(),
                                     [](const unsigned char c) { return std::isdigit(c) != 0; });
  if (is_number)
    text.fail("the name " + in_quotes(name) +
              " of a physical group is a number, which parameters would take for its id. Give the "
              "group a name that begins with a letter.");
  return name;
}

PhysicalName read_entry(MeshText &text)
{
  PhysicalName entry;
  entry.dimension = static_cast<int>(text.count("the dimension of a physical group", 3));
  entry.id = text.integer("the number of a physical group");
  entry.name = read_name(text);
  return entry;
}
} // namespace

std::vector<PhysicalName> read_physical_names(MeshText &text)
{
  text.require_line("the number of physical names");
  const std::size_t n = text.count("the number of physical names", text.bytes_left());
  text.require_end_of_line("the number of physical names");
  std::vector<PhysicalName> names;
  std::map<std::pair<int, std::string>, std::size_t> lines; // of the names
  std::map<std::pair<int, long long>, std::size_t> groups;
  for (std::size_t i = 0; i < n; ++i) {
    text.require_line("a physical name");
    if (text.line().front() == '$')
      text.fail(in_quotes(text.line()) + " comes after " + std::to_string(i) +
                " physical names of " + std::to_string(n) + ".");
    names.push_back(read_entry(text));
    const PhysicalName &entry = names.back();
    const auto name =
        lines.emplace(std::make_pair(entry.dimension, entry.name), text.line_number());
    if (!name.second)
      text.fail("the name " + in_quotes(entry.name) +
                " is that of another physical group in line " + std::to_string(name.first->second) +
                ". Give each group its own name.");
    const auto group =
        groups.emplace(std::make_pair(entry.dimension, entry.id), text.line_number());
    if (!group.second)
      text.fail("physical group " + std::to_string(entry.id) + " has a name already, in line " +
                std::to_string(group.first->second) + ". Keep one of the two lines.");
  }
  text.require_line(end_of_table);
  if (text.line() != end_of_table)
    text.fail(in_quotes(text.line()) + " comes where " + end_of_table + " should be, after " +
              std::to_string(n) + " names.");
  return names;
}
} // namespace femgpu
