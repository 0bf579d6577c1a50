#include "physics/mesh/mesh_text.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace femgpu
{
std::string in_quotes(const std::string_view word)
{
  constexpr std::size_t longest = 120; // names of groups or files without line breaks may be long
  std::string text = "'";
  for (const char c : word.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return text + (word.size() > longest ? "...'" : "'");
}

std::optional<std::string> contents_of_file(const std::string &name)
{
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  if (file)
    text << file.rdbuf();
  if (!file || file.bad())
    return {};
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF"; // some editors begin UTF-8 with it
  std::string result = text.str();
  if (result.compare(0, byte_order_mark.size(), byte_order_mark) == 0)
    result.erase(0, byte_order_mark.size());
  return result;
}

std::string extension_of(const std::string &file)
{
  std::string extension = std::filesystem::path(file).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](const unsigned char c) { return std::tolower(c); });
  return extension;
}

MeshText::MeshText(std::string name, const std::string_view text)
    : name(std::move(name)), text(text)
{}

bool MeshText::next_line()
{
  for (current = {}; current.empty() && at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    current = trimmed_view(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
  }
  left = current;
  return !current.empty();
}

void MeshText::require_line(const std::string &what)
{
  if (!next_line())
    fail("the file ends, but " + what + " was expected: it is truncated. Write or copy it again.");
}

std::string_view MeshText::word()
{
  const std::string_view words = rest();
  const std::size_t end = std::min(words.find_first_of(blanks), words.size());
  left = words.substr(end);
  return words.substr(0, end);
}

long long MeshText::integer(const std::string_view text, const std::string &what) const
{
  long long value = 0;
  if (!read_number(text, value))
    fail(text.empty() ? "the line ends, but " + what + " was expected. Is the file truncated?"
                      : in_quotes(text) + " is not an integer, but " + what + " was expected.");
  return value;
}

double MeshText::coordinate(std::string_view text, const std::string &what) const
{
  if (text.size() > 1 && text[0] == '+')
    text.remove_prefix(1);
  double value = 0.;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_tiny = error == std::errc::result_out_of_range &&
                       text.find("e-") != std::string_view::npos; // rounds to zero
  if (text.empty())
    fail("the line ends, but " + what + " was expected. Is the file truncated?");
  if ((error != std::errc() && !is_tiny) || end != text.data() + text.size())
    fail(in_quotes(text) + " is not a number, but " + what + " was expected.");
  if (!std::isfinite(value))
    fail(what + " is " + in_quotes(text) +
         ", but must be finite. Fix the program or model that made the mesh.");
  return is_tiny ? 0. : value;
}

std::size_t MeshText::count(const std::string &what, const std::size_t largest)
{
  const long long value = integer(what);
  if (value < 0 || static_cast<unsigned long long>(value) > largest)
    fail(what + " is " + std::to_string(value) + ", but must be from 0 to " +
         std::to_string(largest) + ". Is the file damaged or truncated?");
  return static_cast<std::size_t>(value);
}

void MeshText::require_end_of_line(const std::string &what)
{
  if (!rest().empty())
    fail(in_quotes(rest()) + " is unexpected at the end of the line, after " + what + ".");
}

void MeshText::fail(const std::string &message, const std::optional<std::size_t> at_line) const
{
  throw InputError(name + ":" + std::to_string(at_line.value_or(number)) + ": " + message);
}
} // namespace femgpu
