#include "app/parameter_scan.h"

#include "common/confusables.h"
#include "common/spelling.h"
#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

namespace femgpu
{
namespace
{
constexpr std::size_t max_file_bytes = 16u << 20u; // 16 MiB

std::string read_stream(std::istream &in, const std::string &name)
{
  std::string text;
  std::string block(1u << 16u, '\0');
  while (in.good() && text.size() <= max_file_bytes) {
    in.read(&block[0], static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    throw InputError("parameter file '" + name +
                     "' could not be read to its end: " + std::strerror(errno));
  if (text.size() > max_file_bytes)
    throw InputError("parameter file '" + name +
                     "' is larger than 16 MiB; is it a mesh or a result? Give a text file with "
                     "'set KEY = VALUE' lines");
  return text;
}

/// Rejects binary files, which contain control characters other than white space.
void require_text(const ParameterSource &source)
{
  const auto is_binary = [](unsigned char c) {
    return c == 0x7f || (c < 0x20 && std::strchr("\t\n\r\v\f", c) == nullptr) || c == 0;
  };
  const auto at = std::find_if(source.text.begin(), source.text.end(), is_binary);
  if (at == source.text.end())
    return;
  const auto line = 1 + std::count(source.text.begin(), at, '\n');
  throw InputError(source.name + ":" + std::to_string(line) + ": byte " +
                   std::to_string(static_cast<unsigned char>(*at)) + " at offset " +
                   std::to_string(at - source.text.begin()) +
                   " is not text; save the parameter file as plain text (UTF-8)");
}

/// Rejects a file without statements: all parameters would keep their defaults, so the file is
/// probably a mistake.
void require_statements(const ParameterSource &source)
{
  ParameterProblems problems;
  if (!scan_parameter_text(source.text, problems).empty() || !problems.empty())
    return;
  throw InputError(
      source.name + ": the file sets no parameter: it " +
      (trimmed(source.text).empty() ? "is empty" : "has only comments") +
      "; use a file of parameters/, or start from the output of 'femgpu --print-parameters prm'");
}

/// Returns advice on a file that does not exist: "; did you mean 'dir/poisson.prm'?" if its
/// directory has a file with a similar name, otherwise advice to check the name.
std::string advice_on_missing_file(const std::filesystem::path &path)
{
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  std::filesystem::directory_iterator entry(parent, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  const std::string name = nearest(path.filename().string(), names);
  return name.empty() ? "; check the name and the working directory"
                      : "; did you mean '" + (path.parent_path() / name).string() + "'?";
}

constexpr char byte_order_mark[] = "\xEF\xBB\xBF";

/// Returns the position after the byte order mark, if there is one.
std::size_t begin_of(const std::string &text)
{
  return text.compare(0, 3, byte_order_mark) == 0 ? 3 : 0;
}

/// The text of a statement and the number of its first line.
struct JoinedLine
{
  std::string text;
  unsigned line;
};

/**
 * Joins lines at trailing backslashes and removes comments. In deal.II, a comment that ends in a
 * backslash silently includes the next line; this function reports such a comment as a problem.
 */
std::vector<JoinedLine> join_lines(const std::string &text, ParameterProblems &problems)
{
  std::vector<JoinedLine> joined;
  std::size_t at = begin_of(text);
  bool continues = false;
  for (unsigned line = 1; at < text.size(); ++line) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    std::string piece = text.substr(at, newline - at);
    at = newline + 1;
    if (!piece.empty() && piece.back() == '\r')
      piece.pop_back();
    if (continues)
      piece.erase(0, piece.find_first_not_of(" \t"));
    else
      joined.push_back({"", line});
    continues = !piece.empty() && piece.back() == '\\';
    if (continues)
      piece.pop_back();
    const std::size_t comment = piece.find('#');
    if (comment != std::string::npos) {
      piece.erase(comment);
      if (continues)
        problems.emplace(line, "this comment ends in '\\', which makes the next line part of "
                               "the comment; remove the '\\'");
      continues = false;
    }
    joined.back().text += piece;
  }
  return joined;
}

ParameterStatement read_assignment(const std::string &rest, unsigned line,
                                   ParameterProblems &problems)
{
  const std::size_t equals = rest.find('=');
  ParameterStatement statement{ParameterStatement::Kind::assign, line, "", ""};
  if (equals == std::string::npos) {
    problems.emplace(line, "'set " + rest + "' has no '='; write 'set KEY = VALUE'");
    return statement;
  }
  statement.name = trimmed(rest.substr(0, equals));
  statement.value = trimmed(rest.substr(equals + 1));
  if (statement.name.empty())
    problems.emplace(line, "'set' has no key before '='; write 'set KEY = VALUE'");
  return statement;
}

/**
 * Reports a line that is not a statement. A misspelled 'subsection' or 'end' is reported and then
 * accepted, so that one typo does not cause further problems of unmatched sections.
 */
void read_misspelled(const JoinedLine &line, const std::string &word, const std::string &rest,
                     std::vector<ParameterStatement> &statements, ParameterProblems &problems)
{
  using Kind = ParameterStatement::Kind;
  const std::string text = trimmed(line.text);
  const bool assigns = text.find('=') != std::string::npos;
  const std::string intended =
      nearest(word, assigns ? std::vector<std::string>{"set"}
                            : std::vector<std::string>{"set", "subsection", "end"});
  std::string message = "'" + text + "' is not a statement; ";
  if (!intended.empty())
    message += "did you mean '" + intended + "'?";
  else if (assigns)
    message += "did you mean 'set " + text + "'?";
  else
    message += "write 'subsection NAME', 'set KEY = VALUE' or 'end'; '#' begins a comment";
  problems.emplace(line.line, message);
  if (intended == "subsection")
    statements.push_back({Kind::open, line.line, rest, ""});
  else if (intended == "end" && rest.empty())
    statements.push_back({Kind::close, line.line, "", ""});
}

bool is_statement(const std::string &line)
{
  static const std::vector<std::string> keywords = {"set",        "SET", "subsection",
                                                    "SUBSECTION", "end", "END"};
  const std::string word = line.substr(0, line.find_first_of(blanks));
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

/// Returns the line without blanks at its ends. If the line becomes a statement only when ASCII
/// blanks replace its non-ASCII spaces, reports a problem and returns the line with ASCII blanks.
std::string normalised_line(const JoinedLine &joined, ParameterProblems &problems)
{
  std::string line = trimmed(joined.text), plain = trimmed(with_ascii_spaces(line));
  if (is_statement(line) || !is_statement(plain))
    return line;
  problems.emplace(joined.line, "'" + line + "' is not a statement");
  return plain;
}
} // namespace

ParameterSource read_parameter_source(const std::string &path)
{
  ParameterSource source{path == "-" ? "<standard input>" : path, ""};
  if (path == "-")
    source.text = read_stream(std::cin, source.name);
  else {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      throw InputError("'" + path + "' is a directory; name a parameter file in it");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      const int reason = errno;
      throw InputError(
          "parameter file '" + path + "' could not be opened: " + std::strerror(reason) +
          (reason == ENOENT ? advice_on_missing_file(path) : "; check its permissions"));
    }
    source.text = read_stream(file, path);
  }
  require_text(source);
  require_statements(source);
  return source;
}

std::vector<ParameterStatement> scan_parameter_text(const std::string &text,
                                                    ParameterProblems &problems)
{
  using Kind = ParameterStatement::Kind;
  std::vector<ParameterStatement> statements;
  for (const JoinedLine &joined : join_lines(text, problems)) {
    const std::string line = normalised_line(joined, problems);
    if (line.empty())
      continue;
    const std::size_t word_end = std::min(line.find_first_of(blanks), line.size());
    const std::string word = line.substr(0, word_end);
    const std::string rest = trimmed(line.substr(word_end));
    if (word == "set" || word == "SET") {
      ParameterStatement statement = read_assignment(rest, joined.line, problems);
      if (!statement.name.empty())
        statements.push_back(std::move(statement));
    }
    else if (word == "subsection" || word == "SUBSECTION") {
      if (rest.empty())
        problems.emplace(joined.line, "'subsection' has no name; write 'subsection NAME'");
      statements.push_back({Kind::open, joined.line, rest, ""});
    }
    else if (word == "end" || word == "END") {
      if (!rest.empty())
        problems.emplace(
            joined.line,
            "'" + rest + "' after 'end' is not allowed; remove it, or begin a comment with '#'");
      statements.push_back({Kind::close, joined.line, "", ""});
    }
    else if (word == "include" || word == "INCLUDE")
      problems.emplace(joined.line, "'include' is not supported; copy the lines of '" + rest +
                                        "' here or give them with --set");
    else
      read_misspelled(joined, word, rest, statements, problems);
  }
  return statements;
}

std::string confusable_in_statement(const std::string &text, const unsigned line)
{
  std::size_t at = begin_of(text);
  for (unsigned line_number = 1; at < text.size(); ++line_number) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    const std::string piece =
        text.substr(at, newline - at - (newline > at && text[newline - 1] == '\r' ? 1 : 0));
    at = newline + 1;
    if (line_number < line)
      continue;
    if (const std::string found = confusable_in(piece); !found.empty())
      return line_number == line ? found : "line " + std::to_string(line_number) + ", " + found;
    if (piece.empty() || piece.back() != '\\')
      break;
  }
  return {};
}
} // namespace femgpu
