#ifndef femgpu_physics_mesh_text_h
#define femgpu_physics_mesh_text_h

#include "linalg/base/text.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace femgpu
{
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
  /// Moves to the next line that is not blank. @throws InputError at the end of the text, which
  /// reports that @p what is missing
  void require_line(const std::string &what);

  /// Returns the line, trimmed; line_number() counts from 1.
  std::string_view line() const
  {
    return current;
  }
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
  /// Parses the next word of the line as a number. @throws InputError that mentions @p what if it
  /// is not a number or is out of the range of its type; coordinates must be finite
  long long integer(const std::string &what)
  {
    return integer(word(), what);
  }
  double coordinate(const std::string &what)
  {
    return coordinate(word(), what);
  }
  /// Parses a part of the line as a number, like the functions above.
  long long integer(std::string_view word, const std::string &what) const;
  double coordinate(std::string_view word, const std::string &what) const;
  /// Parses an integer from 0 to @p largest. @throws InputError as above
  std::size_t count(const std::string &what, std::size_t largest);
  /// Checks that the line ends. @throws InputError if it has more words
  void require_end_of_line(const std::string &what);

  /// Returns the size of the remaining text in bytes, an upper bound of the number of its items.
  std::size_t bytes_left() const
  {
    return text.size() - at;
  }

  /// @throws InputError for the current line or @p at_line
  [[noreturn]] void fail(const std::string &message, std::optional<std::size_t> at_line = {}) const;

private:
  std::string name;
  std::string_view text, current, left; ///< left: the line after the last word
  std::size_t at = 0;                   ///< the beginning of the next line
  std::size_t number = 0;
};

/// Returns @p word in quotes, shortened, with control characters replaced.
std::string in_quotes(std::string_view word);
} // namespace femgpu

#endif
