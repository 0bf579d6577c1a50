#ifndef femgpu_app_parameter_scan_h
#define femgpu_app_parameter_scan_h

#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// A parameter file as it was read: its name for messages and its whole text.
struct ParameterSource
{
  std::string name;
  std::string text;
};

/**
 * Read a parameter file.
 * @param path a file name, or "-" for standard input (named "<standard input>" in messages)
 * @throws InputError if the file is missing, unreadable, a directory, larger than 16 MiB or no
 * text, or has no statement
 */
ParameterSource read_parameter_source(const std::string &path);

/// What is wrong with lines of a parameter file, by their numbers, which count from 1.
using ParameterProblems = std::multimap<unsigned, std::string>;

/// One statement of a parameter file.
struct ParameterStatement
{
  enum class Kind
  {
    open,  ///< subsection NAME
    close, ///< end
    assign ///< set NAME = VALUE
  };
  Kind kind;
  unsigned line; ///< the line the statement begins in
  std::string name;
  std::string value;
};

/**
 * Cut the text of a parameter file into its statements: comments removed, lines that end in a
 * backslash joined with the next, blanks around names and values dropped, as deal.II does it.
 * Lines that are no statement are reported in @p problems.
 */
std::vector<ParameterStatement> scan_parameter_text(const std::string &text,
                                                    ParameterProblems &problems);

/// As look_alike_in(), of the statement of @p text that begins in @p line.
std::string look_alike_in_statement(const std::string &text, unsigned line);
} // namespace femgpu

#endif
