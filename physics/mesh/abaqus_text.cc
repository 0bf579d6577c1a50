#include "physics/mesh/abaqus_text.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace femgpu
{
namespace
{
/// Stores the fields between the commas of @p line in @p fields; an empty last field is omitted.
void split_at_commas(std::string_view line, std::vector<std::string_view> &fields)
{
  fields.clear();
  while (!line.empty()) {
    const std::size_t comma = std::min(line.find(','), line.size());
    fields.push_back(trimmed_view(line.substr(0, comma)));
    line.remove_prefix(std::min(comma + 1, line.size()));
  }
}
} // namespace

std::string upper(const std::string_view text)
{
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](const unsigned char c) { return std::toupper(c); });
  return result;
}

std::string lower(const std::string_view text)
{
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](const unsigned char c) { return std::tolower(c); });
  return result;
}

std::string_view without_quotes(const std::string_view text)
{
  const bool is_quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

AbaqusText::AbaqusText(const std::string &name, const std::string_view text) : main_file(name)
{
  sources.push_back({nullptr, MeshText(name, text), 0});
}

const std::string &AbaqusText::name_of(const std::size_t file) const
{
  return file == 0 ? main_file : (*files)[file - 1];
}

/// Moves to the next line that is neither blank nor a comment, without following *INCLUDE.
bool AbaqusText::next_line()
{
  for (;;)
    if (sources.back().text.next_line()) {
      if (line().substr(0, 2) != "**")
        return true;
    }
    else if (sources.size() > 1)
      sources.pop_back();
    else
      return false;
}

/// Moves to the next line that is neither blank nor a comment nor *INCLUDE.
bool AbaqusText::next_line_of_deck()
{
  while (next_line()) {
    if (line()[0] != '*' || upper(trimmed_view(line().substr(1)).substr(0, 7)) != "INCLUDE")
      return true;
    AbaqusKeyword include = parse_keyword();
    std::swap(include, current); // for value_of()
    open(value_of("INPUT"));
    std::swap(include, current);
  }
  return false;
}

/// Parses the keyword in the current line and its continuation lines.
AbaqusKeyword AbaqusText::parse_keyword()
{
  AbaqusKeyword result = {"", {}, location()};
  std::string all(line().substr(1));
  while (!all.empty() && all.back() == ',') {
    if (!next_line() || line()[0] == '*')
      fail("the keyword ends with ',' but does not continue in the next line. Is the file "
           "truncated?",
           result.location);
    all += line();
  }
  std::vector<std::string_view> words;
  split_at_commas(all, words);
  for (const std::string_view word : words) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = upper(trimmed_view(word.substr(0, equals)));
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (result.keyword.empty())
      result.keyword = name;
    else
      result.options[name] = without_quotes(trimmed_view(value));
  }
  return result;
}

/// Continues with the first line of @p file. The line after the current one follows its last line.
void AbaqusText::open(const std::string &file)
{
  namespace fs = std::filesystem;
  const fs::path path =
      fs::path(name_of(sources.back().file)).parent_path() / file; // `file` if absolute
  const std::string name = path.string();
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    fail_at_keyword("the file '" + name +
                    "' does not exist or is not a file. A relative path starts at the directory of "
                    "the file that includes it.");
  for (const Source &source : sources)
    if (fs::equivalent(path, name_of(source.file), ignored))
      fail_at_keyword("the file '" + name + "' includes itself. Remove this line.");
  std::optional<std::string> contents = contents_of_file(name);
  if (!contents)
    fail_at_keyword("the file '" + name + "' cannot be read. Check its permissions and its disk.");
  const auto text = std::make_shared<const std::string>(std::move(*contents));
  const auto known = std::find(files->begin(), files->end(), name);
  sources.push_back(
      {text, MeshText(name, *text), static_cast<std::size_t>(known - files->begin()) + 1});
  if (known == files->end())
    files->push_back(name);
}

bool AbaqusText::next_keyword()
{
  while (!is_at_keyword && !has_ended)
    next_line_of_block();
  if (has_ended)
    return false;
  current = parse_keyword();
  is_at_keyword = false;
  is_empty = true;
  return true;
}

/// Moves to the next line of the block. Returns false at the end of the block.
bool AbaqusText::next_line_of_block()
{
  has_ended = has_ended || !next_line_of_deck();
  is_at_keyword = !has_ended && line()[0] == '*';
  return !has_ended && !is_at_keyword;
}

bool AbaqusText::next_data()
{
  data.clear();
  if (is_at_keyword || !next_line_of_block())
    return false;
  is_empty = false;
  split_at_commas(line(), data);
  if (line().back() == ',')
    require_fields(data.size() + 1);
  return true;
}

void AbaqusText::require_fields(const std::size_t n) const
{
  if (data.size() < n && sources.back().text.is_unterminated())
    fail("the last line is not terminated: the file is truncated. Write or copy it again, or end "
         "the line.");
}

const std::string &AbaqusText::value_of(const std::string &option) const
{
  const auto value = current.options.find(option);
  if (value == current.options.end() || value->second.empty())
    fail_at_keyword("*" + current.keyword + " has no option " + option +
                    ", for example '*ELEMENT, TYPE=C3D8, ELSET=EB1', '*NSET, NSET=left' or "
                    "'*SURFACE, NAME=SS1'. Is the file truncated?");
  return value->second;
}

void AbaqusText::follow_input()
{
  if (has("INPUT"))
    open(value_of("INPUT"));
}

void AbaqusText::fail(const std::string &message, const MeshLocation location) const
{
  throw InputError(name_of(location.file) + ":" + std::to_string(location.number) + ": " + message);
}

void AbaqusText::reject_first_line() const
{
  const bool is_ucd = !line().empty() && line().find_first_not_of("0123456789 \t") == line().npos;
  fail(in_quotes(line()) + " is not a keyword such as *NODE: the file is " +
       (is_ucd ? "in the UCD format of AVS. Give it the extension .ucd."
               : "damaged or not an Abaqus input file. Write it again."));
}
} // namespace femgpu
