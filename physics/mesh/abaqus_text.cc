#include "physics/mesh/abaqus_text.h"

#include <algorithm>
#include <cctype>

namespace femgpu
{
namespace
{
std::vector<std::string_view> fields_of(std::string_view line)
{
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const std::size_t comma = std::min(line.find(','), line.size());
    fields.push_back(trimmed_view(line.substr(0, comma)));
    line.remove_prefix(std::min(comma + 1, line.size()));
  }
  return fields;
}
} // namespace

std::string upper(const std::string_view text)
{
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](const unsigned char c) { return std::toupper(c); });
  return result;
}

std::string_view without_quotes(const std::string_view text)
{
  const bool is_quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

bool AbaqusText::next_data()
{
  while (next_line())
    if (line().substr(0, 2) != "**")
      return line()[0] != '*';
  return false;
}

void AbaqusText::skip_data()
{
  while (next_data()) {
  }
}

Keyword AbaqusText::read_keyword()
{
  Keyword keyword = {"", line_number(), {}};
  std::string all(line().substr(1));
  while (!all.empty() && all.back() == ',') {
    if (!next_data())
      fail("the keyword ends with ',' and so must go on in the next line. Is the file truncated?",
           keyword.line);
    all += std::string(line());
  }
  for (const std::string_view field : fields_of(all)) {
    const std::size_t equals = std::min(field.find('='), field.size());
    const std::string name = upper(trimmed_view(field.substr(0, equals)));
    const std::string_view value = field.substr(std::min(equals + 1, field.size()));
    if (keyword.name.empty())
      keyword.name = name;
    else
      keyword.options[name] = without_quotes(trimmed_view(value));
  }
  return keyword;
}

void AbaqusText::begin_data(const Keyword &keyword)
{
  if (next_data())
    return;
  if (at_end())
    fail("the file ends within the block *" + keyword.name + " of line " +
         std::to_string(keyword.line) + ": it is truncated. Write or copy it again.");
  fail("the block *" + keyword.name + " before this line is empty. Leave it out.");
}

std::string AbaqusText::option(const Keyword &keyword, const std::string &option) const
{
  const auto value = keyword.options.find(option);
  if (value == keyword.options.end() || value->second.empty())
    fail("*" + keyword.name + " does not say its " + option +
             ", as in '*ELEMENT, TYPE=C3D8, ELSET=EB1', '*NSET, NSET=left' or '*SURFACE, "
             "NAME=SS1'. Is the file truncated?",
         keyword.line);
  return value->second;
}

std::vector<std::string_view> AbaqusText::fields() const
{
  return fields_of(line());
}
} // namespace femgpu
