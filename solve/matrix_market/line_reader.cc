#include "solve/matrix_market/line_reader.h"

#include "linalg/base/error.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace femgpu::linalg
{
namespace
{
constexpr std::size_t buffer_size = std::size_t(4) << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
} // namespace

LineReader::LineReader(const std::string &file) : name(file), buffer(buffer_size)
{
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw InputError("'" + file + "' is a directory; name a file in it.");
  errno = 0;
  this->file = gzopen(file.c_str(), "rb");
  if (this->file == nullptr)
    throw InputError("The file '" + file + "' cannot be opened: " +
                     (errno != 0 ? std::strerror(errno) : "too little memory") +
                     ". Check its name and permissions.");
  gzbuffer(this->file, 1U << 18);
  try {
    if (!refill())
      throw InputError("The file '" + file + "' is empty; a Matrix Market file was expected.");
    inspect_beginning();
  }
  catch (...) {
    gzclose(this->file);
    throw;
  }
}

LineReader::~LineReader()
{
  gzclose(file);
}

bool LineReader::next(std::string_view &line)
{
  std::size_t searched = 0;
  for (;;) {
    const char *const first = buffer.data() + begin;
    const std::size_t available = end - begin;
    const void *const newline = std::memchr(first + searched, line_end, available - searched);
    std::size_t length = available;
    if (newline != nullptr)
      length = static_cast<std::size_t>(static_cast<const char *>(newline) - first);
    else {
      searched = available;
      if (refill())
        continue;
      if (available == 0)
        return false;
    }
    line = {buffer.data() + begin, length};
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    begin += length + (newline != nullptr ? 1 : 0);
    ++number;
    return true;
  }
}

void LineReader::fail(const std::string &message) const
{
  fail(message, number);
}

void LineReader::fail(const std::string &message, const std::size_t line) const
{
  throw InputError(name + ":" + std::to_string(line) + ": " + message);
}

void LineReader::inspect_beginning()
{
  std::string_view text(buffer.data(), end);
  if (text.substr(0, byte_order_mark.size()) == byte_order_mark) {
    begin = byte_order_mark.size();
    text.remove_prefix(begin);
  }
  const std::size_t first_end = text.find_first_of("\r\n");
  if (first_end != std::string_view::npos && text[first_end] == '\r' &&
      text.substr(first_end + 1, 1) != "\n")
    line_end = '\r';
}

bool LineReader::refill()
{
  if (end - begin == buffer.size())
    fail("the line is longer than 4 MiB: this is not a Matrix Market text file.", number + 1);
  std::memmove(buffer.data(), buffer.data() + begin, end - begin);
  end -= begin;
  begin = 0;
  errno = 0;
  const int count = gzread(file, buffer.data() + end, static_cast<unsigned int>(buffer_size - end));
  int status = Z_OK;
  const char *const reason = gzerror(file, &status);
  if (count < 0 || (status != Z_OK && status != Z_STREAM_END))
    throw InputError("The file '" + name + "' cannot be read" +
                     (number > 0 ? " beyond line " + std::to_string(number) : "") + ": " +
                     (status == Z_ERRNO ? std::strerror(errno) : reason) +
                     ". If it is compressed, it is damaged or incomplete: fetch it again.");
  end += static_cast<std::size_t>(count);
  return count > 0;
}
} // namespace femgpu::linalg
