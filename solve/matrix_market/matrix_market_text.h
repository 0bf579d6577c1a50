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

/// The size line.
struct MatrixMarketSize
{
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0; ///< of coordinate files; rows * columns of arrays
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
  /// Returns the last line read, for messages; after construction the size line.
  std::size_t line_number() const
  {
    return lines.line_number();
  }

  /// Checks that @p count entries of @p bytes_per_entry bytes fit into memory. @throws InputError
  /// if not
  /// @param what "matrix" or "vector"
  void check_memory(std::int64_t count, std::size_t bytes_per_entry, const char *what) const;

  /// Moves to the line of the next entry, after @p found others; returns false at the end of the
  /// file.
  /// @throws InputError if the entries are not as many as the size line announces
  bool next_entry(std::size_t found);

  /// Returns the next number of the line, an index in 1…@p range, counted from 0. @p what is "row"
  /// …
  std::int64_t index(const char *what, std::int64_t range);
  /// Returns the next number of the line, a value: finite, and integral if the file says integer.
  double value();
  /// Checks that the line has ended. @throws InputError if it has not
  void end_of_line();

  template <class... Line>
  [[noreturn]] void fail(const std::string &message, const Line... line) const
  {
    lines.fail(message, line...);
  }

private:
  void read_header();
  void read_size();
  /// Moves to the next line that is neither blank nor a comment; returns false at the end of the
  /// file.
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
