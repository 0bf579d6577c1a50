#ifndef femgpu_solve_matrix_market_matrix_market_text_h
#define femgpu_solve_matrix_market_matrix_market_text_h

#include "solve/matrix_market/line_reader.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace femgpu::linalg
{
/// The first line of a Matrix Market file, in lower case.
struct MatrixMarketHeader
{
  std::string format;   ///< "coordinate" or "array"
  std::string field;    ///< "real", "integer" or "pattern"
  std::string symmetry; ///< "general", "symmetric" or "skew-symmetric"
};

/// The size line of a Matrix Market file.
struct MatrixMarketSize
{
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0; ///< number of entries that follow; rows * columns for an array
};

/**
 * Reads the text of a Matrix Market file: header and size line, then the numbers line by line.
 * Every error is an InputError with FILE:LINE.
 */
class MatrixMarketText
{
public:
  explicit MatrixMarketText(const std::string &file);

  const MatrixMarketHeader &header() const
  {
    return file_header;
  }
  const MatrixMarketSize &size() const
  {
    return file_size;
  }
  /// Returns the number of the last line read; after construction, the number of the size line.
  std::size_t line_number() const
  {
    return lines.line_number();
  }

  /// Checks that @p count entries of @p bytes_per_entry bytes fit into memory.
  /// @param what name for the message, "matrix" or "vector"
  /// @throws InputError if the entries do not fit
  void check_memory(std::int64_t count, std::size_t bytes_per_entry, const char *what) const;

  /// Moves to the line of the next entry. Returns false at the end of the file.
  /// @param found number of entries read so far
  /// @throws InputError if the number of entries in the file differs from the size line
  bool next_entry(std::size_t found);

  /// Reads an index from 1 to @p range, the next number of the line, and returns it counted from 0.
  /// @param what name of the index for messages, such as "row"
  std::int64_t index(const char *what, std::int64_t range);
  /// Returns the next number of the line, a value. It must be finite, and an integer if the field
  /// of the file is "integer".
  double value();
  /// Checks that the line has no more tokens. @throws InputError if it has
  void end_of_line();

  template <class... Line>
  [[noreturn]] void fail(const std::string &message, const Line... line) const
  {
    lines.fail(message, line...);
  }

private:
  void read_header();
  void read_size();
  /// Moves to the next line that is neither blank nor a comment. Returns false if there is none.
  bool next();
  /// Returns the next token of the line; empty at its end.
  std::string_view token();

  LineReader lines;
  std::string_view rest; ///< unread part of the line
  MatrixMarketHeader file_header;
  MatrixMarketSize file_size;
};
} // namespace femgpu::linalg

#endif
