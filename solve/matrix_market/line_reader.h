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
 * Reads the lines of a text file, plain or compressed by gzip, as its first bytes show, whatever
 * its name. A byte order mark of UTF-8 at the beginning is skipped. Every error is an InputError.
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
   * Moves to the next line and returns it in @p line without its end (LF, CRLF, or CR if the first
   * line ends so); the text is valid until the next call. Returns false at the end of the file.
   * @throws InputError if reading fails, a compressed file is damaged or ends too early, or a line
   * is longer than 4 MiB
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
  /// Appends to the unread text in the buffer; returns false if there is nothing more.
  bool refill();
  /// Skips a byte order mark, and detects how lines end.
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
