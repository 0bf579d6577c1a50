#include "solve/matrix_market/matrix_market_text.h"

#include "linalg/base/host_memory.h"
#include "linalg/base/indices.h"
#include "linalg/base/row_starts.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <system_error>

namespace femgpu::linalg
{
namespace
{
bool is_blank(const char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

std::string lower_case(const std::string_view text)
{
  std::string lower(text);
  for (char &c : lower)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

/// Quotes text for messages: at most 40 bytes, without control characters.
std::string in_quotes(const std::string_view text)
{
  std::string quote = "'";
  for (const char c : text.substr(0, 40))
    quote += c >= ' ' && c <= '~' ? c : '?';
  return quote + (text.size() > 40 ? "…'" : "'");
}

/// Removes a plus sign, which numbers may have but std::from_chars rejects.
std::string_view without_plus(const std::string_view token)
{
  const bool plus = token.size() > 1 && token[0] == '+' && token[1] != '-' && token[1] != '+';
  return plus ? token.substr(1) : token;
}

/// Parses an integer. One beyond 64 bits becomes the largest 64-bit integer of the same sign.
/// @return whether the whole @p token is an integer
bool parse(std::string_view token, std::int64_t &number)
{
  token = without_plus(token);
  const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error == std::errc::result_out_of_range)
    number = token[0] == '-' ? std::numeric_limits<std::int64_t>::min()
                             : std::numeric_limits<std::int64_t>::max();
  return error != std::errc::invalid_argument && stop == token.data() + token.size();
}

/// Parses numbers that std::from_chars rejects: numbers with a Fortran exponent (1D5), and numbers
/// so small or large that they become 0 or infinite.
bool parse_unusual(const std::string_view token, double &number)
{
  std::string text = lower_case(token);
  const std::size_t exponent = text.find('d');
  if (exponent != std::string::npos)
    text[exponent] = 'e';
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range)
    number = std::strtod(text.c_str(), nullptr);
  return error != std::errc::invalid_argument && stop == end;
}

bool parse(std::string_view token, double &number)
{
  token = without_plus(token);
  const char *const end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, number);
  return (error == std::errc() && stop == end) || parse_unusual(token, number);
}
} // namespace

MatrixMarketText::MatrixMarketText(const std::string &file) : lines(file)
{
  read_header();
  read_size();
}

bool MatrixMarketText::next()
{
  while (lines.next(rest)) {
    std::size_t i = 0;
    while (i < rest.size() && is_blank(rest[i]))
      ++i;
    rest.remove_prefix(i);
    if (!rest.empty() && rest[0] != '%')
      return true;
  }
  return false;
}

void MatrixMarketText::check_memory(const std::int64_t count, const std::size_t bytes_per_entry,
                                    const char *const what) const
{
  const double bytes = static_cast<double>(bytes_per_entry) * static_cast<double>(count);
  const HostMemory memory = host_memory();
  if (bytes > memory.bytes)
    fail("a " + std::string(what) + " of " + std::to_string(count) + " entries needs " +
         gigabytes(bytes) + " while it is read, but " + memory.bound +
         ". Correct the size line, or use a machine with more memory.");
}

bool MatrixMarketText::next_entry(const std::size_t found)
{
  const bool has_entry = next(), is_all = found == static_cast<std::size_t>(file_size.entries);
  if (has_entry && is_all)
    fail("this is one entry more than the " + std::to_string(found) +
         " that the size line announces; correct the size line.");
  if (!has_entry && !is_all)
    fail("the file ends after " + std::to_string(found) + " of " +
         std::to_string(file_size.entries) +
         " entries; it is incomplete or its size line is wrong.");
  return has_entry;
}

std::string_view MatrixMarketText::token()
{
  std::size_t begin = 0;
  while (begin < rest.size() && is_blank(rest[begin]))
    ++begin;
  std::size_t end = begin;
  while (end < rest.size() && !is_blank(rest[end]))
    ++end;
  const std::string_view found = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return found;
}

