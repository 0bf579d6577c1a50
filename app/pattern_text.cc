#include "app/pattern_text.h"

#include <deal.II/base/patterns.h>

#include <limits>
#include <memory>

namespace femgpu
{
namespace
{
bool starts_with(const std::string &text, const std::string &beginning)
{
  return text.compare(0, beginning.size(), beginning) == 0;
}

/// The text between the first @p begin and the next @p end after it; empty if there is none.
std::string between(const std::string &text, const std::string &begin, const std::string &end)
{
  const std::size_t from = text.find(begin);
  if (from == std::string::npos)
    return {};
  const std::size_t to = text.find(end, from + begin.size());
  return to == std::string::npos ? std::string()
                                 : text.substr(from + begin.size(), to - from - begin.size());
}

std::vector<std::string> split(const std::string &text, char separator)
{
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

std::string joined(const std::vector<std::string> &words)
{
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + (word.empty() ? "(nothing)" : word);
  return text;
}

/// "a real number from 0 to 1"; a bound equal to @p lowest or @p highest is no bound.
std::string range_text(const std::string &kind, const std::string &description,
                       const std::string &lead, const std::string &lowest,
                       const std::string &highest)
{
  const std::string lower = between(description, lead, "...");
  const std::string upper = between(description, "...", " (inclusive)");
  const bool has_lower = !lower.empty() && lower != lowest;
  const bool has_upper = !upper.empty() && upper != highest;
  if (has_lower && has_upper)
    return kind + " from " + lower + " to " + upper;
  if (has_lower)
    return kind + " >= " + lower;
  if (has_upper)
    return kind + " <= " + upper;
  return kind;
}

/// The bracketed descriptions directly inside @p description, e.g. key and value of a map.
std::vector<std::string> inner_patterns(const std::string &description)
{
  std::vector<std::string> found;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < description.size(); ++i)
    if (description[i] == '[') {
      if (++depth == 2)
        start = i;
    }
    else if (description[i] == ']' && --depth == 1)
      found.push_back(description.substr(start, i - start + 1));
  return found;
}

/// "at most 3 ", "exactly 2 ", "2 to 3 ", "1 or more " or nothing; from "... of length 2...3 (".
std::string count_text(const std::string &description)
{
  const std::size_t at = description.rfind("of length ");
  if (at == std::string::npos)
    return {};
  const std::string range = description.substr(at);
  const std::string lower = between(range, "of length ", "...");
  const std::string upper = between(range, "...", " (inclusive)");
  const bool open = upper == std::to_string(std::numeric_limits<unsigned int>::max());
  if (open)
    return lower == "0" ? "" : lower + " or more ";
  if (lower == upper)
    return "exactly " + lower + " ";
  return lower == "0" ? "at most " + upper + " " : lower + " to " + upper + " ";
}

std::string separator_text(const std::string &description)
{
  const std::size_t at = description.rfind("separated by <");
  const std::string separator =
      at == std::string::npos ? "," : between(description.substr(at), "<", ">");
  return " separated by '" + separator + "'";
}

std::string list_text(const std::string &description)
{
  const std::vector<std::string> inner = inner_patterns(description);
  if (inner.size() != 1)
    return description;
  return count_text(description) + "items" + separator_text(description) + ", each " +
         valid_values(inner[0]);
}

std::string map_text(const std::string &description)
{
  const std::vector<std::string> inner = inner_patterns(description);
  if (inner.size() != 2)
    return description;
  const std::string sign = between(description, inner[0] + ">", "<" + inner[1]);
  return count_text(description) + "entries KEY" + sign + "VALUE" + separator_text(description) +
         ", KEY " + valid_values(inner[0]) + ", VALUE " + valid_values(inner[1]);
}

std::string tuple_text(const std::string &description)
{
  const std::vector<std::string> inner = inner_patterns(description);
  std::vector<std::string> parts;
  parts.reserve(inner.size());
  for (const std::string &pattern : inner)
    parts.push_back(valid_values(pattern));
  // deal.II separates the elements of a tuple by ':' and does not describe another choice.
  return std::to_string(inner.size()) + " values separated by ':' (" + joined(parts) + ")";
}

/// Whether deal.II's pattern_factory() knows every kind of pattern in @p description.
bool can_be_rebuilt(const std::string &description)
{
  for (std::size_t at = description.find('['); at != std::string::npos;
       at = description.find('[', at + 1)) {
    const std::size_t end = description.find_first_of(" ]", at);
    const std::string kind = description.substr(at + 1, end - at - 1);
    bool known = false;
    for (const char *name : {"Integer", "Double", "Selection", "MultipleSelection", "Bool", "List",
                             "Map", "Anything", "FileName", "DirectoryName"})
      known = known || kind == name;
    if (!known)
      return false;
  }
  return !description.empty();
}
} // namespace

std::vector<std::string> selection_choices(const std::string &description)
{
  for (const std::string lead : {"[Selection ", "[MultipleSelection "})
    if (starts_with(description, lead))
      return split(between(description, lead, " ]"), '|');
  if (description == "[Bool]")
    return {"true", "false"};
  return {};
}

std::string valid_values(const std::string &description)
{
  const auto is = [&](const char *kind) { return starts_with(description, kind); };
  if (is("[Integer"))
    return range_text("an integer", description, "range ",
                      std::to_string(std::numeric_limits<int>::lowest()),
                      std::to_string(std::numeric_limits<int>::max()));
  if (is("[Double"))
    return range_text("a real number", description, "[Double ", "-MAX_DOUBLE", "MAX_DOUBLE");
  if (is("[Bool"))
    return "true or false";
  if (is("[Selection "))
    return "one of: " + joined(selection_choices(description));
  if (is("[MultipleSelection "))
    return "any of, separated by ',': " + joined(selection_choices(description));
  if (is("[List of "))
    return list_text(description);
  if (is("[Map of "))
    return map_text(description);
  if (is("[Tuple of "))
    return tuple_text(description);
  if (is("[FileName"))
    return "a file name";
  if (is("[DirectoryName"))
    return "a directory name";
  return is("[Anything") ? "any text" : description;
}

bool fits_pattern(const std::string &description, const std::string &value)
{
  if (!can_be_rebuilt(description))
    return true;
  const std::unique_ptr<dealii::Patterns::PatternBase> pattern =
      dealii::Patterns::pattern_factory(description);
  return pattern == nullptr || pattern->match(value);
}
} // namespace femgpu
