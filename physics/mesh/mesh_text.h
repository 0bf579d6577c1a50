#ifndef femgpu_physics_mesh_text_h
#define femgpu_physics_mesh_text_h

#include "linalg/base/text.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace femgpu
{
/// A line of a mesh file or of a file that it includes; the number of a cell in formats without
/// lines. Numbers convert implicitly, because most formats have one file only.
struct MeshLocation
{
  MeshLocation(const std::size_t number = 0, const std::size_t file = 0)
      : number(number), file(file)
  {}
  friend bool operator==(const MeshLocation &a, const MeshLocation &b)
  {
    return a.number == b.number && a.file == b.file;
  }

  std::size_t number;
  std::size_t file; ///< 0 for MeshTable::file, i + 1 for MeshTable::included_files[i]
};

/**
 * Splits the text of a mesh file into lines and words, and counts lines. Does not depend on
 * deal.II. All errors are InputErrors that begin with "FILE:LINE: ".
 */
class MeshText
{
public:
  /// @param text must outlive this object
  MeshText(std::string name, std::string_view text);

  /// Moves to the next line that is not blank. Returns false at the end of the text.
  bool next_line();
  /// Moves to the next line that is not blank. @throws InputError at the end of the text; the
  /// message reports that @p what is missing
  void require_line(const std::string &what);

  /// Returns the current line, trimmed.
  std::string_view line() const
  {
    return current;
  }
  /// Returns whether the current line is the last one and has no end of line, so that it may have
  /// been cut off.
  bool is_unterminated() const
  {
    return at == text.size() && !text.empty() && text.back() != '\n';
  }
  /// Returns the number of the current line, counted from 1.
  std::size_t line_number() const
  {
    return number;
  }

  /// Returns the next word of the line; empty at its end.
  std::string_view word();
  /// Returns the rest of the line, trimmed.
  std::string_view rest() const
  {
    return trimmed_view(left);
  }
  /// Parses the next word of the line as a number. @throws InputError that mentions @p what if the
  /// word is not a number, is out of the range of the type, or is a coordinate that is not finite
  long long integer(const std::string &what)
  {
    return integer(word(), what);
  }
  double coordinate(const std::string &what)
  {
    return coordinate(word(), what);
  }
  /// Parses @p word, instead of the next word, as a number. @throws InputError that mentions
  /// @p what if the number is not valid
  long long integer(std::string_view word, const std::string &what) const;
  double coordinate(std::string_view word, const std::string &what) const;
  /// Parses the next word, a count. @throws InputError if it is not an integer from 0 to @p largest
  std::size_t count(const std::string &what, std::size_t largest);
  /// Checks that the line ends here, after @p what. @throws InputError if it has more words
  void require_end_of_line(const std::string &what);

  /// Returns the number of bytes after the current line, an upper bound of the number of entries
  /// that follow.
  std::size_t bytes_left() const
  {
    return text.size() - at;
  }

  /// Throws an InputError with @p message for the line @p at_line, by default the current line.
  [[noreturn]] void fail(const std::string &message, std::optional<std::size_t> at_line = {}) const;

private:
  std::string name;
  std::string_view text, current, left; ///< left: the unread rest of `current`
  std::size_t at = 0;                   ///< offset of the next line in `text`
  std::size_t number = 0;               ///< number of the current line
};

/// Returns the contents of a file without a byte order mark; nullopt if it cannot be opened or read
/// to its end, with the reason in errno.
std::optional<std::string> contents_of_file(const std::string &name);

/// Returns the extension of @p file in lower case: ".msh".
std::string extension_of(const std::string &file);

/// Returns @p word in quotes, shortened, with control characters replaced.
std::string in_quotes(std::string_view word);
} // namespace femgpu

#endif
