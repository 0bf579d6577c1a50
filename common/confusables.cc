#include "common/confusables.h"

#include <cstddef>
#include <cstdio>

namespace femgpu
{
namespace
{
/// A range of code points that look like the character `ascii`, which is 0 if they are invisible.
struct ConfusableRange
{
  char32_t first, last;
  char ascii;
  const char *name;
};

constexpr ConfusableRange ranges[] = {{0x00A0, 0x00A0, ' ', "a no-break space"},
                                      {0x00AD, 0x00AD, 0, "a soft hyphen"},
                                      {0x00B4, 0x00B4, '\'', "an acute accent"},
                                      {0x00B7, 0x00B7, '*', "a middle dot"},
                                      {0x00D7, 0x00D7, '*', "a multiplication sign"},
                                      {0x00F7, 0x00F7, '/', "a division sign"},
                                      {0x037E, 0x037E, ';', "a Greek question mark"},
                                      {0x03BF, 0x03BF, 'o', "a Greek letter"},
                                      {0x1680, 0x1680, ' ', "a space"},
                                      {0x2000, 0x200A, ' ', "a space"},
                                      {0x200B, 0x200F, 0, "an invisible character"},
                                      {0x2010, 0x2015, '-', "a dash"},
                                      {0x2018, 0x201B, '\'', "a quotation mark"},
                                      {0x201C, 0x201F, '"', "a quotation mark"},
                                      {0x2028, 0x2029, ' ', "a line separator"},
                                      {0x202A, 0x202E, 0, "an invisible character"},
                                      {0x202F, 0x202F, ' ', "a narrow no-break space"},
                                      {0x2032, 0x2032, '\'', "a prime"},
                                      {0x2044, 0x2044, '/', "a fraction slash"},
                                      {0x205F, 0x205F, ' ', "a space"},
                                      {0x2060, 0x2064, 0, "an invisible character"},
                                      {0x2212, 0x2212, '-', "a minus sign"},
                                      {0x2215, 0x2215, '/', "a division slash"},
                                      {0x2217, 0x2217, '*', "an asterisk operator"},
                                      {0x2219, 0x2219, '*', "a bullet operator"},
                                      {0x2236, 0x2236, ':', "a ratio sign"},
                                      {0x22C5, 0x22C5, '*', "a dot operator"},
                                      {0x3000, 0x3000, ' ', "an ideographic space"},
                                      {0xFEFF, 0xFEFF, 0, "a byte order mark"}};

/// Cyrillic letters and the Latin letters that they look like.
constexpr struct
{
  char32_t letter;
  char ascii;
} cyrillic[] = {{0x0410, 'A'}, {0x0412, 'B'}, {0x0415, 'E'}, {0x041A, 'K'}, {0x041C, 'M'},
                {0x041D, 'H'}, {0x041E, 'O'}, {0x0420, 'P'}, {0x0421, 'C'}, {0x0422, 'T'},
                {0x0425, 'X'}, {0x0430, 'a'}, {0x0435, 'e'}, {0x043E, 'o'}, {0x0440, 'p'},
                {0x0441, 'c'}, {0x0443, 'y'}, {0x0445, 'x'}, {0x0456, 'i'}, {0x0458, 'j'}};

/// Returns the range that contains @p character. The name of the result is nullptr if @p character
/// is not a look-alike.
ConfusableRange find_confusable(const char32_t character)
{
  for (const ConfusableRange &range : ranges)
    if (range.first <= character && character <= range.last)
      return range;
  for (const auto &[letter, ascii] : cyrillic)
    if (letter == character)
      return {letter, letter, ascii, "a Cyrillic letter"};
  if (0xFF01 <= character && character <= 0xFF5E)
    return {character, character, static_cast<char>(character - 0xFEE0), "a full-width character"};
  return {character, character, 0, nullptr};
}

/// Removes the first UTF-8 character from @p rest and returns it. An invalid byte counts as one
/// character.
char32_t next_code_point(std::string_view &rest)
{
  const auto byte = [&](const std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const std::size_t length = byte(0) < 0xC0 ? 1 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  char32_t character = length == 1 ? byte(0) : byte(0) & (0xFFu >> (length + 1));
  std::size_t n_consumed = 1;
  for (; n_consumed < length && n_consumed < rest.size() && (byte(n_consumed) & 0xC0u) == 0x80u;
       ++n_consumed)
    character = character << 6u | (byte(n_consumed) & 0x3Fu);
  rest.remove_prefix(n_consumed);
  return character;
}
} // namespace

std::string with_ascii_spaces(std::string_view text)
{
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const ConfusableRange found = find_confusable(next_code_point(text));
    if (found.name != nullptr && found.ascii == ' ')
      result += ' ';
    else
      result += before.substr(0, before.size() - text.size());
  }
  return result;
}

std::string confusable_in(std::string_view line)
{
  for (std::size_t column = 1; !line.empty() && line[0] != '#'; ++column) {
    const char32_t character = next_code_point(line);
    const ConfusableRange found = find_confusable(character);
    if (found.name == nullptr)
      continue;
    char code[16];
    std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned int>(character));
    const std::string text =
        "column " + std::to_string(column) + " has " + found.name + " (" + code + "), ";
    const char quote = found.ascii == '\'' ? '"' : '\'';
    const std::string ascii = {quote, found.ascii, quote};
    return text + (found.ascii == 0 ? "which is not allowed here: remove it"
                                    : "which looks like " + ascii + ": write " + ascii);
  }
  return {};
}
} // namespace femgpu
