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
 * The words of a mesh file, line by line, with the numbers of the lines. Knows no deal.II. All
 * errors are InputErrors that begin with "FILE:LINE: ".
 */
class MeshText
{
public:
  /// @param text outlives this object
  MeshText(std::string name, std::string_view text);

  /// Moves to the next line that is not blank; false at the end of the text.
  bool next_line();
  /// Moves to the next line that is not blank. @throws InputError that says that @p what is
  /// missing, at the end of the text
  void require_line(const std::string &what);

  /// The line without blanks at its ends, and its number, from 1.
  std::string_view line() const
  {
    return current;
  }
  std::size_t line_number() const
  {
    return number;
  }

  /// The next word of the line; empty at its end.
  std::string_view word();
  /// What is left of the line.
  std::string_view rest() const
  {
    return trimmed_view(left);
  }
  /// The next word of the line as a number. @throws InputError that names @p what if it is none,
  /// or out of the range of its type; coordinates must be finite
  long long integer(const std::string &what)
  {
    return integer(word(), what);
  }
  double coordinate(const std::string &what)
  {
    return coordinate(word(), what);
  }
  /// The same of a part of the line.
  long long integer(std::string_view word, const std::string &what) const;
  double coordinate(std::string_view word, const std::string &what) const;
  /// An integer from 0 to @p largest. @throws InputError as above
  std::size_t count(const std::string &what, std::size_t largest);
  /// @throws InputError if the line has more words
  void require_end_of_line(const std::string &what);

  /// An upper bound of what the rest of the text can hold: its bytes.
  std::size_t bytes_left() const
  {
    return text.size() - at;
  }

  /// @throws InputError of the current line or @p at_line
  [[noreturn]] void fail(const std::string &message, std::optional<std::size_t> at_line = {}) const;

private:
  std::string name;
  std::string_view text, current, left; ///< left: of the line, behind the last word
  std::size_t at = 0;                   ///< the beginning of the next line
  std::size_t number = 0;
};

/// @p word in quotes, shortened, without bytes that a terminal should not get.
std::string in_quotes(std::string_view word);
} // namespace femgpu

#endif
