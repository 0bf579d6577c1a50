#ifndef femgpu_common_look_alikes_h
#define femgpu_common_look_alikes_h

#include <string>
#include <string_view>

/**
 * @file
 * Unicode characters that look like ASCII ones, or like nothing, as word processors and web pages
 * put them into text that is copied from there.
 */
namespace femgpu
{
/// @p text with blanks in place of spaces of other kinds.
std::string with_plain_blanks(std::string_view text);

/**
 * A clause about the first character of @p line that looks like another, and that is outside of a
 * comment: "column 4 has a no-break space (U+00A0), which looks like ' ': write ' '". Columns count
 * characters, from 1. Empty if there is none.
 */
std::string look_alike_in(std::string_view line);
} // namespace femgpu

#endif