std::int64_t MatrixMarketText::index(const char *const what, const std::int64_t range)
{
  const std::string_view text = token();
  std::int64_t number = 0;
  if (text.empty())
    fail("the line ends where the " + std::string(what) + " of an entry is expected.");
  if (!parse(text, number))
    fail(in_quotes(text) + " is not a valid " + what + "; an integer from 1 to " +
         std::to_string(range) + " is expected.");
  if (number < 1 || number > range)
    fail(std::string(what) + " " + std::string(text.substr(0, 40)) + " is out of range: use 1 to " +
         std::to_string(range) + (number == 0 ? "; indices begin with 1, not 0." : "."));
  return number - 1;
}

double MatrixMarketText::value()
{
  const std::string_view text = token();
  double number = 0.;
  if (text.empty())
    fail("the value of the entry is missing; only files that say 'pattern' have none.");
  if (!parse(text, number))
    fail("the value " + in_quotes(text) + " is not a number.");
  if (!std::isfinite(number))
    fail("the value " + in_quotes(text) + " is not finite; write a finite number.");
  if (file_header.field == "integer" && number != std::floor(number))
    fail("the value " + in_quotes(text) +
         " is not an integer; write 'real' instead of 'integer' in the header.");
  return number;
}

void MatrixMarketText::end_of_line()
{
  const std::string_view text = token();
  if (!text.empty())
    fail("there is " + in_quotes(text) + " after the numbers; a " + file_header.format + " " +
         file_header.field + " file has one entry per line and nothing else" +
         (file_header.field == "pattern" ? ", and no values." : "."));
}

void MatrixMarketText::read_header()
{
  const auto fail_token = [this](const char *what, const std::string &token, const char *hint) {
    fail("the header says " + in_quotes(token) + " where the " + what + " is expected; " + hint +
         ".");
  };
  // The header begins with %%. After the header, lines that begin with % are comments.
  bool found = false;
  while (!found && lines.next(rest))
    found = rest.find_first_not_of(" \t\r\f\v") != std::string_view::npos;
  const std::string_view line = rest;
  if (!found || lower_case(token()) != "%%matrixmarket")
    fail("this is not a Matrix Market file: it begins with " + in_quotes(line) +
         " instead of '%%MatrixMarket matrix coordinate real general' (or symmetric).");
  if (const std::string object = lower_case(token()); object != "matrix")
    fail_token("object", object, "use 'matrix'");
  auto &[format, field, symmetry] = file_header;
  format = lower_case(token());
  if (format != "coordinate" && format != "array")
    fail_token("format", format, "use 'coordinate' for matrices and 'array' for vectors");
  field = lower_case(token());
  if (field == "complex")
    fail("complex numbers are not supported; write the equivalent real system [Re -Im; Im Re].");
  if (field != "real" && field != "integer" && field != "pattern")
    fail_token("field", field, "use 'real', 'integer' or 'pattern'");
  symmetry = lower_case(token());
  if (symmetry == "hermitian")
    fail("hermitian (complex) matrices are not supported; write 'symmetric' if the values are "
         "real.");
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    fail_token("symmetry", symmetry, "use 'general', 'symmetric' or 'skew-symmetric'");
  if (field == "pattern" && (format == "array" || symmetry == "skew-symmetric"))
    fail("a pattern can be neither an array nor skew-symmetric; write its values.");
  if (const std::string_view more = token(); !more.empty())
    fail("the header has " + in_quotes(more) + " after the symmetry; remove it.");
}

void MatrixMarketText::read_size()
{
  const bool coordinate = file_header.format == "coordinate";
  const std::string expected = coordinate ? "the line with the numbers of rows, columns and entries"
                                          : "the line with the numbers of rows and columns";
  if (!next())
    fail("the file ends before " + expected + ".");
  const std::string line = in_quotes(rest);
  const auto count = [&](const std::size_t max_value) {
    const std::string_view text = token();
    std::int64_t number = 0;
    if (!parse(text, number) || number < 0)
      fail(expected + " is expected, but found " + line + ".");
    if (static_cast<std::size_t>(number) > max_value)
      fail("the number " + std::string(text.substr(0, 40)) + " is too large: the limits are " +
           std::to_string(max_indices) + " rows and " + std::to_string(RowStarts::max_entries) +
           " entries.");
    return number;
  };
  file_size.rows = count(max_indices);
  file_size.columns = count(max_indices);
  file_size.entries =
      coordinate ? count(RowStarts::max_entries) : file_size.rows * file_size.columns;
  if (!token().empty())
    fail(expected + " is expected, but found " + line + ".");
}
} // namespace femgpu::linalg
