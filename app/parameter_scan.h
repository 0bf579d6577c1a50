#ifndef femgpu_app_parameter_scan_h
#define femgpu_app_parameter_scan_h

#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// The text of a parameter file and its name for messages.
struct ParameterSource
{
  std::string name;
  std::string text;
};

/**
 * Reads a parameter file.
 * @param path a file name, or "-" for standard input (named "<standard input>" in messages)
 * @throws InputError if the file is missing, unreadable, a directory, larger than 16 MiB, binary or
 *         without statements
 */
ParameterSource read_parameter_source(const std::string &path);

/// Problems of a parameter file by line number, counted from 1.
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
  unsigned line; ///< the first line of the statement
  std::string name;
  std::string value;
};

/**
 * Splits a parameter file into statements. As in deal.II, comments are removed, a line that ends in
 * a backslash is joined with the next, and names and values are trimmed.
 * @param problems receives the lines that are not statements
 */
std::vector<ParameterStatement> scan_parameter_text(const std::string &text,
                                                    ParameterProblems &problems);

/// Describes a look-alike character, see confusable_in(), in the statement that begins in @p line.
/// Returns an empty string if there is none.
std::string confusable_in_statement(const std::string &text, unsigned line);
} // namespace femgpu

#endif
