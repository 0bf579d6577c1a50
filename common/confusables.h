#ifndef femgpu_common_confusables_h
#define femgpu_common_confusables_h

#include <string>
#include <string_view>

/**
 * @file
 * Unicode characters that look like ASCII characters or are invisible. Text copied from word
 * processors and web pages often contains them.
 */
namespace femgpu
{
/// Returns @p text with every Unicode space replaced by an ASCII blank.
std::string with_ascii_spaces(std::string_view text);

/**
 * Describes the first look-alike character of @p line outside a comment: "column 4 has a no-break
 * space (U+00A0), which looks like ' ': write ' '". Columns count characters from 1. Returns an
 * empty string if there is no such character.
 */
std::string confusable_in(std::string_view line);
} // namespace femgpu

#endif
