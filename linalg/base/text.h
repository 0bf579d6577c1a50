#ifndef femgpu_linalg_base_text_h
#define femgpu_linalg_base_text_h

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

/**
 * @file
 * Functions that parse words and numbers.
 */
namespace femgpu
{
constexpr const char *blanks = " \t\r\n\v\f";

/// Returns @p text without leading and trailing blanks.
inline std::string_view trimmed_view(const std::string_view text)
{
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

inline std::string trimmed(const std::string_view text)
{
  return std::string(trimmed_view(text));
}

/// Returns whether @p text consists of one or more digits.
inline bool is_digits(const std::string_view text)
{
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Parses all of @p text as a number, independent of the locale.
/// @return false if @p text is not a number or out of range
template <class Number>
bool read_number(const std::string_view text, Number &number)
{
  const char *const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

/// Returns the number that @p text represents, with or without a leading '+'; nothing if @p text
/// is not a finite number.
inline std::optional<double> finite_number(const std::string_view text)
{
  double number = 0.;
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  if (!read_number(text.substr(has_plus ? 1 : 0), number) || !std::isfinite(number))
    return {};
  return number;
}
} // namespace femgpu

#endif
