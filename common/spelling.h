#ifndef femgpu_common_spelling_h
#define femgpu_common_spelling_h

#include <cstddef>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * Returns the number of insertions, deletions, replacements and transpositions of adjacent
 * characters that turn @p a into @p b (Damerau-Levenshtein distance, optimal string alignment).
 * Case is ignored.
 */
std::size_t edit_distance(const std::string &a, const std::string &b);

/**
 * Returns the entry of @p choices that the user most likely meant by @p word. This is the entry
 * with the smallest edit distance if this distance is at most a third of the word's length (one
 * edit for words of up to five letters), otherwise the only entry that begins with @p word, if the
 * word has at least three letters. Returns an empty string if there is no such entry.
 */
std::string nearest(const std::string &word, const std::vector<std::string> &choices);

/**
 * Shortens long values in @p message. A value is a text in single quotes or a word. If a value has
 * more than 300 bytes, only the first 200 and the last 60 are kept.
 */
std::string with_short_values(const std::string &message);
} // namespace femgpu

#endif
