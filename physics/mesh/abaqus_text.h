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
/// Returns @p text in lower case.
std::string lower(std::string_view text);
/// Returns whether @p word is one of @p list, in which '|' is before, between and after the words.
inline bool is_one_of(const std::string &word, const std::string_view list)
{
  return list.find("|" + word + "|") != std::string_view::npos;
}
/// Returns @p text without the double quotes around it, if it has any.
std::string_view without_quotes(std::string_view text);

/// A keyword line of an input file.
struct AbaqusKeyword
{
  std::string keyword;                        ///< in upper case, without '*'
  std::map<std::string, std::string> options; ///< values without quotes, by names in upper case
  MeshLocation location = {};

  bool has(const std::string &option) const
  {
    return options.count(option) > 0;
  }
  /// Returns the value of @p option in upper case; empty if there is none.
  std::string value(const std::string &option) const
  {
    return has(option) ? upper(options.at(option)) : std::string();
  }
};

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
  /// @param text contents of the file @p name; must outlive this object
  AbaqusText(const std::string &name, std::string_view text);

  /// Moves to the next keyword. Returns false at the end of the file.
  bool next_keyword();
  /// Returns the keyword in upper case, without '*'.
  const std::string &keyword() const
  {
    return current.keyword;
  }
  const AbaqusKeyword &keyword_line() const
  {
    return current;
  }
  bool has(const std::string &option) const
  {
    return current.has(option);
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

  /// Returns the current line.
  MeshLocation location() const
  {
    return {sources.back().text.line_number(), sources.back().file};
  }
  /// Returns the names of the files that have been included, also by copies of this object, as
  /// MeshTable::included_files.
  const std::vector<std::string> &included_files() const
  {
    return *files;
  }

  /// Throws an InputError with @p message for the current line.
  [[noreturn]] void fail(const std::string &message) const
  {
    fail(message, location());
  }
  [[noreturn]] void fail(const std::string &message, MeshLocation location) const;
  /// Throws an InputError for a file that does not begin with a keyword.
  [[noreturn]] void reject_first_line() const;
  /// Throws an InputError with @p message for the line of the keyword.
  [[noreturn]] void fail_at_keyword(const std::string &message) const
  {
    fail(message, current.location);
  }

private:
  /// A file that has not been read to its end.
  struct Source
  {
    std::shared_ptr<const std::string> contents; ///< null for the main file
    MeshText text;
    std::size_t file; ///< see MeshLocation
  };

  bool next_line();
  bool next_line_of_deck();
  bool next_line_of_block();
  AbaqusKeyword parse_keyword();
  void open(const std::string &file);
  const std::string &name_of(std::size_t file) const;

  std::string main_file;
  std::vector<Source> sources; ///< each file is included by the one before
  std::shared_ptr<std::vector<std::string>> files = std::make_shared<std::vector<std::string>>();
  AbaqusKeyword current = {};
  std::vector<std::string_view> data; ///< fields of the current data line
  bool is_at_keyword = false;         ///< the current line is the keyword line of the next block
  bool is_empty = true;               ///< the current block had no data line yet
  bool has_ended = false;
};
} // namespace femgpu

#endif
