#ifndef femgpu_physics_abaqus_text_h
#define femgpu_physics_abaqus_text_h

#include "physics/mesh/mesh_text.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace femgpu
{
/// Returns @p text in upper case.
std::string upper(std::string_view text);
/// Returns @p text without the double quotes around it, if it has any.
std::string_view without_quotes(std::string_view text);

/**
 * Walks an Abaqus or CalculiX input file block by block. A block is a keyword with its data lines:
 * @code
 * AbaqusText text(name, contents);
 * while (text.next_keyword())
 *   if (text.keyword() == "ELASTIC")
 *     while (text.next_data())
 *       text.number(0, "Young's modulus");
 * @endcode
 * Comments and blank lines are skipped, and data lines that the caller does not read. The lines of
 * an included file replace *INCLUDE, INPUT=FILE; a relative FILE is searched in the directory of
 * the including file. Copies walk on independently from the same line, so that a copy can read the
 * same lines again. All errors are InputErrors that begin with "FILE:LINE: ". Does not depend on
 * deal.II.
 */
class AbaqusText
{
public:
  /// A line of the main file or of an included file.
  struct Location
  {
    std::shared_ptr<const std::string> file;
    std::size_t line;
  };

  /// @param text contents of the file @p name; must outlive this object
  AbaqusText(const std::string &name, std::string_view text);

  /// Moves to the next keyword. Returns false at the end of the file.
  bool next_keyword();
  /// Returns the keyword in upper case, without '*'.
  const std::string &keyword() const
  {
    return current.name;
  }
  /// Returns the values of the options of the keyword without quotes, by names in upper case.
  const std::map<std::string, std::string> &options() const
  {
    return current.options;
  }
  bool has(const std::string &option) const
  {
    return current.options.count(option) > 0;
  }
  /// Returns the value of @p option. @throws InputError if the keyword has no such option or value
  const std::string &value_of(const std::string &option) const;
  /// Reads the data lines from the file that the option INPUT names, if the keyword has it.
  void follow_input();

  /// Moves to the next data line of the block. Returns false at the end of the block.
  bool next_data();
  /// Rejects a data line of less than @p n fields at the end of a file without end of line: the
  /// line was probably cut off.
  void require_fields(std::size_t n) const;
  /// Returns whether next_data() has found no data line since the keyword.
  bool is_empty_block() const
  {
    return is_empty;
  }
  /// Returns whether the file has ended.
  bool at_end() const
  {
    return has_ended;
  }
  /// Returns the current line, trimmed.
  std::string_view line() const
  {
    return sources.back().text.line();
  }
  /// Returns the fields between the commas of the data line; an empty last field is omitted.
  const std::vector<std::string_view> &fields() const
  {
    return data;
  }
  /// Returns field number @p i of the data line; an empty field if the line is shorter.
  std::string_view field(const std::size_t i) const
  {
    return i < data.size() ? data[i] : std::string_view();
  }
  /// Parses @p word as a number. @throws InputError that mentions @p what if it is not valid
  long long integer(const std::string_view word, const std::string &what) const
  {
    return sources.back().text.integer(word, what);
  }
  /// Parses field number @p i; blank and omitted fields are 0. @throws InputError as integer()
  double number(const std::size_t i, const std::string &what) const
  {
    return field(i).empty() ? 0. : sources.back().text.coordinate(data[i], what);
  }

  /// Returns the line of the main file: of the current line or of the *INCLUDE that contains it.
  std::size_t main_line() const
  {
    return sources.front().text.line_number();
  }
  /// Returns the line of the main file for the keyword, as main_line().
  std::size_t main_line_of_keyword() const
  {
    return current.main_line;
  }
  /// Returns the beginning of messages: "FILE:LINE: ".
  static std::string prefix(const Location &location)
  {
    return *location.file + ":" + std::to_string(location.line) + ": ";
  }
  Location location() const
  {
    return {sources.back().name, sources.back().text.line_number()};
  }
  const Location &location_of_keyword() const
  {
    return current.location;
  }

  /// Throws an InputError with @p message for the current line.
  [[noreturn]] void fail(const std::string &message) const
  {
    fail(message, location());
  }
  [[noreturn]] void fail(const std::string &message, const Location &location) const;
  /// Throws an InputError for a file that does not begin with a keyword.
  [[noreturn]] void reject_first_line() const;
  /// Throws an InputError with @p message for the line of the keyword.
  [[noreturn]] void fail_at_keyword(const std::string &message) const
  {
    fail(message, current.location);
  }

private:
  struct Keyword
  {
    std::string name;
    std::map<std::string, std::string> options;
    Location location;
    std::size_t main_line;
  };
  /// A file that has not been read to its end.
  struct Source
  {
    std::shared_ptr<const std::string> name, contents; ///< contents: null for the main file
    MeshText text;
  };

  bool next_line();
  bool next_line_of_deck();
  Keyword parse_keyword();
  void open(const std::string &file);

  std::vector<Source> sources; ///< each file is included by the one before
  Keyword current = {};
  std::vector<std::string_view> data; ///< fields of the current data line
  bool is_at_keyword = false;         ///< the current line is the keyword line of the next block
  bool is_empty = true;               ///< the current block had no data line yet
  bool has_ended = false;
};
} // namespace femgpu

#endif
