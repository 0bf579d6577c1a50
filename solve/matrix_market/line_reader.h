#ifndef femgpu_solve_matrix_market_line_reader_h
#define femgpu_solve_matrix_market_line_reader_h

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;

namespace femgpu::linalg
{
/**
 * Reads the lines of a text file, which may be compressed by gzip. The first bytes of the file, not
 * its name, decide whether it is compressed. A UTF-8 byte order mark at the beginning is skipped.
 * Every error is an InputError.
 */
class LineReader
{
public:
  /// @throws InputError if @p file is missing, unreadable, a directory or empty
  explicit LineReader(const std::string &file);
  ~LineReader();
  LineReader(const LineReader &) = delete;
  LineReader &operator=(const LineReader &) = delete;

  /**
   * Moves to the next line. Returns false at the end of the file.
   * @param line receives the line without its end (LF, CRLF, or CR if the first line ends in CR);
   *        the text is valid until the next call
   * @throws InputError if reading fails, if a compressed file is damaged or truncated, or if a line
   *         is longer than 4 MiB
   */
  bool next(std::string_view &line);

  /// Returns the number of the last line read by next(), from 1.
  std::size_t line_number() const
  {
    return number;
  }

  /// Throws an InputError "FILE:LINE: MESSAGE", by default for the last line read by next().
  [[noreturn]] void fail(const std::string &message) const;
  [[noreturn]] void fail(const std::string &message, std::size_t line) const;

private:
  /// Reads more text into the buffer, after the unread text. Returns false at the end of the file.
  bool refill();
  /// Skips a byte order mark and detects how lines end.
  void inspect_beginning();

  std::string name;
  gzFile_s *file = nullptr;
  std::vector<char> buffer;
  std::size_t begin = 0, end = 0; ///< the unread part of the buffer
  std::size_t number = 0;
  char line_end = '\n';
};
} // namespace femgpu::linalg

#endif
